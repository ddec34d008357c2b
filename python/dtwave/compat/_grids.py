"""Whole grids of accumulated cost, in NumPy, for the functions of other libraries that return or take them.

The library's sweeps keep no grid. These do, one antidiagonal after the other: `O(n·m)` memory, and a few microseconds
per antidiagonal besides `O(n·m)` time. Distances and paths do not use them where the library computes the same.
"""

from __future__ import annotations

from typing import Callable

import numpy as np
from numpy.typing import NDArray

from ._numbers import check_finite

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = NDArray[np.int64]
#: Values of the cells `(i, j)` of one antidiagonal, from those of their neighbours: diagonal, up, left.
Cells = Callable[[Index, Index, Floats, Floats, Floats], Floats]


def sweep(grid: Floats, allowed: Mask | None, cells: Cells) -> Floats:
    """Fills a grid whose border row and column are set; cells that are not allowed keep what they hold.

    grid: `[n + 1, m + 1]`, changed in place and returned. allowed: `[n, m]`, or None for all.
    """
    n, m = grid.shape[0] - 1, grid.shape[1] - 1
    for k in range(n + m - 1):
        i = np.arange(max(0, k - m + 1), min(n, k + 1))
        j = k - i
        if allowed is not None:
            there = allowed[i, j]
            i, j = i[there], j[there]
        grid[i + 1, j + 1] = cells(i, j, grid[i, j], grid[i, j + 1], grid[i + 1, j])
    return grid


def infinite(n: int, m: int) -> Floats:
    """A grid `[n + 1, m + 1]` that paths enter at the corner alone."""
    grid = np.full((n + 1, m + 1), np.inf)
    grid[0, 0] = 0.0
    return grid


def least(diag: Floats, up: Floats, left: Floats) -> Floats:
    """The least of three arrivals."""
    smallest: Floats = np.minimum(np.minimum(diag, up), left)
    return smallest


def summed(costs: Floats, allowed: Mask | None = None) -> Floats:
    """Accumulated cost of DTW, `[n, m]`: `costs` are the local ones. Infinite where not allowed."""
    grid = infinite(*costs.shape)
    return sweep(grid, allowed, lambda i, j, diag, up, left: costs[i, j] + least(diag, up, left))[1:, 1:]


def largest(costs: Floats, allowed: Mask | None = None) -> Floats:
    """The Fréchet distance of all prefixes, `[n, m]`: `costs` are the local ones. Infinite where not allowed."""
    grid = infinite(*costs.shape)
    return sweep(grid, allowed, lambda i, j, diag, up, left: np.maximum(costs[i, j], least(diag, up, left)))[1:, 1:]


def soft_least(gamma: float, diag: Floats, up: Floats, left: Floats) -> Floats:
    """`-gamma · ln(e^(-diag/gamma) + e^(-up/gamma) + e^(-left/gamma))`; infinite where all three are."""
    smallest = least(diag, up, left)
    shift = np.where(np.isfinite(smallest), smallest, 0.0)
    with np.errstate(divide="ignore"):
        total = np.exp((shift - diag) / gamma) + np.exp((shift - up) / gamma) + np.exp((shift - left) / gamma)
        found: Floats = shift - gamma * np.log(total)
    return found


def soft(costs: Floats, gamma: float, allowed: Mask | None = None) -> Floats:
    """Accumulated cost of Soft-DTW, `[n, m]`: `costs` are the local ones. Infinite where not allowed.

    Errors: `ValueError` for a gamma that is not positive.
    """
    if not gamma > 0:
        raise ValueError(f"gamma must be above 0, got {gamma}")
    grid = infinite(*costs.shape)
    return sweep(grid, allowed, lambda i, j, diag, up, left: costs[i, j] + soft_least(gamma, diag, up, left))[1:, 1:]


def soft_alignment(costs: Floats, accumulated: Floats, gamma: float) -> Floats:
    """The expected alignment `[n, m]` that belongs to `soft`: the derivative of its last value by each local cost."""
    n, m = costs.shape
    total = np.full((n + 1, m + 1), -np.inf)
    total[:n, :m] = np.where(np.isfinite(accumulated), accumulated, -np.inf)
    local = np.zeros((n + 1, m + 1))
    local[:n, :m] = np.where(np.isfinite(costs), costs, 0.0)
    expected = np.zeros((n + 1, m + 1))
    expected[n - 1, m - 1] = 1.0
    for k in range(n + m - 3, -1, -1):
        i = np.arange(max(0, k - m + 1), min(n, k + 1))
        j = k - i
        here = total[i, j]
        known = np.isfinite(here)
        i, j, here = i[known], j[known], here[known]
        found = np.zeros(len(i))
        for a, b in ((i + 1, j), (i, j + 1), (i + 1, j + 1)):
            found += expected[a, b] * np.exp((total[a, b] - local[a, b] - here) / gamma)
        expected[i, j] = found
    return expected[:n, :m]


def common(close: Mask, allowed: Mask | None = None) -> Floats:
    """Lengths of the longest common subsequences of all prefixes, `[n + 1, m + 1]`; 0 where not allowed.

    close: `[n, m]`, whether two points match.
    """

    def cells(i: Index, j: Index, diag: Floats, up: Floats, left: Floats) -> Floats:
        return np.where(close[i, j], diag + 1.0, np.maximum(up, left))

    return sweep(np.zeros((close.shape[0] + 1, close.shape[1] + 1)), allowed, cells)


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
