"""Searches by the workers of a client: the queries are shared out, and each worker has the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _missing, _native
from .._calls import Call
from .._options import Given
from ._engines import results, workers_of
from ._work import Span, Work

#: Matches of a query as the native half gives them, and whether half precision proposed them.
Hits = tuple[list[tuple[float, int, int]], bool]
#: Most matches, exclusion, threshold, window, and whether half precision proposes.
Asked = tuple[Any, int, Any, Any, bool]


@dataclass(frozen=True)
class _Queries:
    """A job: some queries of one length. `side` has them, and `reference` what they are sought in."""

    side: int
    reference: int
    span: Span
    asked: Asked


def _found(work: Work, queries: _Queries) -> list[Hits]:
    """What a worker finds."""
    call = work.call((queries.side, queries.span), (queries.reference, (0, 1)))
    many, exclusion, threshold, window, half = queries.asked
    return _native.search(*call.sides, call.spec, call.engine, many, exclusion, threshold, window, half, None)


def search(client: Any, given: Given, calls: list[tuple[Call, list[int], Asked]]) -> dict[int, Hits]:
    """The matches of each query, by its place. `calls` has one for each length: the call, the places of its queries,
    and what is asked of them.
    """
    workers = workers_of(client)
    first, _, _ = calls[0]
    queries = [call.packed[0] for call, _, _ in calls]
    # One reference of each number type: queries of one length may be of another than the rest.
    references = {call.number: call.packed[1] for call, _, _ in calls}
    place = {number: len(queries) + at for at, number in enumerate(references)}
    work = Work.of(Call(first.spec, first.engine, first.number, [*queries, *references.values()]), given)
    total = sum(len(places) for _, places, _ in calls)
    each = max(total // (4 * workers.count()), 1)
    jobs = [
        _Queries(side, place[call.number], (start, min(start + each, len(places))), asked)
        for side, (call, places, asked) in enumerate(calls)
        for start in range(0, len(places), each)
    ]
    hits: dict[int, Hits] = {}
    with _missing.Explained(), results(workers, _found, work, jobs) as found:
        for job, own in found:
            hits.update(zip(calls[job.side][1][slice(*job.span)], own))
    return hits
