"""aeon's functions by a measure's name, and the tables of what there is."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from .. import _refuse
from ._measures import FAMILIES
from ._series import collections, one_by_one

#: aeon's distances that are not offered: their names, those of their functions, aeon's kinds of them, and what to use
#: instead.
_NOT_OFFERED = [
    ("euclidean", "euclidean", "pointwise", "numpy.linalg.norm(x - y) is it"),
    ("squared", "squared", "pointwise", "numpy.square(x - y).sum() is it"),
    ("manhattan", "manhattan", "pointwise", "numpy.abs(x - y).sum() is it"),
    ("minkowski", "minkowski", "pointwise", "scipy.spatial.distance.minkowski is it"),
    ("dtw_gi", "dtw_gi", "elastic", "keep aeon's; the nearest here is dtw"),
    ("shape_dtw", "shape_dtw", "elastic", "keep aeon's; the nearest here is ddtw"),
    ("sbd", "sbd", "cross-correlation", "keep aeon's; cross-correlation is no elastic distance"),
    ("shift_scale", "shift_scale_invariant", "cross-correlation", "keep aeon's; it is no elastic distance"),
    ("dft_sfa", "mindist_dft_sfa", "min-dist", "keep aeon's; it is no elastic distance"),
    ("paa_sax", "mindist_paa_sax", "min-dist", "keep aeon's; it is no elastic distance"),
    ("sax", "mindist_sax", "min-dist", "keep aeon's; it is no elastic distance"),
    ("sfa", "mindist_sfa", "min-dist", "keep aeon's; it is no elastic distance"),
]


def _offered() -> list[dict[str, Any]]:
    rows = []
    for family in FAMILIES:
        made = {name.removeprefix(family.name + "_"): function for name, function in family.functions().items()}
        rows.append({"name": family.name, "type": "elastic", "symmetric": True, "unequal_support": True, **made})
    return rows


def _refused() -> list[dict[str, Any]]:
    rows = []
    for name, stem, kind, instead in _NOT_OFFERED:
        parts = ["distance", "pairwise_distance"]
        parts += ["alignment_path", "cost_matrix"] if kind == "elastic" else []
        made = {part: _refuse.function("aeon.distances", f"{stem}_{part}", instead) for part in parts}
        takes = {"symmetric": name not in ("dtw_gi", "shift_scale"), "unequal_support": name != "shift_scale"}
        rows.append({"name": name, "type": kind, **takes, **made})
    return rows


#: A row for each of aeon's distances: its name, its functions (those that are not offered raise), and what it takes.
DISTANCES = _offered() + _refused()
DISTANCES_DICT = {row["name"]: row for row in DISTANCES}
SYMMETRIC_DISTANCES = [row["name"] for row in DISTANCES if row["symmetric"]]
UNEQUAL_LENGTH_SUPPORT_DISTANCES = [row["name"] for row in DISTANCES if row["unequal_support"]]
MIN_DISTANCES = [row["name"] for row in DISTANCES if row["type"] == "min-dist"]
#: Their functions need more than one point.
SINGLE_POINT_NOT_SUPPORTED_DISTANCES = ["ddtw", "wddtw", "edr"]


def distance(x: Any, y: Any, method: str | Callable[..., float], **kwargs: Any) -> float:
    """The distance of two series by a measure's name ("dtw", "msm", …) or a function, with its arguments."""
    found: float = _named(method, "distance", "or a callable")(x, y, **kwargs)
    return found


def pairwise_distance(
    x: Any,
    y: Any = None,
    method: str | Callable[..., float] | None = None,
    symmetric: bool = True,
    n_jobs: int = 1,
    **kwargs: Any,
) -> NDArray[np.float64]:
    """All distances by a measure's name, with its arguments; or by a function of two series, in a loop.

    symmetric: whether a function of yours needs half of the pairs only.

    Errors: `NotImplementedError` for a function and `n_jobs` other than 1.
    """
    if method is not None and not isinstance(method, str) and callable(method):
        if n_jobs != 1:
            raise _refuse.argument("pairwise_distance", "n_jobs", n_jobs, "a function of yours runs on one thread")
        first, second = collections(x, x if y is None and not symmetric else y)
        return one_by_one(
            first, second, lambda a, b: method(np.ascontiguousarray(a.T), np.ascontiguousarray(b.T), **kwargs), False
        )
    found: NDArray[np.float64] = _named(method, "pairwise_distance", "or a callable")(x, y, n_jobs=n_jobs, **kwargs)
    return found


def alignment_path(
    x: Any, y: Any, method: str | Callable[..., Any] | None = None, **kwargs: Any
) -> tuple[list[tuple[int, int]], float]:
    """The path of two series, and their distance, by a measure's name, with its arguments."""
    found: tuple[list[tuple[int, int]], float] = _named(method, "alignment_path")(x, y, **kwargs)
    return found


def cost_matrix(x: Any, y: Any, method: str | Callable[..., Any] | None = None, **kwargs: Any) -> NDArray[np.float64]:
    """Accumulated costs of all prefixes by a measure's name, with its arguments."""
    found: NDArray[np.float64] = _named(method, "cost_matrix")(x, y, **kwargs)
    return found


def get_distance_function_names() -> list[str]:
    """aeon's names of distances. Those that are not offered raise `NotImplementedError` when they are called."""
    return sorted(DISTANCES_DICT)


def get_distance_function(method: str | Callable[..., Any]) -> Callable[..., Any]:
    """The distance of this name."""
    return _resolve_key_from_distance(method, "distance")


def get_pairwise_distance_function(method: str | Callable[..., Any]) -> Callable[..., Any]:
    """The function of all pairs of this name."""
    return _resolve_key_from_distance(method, "pairwise_distance")


def get_alignment_path_function(method: str) -> Callable[..., Any]:
    """The function of paths of this name."""
    return _resolve_key_from_distance(method, "alignment_path")


def get_cost_matrix_function(method: str) -> Callable[..., Any]:
    """The function of cost matrices of this name."""
    return _resolve_key_from_distance(method, "cost_matrix")


def _resolve_key_from_distance(method: Any, key: str) -> Callable[..., Any]:
    found: Any = method if callable(method) else DISTANCES_DICT.get(method, {}).get(key)
    if found is None and method not in DISTANCES_DICT:
        raise ValueError(f"Unknown method {method}; there are {', '.join(DISTANCES_DICT)}")
    if found is None:
        raise ValueError(f"Method {method} does not have a {key} function")
    own: Callable[..., Any] = found
    return own


def _named(method: Any, key: str, otherwise: str = "") -> Any:
    found = method if callable(method) else DISTANCES_DICT.get(method, {}).get(key)
    if found is None:
        known = ", ".join(row["name"] for row in DISTANCES if key in row)
        raise ValueError(f"Method must be one of the supported strings {otherwise}: {known}; got {method!r}")
    return found
