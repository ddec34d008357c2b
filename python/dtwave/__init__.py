"""Elastic distances between time series: DTW and its relatives, Soft-DTW with gradients, searches, averages, clusters.

>>> import dtwave
>>> dtwave.distance([0.0, 1.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0])
1.0
>>> dtwave.pairwise([[0.0, 1.0], [1.0, 1.0], [3.0, 3.0]], measure="msm", c=0.5).shape
(3, 3)

Functions:

- `distance`: of two series; `pairwise`: of all pairs of many series; `zipped`: of the first pair, the second pair, ….
- `align`, `align_pairs`: which points match; `expected_alignment`: the same for Soft-DTW; `cost_matrix`: accumulated
  costs.
- `search`, `search_all`: where a short series occurs in a long one; `follow`: in a stream that goes on.
- `profile`: the nearest window of each window of a long series, its motifs and discords.
- `nearest`: nearest neighbours; `classify`: classes by them.
- `barycenter`: averages; `kmeans`, `kmedoids`: clusters.
- `gradients`: of Soft-DTW; `dtwave.torch`: Soft-DTW as a loss for PyTorch.
- `dtwave.sklearn`: estimators for scikit-learn; `dtwave.compat`: functions of tslearn, aeon and dtaidistance.
- `dtwave.distributed`: matrices by the workers of Dask, Ray or joblib, which `client=` also takes.
- `panel`: the series of a table of pandas, polars or Arrow that has the points of many.
- `normalize`: mean 0 and standard deviation 1; `devices`: what can compute; `explain`: how it
  computes, and how fast; `dtwave.plots`: figures; `dtwave.datasets`: a recording to try things on.

`MEASURES` has the class of every measure. `help(dtwave.distance)` explains the options that all functions share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _measures
from ._alignment import align, align_pairs, cost_matrix, expected_alignment
from ._bands import Band, Itakura, Ranges, SakoeChiba, Slanted
from ._devices import Device, devices
from ._distances import distance, explain, nearest, zipped
from ._following import follow
from ._gradients import gradients, normalize
from ._learning import barycenter, classify, kmeans, kmedoids
from ._matrices import pairwise
from ._measure import Measure
from ._measures import *
from ._native import DeviceError, __version__
from ._notes import LayoutWarning, MissingWarning, TimesWarning
from ._panel import Panel, panel
from ._profile import profile
from ._results import (
    Alignment,
    Barycenter,
    Discord,
    Explanation,
    Graph,
    Kernel,
    KMeans,
    KMedoids,
    Match,
    Matches,
    Motif,
    Neighbors,
    Profile,
)
from ._search import search, search_all

if TYPE_CHECKING:
    import types

    from . import datasets as datasets
    from . import distributed as distributed
    from . import plots as plots

__all__ = [
    "Alignment",
    "Band",
    "Barycenter",
    "Device",
    "DeviceError",
    "Discord",
    "Explanation",
    "Graph",
    "Itakura",
    "KMeans",
    "KMedoids",
    "Kernel",
    "LayoutWarning",
    "Match",
    "Matches",
    "Measure",
    "MissingWarning",
    "Motif",
    "Neighbors",
    "Panel",
    "Profile",
    "Ranges",
    "SakoeChiba",
    "Slanted",
    "TimesWarning",
    "__version__",
    "align",
    "align_pairs",
    "barycenter",
    "classify",
    "cost_matrix",
    "devices",
    "distance",
    "expected_alignment",
    "explain",
    "follow",
    "gradients",
    "kmeans",
    "kmedoids",
    "nearest",
    "normalize",
    "pairwise",
    "panel",
    "profile",
    "search",
    "search_all",
    "zipped",
]
__all__ += _measures.__all__

#: Parts that few programs need; imported when they are used.
_LAZY = ("compat", "datasets", "distributed", "plots", "sklearn", "torch")


def __getattr__(name: str) -> types.ModuleType:
    if name in _LAZY:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[Any]:
    return sorted([*__all__, *_LAZY])
