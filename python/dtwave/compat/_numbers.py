"""Anything as float64, but for what would lose something on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def floats(value: Any) -> NDArray[np.float64]:
    """An array of float64.

    Errors: `TypeError` for masked arrays, whose masks would be lost, and complex numbers.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("masked arrays are not taken: pass x.filled(…) or x.compressed()")
    array = np.asarray(value)
    if array.dtype.kind == "c":
        raise TypeError("complex numbers are not taken: pass x.real, or both parts as channels")
    return array.astype(np.float64, copy=False)


def check_finite(*series: NDArray[np.float64]) -> None:
    """Errors: `ValueError` for NaN and infinity."""
    for values in series:
        if not np.isfinite(values).all():
            at = np.argwhere(~np.isfinite(values))[0]
            place = f"point {at[0]}" + (f", channel {at[1]}" if len(at) > 1 else "")
            raise ValueError(f"a series has {values[tuple(at)]} at {place}: expected finite numbers")
