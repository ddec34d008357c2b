"""Anything as float64, but for what would lose something on the way; and many series."""

from __future__ import annotations

from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Series of one length `[series, length, channels]`, or a list of `[length, channels]`.
Many = Union[Floats, list[Floats]]


def floats(value: Any) -> Floats:
    """An array of float64.

    Errors: `TypeError` for masked arrays, whose masks would be lost, and complex numbers.
    """
    lists = isinstance(value, (list, tuple))
    if isinstance(value, np.ma.MaskedArray) or (lists and any(isinstance(row, np.ma.MaskedArray) for row in value)):
        raise TypeError("masked arrays are not taken: pass x.filled(…) or x.compressed()")
    array = np.asarray(value)
    if array.dtype.kind == "c":
        raise TypeError("complex numbers are not taken: pass x.real, or both parts as channels")
    return array.astype(np.float64, copy=False)


def stacked(rows: list[Floats]) -> Many:
    """Series as one array, if they are of one shape."""
    return np.stack(rows) if len({row.shape for row in rows}) == 1 else rows


def taken(series: Many, which: NDArray[np.int64]) -> Many:
    """The series of these indices."""
    return series[which] if isinstance(series, np.ndarray) else [series[s] for s in which]


def check_finite(*series: Floats) -> None:
    """Errors: `ValueError` for NaN and infinity."""
    for values in series:
        if not np.isfinite(values).all():
            at = np.argwhere(~np.isfinite(values))[0]
            place = f"point {at[0]}" + (f", channel {at[1]}" if len(at) > 1 else "")
            raise ValueError(f"a series has {values[tuple(at)]} at {place}: expected finite numbers")
