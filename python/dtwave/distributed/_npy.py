"""A matrix in a `.npy` file, tile by tile. What an earlier call wrote of it is not computed again."""

from __future__ import annotations

import hashlib
import os
import warnings
from contextlib import contextmanager, suppress
from typing import Any, Iterator

import numpy as np

from .. import _native, _options
from .._spec import spec
from ._engines import Workers, results
from ._tiles import Plan, Tile, distances
from ._work import Side, Stored

#: Rows and columns of the parts that are computed again to see whether a file is that of a call.
SAMPLE = 8
#: Bytes of series in a file that are read at once to see whether they are the same.
READ = 1 << 26


@contextmanager
def opened(path: str, plan: Plan, resume: bool) -> Iterator[tuple[_native.MatrixFile, Plan]]:
    """The file, which has its name once it is whole, and the plan, cut along what is there. If the block fails, what was
    written waits for `resume`.

    Errors: `OSError` for a file that cannot be written, or that holds another result.
    """
    work = plan._work
    what = spec(work.given.measure, work.given.band, work.given.parameters)
    options = _native.matrix_options(what, _device_of(plan), len(work.sides) > 1, bool(work.given.sqrt))
    if work.cutoff is not None:
        options.append(("cutoff", str(work.cutoff.most)))
    if any(isinstance(side, Stored) for side in work.sides):
        options += [(name, str(getattr(work.given, name))) for name in ("layout", "missing", "normalize", "padding")]
    sides = [_hash(side) for side in work.sides]
    inputs = [("the content of x", sides[0]), ("the content of y", sides[-1])]
    is_single = plan.dtype == np.float32
    # Where the caller goes meanwhile makes no difference.
    whole = os.path.abspath(path)
    file = _native.MatrixFile(whole, bool(resume), plan.shape, is_single, plan._is_symmetric, options, inputs)
    try:
        for note in file.notes:
            _warn(note if path in note else f"{path}: {note}")
        plan = _along(plan, *file.edges())
        done = sum(file.has(tile.rows, tile.columns) for tile in plan.tiles)
        if file.found == "unfinished" and done:
            _warn(f"{path}: {done} of {len(plan)} tiles were done already")
        yield file, plan
    except BaseException:
        # What does not reach the disk now is computed again.
        with suppress(OSError):
            file.pause()
        raise
    file.finish()


def _along(plan: Plan, rows: list[int], columns: list[int]) -> Plan:
    """The plan, cut further where tiles of a file begin and end, so that these are not computed again."""
    if plan._is_symmetric:
        rows = columns = [*rows, *columns]
    cut = [
        np.union1d(edges, np.array(there, dtype=np.int64))
        for edges, there in ((plan._row_edges, rows), (plan._column_edges, columns))
    ]
    return Plan(plan._work, cut[0], cut[1], plan._is_symmetric)


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=8)


def _device_of(plan: Plan) -> str:
    """The backends that compute: `cpu`, `cuda`."""
    names = _options.device_name(plan._work.given.device).split(",")
    return ",".join(sorted({name.strip().partition(":")[0] for name in names}))


def _hash(side: Side) -> str:
    """What tells series from others: their content, also of a file that keeps its name."""
    if not isinstance(side, Stored):
        return _native.series_hash(side)
    found, (start, stop) = hashlib.blake2b(digest_size=16), side.span
    array = side.array
    found.update(f"{array.dtype} {list(array.shape[1:])} {stop - start}".encode())
    step = max(READ // max(int(np.prod(array.shape[1:])) * array.dtype.itemsize, 1), 1)
    for first in range(0, stop - start, step):
        part = side.read((first, min(first + step, stop - start)))
        found.update(np.ascontiguousarray(part).view(np.uint8).data)
    return found.hexdigest()


def compared(path: str, plan: Plan, workers: Workers) -> None:
    """Computes parts of a finished file again, whose call is not known.

    Errors: `OSError` if a value is another.
    """
    matrix: Any = np.load(path, mmap_mode="r")
    count = 0
    # As for calls without workers.
    tolerance = 1e-3 if plan.dtype == np.float32 else 1e-8
    with results(workers, distances, plan._work, _sample(plan)) as found:
        for tile, part in found:
            stored = matrix[slice(*tile.rows), slice(*tile.columns)]
            wrong = np.argwhere(~np.isclose(stored, part, rtol=tolerance, atol=0.0, equal_nan=True))
            if len(wrong):
                i, j = (int(at) for at in wrong[0])
                raise OSError(
                    f"{path} is a result of another job: the distance of row {tile.rows[0] + i} and column "
                    f"{tile.columns[0] + j} is {stored[i, j]} there, {part[i, j]} in this one; leave out resume=True to "
                    "replace it, or choose another name"
                )
            count += part.size
    _warn(
        f"{path} is finished already: its shape and type are right, and so is a sample of {count} computed again; the "
        "other values were not compared"
    )


def _sample(plan: Plan) -> list[Tile]:
    """Small tiles along both diagonals; of a symmetric matrix those on and above the first one."""
    rows, columns = plan.shape
    wanted: list[Tile] = []
    for k in range(5):
        spans = [(start, min(start + SAMPLE, end)) for end in (rows, columns) for start in [max(end - SAMPLE, 0) * k // 4]]
        if plan._is_symmetric:
            wanted.append(Tile(len(wanted), spans[0], spans[1], False, True))
            last = max(columns - SAMPLE, 0), columns
            if spans[0][1] <= last[0]:
                wanted.append(Tile(len(wanted), spans[0], last, True))
        else:
            other = max(columns - SAMPLE, 0) * (4 - k) // 4
            wanted.append(Tile(len(wanted), spans[0], spans[1]))
            wanted.append(Tile(len(wanted), spans[0], (other, min(other + SAMPLE, columns))))
    return wanted
