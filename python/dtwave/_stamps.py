"""When the points of a series are, as an index or a column of times says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import cached_property
from math import gcd
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from ._arrays import MOST_EXACT

#: Nanoseconds of NumPy's units of time.
_NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_NANOSECONDS |= {"D": 86400 * 10**9, "W": 7 * 86400 * 10**9}
#: Nanoseconds of a second.
_SECOND = 10**9


@dataclass(frozen=True)
class Stamps:
    """The times of the points of one series.

    raw: whole numbers of some unit since 1970, or of a duration; or numbers as they are.
    kind: "dates", "dates with a time zone", "durations", "times of day", "numbers", or "labels": whole numbers of an
        index, which may be times or count rows.
    per: nanoseconds of a unit of `raw`; 0 of numbers.
    """

    raw: NDArray[Any]
    kind: str
    per: int = 0

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Of dates and durations the seconds since the first point, so that a float has all their digits; numbers as
        they are, but whole numbers that a float does not have less the first one.
        """
        if not self.per and self.is_exact:
            return np.asarray(self.raw, dtype=np.float64)
        if not len(self.raw):
            return np.empty(0)
        units, shared = _since(self.raw, int(self.raw[0])), gcd(self.per, _SECOND)
        return units * (self.per // shared) / (_SECOND // shared) if self.per else units

    @cached_property
    def is_exact(self) -> bool:
        """Whether a float has all numbers of `raw`."""
        if (
            self.raw.dtype.kind == "f"
            or (self.raw.dtype.kind != "O" and self.raw.dtype.itemsize < 8)
            or not len(self.raw)
        ):
            return True
        return max(abs(int(self.raw.max())), abs(int(self.raw.min()))) <= MOST_EXACT

    @property
    def start(self) -> int | float:
        """The first time, without rounding: in nanoseconds since 1970, or of a duration; or the number."""
        if not len(self.raw):
            return 0
        first = self.raw[0]
        return float(first) if self.raw.dtype.kind == "f" else int(first) * (self.per or 1)

    @property
    def unit(self) -> str:
        """What one unit of `values` is."""
        return "second" if self.per else "unit of the index"

    @property
    def shown(self) -> str:
        """The kind, for a text."""
        return "numbers" if self.kind == "labels" else self.kind

    def cut(self, points: int) -> Stamps:
        """Those of the first points."""
        return self if len(self.raw) == points else self.at(slice(points))

    def at(self, points: Any) -> Stamps:
        """Those of some points: a slice, their places, or whether each counts."""
        return Stamps(self.raw[points], self.kind, self.per)

    def same(self, other: Stamps) -> bool:
        """Whether these are the times of `other`."""
        return (
            self.shown == other.shown and self.start == other.start and bool(np.array_equal(self.values, other.values))
        )


def stamps(index: Any) -> Stamps | None:
    """The times that labels of pandas are; `None` for others, and for those that only count."""
    if index.nlevels > 1 or type(index).__name__ == "RangeIndex":
        return None
    found = of_index(index)
    return Stamps(found.raw, "labels") if found is not None and found.kind == "numbers" and _is_whole(found) else found


def of_index(index: Any) -> Stamps | None:
    """Labels of pandas as times; `None` for what are none."""
    if index.inferred_type == "categorical":
        return None
    if index.inferred_type == "period":
        index = index.to_timestamp()
    is_zoned = getattr(index, "tz", None) is not None
    return _of_array(np.asarray((index.tz_convert(None) if is_zoned else index).to_numpy()), is_zoned)


def of_column(column: Any) -> Stamps | None:
    """A column of pandas, polars or Arrow, or a level of an index, as times; `None` for what are none."""
    if hasattr(column, "inferred_type"):
        return of_index(column)
    if hasattr(column, "sort_index"):
        return of_index(column.to_frame("time").set_index("time").index)
    if hasattr(column, "to_pylist"):
        is_zoned = getattr(column.type, "tz", None) is not None
        return _of_array(np.asarray(column.to_numpy(zero_copy_only=False)), is_zoned)
    return _of_array(np.asarray(column.to_numpy()), getattr(column.dtype, "time_zone", None) is not None)


def _of_array(values: NDArray[Any], is_zoned: bool) -> Stamps | None:
    """Times of an array; `is_zoned` says of dates whether they have a time zone."""
    if values.dtype.kind in "mM":
        unit, count = np.datetime_data(values.dtype)
        if unit not in _NANOSECONDS:
            return None
        dates = "dates with a time zone" if is_zoned else "dates"
        what = "durations" if values.dtype.kind == "m" else dates
        return Stamps(values.astype(np.int64), what, _NANOSECONDS[unit] * count)
    if values.dtype.kind == "O":
        return _of_objects(values.tolist())
    return Stamps(values, "numbers") if values.dtype.kind in "iuf" else None


def _of_objects(values: list[Any]) -> Stamps | None:
    """Times that are objects of Python or pandas, all of one kind."""

    def all_are(*kinds: type) -> bool:
        return all(isinstance(value, kinds) and not isinstance(value, bool) for value in values)

    if not values:
        return None
    if all_are(time):
        return Stamps(np.array([_of_day(value) for value in values], dtype=np.int64), "times of day", 1000)
    if all_are(date, np.datetime64):
        zoned = sum(getattr(value, "tzinfo", None) is not None for value in values)
        if zoned and zoned < len(values):
            raise ValueError("some dates of the times have a time zone and others have none: convert them to one kind")
        if zoned:
            values = [value.astimezone(timezone.utc).replace(tzinfo=None) for value in values]
        what = "dates with a time zone" if zoned else "dates"
        return Stamps(_whole([_nanoseconds(value) for value in values]), what, 1)
    if all_are(timedelta, np.timedelta64):
        return Stamps(_whole([_nanoseconds(value) for value in values]), "durations", 1)
    if all_are(int, np.integer):
        return Stamps(_whole([int(value) for value in values]), "numbers")
    if all_are(int, float, np.integer, np.floating, Decimal):
        return Stamps(np.array([float(value) for value in values]), "numbers")
    return None


def _of_day(value: time) -> int:
    """Microseconds since midnight."""
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond


def _nanoseconds(value: Any) -> int:
    """A date since 1970, or a duration."""
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    elif isinstance(value, (date, datetime)):
        value = np.datetime64(value)
    elif isinstance(value, timedelta):
        value = np.timedelta64(value)
    if value.dtype.kind == "M" and np.datetime_data(value.dtype)[0] in ("Y", "M"):
        value = value.astype("datetime64[D]")
    unit, count = np.datetime_data(value.dtype)
    return int(value.astype(np.int64)) * _NANOSECONDS[unit] * count


def _whole(values: list[int]) -> NDArray[Any]:
    """Whole numbers, as objects where 64 bits do not have them."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)


def _is_whole(found: Stamps) -> bool:
    return found.raw.dtype.kind != "f"


def _since(raw: NDArray[Any], first: int) -> NDArray[np.float64]:
    """Whole numbers less another one, rounded once."""
    most = max(abs(int(raw.max()) - first), abs(int(raw.min()) - first)) if len(raw) else 0
    if raw.dtype.kind == "O" or raw.dtype == np.uint64 or most > np.iinfo(np.int64).max:
        return np.array([int(value) - first for value in raw.tolist()], dtype=np.float64)
    return np.asarray(raw.astype(np.int64) - first, dtype=np.float64)


def together(every: Sequence[Stamps]) -> list[NDArray[np.float64]]:
    """Times of several series, of one kind, on one axis: dates and durations from the first one of all, and so whole
    numbers that a float does not have.

    Errors: `ValueError` for numbers that would be rounded.
    """
    first = min((own.start for own in every if len(own.raw)), default=0)
    if any(own.per for own in every):
        return [own.values + (own.start - first) / _SECOND for own in every]
    if all(own.is_exact for own in every):
        return [own.values for own in every]
    advice = "which a float would round: subtract the first of all times from them"
    if not all(_is_whole(own) for own in every):
        raise ValueError(f"the times have whole numbers beyond 2**53 beside others that are not whole, {advice}")
    found = [_since(own.raw, int(first)) for own in every]
    if max((float(np.abs(own).max()) for own in found if len(own)), default=0.0) > MOST_EXACT:
        raise ValueError(f"the times have whole numbers that are more than 2**53 apart, {advice}, or use a larger unit")
    return found


def one_kind(every: Sequence[Stamps]) -> str | None:
    """The kind that the times of a call are of; `None` if there are none.

    Errors: `ValueError` for times of several kinds.
    """
    kinds = sorted({own.shown for own in every})
    if len(kinds) > 1:
        raise ValueError(f"the times of one call must be of one kind, got {' and '.join(kinds)}: convert one of them")
    return kinds[0] if kinds else None
