"""Whole grids of accumulated cost, for the functions of other libraries that return or take them: `O(n·m)` memory.

Distances and paths do not use them where the library's sweeps compute the same, which keep no grid.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .._bands import Ranges
from ._numbers import Floats, check_finite

Mask = NDArray[np.bool_]


def ranges(mask: Mask) -> Ranges:
    """A mask whose rows are single stretches, as a band."""
    ends = mask.shape[1] - mask[:, ::-1].argmax(axis=1)
    return Ranges(np.stack([mask.argmax(axis=1), ends], axis=1))


def accumulated(costs: Floats, measure: str = "dtw", allowed: Mask | None = None, **parameters: Any) -> Floats:
    """Accumulated costs of all prefixes, `[n, m]`: `costs` are the local ones; infinite where not allowed.

    measure: "dtw" adds costs, "adtw" with a penalty, "frechet" takes the largest; of "lcss", points match whose cost is
    at most epsilon.
    """
    walled = costs if allowed is None else np.where(allowed, costs, np.inf)
    return _native.cost_matrix_of_costs(
        np.ascontiguousarray(walled, dtype=np.float64), _native.Spec(measure, parameters)
    )


def common(close: Mask) -> Floats:
    """Lengths of the longest common subsequences of all prefixes, `[n + 1, m + 1]`.

    close: `[n, m]`, whether two points match.
    """
    grid = np.zeros((close.shape[0] + 1, close.shape[1] + 1))
    grid[1:, 1:] = accumulated(np.where(close, 0.0, 1.0), "lcss", epsilon=0.5)
    return grid


def path(grid: Floats, last: tuple[int, int] | None = None, to_row: bool = False) -> list[tuple[int, int]]:
    """The path back from a cell of a grid `[n, m]`: diagonal first, then up, then left, where they are equal.

    last: its end, the last cell unless given. to_row: the path may start anywhere in the first row, as that of a
    subsequence.

    Errors: `ValueError` if the end is infinite: there is no path.
    """
    i, j = (grid.shape[0] - 1, grid.shape[1] - 1) if last is None else last
    if np.isinf(grid[i, j]):
        raise ValueError(f"no path of finite cost ends at ({i}, {j}): the band leaves none, or costs are infinite")
    found = [(i, j)]
    while i > 0 or (j > 0 and not to_row):
        if i == 0:
            j -= 1
        elif j == 0:
            i -= 1
        else:
            step = int(np.argmin((grid[i - 1, j - 1], grid[i - 1, j], grid[i, j - 1])))
            i, j = i - (step != 2), j - (step != 1)
        found.append((i, j))
    return found[::-1]


def common_path(grid: Floats, close: Mask) -> list[tuple[int, int]]:
    """The points that match in the longest common subsequence of `common`: where up and left are equal, left."""
    i, j = close.shape
    found = []
    while i > 0 and j > 0:
        if close[i - 1, j - 1]:
            i, j = i - 1, j - 1
            found.append((i, j))
        elif grid[i - 1, j] > grid[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return found[::-1]


def squared(x: Floats, y: Floats) -> Floats:
    """Squared Euclidean distances of the points of `[n, channels]` and `[m, channels]`: `[n, m]`.

    Errors: `ValueError` for NaN and infinity.
    """
    check_finite(x, y)
    total = np.zeros((len(x), len(y)))
    for a, b in zip(x.T, y.T):
        total += np.square(a[:, None] - b[None, :])
    return total
