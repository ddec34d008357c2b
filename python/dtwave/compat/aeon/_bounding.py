"""aeon's bounding matrices: which points may match, cell by cell as in aeon 1.6, and as bands of dtwave."""

from __future__ import annotations

from functools import lru_cache
from math import floor

import numpy as np

from ..._bands import Band, SakoeChiba
from .._grids import Mask, ranges


def create_bounding_matrix(
    x_size: int, y_size: int, window: float | None = None, itakura_max_slope: float | None = None
) -> Mask:
    """`[x_size, y_size]`, True where points may match.

    window: how far from the line between the corners, as a fraction of the shorter series. itakura_max_slope: from 0 to
    1; the steepest slope is this fraction of the shorter series, rounded down.

    Errors: `ValueError` for values that are not from 0 to 1.
    """
    if itakura_max_slope is not None:
        return _itakura(x_size, y_size, _fraction("itakura_max_slope", itakura_max_slope))
    if window is not None and _fraction("window", window) != 1.0:
        return _slanted(x_size, y_size, float(window))
    return np.full((x_size, y_size), True)


@lru_cache(maxsize=64)
def band(n: int, m: int, window: float | None, slope: float | None) -> Band:
    """The band of dtwave that has the cells of `create_bounding_matrix`.

    Errors: `ValueError` as there, and for a matrix that leaves no path.
    """
    if slope is None and (window is None or _fraction("window", window) == 1.0):
        return None
    if slope is None and window is not None and n == m:
        return SakoeChiba(int(window * n))
    mask = create_bounding_matrix(n, m, window, slope)
    if not mask.any(axis=1).all():
        raise ValueError(f"itakura_max_slope={slope} leaves no path for {n} and {m} points: take a larger one")
    return ranges(mask)


def _fraction(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value}")
    return float(value)


def _slanted(n: int, m: int, window: float) -> Mask:
    if n > m:
        return _slanted(m, n, window).T
    mask = np.full((n, m), False)
    thickness, steps = int(window * n), m + 1
    for step in range(steps):
        i, j = floor(step / steps * n), floor(step / steps * m)
        mask[max(0, i - thickness) : i + thickness + 1, j] = True
    return mask


def _itakura(n: int, m: int, fraction: float) -> Mask:
    whole = floor(fraction * (min(n, m) / 100) * 100)
    if n < 3 or whole < 1:
        raise ValueError(
            f"itakura_max_slope={fraction} has no slope for series of {n} and {m} points: x needs 3 points, and the "
            "fraction of the shorter series must be at least 1"
        )
    steep = max(whole * (m - 1) / (n - 2), 1.0)
    flat = min((1 / whole) * (m - 2) / (n - 1), 1.0)
    rows = np.arange(n)
    back = rows - n + 1
    lower = np.ceil(np.maximum(np.round(flat * rows, 2), np.round(steep * back + m - 1, 2)))
    upper = np.floor(np.minimum(np.round(steep * rows + 1, 2), np.round(flat * back + m, 2)))
    if steep == 1.0:
        upper = np.append(lower[1:], upper[-1]) if m > n else lower + 1
    columns = np.arange(m)
    mask: Mask = (columns >= lower.clip(0, m)[:, None]) & (columns < upper.clip(0, m)[:, None])
    return mask
