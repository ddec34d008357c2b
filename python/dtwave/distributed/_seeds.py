"""The first centres of k-means, chosen as by the native half (k-means++): workers compute the distances.

```text
first centre x_s with probability ∝ w_s;   each next one  ∝  w_s · min over centres c so far of  dtw(c, x_s)
```

Arthur & Vassilvitskii 2007 (SODA '07, p. 1027).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .._spec import spec
from ._engines import all_of
from ._work import Run, Span, Work


@dataclass(frozen=True)
class _Wanted:
    """A job: the distances of some series from one of them, by dtw in the band of the call."""

    center: int
    span: Span


def _found(work: Work, wanted: _Wanted) -> NDArray[Any]:
    """What a worker finds."""
    call = work.call((0, (wanted.center, wanted.center + 1)), (0, wanted.span))
    found = np.empty((1, wanted.span[1] - wanted.span[0]), dtype=work.number)
    _native.distances(*call.sides, spec("dtw", work.given.band, {}), call.engine, False, found, None)
    return found.ravel()


def seeds(run: Run, spans: list[Span], weights: NDArray[np.float64], clusters: int, draws: _native.Draws) -> list[int]:
    """The places of so many different series to start from. `spans` has all series, one span after the other.

    Errors: `ValueError` for a distance, or a sum of them, that is not finite.
    """
    count = len(weights)
    chosen = [draws.below(count) if (weights == weights[0]).all() else draws.by_weight(weights)]
    least = np.full(count, np.inf)
    while len(chosen) < clusters:
        latest = chosen[-1]
        distances = np.empty(count)
        for wanted, part in all_of(run, _found, [_Wanted(latest, span) for span in spans]):
            distances[slice(*wanted.span)] = part
        wrong = np.flatnonzero(~np.isfinite(distances))
        if len(wrong):
            raise ValueError(
                f"the distance of series {latest} and {wrong[0]} is {shown(distances[wrong[0]])}: "
                "scale or normalise the data"
            )
        np.minimum(least, distances, out=least)
        # Exactly: under a band, or where a difference underflows, zero is not certain.
        least[latest] = 0.0
        with np.errstate(over="ignore"):
            shares = weights * least
        if not np.isfinite(total(shares)):
            raise ValueError(
                "the sum of the distances from the first centres overflows f64: scale or normalise the data"
            )
        if (shares > 0).any():
            chosen.append(draws.by_weight(shares))
        else:
            # All others equal a centre: any that is not one will do.
            free = np.delete(np.arange(count), chosen)
            chosen.append(int(free[draws.below(len(free))]))
    return chosen


def total(values: NDArray[np.float64]) -> float:
    """The sum, of one value after the other: its last digits are those of the native half."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.add.accumulate(values)[-1])


def shown(value: Any) -> str:
    """A number that is not finite, as the native half writes it."""
    return "NaN" if np.isnan(value) else str(float(value))
