"""dtwave's calls for tslearn's functions: one pair, its path, or all pairs, under a constraint."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _alignment, _distances, _matrices
from .. import _one
from .._numbers import Floats, Many
from .._refuse import workers
from ._masks import Constraint
from ._series import many, points


def distance(x: Floats, y: Floats, measure: str, limit: Constraint, **parameters: Any) -> np.float64:
    """dtwave's distance of two series `[length, channels]`."""
    return np.float64(_one.distance(x, y, measure, limit.band(len(x), len(y)), **parameters))


def aligned(
    x: Floats, y: Floats, measure: str, limit: Constraint, **parameters: Any
) -> tuple[list[tuple[int, int]], np.float64]:
    """The path of two series, and their distance."""
    found = _alignment.align(
        x, y, measure=measure, band=limit.band(len(x), len(y)), threads=1, layout=_one.LAYOUT, **parameters
    )
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
    options = dict(measure=measure, threads=workers(n_jobs), progress=bool(verbose), layout=_one.LAYOUT, **parameters)

    def pairwise(x: Many, y: Many | None, band: Any) -> Floats:
        found: Floats = _matrices.pairwise(x, y, band=band, **options)
        return found

    if limit.is_itakura:  # A mask of two lengths.
        return _one.by_lengths(x, y, lambda a, b: pairwise(a, b, limit.band(a.shape[1], b.shape[1])))
    return pairwise(x, y, limit.band(0, 0))


def zipped(x: Many, y: Many, measure: str, limit: Constraint, n_jobs: int | None, **parameters: Any) -> Floats:
    """Distances of the first of `x` with the first of `y`, and so on: `[n]`."""
    threads = workers(n_jobs)
    if not limit.is_itakura:
        found: Floats = _distances.zipped(
            x, y, measure=measure, band=limit.band(0, 0), threads=threads, layout=_one.LAYOUT, **parameters
        )
        return found
    return np.array([distance(a, b, measure, limit, **parameters) for a, b in zip(x, y)])
