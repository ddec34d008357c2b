"""When the points of a series are, as an index or a column of times says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

#: Kinds of labels that are durations, and those that are dates.
_DURATIONS, _DATES = ("timedelta64", "timedelta"), ("datetime64", "datetime", "date")


@dataclass(frozen=True)
class Stamps:
    """The times of the points of one series.

    values: of dates and durations the seconds since the first point, so that a float has all their digits; numbers as
        they are.
    first: the first date in nanoseconds since 1970, or the first duration in nanoseconds; 0 of numbers.
    kind: "dates", "dates with a time zone", "durations", "numbers", or "labels": whole numbers of an index, which may be
        times or count rows.
    """

    values: NDArray[np.float64]
    first: int
    kind: str

    @staticmethod
    def of(raw: NDArray[Any], kind: str) -> Stamps:
        """Times from nanoseconds, or from numbers."""
        if kind in ("numbers", "labels"):
            return Stamps(np.asarray(raw, dtype=np.float64), 0, kind)
        return Stamps(np.asarray((raw - raw[:1]) / 1e9), int(raw[0]) if len(raw) else 0, kind)

    @property
    def unit(self) -> str:
        """What one unit of `values` is."""
        return "unit of the index" if self.kind in ("numbers", "labels") else "second"

    def cut(self, points: int) -> Stamps:
        """Those of the first points."""
        return self if len(self.values) == points else Stamps(self.values[:points], self.first, self.kind)


def stamps(index: Any) -> Stamps | None:
    """The times that labels of pandas are; `None` for others, and for those that only count."""
    if index.nlevels > 1 or type(index).__name__ == "RangeIndex":
        return None
    found = raw_of(index)
    if found is None:
        return None
    raw, kind = found
    return Stamps.of(raw, "labels" if raw.dtype.kind in "iu" and kind == "numbers" else kind)


def raw_of(index: Any) -> tuple[NDArray[Any], str] | None:
    """Labels of pandas in nanoseconds or as numbers, and their kind; `None` for others."""
    kind = index.inferred_type
    if kind == "period":
        index, kind = index.to_timestamp(), "datetime64"
    if kind in _DATES or kind in _DURATIONS:
        what = "dates" if kind in _DATES else "durations"
        if getattr(index, "tz", None) is not None:
            index, what = index.tz_convert(None), "dates with a time zone"
        unit = "datetime64[ns]" if kind in _DATES else "timedelta64[ns]"
        return np.asarray(index.to_numpy()).astype(unit).astype(np.int64), what
    if kind in ("integer", "floating"):
        return np.asarray(index.to_numpy()), "numbers"
    return None


def raw_of_column(column: Any) -> tuple[NDArray[Any], str] | None:
    """A column of pandas, polars or Arrow, or a level of an index, as `raw_of` has it."""
    if hasattr(column, "inferred_type"):
        return raw_of(column)
    if hasattr(column, "sort_index"):
        return raw_of(column.to_frame("time").set_index("time").index)
    arrow = hasattr(column, "to_pylist")
    values = np.asarray(column.to_numpy(zero_copy_only=False) if arrow else column.to_numpy())
    if values.dtype.kind == "M":
        zone = getattr(column.type, "tz", None) if arrow else getattr(column.dtype, "time_zone", None)
        what = "dates" if zone is None else "dates with a time zone"
        return values.astype("datetime64[ns]").astype(np.int64), what
    if values.dtype.kind == "m":
        return values.astype("timedelta64[ns]").astype(np.int64), "durations"
    return (values, "numbers") if values.dtype.kind in "iuf" else None


def together(every: Sequence[Stamps]) -> list[NDArray[np.float64]]:
    """Times of several series, of one kind, on one axis: dates and durations from the first one of all."""
    first = min((own.first for own in every), default=0)
    return [own.values + (own.first - first) / 1e9 for own in every]
