"""Elastic distances between time series: DTW and its relatives, Soft-DTW with gradients, searches, averages, clusters.

>>> import dtwave
>>> dtwave.distance([0.0, 1.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0])
1.0
>>> dtwave.pairwise([[0.0, 1.0], [1.0, 1.0], [3.0, 3.0]], measure="msm", c=0.5).shape
(3, 3)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._bands import Band, Itakura, Ranges, SakoeChiba, Slanted
from ._devices import Device, devices
from ._distances import distance, pairwise, zipped
from ._measure import Measure
from ._measures import (
    MEASURES,
    Adtw,
    Ddtw,
    Dtw,
    Edr,
    Erp,
    Frechet,
    Lcss,
    LogGak,
    Msm,
    SoftDtw,
    SoftDtwDivergence,
    SubsequenceDtw,
    Twed,
    Wddtw,
    Wdtw,
)
from ._native import DeviceError, __version__

if TYPE_CHECKING:
    import types

__all__ = [
    "MEASURES",
    "Adtw",
    "Band",
    "Ddtw",
    "Device",
    "DeviceError",
    "Dtw",
    "Edr",
    "Erp",
    "Frechet",
    "Itakura",
    "Lcss",
    "LogGak",
    "Measure",
    "Msm",
    "Ranges",
    "SakoeChiba",
    "Slanted",
    "SoftDtw",
    "SoftDtwDivergence",
    "SubsequenceDtw",
    "Twed",
    "Wddtw",
    "Wdtw",
    "__version__",
    "devices",
    "distance",
    "pairwise",
    "zipped",
]

#: Parts that need more than NumPy; imported when they are used.
_LAZY = ("plots", "torch")


def __getattr__(name: str) -> types.ModuleType:
    if name in _LAZY:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[Any]:
    return sorted([*__all__, *_LAZY])
