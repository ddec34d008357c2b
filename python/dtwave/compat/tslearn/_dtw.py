"""tslearn's DTW: roots of accumulated squared costs, paths, matrices, other local costs."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .. import _grids, _refuse
from .._numbers import Floats
from . import _engine
from ._limited import limited
from ._masks import Constraint
from ._series import Home, array, home, one, pair

#: Local costs that the engine has, by the names that tslearn takes.
ENGINE_COSTS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "sqeuclidean": "squared_euclidean",
    "cityblock": "manhattan",
    "manhattan": "manhattan",
    "l1": "manhattan",
}


@limited
def dtw(s1: Any, s2: Any, *, limit: Constraint) -> Any:
    """The root of dtwave's `dtw` of two series: `[length]` or `[length, channels]`. NaN at the end is padding.

    Time: one sweep of dtwave's engine. Errors: `ValueError` for empty series, other channels and NaN in between.
    """
    return np.sqrt(_engine.distance(*pair(s1, s2), "dtw", limit))


@limited
def dtw_path(s1: Any, s2: Any, *, limit: Constraint) -> tuple[list[tuple[int, int]], Any]:
    """The path of two series, a list of `(i, j)`, and their distance as `dtw`."""
    path, found = _engine.aligned(*pair(s1, s2), "dtw", limit)
    return path, np.sqrt(found)


@limited
def cdist_dtw(
    dataset1: Any, dataset2: Any = None, *, limit: Constraint, n_jobs: int | None = None, verbose: int = 0
) -> Any:
    """`dtw` of all pairs: `[n_1, n_2]`, or `[n_1, n_1]` without `dataset2`.

    n_jobs: threads: None is one, -1 all cores. verbose: above 0 shows a progress bar.

    Time: one sweep per pair (per two pairs without `dataset2`), on dtwave's engine.
    """
    found = _engine.cdist(dataset1, dataset2, "dtw", limit, n_jobs, verbose)
    return np.sqrt(found, out=found)


@limited
def dtw_path_from_metric(
    s1: Any,
    s2: Any = None,
    metric: str | Callable[[Any, Any], Any] = "euclidean",
    *,
    limit: Constraint,
    to: Home,
    **kwds: Any,
) -> tuple[list[tuple[int, int]], Any]:
    """The path and the accumulated cost, without a root, for a local cost of your choice.

    metric: "euclidean", "sqeuclidean" and "cityblock" run on dtwave's engine. "precomputed" (`s1` is `[n, m]`), a
    function of two points and SciPy's other names (which need SciPy) keep a grid: `O(n·m)` memory.
    """
    if isinstance(metric, str) and metric in ENGINE_COSTS and not kwds:
        return _engine.aligned(*pair(s1, s2), "dtw", limit, cost=ENGINE_COSTS[metric])
    return path_of_costs(local_costs(s1, s2, metric, kwds, to), "dtw", limit)


def path_of_costs(costs: Floats, measure: str, limit: Constraint) -> tuple[list[tuple[int, int]], Any]:
    """The best path through a matrix of local costs, and what it costs."""
    grid = _grids.accumulated(costs, measure, limit.mask(*costs.shape))
    return _grids.path(grid), grid[-1, -1]


def local_costs(s1: Any, s2: Any, metric: str | Callable[[Any, Any], Any], kwds: dict[str, Any], to: Home) -> Floats:
    """The matrix `[n, m]` of local costs; a function as `metric` gets points as arrays or as tensors, as `to` says.

    Errors: `NotImplementedError` for names of SciPy's without SciPy, `ValueError` for costs that are NaN.
    """
    costs = _costs(s1, s2, metric, kwds, to)
    if np.isnan(costs).any():
        i, j = np.argwhere(np.isnan(costs))[0]
        raise ValueError(f"the cost of points {i} and {j} is NaN: expected numbers")
    return costs


def _costs(s1: Any, s2: Any, metric: str | Callable[[Any, Any], Any], kwds: dict[str, Any], to: Home) -> Floats:
    if isinstance(metric, str) and metric == "precomputed":
        costs = array(s1)
        if costs.ndim != 2:
            raise ValueError(f"precomputed costs are [n, m], got shape {list(costs.shape)}")
        return costs
    if callable(metric):
        # The function gets what the caller has: rows of arrays, or of tensors.
        x, y = (to.returned(one(series)) for series in (s1, s2))
        return np.array([[float(metric(a, b, **kwds)) for b in y] for a in x])
    x, y = pair(s1, s2)
    try:
        from scipy.spatial.distance import cdist
    except ImportError:
        raise NotImplementedError(
            f'metric={metric!r} needs SciPy: install it, or pass a function of two points, or "precomputed" costs'
        ) from None
    names = {"l1": "cityblock", "manhattan": "cityblock", "l2": "euclidean"}
    found: Floats = cdist(x, y, metric=names.get(metric, metric), **kwds)
    return found


def dtw_accumulated_matrix(s1: Any, s2: Any, mask: Any, be: Any = None) -> Any:
    """Accumulated squared costs of all prefixes, `[n, m]`; infinite outside the mask. A grid."""
    x, y = pair(s1, s2)
    grid = _grids.accumulated(_grids.squared(x, y), allowed=np.asarray(mask, dtype=bool))
    return home(be, s1, s2).returned(grid)


def dtw_limited_warping_length(s1: Any, s2: Any, max_length: int, be: Any = None) -> Any:
    """DTW whose path has at most `max_length` points. In NumPy: `O(max_length·n·m)` time."""
    return dtw_path_limited_warping_length(s1, s2, max_length, be)[1]


def dtw_path_limited_warping_length(
    s1: Any, s2: Any, max_length: int, be: Any = None
) -> tuple[list[tuple[int, int]], Any]:
    """The path of at most `max_length` points, and its distance. In NumPy: `O(max_length·n·m)` time and memory.

    Errors: `ValueError` if `max_length` is below the longer series.
    """
    x, y = pair(s1, s2)
    n, m = len(x), len(y)
    if max_length < max(n, m):
        raise ValueError(f"Cannot find a path of length {max_length} to align given time series.")
    costs = _grids.squared(x, y)
    # Layer k holds the cost of the best path of exactly k + 1 points to each cell.
    layer = np.full((n + 1, m + 1), np.inf)
    layer[0, 0] = 0.0
    layers: list[Floats] = []
    for _ in range(min(int(max_length), n + m - 1)):
        reached = np.full_like(layer, np.inf)
        reached[1:, 1:] = costs + np.minimum.reduce([layer[:-1, :-1], layer[:-1, 1:], layer[1:, :-1]])
        layers.append(reached)
        layer = reached
    ends = [one_layer[-1, -1] for one_layer in layers]
    k = int(np.argmin(ends))
    i, j = n, m
    path = [(n - 1, m - 1)]
    for one_layer in layers[k - 1 :: -1] if k else []:
        arrivals = one_layer[i - 1, j - 1], one_layer[i - 1, j], one_layer[i, j - 1]
        step = int(np.argmin(arrivals))
        i, j = i - (step != 2), j - (step != 1)
        path.append((i - 1, j - 1))
    return path[::-1], home(be, s1, s2).returned(np.sqrt(ends[k]))


ctw = _refuse.function("tslearn.metrics", "ctw", "keep tslearn's, which uses scikit-learn's CCA")
ctw_path = _refuse.function("tslearn.metrics", "ctw_path", "keep tslearn's, which uses scikit-learn's CCA")
cdist_ctw = _refuse.function("tslearn.metrics", "cdist_ctw", "keep tslearn's, which uses scikit-learn's CCA")
