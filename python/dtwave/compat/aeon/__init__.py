"""`aeon.distances` on dtwave's engine: the same names, arguments and layout (channels first).

    from aeon.distances import dtw_pairwise_distance           # before
    from dtwave.compat.aeon import dtw_pairwise_distance       # after

Where aeon 1.6 departs from the papers (ERP, EDR, signed Soft-DTW, LCSS in a band, some paths), numbers are the papers';
`strict_aeon=True` gives aeon's, and `set_strict(True)` does so for all calls. docs/compat.md lists every function.
"""

from __future__ import annotations

from typing import Any

from . import _family
from ._bounding import create_bounding_matrix
from ._distance import (
    DISTANCES,
    alignment_path,
    cost_matrix,
    distance,
    get_alignment_path_function,
    get_cost_matrix_function,
    get_distance_function,
    get_distance_function_names,
    get_pairwise_distance_function,
    pairwise_distance,
)
from .._refuse import function as _refused

#: The four functions of each measure, by their names; and those that are not offered.
_FUNCTIONS: dict[str, Any] = {
    function.__name__: function for row in DISTANCES for function in row.values() if callable(function)
}
_FUNCTIONS["shift_scale_invariant_best_shift"] = _refused(
    "aeon.distances", "shift_scale_invariant_best_shift", "keep aeon's; it is no elastic distance"
)


def set_strict(strict: bool) -> None:
    """Whether functions give aeon's numbers where it departs from the papers, unless `strict_aeon` tells them."""
    _family.STRICT_AEON = bool(strict)


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "alignment_path",
    "cost_matrix",
    "create_bounding_matrix",
    "distance",
    "get_alignment_path_function",
    "get_cost_matrix_function",
    "get_distance_function",
    "get_distance_function_names",
    "get_pairwise_distance_function",
    "pairwise_distance",
    "set_strict",
]
__all__ += sorted(_FUNCTIONS)


def __dir__() -> list[str]:
    return sorted(__all__)
