"""Functions of series in a GPU's memory: those of the same names for arrays of the host."""

from __future__ import annotations

from itertools import groupby
from math import isqrt
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _inputs, _libraries, _options
from ._calls import check_condensed, check_neighbors, named, same_channels
from ._inputs import Layout
from ._options import Given
from ._resident import F64, Batch, Call, normalized, prepared, unequal
from ._results import Alignment, Neighbors


def distance(place: str, x: Any, y: Any, given: Given) -> Any:
    """The distance of two series, as an array without axes."""
    call = prepared(place, named(x, y, given), given, single=True)
    a, b = call.batches
    same_channels(a, b, "dtwave.pairwise and dtwave.zipped")
    return call.distances(call.batches, "zipped", call.empty())


def zipped(place: str, x: Any, y: Any, given: Given) -> Any:
    """Distances of pairs."""
    call = prepared(place, named(x, y, given), given)
    return call.distances(call.batches, "zipped", call.empty(len(call.batches[0])))


def _pairing(call: Call) -> str:
    return "symmetric" if len(call.batches) == 1 and call.spec.is_symmetric else "cross"


def pairwise(place: str, x: Any, y: Any, form: tuple[Any, bool, Any, bool], given: Given) -> Any:
    """A matrix of distances. `form` is k, condensed, out and resume."""
    k, condensed, out, resume = form
    if k is not None:
        raise ValueError(
            f"k makes a sparse matrix in the host's memory, and x is on {place}: use dtwave.nearest, or pass x.cpu() (of "
            "CuPy x.get())"
        )
    if resume or (out is not None and _arrays.device_of(out) is None):
        raise ValueError(
            f"out must be an array on {place}, as x is; for a file or an array of the host pass x.cpu() (of CuPy x.get())"
        )
    call = prepared(place, named(x, y, given), given)
    rows, columns = len(call.batches[0]), len(call.batches[-1])
    if condensed:
        if out is not None:
            raise ValueError("condensed and out exclude each other: ask for one form of the matrix")
        check_condensed(len(call.batches) > 1, call.spec)
    if out is None:
        out = call.empty(rows, columns)
    else:
        _check_out(call, out, (rows, columns), place)
    call.distances(call.batches, _pairing(call), out)
    call.library.written(out)
    return call.library.upper(out) if condensed else out


def _check_out(call: Call, out: Any, shape: tuple[int, int], place: str) -> None:
    found = _arrays.device_of(out)
    if found != place:
        raise TypeError(f"mixed devices: x is on {place}, out is on {found or 'cpu'}; move them to one")
    if _libraries.library_of(out, "out").name != call.library.name:
        raise TypeError(f"out must be an array of {call.library.name}, as x is")
    if getattr(out, "requires_grad", False):
        raise ValueError("out requires a gradient, which distances do not give: pass out.detach()")
    view = call.library.view(out, "out")
    if view.shape != shape:
        raise ValueError(f"out must have the shape {list(shape)}, got {list(view.shape)}")
    wanted = "f64" if call.number == np.float64 else "f32"
    if view.format != wanted or view.array is not out:
        raise TypeError(f"out must be an array of {call.number}, as the series are, got {out.dtype}")
    if (shape[0] > 1 and view.strides[0] != shape[1]) or (shape[1] > 1 and view.strides[1] != 1):
        raise ValueError("out must be contiguous: rows one after the other")
    written = _extent(view.address, view.shape, view.strides, call.number.itemsize)
    for batch in call.batches:
        of = batch.view
        read = _extent(of.address, of.shape, of.strides, {"f64": 8, "f32": 4}.get(of.format, 2))
        if written[0] < read[1] and read[0] < written[1]:
            raise ValueError(f"out shares memory with {batch.name}, which is read meanwhile: pass another array")


def _extent(address: int, shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> tuple[int, int]:
    """Where an array begins and ends in memory, whatever lies between."""
    if 0 in shape:
        return address, address
    steps = [(count - 1) * stride * size for count, stride in zip(shape, strides)]
    return address + sum(min(0, step) for step in steps), address + sum(max(0, step) for step in steps) + size


def nearest(place: str, of: Any, to: Any, k: int, given: Given) -> Neighbors:
    """The k series of `of` that are nearest to each series of `to`, or of `of` to the others."""
    call = prepared(place, named(of, to, given), given)
    x, y = call.batches[0], call.batches[-1]
    is_own = len(call.batches) == 1
    check_neighbors(k, len(x), is_own)
    # A column of the matrix is sorted with its indices.
    most = _options.memory_limit(given) // 2 // (2 * call.number.itemsize + 8)
    step = max(1, most // len(x))
    largest, library = call.spec.is_similarity, call.library
    block = isqrt(most)
    # What is kept of two blocks must be less than their matrix.
    if is_own and call.spec.is_symmetric and step < len(x) and 4 * k <= block:
        return _nearest_of_blocks(call, x, k, block)
    found = []
    for start in range(0, len(y), step):
        end = min(start + step, len(y))
        if is_own and end - start == len(y):
            matrix = call.distances(call.batches, _pairing(call), call.empty(len(x), len(y)))
        else:
            part = y.slice(start, end)
            matrix = call.distances([x, part], "cross", call.empty(len(x), end - start))
        if is_own:
            matrix = library.without_diagonal(matrix, start, largest)
        found.append(library.smallest(matrix, k, largest))
    if len(found) == 1:
        return Neighbors(*found[0])
    return Neighbors(*(library.joined(parts) for parts in zip(*found)))


def _nearest_of_blocks(call: Call, x: Batch, k: int, most: int) -> Neighbors:
    """The k nearest other series of each by a symmetric measure. A matrix of two blocks of at most `most` series is
    computed once, for the neighbours of both.
    """
    largest, library = call.spec.is_similarity, call.library
    size = -(-len(x) // -(-len(x) // most))
    starts = range(0, len(x), size)
    blocks = [x.slice(start, min(start + size, len(x))) for start in starts]
    best: list[tuple[Any, Any]] = []

    # What is offered to a block comes in the order of its indices: equal ones stay in it.
    def offer(block: int, first: int, matrix: Any) -> None:
        indices, values = library.smallest(matrix, k, largest)
        indices = indices + first
        if block == len(best):
            best.append((indices, values))
            return
        known, before = best[block]
        indices, values = library.joined([known.T, indices.T]), library.joined([before.T, values.T])
        order, values = library.smallest(values, k, largest)
        best[block] = library.chosen(indices.T, order), values

    for a, own in enumerate(blocks):
        matrix = call.distances([own], "symmetric", call.empty(len(own), len(own)))
        offer(a, starts[a], library.without_diagonal(matrix, 0, largest))
        for b in range(a + 1, len(blocks)):
            matrix = call.distances([own, blocks[b]], "cross", call.empty(len(own), len(blocks[b])))
            offer(b, starts[a], matrix)
            offer(a, starts[b], matrix.T)
    return Neighbors(*(library.joined(parts) for parts in zip(*best)))


def align(place: str, x: Any, y: Any, given: Given, single: bool = False) -> list[Alignment]:
    """The best paths of pairs, in the host's memory: waits for them."""
    call = prepared(place, named(x, y, given), given, single)
    a, b = call.batches
    if single:
        same_channels(a, b, "dtwave.align_pairs")
    found = call.gpu.align(call.side(a), call.side(b), call.spec, call.number is F64, call.library.stream(call.ordinal))
    number = np.float64 if call.number is F64 else np.float32
    return [
        Alignment(given.rooted_one(distance, number), path, *both)
        for (distance, path), *both in zip(found, _on_host(call, a), _on_host(call, b))
    ]


def _on_host(call: Call, batch: Batch) -> list[NDArray[Any]]:
    """Copies of the series, `[length, channels]`."""
    whole, lengths = call.library.to_numpy(batch.array), batch.lengths
    if lengths is None:
        return list(whole)
    if len(batch.view.shape) == 2:
        return np.split(whole, np.cumsum(lengths)[:-1])
    return [series[:length] for series, length in zip(whole, lengths)]


def search(
    place: str,
    name: str,
    queries: Any,
    reference: Any,
    chosen: Callable[[int], tuple[Any, int, Any, Any, bool]],
    given: Given,
) -> list[tuple[list[tuple[float, int, int]], bool]]:
    """The matches of each query, in the host's memory, and whether half precision proposed them: waits for them.
    `chosen` gives what is asked of queries of some length: most matches, exclusion, threshold, window, and whether half
    precision proposes.
    """
    single = name == "query"
    if not single:
        reference = one_series(reference, given.layout)
    inputs = [(name, queries, given.lengths, None), ("reference", reference, None, None)]
    call = prepared(place, inputs, given, single)
    first, second = call.batches
    if single:
        same_channels(first, second, "dtwave.search_all")
    # Queries of one length, of those that come one after the other, are searched together.
    points = [first.view.shape[1]] * len(first) if first.lengths is None else [int(each) for each in first.lengths]
    asked = [(chosen(each), len(list(own))) for each, own in groupby(points)]
    if any(window is not None for (*_, window, _), _ in asked):
        # Windows begin at every point of packed numbers.
        second.view = call.library.view(call.library.packed(second.array, call.number), "reference")
    stream = call.library.stream(call.ordinal)
    found: list[tuple[list[tuple[float, int, int]], bool]] = []
    for wanted, many in asked:
        some = first.slice(len(found), len(found) + many)
        found += call.gpu.search(call.side(some), call.side(second), call.spec, call.number is F64, stream, *wanted)
    return found


def one_series(reference: Any, layout: Layout) -> Any:
    """A single series as an array of one."""
    if isinstance(reference, (list, tuple)) or reference.ndim not in (1, 2):
        raise _inputs.not_one(reference, "reference", layout)
    return reference[None]


def normalize(place: str, x: Any, given: Given) -> Any:
    """Series z-normalised, in the form of `x`."""
    if given.lengths is not None or given.padding is not None or isinstance(x, (list, tuple)):
        raise unequal(place)
    call = prepared(place, [("x", x, None, None)], given)
    out = normalized(call, call.batches[0])
    if len(x.shape) == 2:
        return out[:, :, 0]
    return out.swapaxes(1, 2) if given.layout == "channels_first" else out
