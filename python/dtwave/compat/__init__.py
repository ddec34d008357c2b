"""Other libraries' functions on dtwave's engine, by their names and with their arguments: change one import.

- `dtwave.compat.tslearn`: `tslearn.metrics` and `tslearn.barycenters`.
- `dtwave.compat.aeon`: `aeon.distances`.
- `dtwave.compat.dtaidistance`: `dtaidistance.dtw`, `dtw_ndim` and subsequence alignment.

None of them needs the library that it stands for. What is not offered raises `NotImplementedError`, which says what to
use instead. docs/compat.md lists every function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import types

__all__ = ["aeon", "dtaidistance", "tslearn"]


def __getattr__(name: str) -> types.ModuleType:
    if name in __all__:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
