"""aeon's grids where they depart from the papers (docs/measures.md), and that of its MSM of whole points; in NumPy.

Series are `[length, channels]` here. One antidiagonal after the other: a few microseconds each besides `O(n·m)` time.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from .. import _grids
from .._grids import Mask
from .._numbers import Floats

Index = NDArray[np.int64]
#: The parts of a call: two series, a mask and the measure's parameters.
Costs = Callable[[Floats, Floats, Mask, dict[str, Any]], Floats]


def _sweep(grid: Floats, allowed: Mask, arrivals: Callable[[Index, Index], tuple[Floats, Floats, Floats]]) -> Floats:
    """Fills a grid `[n + 1, m + 1]` whose border is set: the least of diagonal, up and left, each with what it costs to
    arrive by it at the points `(i, j)`. Cells that are not allowed keep what they hold.
    """
    n, m = allowed.shape
    for k in range(n + m - 1):
        i = np.arange(max(0, k - m + 1), min(n, k + 1))
        j = k - i
        there = allowed[i, j]
        i, j = i[there], j[there]
        diagonal, up, left = arrivals(i, j)
        found = (grid[i, j] + diagonal, grid[i, j + 1] + up, grid[i + 1, j] + left)
        grid[i + 1, j + 1] = np.minimum.reduce(found)
    return grid


def _norms(x: Floats, y: Floats) -> Floats:
    """Euclidean distances of all points, `[n, m]`."""
    return np.sqrt(_grids.squared(x, y))


def _entered(mask: Mask) -> Floats:
    """A grid that paths enter at the corner alone."""
    grid = np.full((mask.shape[0] + 1, mask.shape[1] + 1), np.inf)
    grid[0, 0] = 0.0
    return grid


def erp(x: Floats, y: Floats, mask: Mask, options: dict[str, Any]) -> Floats:
    """Every cell of a border costs what leaving out the whole series costs."""
    costs, to_gap_x, to_gap_y = _norms(x, y), np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
    grid = _entered(mask)
    grid[1:, 0], grid[0, 1:] = to_gap_x.sum(), to_gap_y.sum()
    return _sweep(grid, mask, lambda i, j: (costs[i, j], to_gap_x[i], to_gap_y[j]))[1:, 1:]


def edr(x: Floats, y: Floats, mask: Mask, options: dict[str, Any]) -> Floats:
    """Points left out at the start cost nothing, and points match below epsilon, not at it."""
    differs = (_norms(x, y) >= options["epsilon"]).astype(np.float64)
    grid, m = _entered(mask), mask.shape[1]
    # As in aeon, where the border row is one column off.
    grid[1:, 0] = np.where(mask[:, 0], 0.0, np.inf)
    grid[0, :m] = np.where(mask[0, np.arange(m) - 1], 0.0, np.inf)
    grid[0, 0] = 0.0
    one = np.ones(1)
    return _sweep(grid, mask, lambda i, j: (differs[i, j], one, one))[1:, 1:]


def lcss(x: Floats, y: Floats, mask: Mask, options: dict[str, Any]) -> Floats:
    """Lengths of common subsequences, `[n + 1, m + 1]`, which are forgotten outside the band."""
    close = _norms(x, y) <= options["epsilon"]
    # Kept as negative numbers: the greatest length is the least arrival. A match comes by the diagonal alone.
    by_match, by_step = np.where(close, -1.0, np.inf), np.where(close, np.inf, 0.0)
    grid = np.zeros((mask.shape[0] + 1, mask.shape[1] + 1))
    return 0.0 - _sweep(grid, mask, lambda i, j: (by_match[i, j], by_step[i, j], by_step[i, j]))


def msm(x: Floats, y: Floats, mask: Mask, options: dict[str, Any]) -> Floats:
    """Move-split-merge of points of all channels: one grid, where the paper's has one for each channel."""
    moves, c = _grids.squared(x, y), float(options["c"])

    def arrivals(i: Index, j: Index) -> tuple[Floats, Floats, Floats]:
        # The first cell is a move; elsewhere on a border the step from outside is infinite already.
        before_x, before_y = np.maximum(i - 1, 0), np.maximum(j - 1, 0)
        split, merge = _between(x[i], x[before_x], y[j]), _between(y[j], x[i], y[before_y])
        return moves[i, j], c + split, c + merge

    allowed = mask.copy()
    allowed[0, 0] = True
    return _sweep(_entered(mask), allowed, arrivals)[1:, 1:]


def _between(a: Floats, b: Floats, d: Floats) -> Floats:
    """The squared distance to the nearer of two points, for points outside the ball around both."""
    middle = np.square((b + d) / 2.0 - a).sum(axis=1)
    nearer = np.minimum(np.square(b - a).sum(axis=1), np.square(d - a).sum(axis=1))
    return np.where(middle <= np.square(b - d).sum(axis=1) / 4.0, 0.0, nearer)
