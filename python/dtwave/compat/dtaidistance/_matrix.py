"""Matrices of distances as dtaidistance returns them: whole, condensed, or a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _matrices
from .. import _one
from .._numbers import Floats, Many, taken
from ._distance import distance
from ._settings import DTWSettings

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


def pairs(block: Any, count: int) -> Pairs:
    """Rows and columns of the distances that are computed: those above the diagonal, within a block.

    block: None, or `((first_row, end_row), (first_column, end_column))`, with False as a third part for all of it.

    Errors: `ValueError` for another block.
    """
    if block is None or block == 0:
        return np.triu_indices(count, 1)
    try:
        (first_row, end_row), (first_column, end_column), *rest = block
        rows, columns = np.arange(first_row, end_row), np.arange(first_column, min(end_column, count))
    except (TypeError, ValueError):
        raise ValueError(
            f"block must be ((first_row, end_row), (first_column, end_column)) and perhaps False, got {block!r}"
        ) from None
    if first_row < 0 or first_column < 0 or end_row > count:
        raise ValueError(f"block {block!r} is outside of the matrix of {count} series")
    i, j = (axis.ravel() for axis in np.meshgrid(rows, columns, indexing="ij"))
    if not (rest and rest[0] is False):
        above = j > i
        i, j = i[above], j[above]
    return i, j


def distances(
    series: Many, which: Pairs, is_whole: bool, settings: DTWSettings, threads: int | None, bar: bool
) -> Floats:
    """The distances of these pairs, `[pairs]`."""
    i, j = which
    if not len(i):
        return np.empty(0)
    if settings.needs_grid:
        # dtaidistance takes the first series of a pair as its first argument.
        return np.array([distance(series[a], series[b], dtw_settings=settings) for a, b in zip(i.tolist(), j.tolist())])
    measure, parameters = settings.measure()
    options = dict(
        measure=measure, band=settings.band(), threads=threads, progress=bar, layout=_one.LAYOUT, **parameters
    )
    costs: Floats
    if is_whole:
        costs = _matrices.pairwise(series, condensed=True, **options)
    else:
        rows, columns = np.unique(i), np.unique(j)
        block = _matrices.pairwise(taken(series, rows), taken(series, columns), **options)
        costs = block[np.searchsorted(rows, i), np.searchsorted(columns, j)]
    found: Floats = settings.finished(costs)
    if settings.max_length_diff is not None:
        lengths = np.array([len(one) for one in series])
        found[np.abs(lengths[i] - lengths[j]) > settings.max_length_diff] = np.inf
    return found


def square(series: Many, settings: DTWSettings, threads: int | None, bar: bool) -> Floats:
    """All distances, `[count, count]`, by one call of the engine, which computes half of them."""
    if not len(series):
        return np.empty((0, 0))
    measure, parameters = settings.measure()
    found: Floats = settings.finished(
        _matrices.pairwise(
            series,
            measure=measure,
            band=settings.band(),
            threads=threads,
            progress=bar,
            layout=_one.LAYOUT,
            **parameters,
        )
    )
    return found


def whole(found: Floats, which: Pairs, count: int, only_triu: bool) -> Floats:
    """`[count, count]`: infinite where nothing was computed; mirrored, with a diagonal of 0, unless `only_triu`."""
    matrix = np.full((count, count), np.inf)
    matrix[which] = found
    if not only_triu:
        matrix.T[which] = found
        np.fill_diagonal(matrix, 0.0)
    return matrix
