"""What dtaidistance takes as series: `[length]` or, of several channels, `[length, channels]`; and many of them."""

from __future__ import annotations

from typing import Any

from .._numbers import Floats, Many, floats, stacked


def one(value: Any) -> Floats:
    """`[length, channels]`.

    Errors: `ValueError` for an empty series and other axes.
    """
    series = floats(value)
    if series.ndim not in (1, 2) or not len(series):
        raise ValueError(f"a series is [length] or [length, channels], and not empty: got shape {list(series.shape)}")
    return series[:, None] if series.ndim == 1 else series


def pair(s1: Any, s2: Any) -> tuple[Floats, Floats]:
    """Two series of as many channels.

    Errors: `ValueError` for others.
    """
    x, y = one(s1), one(s2)
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"s1 has {x.shape[1]} channels, s2 has {y.shape[1]}: they must be equal")
    return x, y


def many(value: Any) -> Many:
    """Series of a list, a matrix (one in each row), or `[series, length, channels]`."""
    rows = value if isinstance(value, (list, tuple)) else floats(value)
    return stacked([one(row) for row in rows])
