"""Points at equal spacing, from series whose points have times.

    t'_k  =  t_0 + k·step                                    up to the last time
    x'_k  =  the value at t'_k on the line between the points before and after it, channel by channel

Times are those of `times=`, or a pandas index: dates in seconds, or numbers. The step is the median of the spacings
of all series of the call unless it is given. A missing value has no point in its channel: what lies around it is on the line between its neighbours.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._arrays import MOST_EXACT
from ._inputs import Batch
from ._missing import ADVICE, Missing
from ._stamps import one_kind

#: How points are made equally spaced: "none", by the "median" spacing, or by a step: a number in units of the times (of
#: dates in seconds), or a duration ("5min", a `timedelta`).
Resample = Union[str, float, timedelta, np.timedelta64]

#: A gap is where neighbours are further apart than so many steps, and than so many of the series' median spacings.
_GAP = 1.5
#: A share of a step that is none.
_SAME = 1e-6


def step_of(resample: Any) -> float | None:
    """The step that was asked for; `None` for the median.

    Errors: `TypeError` and `ValueError` for what is no duration.
    """
    if isinstance(resample, str) and resample == "median":
        return None
    step = resample
    expected = 'resample must be "none", "median", or a step above 0: a number or a duration such as "5min"'
    if isinstance(step, (bool, np.bool_)):
        raise TypeError(f"{expected}; got {resample!r}")
    if hasattr(step, "total_seconds"):
        step = step.total_seconds()
    elif isinstance(step, np.timedelta64):
        unit = np.datetime_data(step.dtype)[0]
        if unit in ("generic", "M", "Y"):
            why = "has no unit" if unit == "generic" else "is not always as long"
            raise ValueError(f"{expected}; got {resample!r}, which {why}: pass seconds or days")
        step = float(step / np.timedelta64(1, "s"))
    elif isinstance(step, str):
        step = _seconds(step, expected)
    if not isinstance(step, (int, float, np.integer, np.floating)):
        raise TypeError(f"{expected}; got {resample!r}")
    try:
        step = float(step)
    except OverflowError:
        raise ValueError(f"{expected}; got a whole number that is too large for a float") from None
    if not (np.isfinite(step) and step > 0):
        raise ValueError(f"{expected}; got {resample!r}")
    return step


#: Seconds of a unit.
_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def _seconds(text: str, expected: str) -> float:
    """`"5min"`, `"0.5s"`, `"60"`."""
    plain = text.strip().lower()
    unit = next((unit for unit in _UNITS if plain.endswith(unit)), "")
    try:
        # A unit alone is one of it; nothing at all is no step.
        return float(plain.removesuffix(unit) or (1 if unit else plain)) * _UNITS.get(unit, 1.0)
    except ValueError:
        raise ValueError(f"{expected}; got {text!r}") from None


def treated(batches: Sequence[Batch], resample: Any, missing: Missing) -> list[str]:
    """Gives the series of a call, and their times, one spacing; says how many points of each batch lie in gaps.

    Errors: `ValueError` for series without times, times that do not fit or do not go forward, and a step that would make
    very many points; for missing values where `missing` is "error".
    """
    kind_of(batches)
    step = chosen_step(batches, resample)
    told = [_evened(batch, _times(batch), step, missing) for batch in batches]
    return [text for text in told if text is not None]


def chosen_step(batches: Sequence[Batch], resample: Any) -> float:
    """The step that was asked for, or the median spacing of these series.

    Errors: as `treated`.
    """
    step = step_of(resample)
    if step is None:
        every = np.concatenate([np.diff(own) for batch in batches for own in _times(batch)] or [np.empty(0)])
        step = float(np.median(every)) if len(every) else 1.0
    return step


def kind_of(batches: Sequence[Batch]) -> str | None:
    """The kind of the times that an index or a panel gives; `None` if none gives any.

    Errors: `ValueError` for times of several kinds.
    """
    return one_kind(
        [
            own
            for batch in batches
            if batch.times is None
            for own in batch.index or []
            if own is not None and len(own.raw)
        ]
    )


def _times(batch: Batch) -> list[NDArray[np.float64]]:
    """The times of the points of each series, checked."""
    times: Any = batch.times
    if times is None and batch.index is not None:
        times = [None if own is None else own.cut(len(row)).values for own, row in zip(batch.index, batch.arrays)]
    if times is None or any(own is None for own in times):
        raise ValueError(
            f"{batch.name} has no times to resample by: pass a pandas Series or DataFrame whose index is times, a panel "
            'with time=, times=, or resample="none"'
        )
    found = []
    for s, row in enumerate(batch.arrays):
        given = np.asarray(times[s]) if s < len(times) else np.empty(0)
        own = given.astype(np.float64)
        if given.dtype.kind in "iu" and len(own) and np.abs(own).max() > MOST_EXACT:
            raise ValueError(
                f"times of {batch.name} has {given[0]}, which float64 would round: subtract the first time from all"
            )
        if own.shape != (len(row),):
            raise ValueError(
                f"times of {batch.name} must be one per point: series {s} has {len(row)}, and {len(own)} times"
            )
        wrong = np.flatnonzero(~(np.diff(own) > 0))
        if len(wrong) or not np.isfinite(own).all():
            at = int(wrong[0]) + 1 if len(wrong) else 0
            raise ValueError(
                f"times of series {s} of {batch.name} must go forward to be resampled: point {at} is not after the one before"
            )
        found.append(own)
    return found


#: Most points of a series for each that it had: more is a step of another unit.
_MOST_FOLD = 1000


def _evened(batch: Batch, times: list[NDArray[np.float64]], step: float, missing: Missing) -> str | None:
    """Gives the series of a batch this spacing; says how many points lie in gaps."""
    for s, (row, own) in enumerate(zip(batch.arrays, times)):
        span = own[-1] - own[0] if len(own) else 0.0
        if span / step > _MOST_FOLD * len(row):
            raise ValueError(
                f"resample at a step of {step:.6g} would make {span / step:.0f} points of the {len(row)} of series {s} of "
                f"{batch.name}, whose median spacing is {np.median(np.diff(own)):.6g}"
            )
    made = [_resampled(row, own, step, missing, batch, s) for s, (row, own) in enumerate(zip(batch.arrays, times))]
    rows, stamps, inside = [each[0] for each in made], [each[1] for each in made], [each[2] for each in made]
    batch.arrays = np.stack(rows) if len({len(row) for row in rows}) == 1 else rows
    batch.padded, batch.was_array = None, False
    batch.times = stamps if batch.times is not None else None
    batch.index, batch.is_even = None, True
    gaps, affected = sum(inside), sum(count > 0 for count in inside)
    if not gaps:
        return None
    points = "1 point" if gaps == 1 else f"{gaps} points"
    of = "1 series" if affected == 1 else f"{affected} series"
    return f"resample at a step of {step:.6g} made {points} in gaps of {of} of {batch.name}, where neighbours are far apart"


def _resampled(
    row: NDArray[Any], times: NDArray[np.float64], step: float, missing: Missing, batch: Batch, s: int
) -> tuple[NDArray[Any], NDArray[np.float64], int]:
    """A series `[length, channels]` at equal spacing, its times, and how many of its points lie in gaps."""
    if not len(row):
        return row, times, 0
    # The last time is reached, although steps add up with rounding.
    count = int(np.floor((times[-1] - times[0]) / step + _SAME)) + 1
    grid = times[0] + step * np.arange(count)
    # What is a known time but for rounding is that time: even points stay as they are.
    after = np.minimum(np.searchsorted(times, grid), len(times) - 1)
    for near in (after, np.maximum(after - 1, 0)):
        grid = np.where(np.abs(times[near] - grid) <= _SAME * step, times[near], grid)
    reach = _GAP * max(step, float(np.median(np.diff(times))) if len(times) > 1 else 0.0)
    values = np.empty((count, row.shape[1]), dtype=np.result_type(row.dtype, np.float32))
    inside = np.zeros(count, dtype=bool)
    for channel in range(row.shape[1]):
        own = row[:, channel]
        gone = np.isnan(own) if own.dtype.kind == "f" else np.zeros(len(own), dtype=bool)
        if gone.any() and missing == "error":
            raise ValueError(
                f"series {s} of {batch.name} has NaN at point {int(gone.argmax())}, channel {channel}: expected finite numbers{ADVICE}"
            )
        if gone.all():
            raise ValueError(f"series {s} of {batch.name} has missing values only: nothing to resample; leave it out")
        known, places = own[~gone], times[~gone]
        if missing == "previous":
            before = np.maximum(np.searchsorted(places, times, side="right") - 1, 0)
            known, places = known[before], times
            apart = times[~gone]
        else:
            apart = places
        values[:, channel] = np.interp(grid, places, known)
        after = np.searchsorted(apart, grid, side="left")
        between = (after > 0) & (after < len(apart))
        near = np.minimum(after, len(apart) - 1)
        exact = apart[near] == grid
        wide = apart[near] - apart[np.maximum(near - 1, 0)] > reach
        inside |= ~exact & ((between & wide) | ~between)
    return values, grid, int(inside.sum())
