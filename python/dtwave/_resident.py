"""Calls whose series and results are in a GPU's memory.

Series are read where they are, at any strides and in any format that kernels read. Results and scratch are memory of
the library that the series are of, on its current stream. A call returns when its work is on the stream: nothing is
waited for, and values are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _inputs, _libraries, _native, _options
from ._bands import Band
from ._inputs import Layout, Padding
from ._libraries import Library, View
from ._measure import Measure, spec
from ._native import DeviceError
from ._options import DeviceLike
from ._results import Alignment, Neighbors


_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


@dataclass
class Batch:
    """Series on a GPU: `[series, length, channels]`, or `[points, channels]` with lengths."""

    view: View
    name: str
    lengths: list[int] | None = None
    times: Any = None

    def __len__(self) -> int:
        return self.view.shape[0] if len(self.view.shape) == 3 else len(self.lengths or [])

    @property
    def array(self) -> Any:
        """The array with the axes of the view."""
        array = self.view.array
        return array[:, :, None] if array.ndim < len(self.view.shape) else array

    def slice(self, start: int, end: int) -> Batch:
        """Series from `start` to `end`, in place."""
        times = None
        if len(self.view.shape) == 3:
            array, first = self.array[start:end], start
            times = None if self.times is None else self.times[start:end]
        else:
            ends = np.cumsum([0, *(self.lengths or [])])
            first, last = int(ends[start]), int(ends[end])
            array = self.view.array[first:last]
            times = None if self.times is None else self.times[first:last]
        size = {"f64": 8, "f32": 4}.get(self.view.format, 2)
        address = self.view.address + first * self.view.strides[0] * size
        view = View(array, address, tuple(array.shape), self.view.strides, self.view.format)
        return Batch(view, self.name, None if self.lengths is None else self.lengths[start:end], times)


@dataclass
class Call:
    """What to compute, on which GPU, with whose memory."""

    library: Library
    ordinal: int
    gpu: Any
    spec: _native.Spec
    number: np.dtype[Any]
    batches: list[Batch]

    def lend(self, size: int) -> tuple[int, Any]:
        """Memory for scratch."""
        return self.library.lend(size, self.ordinal)

    def distances(self, sides: Sequence[Batch], pairing: str, out: Any) -> Any:
        """Puts distances into `out`, which it returns."""
        packed = [self.side(batch) for batch in sides]
        self.gpu.distances(
            packed[0],
            packed[1] if len(packed) > 1 else None,
            self.spec,
            pairing,
            self.number is _F64,
            self.library.stream(self.ordinal),
            self.library.address(out),
            self.lend,
        )
        return out

    def empty(self, *shape: int) -> Any:
        """An array for results."""
        return self.library.empty(shape, self.number, self.ordinal)

    def side(self, batch: Batch) -> tuple[Any, ...]:
        """What the native half takes."""
        view, lengths = batch.view, batch.lengths
        times = 0 if batch.times is None else self.library.address(batch.times)
        if len(view.shape) == 2:
            points, channel = view.strides
            shape = (len(batch), 0, view.shape[1])
            return view.address, view.format, shape, (0, points, channel), times, lengths, None
        series, points, channel = view.strides
        room = None if lengths is None else (series // points if points else 0)
        return view.address, view.format, view.shape, (series, points, channel), times, lengths, room


def place_of(**values: Any) -> str | None:
    """The GPU that all inputs are on, as in `"cuda:0"`; `None` if they are in the host's memory.

    Errors: `TypeError` for inputs on different devices, `dtwave.DeviceError` for a device that is no CUDA GPU.
    """
    place = _inputs.place(**values)
    if place is not None and not place.startswith("cuda:"):
        _inputs.same_device(**values)
    return place


@lru_cache(maxsize=16)
def _gpu(ordinal: int, memory_limit: int) -> Any:
    made = getattr(_native, "Gpu", None)
    if made is None:
        raise DeviceError(
            "this build has no CUDA backend: build with the cargo feature `cuda`, or pass x.cpu()"
        )
    return made(ordinal, memory_limit)


def prepared(
    place: str,
    inputs: Sequence[tuple[str, Any, Any, Any]],
    measure: str | Measure,
    band: Band,
    parameters: dict[str, Any],
    *,
    device: DeviceLike = None,
    dtype: Any = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    layout: Layout = "channels_last",
    padding: Padding = None,
    single: bool = False,
) -> Call:
    """A call on inputs of `(name, values, lengths, times)`.

    Errors: as those of arrays in the host's memory; `ValueError` for another device than where the inputs are.
    """
    what = spec(measure, band, parameters)
    ordinal = int(place[5:])
    if device is not None and str(device) != place and not (str(device) == "cuda" and ordinal == 0):
        first = inputs[0][0]
        raise ValueError(f"{first} is on {place}, and device is {str(device)!r}: leave device out, or move {first}")
    if threads is not None:
        raise ValueError(f"threads is for the CPU; leave it out for arrays on {place}")
    if padding is not None:
        raise ValueError(f"padding is found by looking at the values, which are on {place}: pass lengths instead")
    limit = _options.DEFAULT_MEMORY_LIMIT
    if memory_limit is not None:
        limit = _options.whole("memory_limit", memory_limit, 1, "bytes")
    _inputs.check_layout(layout)
    library = _one_library(inputs)
    gpu = _gpu(ordinal, limit)
    batches = [_batch(library, name, values, layout, single) for name, values, _, _ in inputs]
    number = _options.number_type(dtype)
    if number is None:
        number = _F64 if any(batch.view.format == "f64" for batch in batches) else _F32
    for batch, (name, _, lengths, times) in zip(batches, inputs):
        if lengths is not None:
            _pad(library, batch, lengths, name)
        if times is not None:
            _time(library, batch, times, number, place)
    return Call(library, ordinal, gpu, what, number, batches)


def _one_library(inputs: Sequence[tuple[str, Any, Any, Any]]) -> Library:
    first: Library | None = None
    for name, values, _, _ in inputs:
        for item in values if isinstance(values, (list, tuple)) else (values,):
            library = _libraries.library_of(item, name)
            if first is not None and library is not first:
                raise TypeError(
                    f"the inputs are arrays of {first.name} and {library.name}: convert one of them with from_dlpack"
                )
            first = library
    assert first is not None
    return first


def _batch(library: Library, name: str, values: Any, layout: Layout, single: bool) -> Batch:
    """The series of an argument."""
    if single:
        view = library.view(values, name)
        axes = "[channels, length]" if layout == "channels_first" else "[length, channels]"
        if len(view.shape) not in (1, 2):
            raise ValueError(f"{name} must be one series, [length] or {axes}; got {_shape(view)}")
        return Batch(_three(view, (None, *range(len(view.shape))), layout), name)
    if not isinstance(values, (list, tuple)):
        view = library.view(values, name)
        if len(view.shape) not in (2, 3):
            axes = "[series, channels, length]" if layout == "channels_first" else "[series, length, channels]"
            hint = f"; for one series write {name}[None]" if len(view.shape) == 1 else ""
            raise ValueError(f"{name} must be [series, length] or {axes}, got {_shape(view)}{hint}")
        return Batch(_three(view, tuple(range(len(view.shape))), layout), name)
    rows = []
    for s, row in enumerate(values):
        view = library.view(row, f"series {s} of {name}")
        if len(view.shape) not in (1, 2):
            raise ValueError(f"series {s} of {name} must be [length] or [length, channels], got {_shape(view)}")
        array = view.array
        if len(view.shape) == 1:
            array = array[:, None]
        elif layout == "channels_first":
            array = array.T
        rows.append(array)
    channels = [row.shape[1] for row in rows]
    other = next((s for s, count in enumerate(channels) if count != channels[0]), None)
    if other is not None:
        raise ValueError(
            f"series 0 of {name} has {_inputs.channel_count(rows[0])}, series {other} has "
            f"{_inputs.channel_count(rows[other])}: they must be equal"
        )
    joined = library.view(library.joined(rows), name)
    lengths = [int(row.shape[0]) for row in rows]
    if len(set(lengths)) == 1:
        points, channel = joined.strides
        shape = (len(rows), lengths[0], channels[0])
        whole = View(joined.array.reshape(shape), joined.address, shape, (points * lengths[0], points, channel), joined.format)
        return Batch(whole, name)
    return Batch(joined, name, lengths)


def _shape(view: View) -> str:
    return f"shape {list(view.shape)}" if view.shape else "a single number"


def _three(view: View, axes: tuple[int | None, ...], layout: Layout) -> View:
    """The view as `[series, length, channels]`; `axes` are those of series, and of a series; `None`: one."""
    if axes == (0, 1):
        return View(view.array, view.address, (*view.shape, 1), (*view.strides, 0), view.format)
    if axes == (0, 1, 2) and layout == "channels_last":
        return view
    own = list(axes[1:])
    if len(own) == 2 and layout == "channels_first":
        own.reverse()
    own += [None] * (2 - len(own))
    order = [axes[0], *own]
    shape = tuple(1 if axis is None else view.shape[axis] for axis in order)
    strides = tuple(0 if axis is None else view.strides[axis] for axis in order)
    array = view.array
    if axes[0] is None:
        array = array[None]
    if array.ndim == 2:
        array = array[:, :, None]
    elif layout == "channels_first":
        array = array.swapaxes(1, 2)
    return View(array, view.address, shape, strides, view.format)


def _pad(library: Library, batch: Batch, lengths: Any, name: str) -> None:
    """Says how many points of each series count."""
    view = batch.view
    if len(view.shape) == 2:
        raise ValueError(f"lengths of {name} are for padded arrays; {name} is a list of series of different lengths")
    # Lengths that are on the GPU come here: this waits for them.
    given = lengths if _inputs.device_of(lengths) is None else lengths.tolist()
    counted = _inputs.counted(given, name, view.shape[0], view.shape[1])
    series, points, _ = view.strides
    if view.shape[0] > 1 and (points <= 0 or series % points or series < 0):
        array = library.packed(batch.array, _F64 if view.format == "f64" else _F32)
        batch.view = library.view(array, name)
    batch.lengths = [int(length) for length in counted]


def _time(library: Library, batch: Batch, times: Any, number: np.dtype[Any], place: str) -> None:
    """Takes timestamps, one per point."""
    name = batch.name
    found = _inputs.place(**{f"times of {name}": times})
    if found != place:
        raise TypeError(f"mixed devices: {name} is on {place}, its times are on {found or 'cpu'}; move them to one")
    rows = list(times) if isinstance(times, (list, tuple)) else times
    array = library.joined(rows) if isinstance(rows, list) else rows
    count = len(batch)
    if isinstance(rows, list):
        lengths = batch.lengths or [batch.view.shape[1]] * count
        found_lengths = [int(row.shape[0]) for row in rows]
        if found_lengths != lengths:
            raise ValueError(f"times of {name} must be one per point: got lengths {found_lengths[:8]}, expected {lengths[:8]}")
    else:
        expected = list(batch.view.shape[:2])
        if len(batch.view.shape) == 2 or list(array.shape) != expected:
            if not (count == 1 and list(array.shape) == expected[1:]):
                raise ValueError(f"times of {name} must be one per point: expected shape {expected}, got {list(array.shape)}")
    batch.times = library.packed(array, number)
    if batch.lengths is not None and len(batch.view.shape) == 3:
        # Times lie without gaps between series, and values as they do.
        values = library.packed(batch.array, number)
        batch.view = library.view(values, name)
    if len(batch.view.shape) == 3:
        batch.times = batch.times.reshape(batch.view.shape[:2])


def distance(place: str, x: Any, y: Any, times: tuple[Any, Any], measure: Any, band: Band, parameters: Any, **options: Any) -> Any:
    """The distance of two series, as an array without axes."""
    inputs = [("x", x, None, times[0]), ("y", y, None, times[1])]
    call = prepared(place, inputs, measure, band, parameters, single=True, **options)
    a, b = call.batches
    same_channels(a, b, "dtwave.pairwise and dtwave.zipped")
    return call.distances(call.batches, "zipped", call.empty())


def zipped(place: str, inputs: Sequence[Any], measure: Any, band: Band, parameters: Any, **options: Any) -> Any:
    """Distances of pairs."""
    call = prepared(place, inputs, measure, band, parameters, **options)
    return call.distances(call.batches, "zipped", call.empty(len(call.batches[0])))


def _pairing(call: Call) -> str:
    return "symmetric" if len(call.batches) == 1 and call.spec.is_symmetric else "cross"


def pairwise(
    place: str,
    inputs: Sequence[Any],
    measure: Any,
    band: Band,
    parameters: Any,
    form: tuple[Any, bool, Any, bool],
    **options: Any,
) -> Any:
    """A matrix of distances. `form` is k, condensed, out and resume."""
    k, condensed, out, resume = form
    if k is not None:
        raise ValueError(f"k makes a sparse matrix in the host's memory, and x is on {place}: use dtwave.nearest, or pass x.cpu()")
    if resume or (out is not None and _inputs.device_of(out) is None):
        raise ValueError(f"out must be an array on {place}, as x is; for a file or an array of the host pass x.cpu()")
    call = prepared(place, inputs, measure, band, parameters, **options)
    rows, columns = len(call.batches[0]), len(call.batches[-1])
    if condensed:
        if out is not None:
            raise ValueError("condensed and out exclude each other: ask for one form of the matrix")
        if _pairing(call) != "symmetric":
            why = "y is given" if len(call.batches) > 1 else "these distances are not symmetric"
            raise ValueError(f"condensed is for the symmetric matrix of x with itself, but {why}")
    if out is None:
        out = call.empty(rows, columns)
    else:
        _check_out(call, out, (rows, columns), place)
    call.distances(call.batches, _pairing(call), out)
    return call.library.upper(out) if condensed else out


def _check_out(call: Call, out: Any, shape: tuple[int, int], place: str) -> None:
    found = _inputs.device_of(out)
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


def nearest(
    place: str, inputs: Sequence[Any], k: int, measure: Any, band: Band, parameters: Any, **options: Any
) -> Neighbors:
    """The k series of x that are nearest to each series of y, or of x to the others."""
    call = prepared(place, inputs, measure, band, parameters, **options)
    x, y = call.batches[0], call.batches[-1]
    is_own = len(call.batches) == 1
    if k > len(x) - is_own:
        raise ValueError(f"k must be at most {len(x) - is_own}, the number of {'other ' if is_own else ''}series, got {k}")
    limit = options.get("memory_limit") or _options.DEFAULT_MEMORY_LIMIT
    # A column of the matrix is sorted with its indices.
    step = max(1, limit // 2 // (len(x) * (2 * call.number.itemsize + 8)))
    largest, library = call.spec.is_similarity, call.library
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


def align(
    place: str, inputs: Sequence[Any], measure: Any, band: Band, parameters: Any, **options: Any
) -> list[Alignment]:
    """The best paths of pairs, in the host's memory: waits for them."""
    call = prepared(place, inputs, measure, band, parameters, **options)
    a, b = call.batches
    if options.get("single"):
        same_channels(a, b, "dtwave.align_pairs")
    found = call.gpu.align(
        call.side(a), call.side(b), call.spec, call.number is _F64, call.library.stream(call.ordinal)
    )
    return [Alignment(d, path, x, y) for (d, path), x, y in zip(found, _on_host(call, a), _on_host(call, b))]


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
    queries: Any,
    reference: Any,
    lengths: Any,
    chosen: tuple[Any, int, Any, Any],
    measure: Any,
    band: Band,
    parameters: Any,
    single: bool,
    **options: Any,
) -> list[list[tuple[float, int, int]]]:
    """The matches of each query, in the host's memory: waits for them. `chosen` is as in _search.py."""
    name = "query" if single else "queries"
    if not single:
        reference = _one_series(reference, options.get("layout", "channels_last"))
    inputs = [(name, queries, lengths, None), ("reference", reference, None, None)]
    call = prepared(place, inputs, measure, band, parameters, single=single, **options)
    first, second = call.batches
    if single:
        same_channels(first, second, "dtwave.search_all")
    if chosen[3] is not None:
        # Windows begin at every point of packed numbers.
        second.view = call.library.view(call.library.packed(second.array, call.number), "reference")
    stream = call.library.stream(call.ordinal)
    found: list[list[tuple[float, int, int]]] = call.gpu.search(
        call.side(first), call.side(second), call.spec, call.number is _F64, stream, *chosen
    )
    return found


def _one_series(reference: Any, layout: Layout) -> Any:
    """A single series as an array of one."""
    if isinstance(reference, (list, tuple)) or reference.ndim not in (1, 2):
        axes = "[channels, length]" if layout == "channels_first" else "[length, channels]"
        shape = getattr(reference, "shape", "a list")
        raise ValueError(f"reference must be one series, [length] or {axes}; got {list(shape)}")
    return reference[None]


def same_channels(a: Batch, b: Batch, advice: str) -> None:
    """Errors: `ValueError` for series of other channels; `advice` says which function takes many series."""
    if a.view.shape[-1] != b.view.shape[-1]:
        raise ValueError(
            f"{a.name} has {a.view.shape[-1]} channels, {b.name} has {b.view.shape[-1]}: they must be equal; "
            f"a series of two axes is [length, channels], many series are for {advice}"
        )


def normalize(place: str, x: Any, dtype: Any, layout: Layout, lengths: Any, padding: Padding) -> Any:
    """Series z-normalised, in the form of `x`."""
    if lengths is not None or padding is not None or isinstance(x, (list, tuple)):
        raise ValueError(f"on {place}, series of different lengths are not normalised: pass x.cpu()")
    call = prepared(place, [("x", x, None, None)], "dtw", None, {}, dtype=dtype, layout=layout)
    view, library = call.batches[0].view, call.library
    # Univariate series, one after the other.
    values = library.packed(call.batches[0].array.swapaxes(1, 2), call.number)
    count, length, channels = view.shape
    out = call.empty(count, channels, length)
    addresses = [library.address(array) for array in (values, out)]
    stream = library.stream(call.ordinal)
    call.gpu.z_normalize(*addresses, count * channels, length, call.number is _F64, stream)
    if len(x.shape) == 2:
        return out[:, 0]
    return out if layout == "channels_first" else out.swapaxes(1, 2)
