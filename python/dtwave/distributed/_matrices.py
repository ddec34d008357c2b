"""Tiles of a matrix, computed by workers and put where they belong: an array, its upper triangle, a file, a zarr array."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any, Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .. import _missing, _progress
from .._calls import Call
from .._options import Cutoff, Given
from . import _npy
from ._engines import Workers, results, workers_of
from ._places import is_url, store_of
from ._tiles import Plan, Tile, distances, planned
from ._work import Span, zarr_module

#: Takes a tile of the matrix, or its mirror image: from which row and column, and its distances.
Put = Callable[[int, int, NDArray[Any]], None]


def pairwise(client: Any, given: Given, call: Call, form: tuple[bool, Any, bool], cutoff: Cutoff | None) -> Any:
    """The matrix of a call by the workers of a client. `form` is whether it is condensed, where it goes, and whether a
    file is resumed."""
    workers = workers_of(client)
    plan, cells = planned(call, given, cutoff, None, workers.count())
    _check_out(form[1], plan)
    return _computed(workers, plan, form, given.progress, cells)


def compute(
    plan: Plan,
    client: Any,
    *,
    out: Any = None,
    resume: bool = False,
    condensed: bool = False,
    progress: bool = False,
) -> Any:
    """Computes the tiles of a plan by the workers of a client, and puts them together.

    client, out, resume, condensed, progress: as for `dtwave.pairwise`. Of series in files the content is read once more,
        for a `.npy` file as `out`, so that `resume` can tell them from others.

    Returns what `dtwave.pairwise` does.

    Errors: as `dtwave.pairwise`.
    """
    if not isinstance(plan, Plan):
        raise TypeError(f"plan must be what dtwave.distributed.tiles returns, got {type(plan).__name__}")
    if condensed:
        if out is not None:
            raise ValueError("condensed and out exclude each other: ask for one form of the matrix")
        if not plan._is_symmetric:
            raise ValueError("condensed is for the symmetric matrix of x with itself, and this plan is none")
    check_resume(resume, out)
    _check_out(out, plan)
    cells = sum(map(plan.cells, plan.tiles)) if progress else 0
    return _computed(workers_of(client), plan, (condensed, out, resume), progress, cells)


def _check_out(out: Any, plan: Plan) -> None:
    """Errors: `ValueError` and `TypeError` for what the matrix does not fit."""
    if isinstance(out, (str, os.PathLike)):
        _check_name(os.fspath(out))
    elif out is not None:
        check_array(out, plan.shape, plan.dtype)


def check_resume(resume: bool, out: Any) -> None:
    """Errors: `ValueError` where there is no file to resume, `TypeError` for what is neither True nor False."""
    if not isinstance(resume, (bool, np.bool_)):
        raise TypeError(f"resume must be True or False, got {resume!r}")
    if resume and not (isinstance(out, (str, os.PathLike)) and os.fspath(out).lower().endswith(".npy")):
        got = f", got {os.fspath(out)!r}" if isinstance(out, (str, os.PathLike)) else ": pass out=PATH"
        raise ValueError(f"resume continues a .npy file{got}")


def _check_name(out: str) -> None:
    """Errors: `ValueError` for the name of what a matrix cannot be written to."""
    kind = os.path.splitext(out)[1].lower()
    if kind not in (".npy", ".zarr"):
        raise ValueError(f"out must be a .npy file, or a .zarr folder, got {out!r}")
    if out.startswith("file://"):
        raise ValueError(f"{out}: name the {kind} itself, without file://")
    if kind == ".npy" and is_url(out):
        raise ValueError(f"{out}: object stores write no file in parts; name a .zarr instead")


def is_zarr(out: Any) -> bool:
    """Whether it is an array of zarr."""
    return type(out).__module__.partition(".")[0] == "zarr" and hasattr(out, "chunks") and hasattr(out, "shape")


def check_array(out: Any, shape: tuple[int, int], number: np.dtype[Any]) -> None:
    """Errors: `TypeError` for no array, or one of another type, `ValueError` for another shape, or read-only."""
    if not isinstance(out, np.ndarray) and not is_zarr(out):
        raise TypeError(f"out must be a .npy file, a .zarr folder, a NumPy or a zarr array, got {type(out).__name__}")
    if tuple(out.shape) != shape:
        raise ValueError(f"out must have the shape {list(shape)}, got {list(out.shape)}")
    if out.dtype != number:
        raise TypeError(f"out must be an array of {number}, as the series are, got {out.dtype}")
    if (isinstance(out, np.ndarray) and not out.flags.writeable) or getattr(out, "read_only", False):
        raise ValueError("out cannot be written: it is a read-only array")


def _computed(workers: Workers, plan: Plan, form: tuple[bool, Any, bool], progress: bool, cells: int) -> Any:
    condensed, out, resume = form
    shape = plan.shape
    if condensed:
        half = _empty("the condensed matrix", plan, shape[0] * (shape[0] - 1) // 2)
        _run(workers, plan, _Triangle(half, shape[0]).put, progress, cells)
        return half
    if isinstance(out, (str, os.PathLike)):
        path = os.fspath(out)
        if path.lower().endswith(".npy"):
            return _to_npy(workers, plan, (path, resume), progress, cells)
        with _zarr(path, plan) as put:
            _run(workers, plan, put, progress, cells)
        return zarr_module("a .zarr folder").open_array(path, mode="r")
    matrix = _empty("the distance matrix", plan, *shape) if out is None else out
    _run(workers, plan, _into(matrix), progress, cells)
    return matrix


def _empty(what: str, plan: Plan, *shape: int) -> NDArray[Any]:
    """Errors: `MemoryError` if the machine cannot give as much."""
    try:
        return np.empty(shape, dtype=plan.dtype)
    except (MemoryError, ValueError):
        size = prod(shape) * plan.dtype.itemsize
        raise MemoryError(f"out of memory: {what} needs {size} bytes; out=PATH writes it to a file") from None


def _to_npy(workers: Workers, plan: Plan, file: tuple[str, bool], progress: bool, cells: int) -> Any:
    """The matrix in a file, given as its path and whether it is resumed."""
    path, resume = file
    # Where the caller goes meanwhile makes no difference.
    whole = os.path.abspath(path)
    with _npy.opened(path, plan, resume) as (target, plan):
        if target.found == "named":
            _npy.compared(path, plan, workers)
        _tiles(workers, plan, target.has, lambda tile, part: target.write(tile.rows, tile.columns, part), progress, cells)
    return np.load(whole, mmap_mode="r")


def _run(workers: Workers, plan: Plan, put: Put, progress: bool, cells: int) -> None:
    """Has the tiles computed, and hands each to `put`, with its mirror image."""

    def write(tile: Tile, part: NDArray[Any]) -> None:
        _put(put, tile, part)

    _tiles(workers, plan, lambda rows, columns: False, write, progress, cells)


def _put(put: Put, tile: Tile, part: NDArray[Any]) -> None:
    put(tile.rows[0], tile.columns[0], part)
    if tile.is_mirrored:
        put(tile.columns[0], tile.rows[0], part.T)


def _tiles(
    workers: Workers,
    plan: Plan,
    has: Callable[[Span, Span], bool],
    write: Callable[[Tile, NDArray[Any]], None],
    progress: bool,
    cells: int,
) -> None:
    """Has the tiles computed that are not there yet, and hands each to `write`."""
    wanted = [tile for tile in plan.tiles if not has(tile.rows, tile.columns)]
    if not wanted:
        return
    count = sum(map(plan.cells, set(plan.tiles) - set(wanted))) if progress and len(wanted) < len(plan) else 0
    with _missing.Explained(), _progress.shown(progress, "pairwise", lambda: cells) as bar:
        with results(workers, distances, plan._work, wanted) as found:
            for tile, part in found:
                write(tile, part)
                if bar is not None:
                    # A divergence computes a series with itself in every tile.
                    count = min(count + plan.cells(tile), cells)
                    bar(count)


def _into(matrix: Any) -> Put:
    def put(row: int, column: int, part: NDArray[Any]) -> None:
        matrix[row : row + part.shape[0], column : column + part.shape[1]] = part

    return put


@dataclass
class _Triangle:
    """The distances above the diagonal, row by row."""

    half: NDArray[Any]
    count: int

    def put(self, row: int, column: int, part: NDArray[Any]) -> None:
        for k, values in enumerate(part):
            i = row + k
            start = max(column, i + 1)
            own = values[start - column :]
            if len(own):
                first = i * (2 * self.count - i - 1) // 2 + start - i - 1
                self.half[first : first + len(own)] = own


@contextmanager
def _zarr(path: str, plan: Plan) -> Iterator[Put]:
    """A zarr array, each tile a chunk. A folder has its name when it is whole. An object store cannot rename, so there
    the array has its name from the start; if the block fails, it is deleted.

    Errors: `FileExistsError` if it is there.
    """
    zarr = zarr_module("out as a .zarr folder")
    chunks = tuple(max(int(np.diff(edges).max(initial=1)), 1) for edges in (plan._row_edges, plan._column_edges))
    if is_url(path):
        store, name = store_of(path)
        if store.exists(name):
            raise FileExistsError(f"{path} is there already: choose another name, or delete it")
        # What another writer has made since is not ours: this is an error, and nothing is deleted.
        array = zarr.open_array(path, mode="w-", shape=plan.shape, chunks=chunks, dtype=plan.dtype)
        try:
            yield _into(array)
        except BaseException:
            store.rm(name, recursive=True)
            raise
        return
    if os.path.exists(path):
        raise FileExistsError(f"{path} is there already: choose another name, or delete it")
    folder, name = os.path.split(os.path.abspath(path))
    with tempfile.TemporaryDirectory(dir=folder, prefix=f"{name}.", suffix=".partial") as temporary:
        inside = os.path.join(temporary, "array.zarr")
        array = zarr.open_array(inside, mode="w-", shape=plan.shape, chunks=chunks, dtype=plan.dtype)
        yield _into(array)
        os.rename(inside, path)
