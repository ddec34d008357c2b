"""What aeon takes as series, channels first, as dtwave's `[length, channels]`."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._numbers import Floats, Many, floats, stacked


def one(value: Any, name: str) -> Floats:
    """`[length]` or `[channels, length]` as `[length, channels]`.

    Errors: `ValueError` for other axes.
    """
    series = floats(value)
    if series.ndim not in (1, 2):
        raise ValueError(f"x and y must be 1D or 2D: {name} has shape {list(series.shape)}")
    return series[:, None] if series.ndim == 1 else series.T


def pair(x: Any, y: Any, strict: bool) -> tuple[Floats, Floats]:
    """Two series, of as many axes and channels.

    Errors: `ValueError` for others. strict: leaves out the channels that only one of them has, as aeon does.
    """
    if np.ndim(x) != np.ndim(y):
        raise ValueError(f"x and y must be 1D or 2D, both: they have {np.ndim(x)} and {np.ndim(y)} axes")
    a, b = one(x, "x"), one(y, "y")
    if a.shape[1] != b.shape[1]:
        if not strict:
            raise ValueError(
                f"x has {a.shape[1]} channels, y has {b.shape[1]}: they must be equal "
                "(aeon leaves out the further channels; strict_aeon=True does so, too)"
            )
        channels = min(a.shape[1], b.shape[1])
        a, b = a[:, :channels], b[:, :channels]
    return a, b


def collections(X: Any, y: Any) -> tuple[Many, Many | None]:
    """Series of a collection, or of two.

    `[series, channels, length]`, `[series, length]`, `[length]`, or a list of arrays. Beside a collection of several
    channels, a two-dimensional array is one series, `[channels, length]`.

    Errors: `ValueError` for other axes.
    """
    several = any(_several_channels(value) for value in (X, y))
    single = several and y is not None
    return _many(X, "X", single), None if y is None else _many(y, "y", single)


def _several_channels(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 3 and value.shape[1] > 1
    return isinstance(value, (list, tuple)) and any(np.ndim(row) == 2 and np.shape(row)[0] > 1 for row in value)


def _many(value: Any, name: str, single: bool) -> Many:
    if isinstance(value, np.ndarray):
        if value.ndim not in (1, 2, 3):
            raise ValueError(f"{name} must be 1D, 2D or 3D, got {value.ndim} axes")
        whole = floats(value)
        if whole.ndim == 1:
            whole = whole[None, None]
        elif whole.ndim == 2:
            whole = whole[None] if single else whole[:, None]
        return whole.transpose(0, 2, 1)
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{name} must be an array or a list of arrays, got {type(value).__name__}")
    rows = [one(row, f"{name}[{s}]") for s, row in enumerate(value)]
    if not rows:
        raise ValueError(f"{name} is empty: expected series")
    return stacked(rows)


def one_by_one(
    first: Many, second: Many | None, distance: Callable[[Floats, Floats], float], with_diagonal: bool
) -> Floats:
    """All distances, `[n_first, n_second]`, in a loop. Without `second` half of them, mirrored; the diagonal is 0
    unless it is computed, too.
    """
    columns = first if second is None else second
    found = np.zeros((len(first), len(columns)))
    for i, a in enumerate(first):
        for j, b in enumerate(columns):
            if second is not None or i < j or (i == j and with_diagonal):
                found[i, j] = distance(a, b)
            elif j < i:
                found[i, j] = found[j, i]
    return found
