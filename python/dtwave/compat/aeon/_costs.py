"""aeon's cost matrices: the accumulated costs of all prefixes, as grids in NumPy.

Series are `[length, channels]` here. `strict` is aeon where it departs from the papers (docs/measures.md).
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .. import _grids
from .._grids import Floats, Index, Mask

#: The parts of a call: two series, a mask, the measure's parameters, and whether aeon's departures count.
Costs = Callable[[Floats, Floats, Mask, dict[str, Any], bool], Floats]


def derivative(series: Floats) -> Floats:
    """Keogh and Pazzani's, `[length - 2, channels]`.

    Errors: `ValueError` for fewer than 3 points.
    """
    if len(series) < 3:
        raise ValueError(f"a derivative needs series of at least 3 points, got {len(series)}")
    return ((series[1:-1] - series[:-2]) + (series[2:] - series[:-2]) / 2) / 2


def norms(x: Floats, y: Floats) -> Floats:
    """Euclidean distances of all points, `[n, m]`."""
    return np.sqrt(_grids.squared(x, y))


def dtw(x: Floats, y: Floats, mask: Mask, options: dict[str, Any], strict: bool) -> Floats:
    """Accumulated squared costs."""
    return _grids.summed(_grids.squared(x, y), mask)


def wdtw(x: Floats, y: Floats, mask: Mask, options: dict[str, Any], strict: bool) -> Floats:
    """Accumulated squared costs, weighted by the distance from the diagonal."""
    n, m = mask.shape
    apart = np.abs(np.arange(n)[:, None] - np.arange(m)[None, :])
    with np.errstate(over="ignore"):
        weights = 1 / (1 + np.exp(-options["g"] * (apart - max(n, m) / 2)))
    return _grids.summed(weights * _grids.squared(x, y), mask)


def adtw(x: Floats, y: Floats, mask: Mask, options: dict[str, Any], strict: bool) -> Floats:
    """Accumulated squared costs, with a penalty for steps off the diagonal."""
    costs, penalty = _grids.squared(x, y), float(options["warp_penalty"])

    def cells(i: Index, j: Index, diag: Floats, up: Floats, left: Floats) -> Floats:
        return costs[i, j] + _grids.least(diag, up + penalty, left + penalty)

    return _grids.sweep(_grids.infinite(*mask.shape), mask, cells)[1:, 1:]


def erp(x: Floats, y: Floats, mask: Mask, options: dict[str, Any], strict: bool) -> Floats:
    """Edit distance with real penalty. strict: every cell of a border costs what leaving out the whole series costs."""
    costs = norms(x, y)
    gap = np.zeros(x.shape[1])
    to_gap_x, to_gap_y = np.linalg.norm(x - gap, axis=1), np.linalg.norm(y - gap, axis=1)
    grid = _grids.infinite(*mask.shape)
    grid[1:, 0] = to_gap_x.sum() if strict else to_gap_x.cumsum()
    grid[0, 1:] = to_gap_y.sum() if strict else to_gap_y.cumsum()

    def cells(i: Index, j: Index, diag: Floats, up: Floats, left: Floats) -> Floats:
        return _grids.least(diag + costs[i, j], up + to_gap_x[i], left + to_gap_y[j])

    return _grids.sweep(grid, mask, cells)[1:, 1:]


def edr(x: Floats, y: Floats, mask: Mask, options: dict[str, Any], strict: bool) -> Floats:
    """Edits. strict: points left out at the start cost nothing, and points match below epsilon, not at it."""
    costs = norms(x, y)
    differs = (costs >= options["epsilon"] if strict else costs > options["epsilon"]).astype(np.float64)
    grid = _grids.infinite(*mask.shape)
    n, m = mask.shape
    if strict:
        # As in aeon, where the border row is one column off.
        grid[1:, 0] = np.where(mask[:, 0], 0.0, np.inf)
        grid[0, :m] = np.where(mask[0, np.arange(m) - 1], 0.0, np.inf)
        grid[0, 0] = 0.0
    else:
        grid[:, 0], grid[0, :] = np.arange(n + 1), np.arange(m + 1)

    def cells(i: Index, j: Index, diag: Floats, up: Floats, left: Floats) -> Floats:
        return _grids.least(diag + differs[i, j], up + 1.0, left + 1.0)

    return _grids.sweep(grid, mask, cells)[1:, 1:]


def lcss(x: Floats, y: Floats, mask: Mask, options: dict[str, Any], strict: bool) -> Floats:
    """Lengths of common subsequences, `[n + 1, m + 1]`. strict: cells outside the band are 0."""
    close = (norms(x, y) <= options["epsilon"]) & mask
    return _grids.common(close, mask if strict else None)


def msm(x: Floats, y: Floats, mask: Mask, options: dict[str, Any], strict: bool) -> Floats:
    """Move-split-merge: the sum of the channels' grids, or with `independent=False` one grid of all channels."""
    if not options["independent"]:
        return _msm(x, y, mask, float(options["c"]), _between_points, _grids.squared)
    found = np.zeros(mask.shape)
    for channel in range(x.shape[1]):
        a, b = x[:, channel : channel + 1], y[:, channel : channel + 1]
        found = found + _msm(a, b, mask, float(options["c"]), _between_numbers, norms)
    return found


def _between_numbers(a: Floats, b: Floats, d: Floats) -> Floats:
    """By how much a number is not between two others."""
    low, high = np.minimum(b, d), np.maximum(b, d)
    outside: Floats = np.maximum(np.maximum(low - a, a - high), 0.0)[:, 0]
    return outside


def _between_points(a: Floats, b: Floats, d: Floats) -> Floats:
    """The squared distance to the nearer of two points, for points outside the ball around both."""
    middle = np.square((b + d) / 2.0 - a).sum(axis=1)
    nearer = np.minimum(np.square(b - a).sum(axis=1), np.square(d - a).sum(axis=1))
    return np.where(middle <= np.square(b - d).sum(axis=1) / 4.0, 0.0, nearer)


def _msm(
    x: Floats,
    y: Floats,
    mask: Mask,
    c: float,
    outside: Callable[[Floats, Floats, Floats], Floats],
    move: Callable[[Floats, Floats], Floats],
) -> Floats:
    moves = move(x, y)

    def cells(i: Index, j: Index, diag: Floats, up: Floats, left: Floats) -> Floats:
        # The first cell is a move; elsewhere on a border the step from outside is infinite already.
        before_x, before_y = np.maximum(i - 1, 0), np.maximum(j - 1, 0)
        split = up + c + outside(x[i], x[before_x], y[j])
        merge = left + c + outside(y[j], x[i], y[before_y])
        return _grids.least(diag + moves[i, j], split, merge)

    allowed = mask.copy()
    allowed[0, 0] = True
    return _grids.sweep(_grids.infinite(*mask.shape), allowed, cells)[1:, 1:]


def twe(x: Floats, y: Floats, mask: Mask, options: dict[str, Any], strict: bool) -> Floats:
    """Time warp edit distance, with the times 1, 2, …."""
    nu, lmbda = float(options["nu"]), float(options["lmbda"])
    zero = np.zeros((1, x.shape[1]))
    a, b = np.vstack([zero, x]), np.vstack([zero, y])
    costs = norms(a, b)
    steps_x, steps_y = np.linalg.norm(np.diff(a, axis=0), axis=1), np.linalg.norm(np.diff(b, axis=0), axis=1)

    def cells(i: Index, j: Index, diag: Floats, up: Floats, left: Floats) -> Floats:
        match = diag + costs[i + 1, j + 1] + costs[i, j] + nu * 2 * np.abs(i - j)
        return _grids.least(match, up + steps_x[i] + nu + lmbda, left + steps_y[j] + nu + lmbda)

    return _grids.sweep(_grids.infinite(*mask.shape), mask, cells)[1:, 1:]


def soft_dtw(x: Floats, y: Floats, mask: Mask, options: dict[str, Any], strict: bool) -> Floats:
    """Accumulated costs with a smooth minimum; of DTW with `gamma=0`, and, strict, for equal series."""
    if options["gamma"] == 0.0 or (strict and np.array_equal(x, y)):
        return dtw(x, y, mask, options, strict)
    return _grids.soft(_grids.squared(x, y), float(options["gamma"]), mask)
