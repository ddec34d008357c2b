"""Neighbours in several bands, by the workers of a client: a task is a band and a block of series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generator, Sequence

import numpy as np
from numpy.typing import NDArray

from .. import _missing, _native
from .._calls import Call
from .._options import Given
from ._engines import results, workers_of
from ._tiles import blocks
from ._work import Span, Work, lengths_of, naming

#: Series of a block at most.
MOST = 1024


@dataclass(frozen=True)
class _Wanted:
    """A job: of each series of a block the `k` nearest ones of all, in a band. `place` is that of the band."""

    place: int
    band: Any
    span: Span
    count: int
    k: int


def _found(work: Work, wanted: _Wanted) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """What a worker finds."""
    within = replace(work, given=replace(work.given, band=wanted.band))
    call = within.call((0, (0, wanted.count)), (0, wanted.span))
    with naming(lambda i, j: f"series {i} and series {wanted.span[0] + j} of X"):
        return _native.nearest(*call.sides, wanted.k, call.spec, call.engine, None)


def of_bands(
    client: Any, given: Given, call: Call, bands: Sequence[Any], k: int
) -> Generator[tuple[int, NDArray[np.int64], NDArray[Any]], None, None]:
    """For each band, in no order, its place, and the k series that are nearest to each one, itself among them: places
    and distances, `[n, k]` each.
    """
    workers = workers_of(client)
    lengths = lengths_of(call.first)
    count = len(lengths)
    # Few large blocks where there are many bands: each finds its own bounds of all series.
    at_once = -(-count * len(bands) // (4 * workers.count()))
    edges = blocks(lengths, min(max(at_once, 1), MOST, count)).tolist()
    spans = list(zip(edges, edges[1:]))
    jobs = (_Wanted(place, band, span, count, k) for place, band in enumerate(bands) for span in spans)
    parts: dict[int, list[tuple[Span, NDArray[np.int64], NDArray[Any]]]] = {}
    with _missing.Explained(), results(workers, _found, Work.of(call, given), jobs) as found:
        for wanted, own in found:
            known = parts.setdefault(wanted.place, [])
            known.append((wanted.span, *own))
            if len(known) == len(spans):
                _, indices, distances = zip(*sorted(parts.pop(wanted.place), key=lambda each: each[0]))
                yield wanted.place, np.concatenate(indices), np.concatenate(distances)
