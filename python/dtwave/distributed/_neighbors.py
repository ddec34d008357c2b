"""Nearest neighbours by the workers of a client: series of one side are shared out, of the other where these are few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _missing, _native, _progress
from .._calls import Call
from .._options import Given
from ._engines import results, workers_of
from ._tiles import MOST_PAIRS, Plan, Tile, planned
from ._work import Work, naming

#: Distances and the places of the series they are to, each `[series, k]`.
Found = tuple[NDArray[np.int64], NDArray[Any]]


@dataclass(frozen=True)
class _Wanted:
    """A job: of each series of the columns the nearest ones among the rows."""

    tile: Tile
    k: int


def _found(work: Work, wanted: _Wanted) -> Found:
    """What a worker finds: at most k neighbours, by their places among all."""
    tile = wanted.tile
    call = work.call((0, tile.rows), (len(work.sides) - 1, tile.columns))
    k = min(wanted.k, tile.shape[0])
    first, second = tile.rows[0], tile.columns[0]
    with naming(lambda i, j: f"series {first + i} of x and series {second + j} of y"):
        indices, values = _native.nearest(*call.sides, k, call.spec, call.engine, None)
    return indices + tile.rows[0], values


def nearest(client: Any, given: Given, call: Call, k: int) -> Found:
    """The k series of the first side that are nearest to each of the last one, without the matrix."""
    workers = workers_of(client)
    both = Call(call.spec, call.engine, call.number, [call.packed[0], call.packed[-1]])
    plan, cells = planned(both, given, None, None, workers.count(), MOST_PAIRS)
    plan = _shared_out(plan, workers.count())
    total = plan.shape[1]
    best: list[list[tuple[Tile, Found]]] = [[] for _ in plan._column_edges[1:]]
    indices, values = np.empty((total, k), dtype=np.int64), np.empty((total, k), dtype=call.number)
    parts, done = len(plan._row_edges) - 1, 0
    starts = {int(start): place for place, start in enumerate(plan._column_edges[:-1])}
    with _missing.Explained(), _progress.shown(given.progress, "nearest", lambda: cells) as bar:
        with results(workers, _found, plan._work, (_Wanted(tile, k) for tile in plan.tiles)) as found:
            for wanted, some in found:
                place = starts[wanted.tile.columns[0]]
                best[place].append((wanted.tile, some))
                if len(best[place]) == parts:
                    span = slice(*wanted.tile.columns)
                    indices[span], values[span] = _merged(best[place], k, call.spec.is_similarity)
                    best[place] = []
                if bar is not None:
                    done = min(done + plan.cells(wanted.tile), cells)
                    bar(done)
    return indices, values


def _shared_out(plan: Plan, workers: int) -> Plan:
    """The tiles of a plan, each with all rows where there are enough columns: bounds then leave most of them out."""
    rows, columns = plan.shape
    if columns >= 4 * workers:
        edge = max(columns // max(4 * workers, len(plan.tiles)), 1)
        own = np.append(np.arange(0, columns, edge), columns)
        return Plan(plan._work, np.array([0, rows]), own, False)
    own = np.unique(np.linspace(0, rows, max(min(4 * workers, rows), 1) + 1).astype(np.int64))
    return Plan(plan._work, own, np.array([0, columns]), False)


def _merged(parts: list[tuple[Tile, Found]], k: int, is_similarity: bool) -> Found:
    """The best of several lists: nearest first, of equal ones the smaller place."""
    if len(parts) == 1:
        return parts[0][1]
    ordered = [found for _, found in sorted(parts, key=lambda part: part[0].rows)]
    indices = np.concatenate([found[0] for found in ordered], axis=1)
    values = np.concatenate([found[1] for found in ordered], axis=1)
    order = np.argsort(-values if is_similarity else values, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(values, order, axis=1)
