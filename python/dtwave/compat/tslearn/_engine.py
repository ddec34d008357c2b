"""dtwave's calls for tslearn's functions: one pair, its path, or all pairs, under a constraint."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _alignment, _distances, _matrices
from .. import _one
from .._refuse import workers
from ._masks import Constraint
from ._series import Floats, Many, many, points


def distance(x: Floats, y: Floats, measure: str, limit: Constraint, **parameters: Any) -> np.float64:
    """dtwave's distance of two series `[length, channels]`."""
    return np.float64(_one.distance(x, y, measure, limit.band(len(x), len(y)), **parameters))


def aligned(
    x: Floats, y: Floats, measure: str, limit: Constraint, **parameters: Any
) -> tuple[list[tuple[int, int]], np.float64]:
    """The path of two series, and their distance."""
    found = _alignment.align(x, y, measure=measure, band=limit.band(len(x), len(y)), threads=1, **parameters)
    return points(found.path), np.float64(found.distance)


def cdist(
    dataset1: Any, dataset2: Any, measure: str, limit: Constraint, n_jobs: int | None, verbose: int, **parameters: Any
) -> Floats:
    """Distances of all pairs of data sets: `[n_1, n_2]`, or `[n_1, n_1]` without `dataset2`."""
    second = None if dataset2 is None else many(dataset2)
    return matrix(many(dataset1), second, measure, limit, n_jobs, verbose, **parameters)


def matrix(
    x: Many, y: Many | None, measure: str, limit: Constraint, n_jobs: int | None, verbose: int, **parameters: Any
) -> Floats:
    """Distances of all pairs: `[n_x, n_y]`, or `[n_x, n_x]` without `y`."""
    if not len(x) or (y is not None and not len(y)):
        return np.zeros((len(x), len(x) if y is None else len(y)))
    if not limit.is_itakura:
        return _pairwise(x, y, measure, limit.band(0, 0), n_jobs, verbose, parameters)
    # A parallelogram is a mask of two lengths: one call for each two lengths.
    rows, columns = x, x if y is None else y
    found = np.empty((len(rows), len(columns)))
    for n, a in _by_length(rows):
        for m, b in _by_length(columns):
            band = limit.band(n, m)
            some = _taken(rows, a), _taken(columns, b)
            found[np.ix_(a, b)] = _pairwise(*some, measure, band, n_jobs, verbose, parameters)
    if y is None:
        # tslearn's upper half counts: the mask of (n, m) is not that of (m, n).
        lower = np.tril_indices(len(rows), -1)
        found[lower] = found.T[lower]
    return found


def zipped(x: Many, y: Many, measure: str, limit: Constraint, n_jobs: int | None, **parameters: Any) -> Floats:
    """Distances of the first of `x` with the first of `y`, and so on: `[n]`."""
    threads = workers(n_jobs)
    if not limit.is_itakura:
        found: Floats = _distances.zipped(x, y, measure=measure, band=limit.band(0, 0), threads=threads, **parameters)
        return found
    return np.array([distance(a, b, measure, limit, **parameters) for a, b in zip(x, y)])


def _pairwise(
    x: Many, y: Many | None, measure: str, band: Any, n_jobs: int | None, verbose: int, parameters: dict[str, Any]
) -> Floats:
    found: Floats = _matrices.pairwise(
        x, y, measure=measure, band=band, threads=workers(n_jobs), progress=bool(verbose), **parameters
    )
    return found


def _by_length(series: Many) -> list[tuple[int, NDArray[np.int64]]]:
    lengths = np.array([len(one) for one in series])
    return [(int(n), np.flatnonzero(lengths == n)) for n in np.unique(lengths)]


def _taken(series: Many, which: NDArray[np.int64]) -> Floats:
    return np.stack([series[s] for s in which])
