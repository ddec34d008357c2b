"""Which times twed takes, where series come with some: those of an index or of a panel.

| `times=` | twed takes |
| --- | --- |
| arrays | these |
| "index" | the times of the index, or of the panel: dates in seconds, numbers as they are |
| "elapsed" | the same, of each series from its first point on |
| "count" | 1, 2, … |
| None | 1, 2, … where all points are equally far apart; else the times, if "index" and "elapsed" are the same |

Where None has two meanings the call is refused, and each is named.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from ._inputs import Batch
from ._notes import TimesWarning, warn
from ._stamps import Stamps, one_kind, together

#: What `times=` may say in a word.
WORDS = ("index", "elapsed", "count")
#: A share of a step that is none.
_SAME = 1e-6


def check(times: Any) -> None:
    """Errors: `ValueError` for a word that is none of `WORDS`."""
    if isinstance(times, str) and times not in WORDS:
        raise ValueError(f'times must be timestamps, or "index", "elapsed" or "count"; got {times!r}')


def settle(batches: Sequence[Batch], times: Any, measure: str, is_resampled: bool, is_option: bool) -> None:
    """Gives batches the times that twed takes of their index. `times` is the option, and `is_option` whether the
    function has it.

    Errors: `ValueError` for an index without times, and for one that may be meant in several ways.
    """
    if isinstance(times, str):
        if times != "count" and (measure == "twed" or not is_resampled):
            _take(batches, times, measure)
    elif times is None and measure == "twed" and not is_resampled:
        _guess(batches, is_option)


def _take(batches: Sequence[Batch], word: str, measure: str) -> None:
    """The times that were asked for."""
    if measure != "twed":
        raise ValueError(f'times="{word}" is for twed: {measure} goes by the places of points; leave it out')
    for batch in batches:
        s = next((s for s, own in enumerate(_stamps(batch)) if own is None), None)
        if s is not None:
            raise ValueError(
                f'times="{word}" takes the times of an index, and series {s} of {batch.name} has none: pass pandas Series '
                "or DataFrames whose index is times, a panel with time=, or times= as arrays"
            )
    every = [own for batch in batches for own in _stamps(batch) if own is not None]
    one_kind(every)
    # Twed asks how far apart times are, so that the first one of the call may be 0.
    rows = iter(together(every) if word == "index" else [own.values - own.values[:1] for own in every])
    for batch in batches:
        batch.times = [next(rows) for _ in range(len(batch))]


def _guess(batches: Sequence[Batch], is_option: bool) -> None:
    """The times that can only be meant."""
    having = [(batch, own) for batch in batches for own in _stamps(batch) if own is not None]
    if _are_even([own for _, own in having]):
        return
    uneven = next((batch.name for batch, own in having if not _are_even([own])), None)
    apart = f"the points of {uneven} are not equally spaced" if uneven else "series have points at other steps"
    if not is_option:
        warn(
            f"{apart}, and without an option times= twed counts points 1, 2, …; pass resample= to space them equally, or "
            "arrays to say that they count",
            TimesWarning,
        )
        return
    if all(own.kind == "labels" for _, own in having):
        warn(
            f'{apart} by the index, whose whole numbers twed takes for labels of rows: pass times="index" if they are '
            'times, or times="count" to count points 1, 2, …',
            TimesWarning,
        )
        return
    every = [own for batch in batches for own in _stamps(batch)]
    meant = (
        'pass times="index" to compare when they are, times="elapsed" for times since the first point of each series, or '
        'times="count" to count points 1, 2, …'
    )
    if any(own is None for own in every):
        raise ValueError(f'{apart}, and other series of the call have no times: pass times= for all, or times="count"')
    if len({own.shown for own in every if own is not None}) > 1:
        raise ValueError(f"{apart}, and the times of the call are of several kinds: {meant}")
    starts = {own.start for own in every if own is not None and len(own.values)}
    if len(starts) > 1:
        raise ValueError(f"{apart}, and series start at different times: {meant}")
    unit = having[0][1].unit
    warn(
        f'{apart}: twed takes the times of the index, and nu is per {unit}; times="index" says so, times="count" counts '
        "points 1, 2, …",
        TimesWarning,
    )
    _take(batches, "index", "twed")


def _stamps(batch: Batch) -> list[Stamps | None]:
    """When the points of each series are, without those of padding."""
    if batch.index is None:
        return [None] * len(batch)
    return [None if own is None else own.cut(points) for own, points in zip(batch.index, batch.lengths)]


def _are_even(every: Sequence[Stamps]) -> bool:
    """Whether all points are equally far apart, and at the same distance in every series."""
    steps: list[NDArray[np.float64]] = [np.diff(own.values) for own in every if len(own.values) > 1]
    if not steps:
        return True
    step = float(steps[0][0])
    most = max(float(np.abs(own.values).max()) for own in every if len(own.values) > 1)
    slack = _SAME * abs(step) + 4 * np.finfo(np.float64).eps * most
    return step > 0 and all(bool((np.abs(own - step) <= slack).all()) for own in steps)
