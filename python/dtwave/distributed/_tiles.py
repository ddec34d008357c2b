"""A matrix of distances as tiles: which there are, what one costs, and how one is computed."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _arrays, _calls, _inputs, _missing, _native, _options, _resident
from .._options import Cutoff, Given, OfManyTimed, taken, takes
from .._spec import spec
from ._places import for_workers
from ._work import Span, Stored, Work, device_of, lengths_of, local

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Cells of a tile on a processor: about a second of one core. On a GPU likewise.
CELLS, CELLS_OF_GPU = 2_000_000_000, 4_000_000_000_000
#: Tiles of a job, about, where it is so large that they would be more: each costs its caller some milliseconds. Then a
#: tile takes longer than a second.
MOST_TILES = 1 << 18
#: Cells below which a tile would be sent for longer than it is computed.
LEAST_CELLS = 50_000_000
#: Tiles for each worker at least, where there are enough cells: the last ones end nearly together.
TILES_PER_WORKER = 8
#: Distances of a tile at most, which travel; and pairs of a tile whose distances do not.
MOST_DISTANCES, MOST_PAIRS = 1 << 22, 1 << 28


@dataclass(frozen=True)
class Tile:
    """A rectangle of a matrix of distances.

    index: its place in `Plan.tiles`.
    rows, columns: from which series to which; the second is not part of it.
    is_mirrored: whether the tile on the other side of the diagonal is this one, turned.
    is_own: whether rows and columns are the same series, so that half of it is computed.
    """

    index: int
    rows: Span
    columns: Span
    is_mirrored: bool = False
    is_own: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of what `run_tile` returns."""
        return self.rows[1] - self.rows[0], self.columns[1] - self.columns[0]


@dataclass
class Plan:
    """A matrix of distances, cut into tiles. It can be pickled; series travel with it unless they are `Stored`.

    shape: rows and columns of the matrix.
    dtype: the number type of the distances.
    tiles: what there is to compute, in the order of the rows. Of a symmetric matrix, the upper half.
    """

    _work: Work
    _row_edges: NDArray[np.int64]
    _column_edges: NDArray[np.int64]
    _is_symmetric: bool
    #: Cells a second of one core, once they were measured.
    _rate: float | None = field(default=None, compare=False)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self._row_edges[-1]), int(self._column_edges[-1])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._work.number

    @cached_property
    def tiles(self) -> list[Tile]:
        found: list[Tile] = []
        rows, columns = (list(zip(edges[:-1], edges[1:])) for edges in (self._row_edges, self._column_edges))
        for i, (a, b) in enumerate(rows):
            for j, (c, d) in enumerate(columns):
                if self._is_symmetric and j < i:
                    continue
                other, own = self._is_symmetric and j > i, self._is_symmetric and j == i
                found.append(Tile(len(found), (int(a), int(b)), (int(c), int(d)), other, own))
        return found

    def __getstate__(self) -> dict[str, Any]:
        # Tiles are made anew from the edges.
        return {name: value for name, value in self.__dict__.items() if name != "tiles"}

    def __len__(self) -> int:
        """How many tiles there are."""
        return len(self.tiles)

    def __repr__(self) -> str:
        return f"Plan({self.shape[0]} x {self.shape[1]} of {self.dtype}, {len(self)} tiles)"

    def cells(self, tile: Tile) -> int:
        """The cells that a tile sweeps. Of series in a file: as if all points counted."""
        what = spec(self._work.given.measure, self._work.given.band, self._work.given.parameters)
        last = len(self._work.sides) - 1
        if isinstance(self._work.sides[0], Stored):
            axis = 1 if self._work.given.layout == "channels_last" else -1
            lengths = [side.array.shape[axis] for side in self._work.sides if isinstance(side, Stored)]
            x, y = (_zeros(lengths[at], self._work) for at in (0, last))
            pairs = tile.shape[0] * (tile.shape[0] + 1) // 2 if tile.is_own else tile.shape[0] * tile.shape[1]
            return _native.cells(x, y, what, False) * pairs
        call = self._work.call((0, tile.rows), *([] if tile.is_own else [(last, tile.columns)]))
        return _native.cells(call.first, call.second, what, False)

    def seconds(self, tile: Tile) -> float:
        """About how long one core of this machine takes for a tile. The first call measures, for about 0.1 seconds.

        Errors: those of `run_tile`.
        """
        if self._rate is None:
            work = replace(self._work, given=replace(self._work.given, device=None, threads=1))
            few = next((each for each in self.tiles if 0 not in each.shape), None)
            if few is None:
                return 0.0
            most, took = 8, 0.0
            while took < 0.05:
                rows, columns = (few.rows[0], min(few.rows[0] + most, few.rows[1])), few.columns
                columns = (columns[0], min(columns[0] + most, columns[1]))
                small = Tile(0, rows, columns)
                begin = time.perf_counter()
                distances(work, small)
                took = time.perf_counter() - begin
                self._rate = self.cells(small) / took
                if small.shape == few.shape:
                    break
                most *= 2
        return self.cells(tile) / self._rate if self._rate else 0.0


def _zeros(length: int, work: Work) -> Any:
    """A series of so many points that costs what any other does."""
    return np.zeros((1, length, 1), dtype=work.number), None, None


@takes(OfManyTimed)
def tiles(
    x: Any,
    y: Any = None,
    *,
    tile: int | tuple[int, int] | None = None,
    cutoff: float | None = None,
    **options: Unpack[OfManyTimed],
) -> Plan:
    """Cuts the matrix that `dtwave.pairwise(x, y)` computes into tiles.

    x, y: series as for `pairwise`, which become part of the plan; or the path of a file, or a `Stored`, both. A file is
        read where a tile is computed. It has no `lengths`, `times` or `resample`.
    tile: how many rows and columns a tile has, one number or a tuple; one number for the symmetric matrix of x with
        itself. Unless given, a tile takes about a second of one core.
    progress: not of a plan: `compute` has it.
    Other options: as for `pairwise`. `device` and `threads` are those of the workers.

    Returns `Plan`. Series are checked, filled, resampled and normalised now, those in a file in each tile.

    Errors: as `pairwise`.
    """
    given, place = taken(options, OfManyTimed), _resident.place_of(x=x, y=y)
    if given.progress:
        raise ValueError("a plan shows no progress: pass progress=True to dtwave.distributed.compute")
    on_host(place)
    most = Cutoff.of(cutoff, None)
    if isinstance(x, (str, os.PathLike, Stored)) or isinstance(y, (str, os.PathLike, Stored)):
        return _of_files([each for each in (x, y) if each is not None], given, most, _edges_of(tile))
    call = _calls.prepared(_calls.many(x, y, given), local(given))
    return planned(call, given, most, _edges_of(tile), 1)[0]


def on_host(place: str | None) -> None:
    """Errors: `ValueError` for series on a device: workers have other memory."""
    if place is not None:
        raise ValueError(
            f"workers take series from main memory, and x is on {place}: pass x.cpu() (of CuPy x.get()), and device="
        )


def _edges_of(tile: Any) -> tuple[int, int] | None:
    if tile is None:
        return None
    rows, columns = tile if isinstance(tile, (tuple, list)) and len(tile) == 2 else (tile, tile)
    return _options.whole("tile", rows, 1), _options.whole("tile", columns, 1)


def planned(
    call: _calls.Call,
    given: Given,
    cutoff: Cutoff | None,
    tile: tuple[int, int] | None,
    workers: int,
    most: int = MOST_DISTANCES,
) -> tuple[Plan, int]:
    """The plan of a call, and the cells of all tiles, of at most `most` pairs each. Checks the values, so that an error
    tells a series' place among all.
    """
    with _missing.Explained():
        cells = _native.cells(call.first, call.second, call.spec, False)
    lengths = lengths_of(call.first), lengths_of(call.packed[-1])
    is_symmetric = call.second is None and call.spec.is_symmetric
    edges = _cut(lengths, cells * (2 if is_symmetric else 1), given, tile, (workers, most), is_symmetric)
    return Plan(Work.of(call, given, cutoff), *edges, is_symmetric), cells


def _of_files(files: list[Any], given: Given, cutoff: Cutoff | None, tile: tuple[int, int] | None) -> Plan:
    """A plan of series in files."""
    named = {"lengths": given.lengths is not None, "times": given.times is not None, "resample": given.is_resampled}
    if any(named.values()):
        raise ValueError(f"{', '.join(name for name in named if named[name])}: not for series in a file: pass arrays")
    sides = tuple(each if isinstance(each, Stored) else _stored(each) for each in files)
    spans, arrays = [side.span for side in sides], [side.array for side in sides]
    for side, array in zip(sides, arrays):
        if len(array.shape) not in (2, 3):
            raise ValueError(
                f"{side.path} must hold [series, length] or [series, length, channels], got shape {list(array.shape)}"
            )
    own = local(given)
    # One series of each: what is wrong with all of them is said once, here.
    batches = [
        _inputs.many(side.read((0, min(1, end - start))), f"{side.path}", given.layout, None, given.padding, None)
        for side, (start, end) in zip(sides, spans)
    ]
    if all(len(batch) for batch in batches):
        call = _calls.prepared(batches, own)
        number, what = call.number, call.spec
    else:
        number, what = (
            _inputs.number_type(batches, _options.number_type(given.dtype)),
            spec(given.measure, given.band, given.parameters),
        )
    given = replace(given, layout=given.layout or "channels_last", dtype=None, device=device_of(given))
    lengths = [
        np.full(end - start, array.shape[1 if given.layout != "channels_first" else -1], dtype=np.int64)
        for (start, end), array in zip(spans, arrays)
    ]
    is_symmetric = len(sides) == 1 and what.is_symmetric
    cells = int(lengths[0].sum()) * int(lengths[-1].sum())
    edges = _cut((lengths[0], lengths[-1]), cells, given, tile, (1, MOST_DISTANCES), is_symmetric)
    return Plan(Work(given, number, sides, cutoff), *edges, is_symmetric)


def _stored(file: Any) -> Stored:
    """Errors: `TypeError` for what is no path."""
    if not isinstance(file, (str, os.PathLike)):
        raise TypeError(
            f"one of x and y is in a file, the other is {_arrays.shape_text(np.asarray(file))}: pass both in one way"
        )
    return Stored(for_workers(os.fspath(file)))


def _cut(
    lengths: tuple[NDArray[np.int64], NDArray[np.int64]],
    cells: int,
    given: Given,
    tile: tuple[int, int] | None,
    limits: tuple[int, int],
    is_symmetric: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The edges of rows and of columns, for so many workers and pairs of a tile. Blocks have about as many points each."""
    workers, most = limits
    if is_symmetric and tile is not None and tile[0] != tile[1]:
        raise ValueError(
            f"the symmetric matrix of x with itself has square tiles: pass tile={tile[0]} or tile={tile[1]}, got {tile}"
        )
    rows, columns = (len(side) for side in lengths)
    if tile is None:
        target = CELLS if Work(given, np.dtype(np.float64), ()).is_for_cpu else CELLS_OF_GPU
        halves = 2 if is_symmetric else 1
        target = max(target, cells // (MOST_TILES * halves))
        shared = cells // (TILES_PER_WORKER * workers * halves)
        pairs = min(target, max(shared, LEAST_CELLS)) / max(cells / max(rows * columns, 1), 1)
        pairs = min(max(pairs, 1), most)
        edge = max(int(pairs**0.5), 1)
        if is_symmetric:
            tile = edge, edge
        else:
            # Where there are few of one side, a tile has more of the other.
            first = min(max(int(pairs / max(min(edge, columns), 1)), 1), max(rows, 1))
            tile = first, max(int(pairs / first), 1)
        tile = _even(tile[0]), _even(tile[1])
        return blocks(lengths[0], tile[0]), blocks(lengths[1], tile[1])
    return np.append(np.arange(0, rows, tile[0]), rows), np.append(np.arange(0, columns, tile[1]), columns)


def _even(count: int) -> int:
    """Whole registers of pairs, where there are some."""
    return count if count < 16 else count // 16 * 16


def blocks(lengths: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Edges of blocks that have as many points as so many series have on average, and at most four times as many
    series."""
    if len(set(lengths.tolist())) <= 1:
        return np.append(np.arange(0, len(lengths), count), len(lengths))
    ends, edges = np.cumsum(lengths), [0]
    budget = count * float(lengths.mean())
    while edges[-1] < len(lengths):
        start = edges[-1]
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + budget, side="right"))
        edges.append(min(max(stop, start + 1), start + 4 * count, len(lengths)))
    return np.array(edges, dtype=np.int64)


def run_tile(plan: Plan, tile: Tile) -> NDArray[Any]:
    """Computes a tile of a plan: distances of the shape `tile.shape` and the type `plan.dtype`.

    The bits are those of `dtwave.pairwise`. A process keeps what it needs to compute from one tile to the next. Of a
    mirrored tile (`tile.is_mirrored`) the matrix has the transpose, too.

    Time: one sweep per pair; of a tile that `is_own` half of them. Memory: the tile and `memory_limit`.

    Errors: as `dtwave.pairwise`; `OSError` for a file that this machine cannot read.
    """
    return distances(plan._work, tile)


def distances(work: Work, tile: Tile) -> NDArray[Any]:
    """What `run_tile` returns."""
    last = len(work.sides) - 1
    call = work.call((0, tile.rows), *([] if tile.is_own else [(last, tile.columns)]))
    found = np.empty(tile.shape, dtype=work.number)
    with _missing.Explained():
        _native.distances(call.first, call.second, call.spec, call.engine, False, found, None)
    return work.finish(found)
