"""Pairs that are near enough, by the workers of a client: each tile gives its edges, and no matrix is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _missing, _native, _options, _progress
from .._calls import Call
from .._edges import Threshold, ordered
from .._options import Given
from .._results import Graph
from ._engines import results, workers_of
from ._tiles import MOST_PAIRS, Tile, planned
from ._work import Work

#: Rows, columns and distances of edges.
Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]


@dataclass(frozen=True)
class _Wanted:
    """A job: the edges of a tile."""

    tile: Tile
    most: float


def _found(work: Work, wanted: _Wanted) -> Found:
    """What a worker finds, by the places of series among all."""
    tile, last = wanted.tile, len(work.sides) - 1
    call = work.call((0, tile.rows), *([] if tile.is_own else [(last, tile.columns)]))
    root = bool(work.given.sqrt)
    indptr, indices, values = _native.edges(
        call.first, call.second, wanted.most, root, call.spec, call.engine, None
    )
    rows = np.repeat(np.arange(*tile.rows, dtype=np.int64), np.diff(indptr))
    columns = indices + tile.columns[0]
    if last == 0 and not tile.is_own:
        # A tile of a matrix that is not symmetric may have series and themselves.
        others = rows != columns
        rows, columns, values = rows[others], columns[others], values[others]
    return rows, columns, values


def edges(client: Any, given: Given, call: Call, threshold: Threshold) -> Graph:
    """The graph of a call, by the workers of a client.

    Errors: `MemoryError` for more edges than half of `memory_limit` has room for.
    """
    workers = workers_of(client)
    plan, cells = planned(call, given, None, None, workers.count(), MOST_PAIRS)
    room = _options.memory_limit(given) // 2
    parts: list[Found] = []
    taken, swept, done = 0, 0, 0
    with _missing.Explained(), _progress.shown(given.progress, "pairwise", lambda: cells) as bar:
        with results(workers, _found, plan._work, (_Wanted(tile, threshold.most) for tile in plan.tiles)) as found:
            for wanted, some in found:
                tile = wanted.tile
                own = [some, (some[1], some[0], some[2])] if tile.is_mirrored else [some]
                parts.extend(own)
                taken += sum(len(each[2]) for each in own)
                swept += tile.shape[0] * tile.shape[1]
                # The parts and the graph that is made of them.
                needed = taken * (2 * (16 + call.number.itemsize))
                if needed > room:
                    nearer = "raise" if call.spec.is_similarity else "lower"
                    raise MemoryError(
                        f"out of memory: the list of the {taken} edges found so far, among {swept} pairs, needs "
                        f"{needed} bytes, {room} bytes are allowed; {nearer} the threshold, or raise memory_limit"
                    )
                if bar is not None:
                    done = min(done + plan.cells(tile), cells)
                    bar(done)
    return ordered(parts, plan.shape, call.number, call.spec.is_similarity)
