"""Matrices of distances: whole, condensed, sparse, in an array of the caller's or in a file of any size."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _calls, _native, _options, _progress, _resident, _resident_calls, _workers
from ._calls import Call
from ._distances import CANDIDATE_BYTES, others
from ._edges import Threshold
from ._inputs import Batch
from ._options import Cutoff, Given, OfManyTimed, taken, takes
from ._results import Graph

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Where a matrix goes: a `.npy` file, or an array.
Out = Union[None, str, "os.PathLike[str]", NDArray[Any], Any]


@overload
def pairwise(
    x: Any,
    y: Any = None,
    *,
    k: None = None,
    threshold: None = None,
    condensed: bool = False,
    out: Out = None,
    resume: bool = False,
    cutoff: float | None = None,
    client: Any = None,
    **options: Unpack[OfManyTimed],
) -> Any: ...


@overload
def pairwise(x: Any, y: Any = None, *, k: int, client: Any = None, **options: Unpack[OfManyTimed]) -> Graph: ...


@overload
def pairwise(
    x: Any,
    y: Any = None,
    *,
    threshold: float,
    out: str | os.PathLike[str] | None = None,
    client: Any = None,
    **options: Unpack[OfManyTimed],
) -> Graph: ...


@takes(OfManyTimed)
def pairwise(
    x: Any,
    y: Any = None,
    *,
    k: int | None = None,
    threshold: float | None = None,
    condensed: bool = False,
    out: Out = None,
    resume: bool = False,
    cutoff: float | None = None,
    client: Any = None,
    **options: Unpack[OfManyTimed],
) -> Any:
    """Distances of every series of `x` with every series of `y`, or, without `y`, of every two series of `x`.

    x, y: `[series, length]`, `[series, length, channels]`, or lists of series of any lengths. Without `y`, half of the
        matrix is computed and mirrored (not for subsequence_dtw and bands of explicit ranges, which are not symmetric).
    measure, band, device, dtype, threads, memory_limit, layout, normalize, sqrt: as for `distance`.
    cutoff: as for `distance`; not with `k` and not with a file as `out`.
    k: returns only the k nearest series of each row, as a sparse `Graph`; without `y` a series is not its own neighbour.
    threshold: returns only the pairs whose distance (with `sqrt` its root) is at most this, of similarities at least, as
        a sparse `Graph`; the matrix is never held. Without `y` each pair stands in both of its rows, and a series is no
        neighbour of itself. Half of `memory_limit` is for the pairs that are found. Not with `cutoff`.
    condensed: True returns only the upper triangle of a symmetric matrix, in the order of SciPy's `pdist`:
        `[n (n - 1) / 2]`.
    out: where the matrix is written: the path of a `.npy` file, or a NumPy array (also a memory map) of the matrix's
        shape and number type. A file may be larger than memory. Until it is complete, its name ends in `.partial`.
        With `threshold` the graph is also written, to a `.parquet` file (columns row, column, distance; needs pyarrow)
        or an `.npz` file (which SciPy's `load_npz` reads).
    resume: True continues the file `out` of a call that was interrupted. Finished parts are checked and kept.
    client: workers that compute: a `dask.distributed.Client`, the module `ray`, the module `joblib` (its active backend)
        or a `joblib.Parallel`. `device` and `threads` are theirs; unless given, as many threads as the engine gives them.
        A worker that is lost loses nothing with Dask and Ray. The bits are those of the call without it. `out` may then
        also be a zarr array, a `.zarr` folder, or the URL of a `.zarr` in an object store
        (`s3://bucket/matrix.zarr`; needs fsspec), which `resume` does not continue. Not for series in a GPU's memory.
    lengths, times: as for `zipped`, but without `y` those of x alone, not a tuple.
    padding: "nan" if NaN at the end of a series is padding.
    progress: True shows a progress bar (tqdm's if it is installed).

    Returns `[n_x, n_y]` of float32 or float64 (without `y` `[n_x, n_x]`). With an array as `out` it is that array, with
    a file a read-only memory map of it; with `k` or `threshold` a `Graph`. For series in a GPU's memory the matrix is there;
    `out` is then an array there too, and `k` (see `nearest`) and `threshold` are errors.

    Time: one sweep per pair. Memory: the matrix; with `out`, `k` or `threshold` only a part of it at a time, of at most half of
    `memory_limit`.

    Errors: as `distance`; `OSError` for a file that cannot be written or holds another result, `ValueError` and
    `TypeError` for an array of another shape or type, or one that cannot be written.
    """
    given, place = taken(options, OfManyTimed), _resident.place_of(x=x, y=y)
    most = Cutoff.of(cutoff, place)
    if threshold is not None:
        _check_alone(k, condensed, resume, most)
        return _within(Threshold.of(threshold, out, place), client, x, y, given)
    if client is not None:
        return _by_workers(client, x, y, (k, condensed, out, resume, most), given)
    if place is not None:
        return given.rooted(_resident_calls.pairwise(place, x, y, (k, condensed, out, resume), given))
    batches = _calls.many(x, y, given)
    call = _calls.prepared(batches, given)
    _check_form(k, condensed, out, resume, y, call)
    finish = given.rooted
    if most is not None:
        _check_cutoff(k, out)
        call = replace(call, engine=most.engine(call.engine, call.number, given))
        finish = partial(most.roots, given=given)
    among = None if k is None else (call.packed[-1], call.first if len(batches) > 1 else None)
    with call.bar("pairwise", False, among) as bar:
        if k is not None:
            graph = _graph(call, _options.whole("k", k, 1), batches, bar)
            given.rooted(graph.data)
            return graph
        if condensed:
            half = call.empty("the condensed matrix", len(batches[0]) * (len(batches[0]) - 1) // 2)
            _native.condensed(call.first, call.spec, call.engine, half, bar)
            return finish(half)
        if out is None:
            matrix = call.empty("the distance matrix", len(batches[0]), len(batches[-1]))
            _native.distances(call.first, call.second, call.spec, call.engine, False, matrix, bar)
            return finish(matrix)
        if isinstance(out, np.ndarray):
            _check_array(out, (len(batches[0]), len(batches[-1])), call)
            _native.pairwise_into(call.first, call.second, call.spec, call.engine, out, bar)
            return finish(out)
        return _to_file(call, batches, os.fspath(out), (resume, given), bar)


def _within(threshold: Threshold, client: Any, x: Any, y: Any, given: Given) -> Graph:
    """The pairs within a threshold, by the workers of a client if there is one."""
    batches = _calls.many(x, y, given)
    call = _calls.prepared(batches, given if client is None else _workers.local(given))
    if client is not None:
        return threshold.written(_workers.edges(client, given, call, threshold))
    with call.bar("pairwise", False) as bar:
        found = threshold.found(call, given, bar)
    return threshold.written(found)


def _check_alone(k: Any, condensed: bool, resume: bool, cutoff: Any) -> None:
    """Refuses forms that a threshold excludes."""
    others = {"k": k is not None, "condensed": condensed, "resume": resume, "cutoff": cutoff is not None}
    found = [name for name, is_wanted in others.items() if is_wanted]
    if found:
        raise ValueError(f"threshold and {' and '.join(found)} exclude each other")


def _by_workers(client: Any, x: Any, y: Any, form: tuple[Any, ...], given: Given) -> Any:
    """The matrix by the workers of a client."""
    k, condensed, out, resume, most = form
    _workers.on_host(_resident.place_of(x=x, y=y))
    batches = _calls.many(x, y, given)
    call = _calls.prepared(batches, _workers.local(given))
    is_zarr = _workers.is_zarr(out) or (
        isinstance(out, (str, os.PathLike)) and os.fspath(out).lower().endswith(".zarr")
    )
    # What is said of an array of NumPy's, or of a file, is right for zarr's, too.
    _check_form(k, condensed, "zarr.npy" if is_zarr else out, False, y, call)
    _workers.check_resume(resume, out)
    if most is not None and isinstance(out, (str, os.PathLike)):
        _check_cutoff(None, out)
    shape = len(batches[0]), len(batches[-1])
    if isinstance(out, np.ndarray):
        _check_array(out, shape, call)
    elif _workers.is_zarr(out):
        _workers.check_array(out, shape, call.number)
    if k is None:
        return _workers.pairwise(client, given, call, (condensed, out, resume), most)
    if most is not None:
        _check_cutoff(k, out)
    graph = _graph(call, _options.whole("k", k, 1), batches, None, partial(_workers.nearest, client, given))
    given.rooted(graph.data)
    return graph


def _check_cutoff(k: Any, out: Any) -> None:
    if k is not None or not (out is None or isinstance(out, np.ndarray)):
        raise ValueError(f"{'out as a file' if k is None else 'k'} and cutoff exclude each other")


def _check_form(k: Any, condensed: bool, out: Any, resume: bool, y: Any, call: Call) -> None:
    """Refuses forms that exclude each other."""
    forms = {"k": k is not None, "condensed": condensed, "out": out is not None}
    wanted = [name for name, is_wanted in forms.items() if is_wanted]
    if len(wanted) > 1:
        raise ValueError(f"{' and '.join(wanted)} exclude each other: ask for one form of the matrix")
    if condensed:
        _calls.check_condensed(y is not None, call.spec)
    if k is not None and not call.spec.is_symmetric:
        raise ValueError("k is for symmetric distances; for others use dtwave.nearest, where x comes first")
    if isinstance(out, np.ndarray) or out is None:
        if resume:
            raise ValueError("resume continues a .npy file: pass out=PATH")
    elif not isinstance(out, (str, os.PathLike)):
        kind = type(out).__name__
        shared = ": pass np.from_dlpack(out), which shares its memory" if hasattr(out, "__dlpack__") else ""
        raise TypeError(f"out must be a .npy file or a NumPy array, got {kind}{shared}")
    elif os.path.splitext(os.fspath(out))[1].lower() != ".npy":
        raise ValueError(f"out must be a .npy file, got {os.fspath(out)!r}")


def _check_array(out: NDArray[Any], shape: tuple[int, int], call: Call) -> None:
    number = call.number
    if isinstance(out, np.ma.MaskedArray):
        raise TypeError("out is a masked array: pass out.data, or an array without a mask")
    if out.shape != shape:
        raise ValueError(f"out must have the shape {list(shape)}, got {list(out.shape)}")
    if out.dtype != number:
        raise TypeError(f"out must be an array of {number}, as the series are, got {out.dtype}")
    if not out.flags.writeable:
        raise ValueError("out cannot be written: it is a read-only array")
    if not out.flags.aligned:
        raise ValueError("out cannot be written: its values are not aligned in memory")
    if _overlaps_itself(out):
        raise ValueError("out cannot be written: several of its values are at one place in memory")
    for name, (values, _, times) in zip("xy", call.packed):
        if np.shares_memory(out, values) or (times is not None and np.shares_memory(out, times)):
            raise ValueError(f"out shares memory with {name}, which is read meanwhile: pass another array")


def _overlaps_itself(array: NDArray[Any]) -> bool:
    """Whether some index may reach the place of another, as in a broadcast array."""
    if array.size == 0:
        return False
    end = array.itemsize - 1
    for stride, count in sorted((abs(stride), count) for stride, count in zip(array.strides, array.shape) if count > 1):
        if stride <= end:
            return True
        end += stride * (count - 1)
    return False


def _graph(call: Call, k: int, batches: list[Batch], bar: _progress.Progress, by_workers: Any = None) -> Graph:
    """The k nearest of each row, in this process or by workers."""
    first, candidates = call.packed[0], call.packed[-1]
    rows, columns = len(batches[0]), len(batches[-1])
    is_own = len(batches) == 1
    _calls.check_neighbors(k, columns, is_own)
    _calls.afford(CANDIDATE_BYTES * (k + 1) * rows, "the list of neighbours")
    sought = k + is_own
    if by_workers is not None:
        found = by_workers(replace(call, packed=[candidates, first]), sought)
    else:
        found = _native.nearest(candidates, None if is_own else first, sought, call.spec, call.engine, bar)
    indices, distances = others(*found) if is_own else found
    indptr = np.arange(rows + 1, dtype=np.int64) * k
    return Graph(indptr, indices.reshape(-1), distances.reshape(-1), (rows, columns))


def _to_file(
    call: Call, batches: list[Batch], path: str, how: tuple[bool, Given], bar: _progress.Progress
) -> NDArray[Any]:
    """The matrix in a file. `how` is whether it is resumed, and the options of the call."""
    resume, given = how
    first, second, root = call.first, call.second, bool(given.sqrt)
    found, notes = _native.pairwise_to_file(first, second, call.spec, call.engine, path, resume, root, bar)
    for note in notes:
        warnings.warn(f"{path}: {note}" if path not in note else note, stacklevel=4)
    matrix: NDArray[Any] = np.load(path, mmap_mode="r")
    if found == "named":
        compared = _compare(call, batches, matrix, path, given)
        warnings.warn(
            f"{path} is finished already: its shape and type are right, and so is a sample of {compared} computed again; "
            "the other values were not compared",
            stacklevel=4,
        )
    return matrix


def _compare(call: Call, batches: list[Batch], matrix: NDArray[Any], path: str, given: Given) -> int:
    """Computes a sample of a finished file again; the number of values.

    Errors: `OSError` if a value is another.
    """
    a, b = batches[0], batches[-1]
    rows, columns = _spread(len(a)), _spread(len(b))
    sides = _calls.pack([_picked(a, rows), _picked(b, columns)], call.number, given)
    sample = Call(call.spec, call.engine, call.number, sides)
    expected = sample.empty("a sample", len(rows), len(columns))
    _native.distances(sides[0], sides[1], call.spec, call.engine, False, expected, None)
    given.rooted(expected)
    wanted = np.ones(expected.shape, dtype=bool)
    if len(batches) == 1 and call.spec.is_symmetric:
        # The lower half is the mirrored upper one, which rounds differently.
        wanted = np.less_equal.outer(rows, columns)
    tolerance = 1e-3 if call.number == np.float32 else 1e-8
    same = np.isclose(matrix[np.ix_(rows, columns)], expected, rtol=tolerance, atol=0.0, equal_nan=True)
    wrong = np.argwhere(wanted & ~same)
    if len(wrong):
        i, j = (int(index) for index in wrong[0])
        row, column = int(rows[i]), int(columns[j])
        raise OSError(
            f"{path} is a result of another job: the distance of row {row} and column {column} is "
            f"{matrix[row, column]} there, {expected[i, j]} in this one; leave out resume=True to replace it, or choose "
            "another name"
        )
    return int(wanted.sum())


def _spread(count: int) -> NDArray[np.int64]:
    """At most 8 indices, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, 8)).astype(np.int64)) if count else np.empty(0, np.int64)


def _picked(batch: Batch, indices: NDArray[np.int64]) -> Batch:
    chosen = [batch.arrays[int(index)] for index in indices]
    times = None if batch.times is None else [batch.times[int(index)] for index in indices]
    arrays: Any = chosen if isinstance(batch.arrays, list) else batch.arrays[indices]
    return Batch(arrays, batch.name, times)
