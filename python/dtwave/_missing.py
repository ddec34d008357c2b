"""Missing values: NaN in a batch of series, filled or left out as a call asks, and counted in a warning.

A gap is filled from the points of its own series and channel. By `"linear"` it lies on the line between its neighbours,
by their places; by `"previous"` it is the value before. What has no known value on one side is the nearest known one.
`"drop"` leaves out every point that lacks a channel.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._inputs import Batch

#: What is done about missing values.
Missing = Literal["error", "linear", "previous", "drop"]

_WAYS = ("error", "linear", "previous", "drop")

#: What helps against a value that is missing.
ADVICE = '; if it is missing, missing="linear" or "previous" fills it, missing="drop" leaves its point out'


def check(missing: object) -> None:
    """Errors: `ValueError` for another way than the four."""
    if missing not in _WAYS:
        raise ValueError(f'missing must be "error", "linear", "previous" or "drop", got {missing!r}')


def check_places(missing: object) -> None:
    """Errors: `ValueError` for a way that changes the places of points, for functions that return places."""
    check(missing)
    if missing == "drop":
        raise ValueError('missing="drop" moves points to other places, which this returns: use "linear" or "previous"')


class Explained:
    """Within it, an error about NaN also says what `missing` is for."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, ValueError) and " has NaN at " in str(error) and not str(error).endswith(ADVICE):
            raise ValueError(f"{error}{ADVICE}") from None


def treated(batch: Batch, missing: Missing) -> str | None:
    """Fills or leaves out what is missing, in a copy; says how much, `None` if nothing is.

    Errors: `ValueError` for a series of gaps only, and beside gaps for infinite values.
    """
    check(missing)
    if missing == "error":
        return None
    rows = list(batch.arrays)
    wrong = [s for s, row in enumerate(rows) if row.dtype.kind == "f" and np.isnan(row).any()]
    if not wrong:
        return None
    count = outside = 0
    for s in wrong:
        gaps = np.isnan(rows[s])
        _check(rows[s], gaps, s, batch, missing)
        if missing == "drop":
            kept = ~gaps.any(axis=1)
            count += int((~kept).sum())
            rows[s] = rows[s][kept]
            if batch.times is not None and s < len(batch.times) and batch.times[s].shape == kept.shape:
                batch.times = [*batch.times[:s], batch.times[s][kept], *batch.times[s + 1 :]]
            own = None if batch.index is None else batch.index[s]
            if batch.index is not None and own is not None:
                batch.index = [*batch.index[:s], own.cut(len(kept)).at(kept), *batch.index[s + 1 :]]
        else:
            rows[s], ends = _filled(rows[s], gaps, missing)
            count, outside = count + int(gaps.sum()), outside + ends
    of = f"of {len(wrong)} series of {batch.name}" if len(wrong) > 1 else f"of series {wrong[0]} of {batch.name}"
    if missing == "drop":
        batch.arrays, batch.padded, batch.was_array = _as_one(rows), None, False
        return f'missing="drop" left out {count} point{"s" * (count > 1)} {of}'
    batch.arrays = np.stack(rows) if isinstance(batch.arrays, np.ndarray) else rows
    text = f'missing="{missing}" filled {count} value{"s" * (count > 1)} {of}'
    if outside:
        where = "before the first or after the last" if missing == "linear" else "before the first"
        text += f", {outside} of them {where} known value, with the nearest known one"
    return text


def _as_one(rows: list[NDArray[Any]]) -> Any:
    return np.stack(rows) if len({len(row) for row in rows}) == 1 else rows


def _check(row: NDArray[Any], gaps: NDArray[np.bool_], s: int, batch: Batch, missing: Missing) -> None:
    infinite = np.argwhere(np.isinf(row))
    if len(infinite):
        at, channel = infinite[0]
        raise ValueError(
            f"series {s} of {batch.name} has {row[at, channel]} at point {at}, channel {channel}: expected finite numbers"
        )
    if missing == "drop":
        if gaps.any(axis=1).all():
            raise ValueError(
                f'series {s} of {batch.name} lacks a value in every point, so missing="drop" would leave none'
            )
        return
    empty = np.flatnonzero(gaps.all(axis=0))
    if len(empty):
        where = "" if row.shape[1] == 1 else f" in channel {empty[0]}"
        raise ValueError(
            f"series {s} of {batch.name} has missing values only{where}: nothing to fill them from; leave it out"
        )


def _filled(row: NDArray[Any], gaps: NDArray[np.bool_], missing: Missing) -> tuple[NDArray[Any], int]:
    """The series `[length, channels]` without gaps, and how many of them no rule but the nearest value fills."""
    whole, outside = row.copy(), 0
    places = np.arange(len(row))
    for channel in np.flatnonzero(gaps.any(axis=0)):
        gap = gaps[:, channel]
        known = np.flatnonzero(~gap)
        outside += int(known[0])
        if missing == "linear":
            outside += len(row) - 1 - int(known[-1])
            whole[gap, channel] = np.interp(places[gap], known, row[known, channel])
        else:
            before = np.searchsorted(known, places[gap], side="right") - 1
            whole[gap, channel] = row[known[np.maximum(before, 0)], channel]
    return whole, outside
