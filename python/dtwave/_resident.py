"""Series in a GPU's memory, and what a call of them needs.

Series are read where they are, at any strides and in any format that kernels read. Results and scratch are memory of
the library that the series are of, on its current stream. A call returns when its work is on the stream: nothing is
waited for, and values are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Sequence

import numpy as np

from . import _arrays, _calls, _inputs, _libraries, _missing, _native, _options
from ._inputs import Layout
from ._libraries import Library, View
from ._native import DeviceError
from ._options import Given
from ._spec import spec


F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


@dataclass
class Batch:
    """Series on a GPU: `[series, length, channels]`, or `[points, channels]` with lengths."""

    view: View
    name: str
    lengths: list[int] | None = None
    times: Any = None
    #: How the series were read, if their axes may be in the other order.
    question: str | None = None

    def __len__(self) -> int:
        return self.view.shape[0] if len(self.view.shape) == 3 else len(self.lengths or [])

    @property
    def channels(self) -> int:
        """Numbers of a point."""
        return self.view.shape[-1]

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
            self.number is F64,
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
        if view.shape[1] == 1:
            # From a point to the next there is no step; series are as many points apart as they are.
            points = series if lengths is not None else view.shape[2]
        room = None if lengths is None else (series // points if points else 0)
        return view.address, view.format, view.shape, (series, points, channel), times, lengths, room


def place_of(**values: Any) -> str | None:
    """The GPU that all inputs are on, as in `"cuda:0"`; `None` if they are in the host's memory.

    Errors: `TypeError` for inputs on different devices, `dtwave.DeviceError` for a device that is no CUDA GPU.
    """
    place = _arrays.place(**values)
    if place is not None and not place.startswith("cuda:"):
        _arrays.same_device(**values)
    return place


@lru_cache(maxsize=16)
def gpu_of(ordinal: int, memory_limit: int) -> Any:
    """The native half of a GPU, with the plans that wait there.

    Errors: `dtwave.DeviceError` if there is none, or no such backend in this build.
    """
    made = getattr(_native, "Gpu", None)
    if made is None:
        raise DeviceError(
            "this build has no CUDA backend: build with the cargo feature `cuda`, or pass x.cpu() (of CuPy x.get())"
        )
    return made(ordinal, memory_limit)


def prepared(place: str, inputs: Sequence[tuple[str, Any, Any, Any]], given: Given, single: bool = False) -> Call:
    """A call on inputs of `(name, values, lengths, times)`.

    Errors: as those of arrays in the host's memory; `ValueError` for another device than where the inputs are.
    """
    what = spec(given.measure, given.band, given.parameters)
    ordinal, device = int(place[5:]), given.device
    named = _options.device_name(device)
    if device is not None and named != place and not (named == "cuda" and ordinal == 0):
        first = inputs[0][0]
        raise ValueError(f"{first} is on {place}, and device is {named!r}: leave device out, or move {first}")
    if given.threads is not None:
        raise ValueError(f"threads is for the CPU; leave it out for arrays on {place}")
    if given.padding is not None:
        raise ValueError(f"padding is found by looking at the values, which are on {place}: pass lengths instead")
    if given.is_resampled:
        raise ValueError(f"series on {place} are not resampled: do that before they go there")
    if isinstance(given.times, str) and given.times != "count":
        raise ValueError(f"arrays on {place} have no index to take times of: pass times= as arrays on {place}")
    _missing.check(given.missing)
    if given.missing != "error":
        raise ValueError(
            f"missing values are found by looking at the values, which are on {place}: fill them there first"
        )
    limit = _options.memory_limit(given)
    _inputs.check_layout(given.layout)
    library = _one_library(inputs)
    gpu = gpu_of(ordinal, limit)
    batches = [_batch(library, name, values, given.layout, single) for name, values, _, _ in inputs]
    _calls.ask(batches)
    number = _options.number_type(given.dtype)
    if number is None:
        number = F64 if any(batch.view.format == "f64" for batch in batches) else F32
    for batch, (name, _, lengths, times) in zip(batches, inputs):
        if lengths is not None:
            _pad(library, batch, lengths, name)
        if times is not None:
            _time(library, batch, times, number, place)
    call = Call(library, ordinal, gpu, what, number, batches)
    if given.normalize == "z":
        for batch in batches:
            if batch.lengths is not None:
                raise unequal(place)
            batch.view = library.view(normalized(call, batch), batch.name)
    return call


def unequal(place: str) -> ValueError:
    """The error for series of different lengths, which no kernel normalises."""
    return ValueError(
        f"on {place}, series of different lengths are not normalised: pass x.cpu() (of CuPy x.get()), or normalise them "
        "there first"
    )


def normalized(call: Call, batch: Batch) -> Any:
    """Series of one length z-normalised, channel by channel, `[series, length, channels]`.

    Errors: `ValueError` for series of one point.
    """
    count, length, channels = batch.view.shape
    _calls.check_spread([length] * bool(count), batch.name)
    # Univariate series, one after the other.
    values = call.library.packed(batch.array.swapaxes(1, 2), call.number)
    out = call.empty(count, channels, length)
    addresses = [call.library.address(array) for array in (values, out)]
    stream = call.library.stream(call.ordinal)
    call.gpu.z_normalize(*addresses, count * channels, length, call.number is F64, stream)
    return out.swapaxes(1, 2)


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
        if len(view.shape) not in (1, 2):
            raise _inputs.not_one(view, name, layout)
        three = _three(library, view, True, layout)
        question = _inputs.question_of(three.shape, name, layout, "series") if len(view.shape) == 2 else None
        return Batch(three, name, question=question)
    if not isinstance(values, (list, tuple)):
        view = library.view(values, name)
        if len(view.shape) not in (2, 3):
            raise _inputs.not_many(view, name, layout)
        three = _three(library, view, False, layout)
        question = _inputs.question_of(three.shape, name, layout) if len(view.shape) == 3 else None
        return Batch(three, name, question=question)
    rows: list[Any] = []
    for s, row in enumerate(values):
        view = library.view(row, f"series {s} of {name}")
        if len(view.shape) not in (1, 2):
            raise _inputs.not_one(view, f"series {s} of {name}", layout)
        array = view.array
        if len(view.shape) == 1:
            array = array[:, None]
        elif layout == "channels_first":
            array = array.T
        rows.append(array)
    _inputs.check_rows(rows, name, layout)
    joined = library.view(library.joined(rows), name)
    lengths = [int(row.shape[0]) for row in rows]
    question = None
    if any(len(row.shape) == 2 for row in values):
        question = _inputs.question_of((len(rows), max(lengths), joined.shape[1]), name, layout, "list")
    if len(set(lengths)) == 1:
        points, channel = joined.strides
        shape = (len(rows), lengths[0], joined.shape[1])
        strides = (points * lengths[0], points, channel)
        three = View(joined.array.reshape(shape), joined.address, shape, strides, joined.format)
        return Batch(three, name, question=question)
    return Batch(joined, name, lengths, question=question)


def _three(library: Library, view: View, single: bool, layout: Layout) -> View:
    """The view as `[series, length, channels]`."""
    if not single and len(view.shape) == 2:
        # As most calls come: no array is made for it.
        return View(view.array, view.address, (*view.shape, 1), (*view.strides, 0), view.format)
    array = view.array[None] if single else view.array
    if array.ndim == 2:
        array = array[:, :, None]
    elif layout == "channels_first":
        array = array.swapaxes(1, 2)
    return library.view(array, "series")


def _pad(library: Library, batch: Batch, lengths: Any, name: str) -> None:
    """Says how many points of each series count."""
    view = batch.view
    if len(view.shape) == 2:
        raise ValueError(f"lengths of {name} are for padded arrays; {name} is a list of series of different lengths")
    # Lengths that are on the GPU come here: this waits for them.
    given = lengths if _arrays.device_of(lengths) is None else lengths.tolist()
    counted = _inputs.counted(given, name, view.shape[0], view.shape[1])
    series, points, _ = view.strides
    if view.shape[0] > 1 and (points <= 0 or series % points or series < 0):
        array = library.packed(batch.array, F64 if view.format == "f64" else F32)
        batch.view = library.view(array, name)
    batch.lengths = [int(length) for length in counted]


def _time(library: Library, batch: Batch, times: Any, number: np.dtype[Any], place: str) -> None:
    """Takes timestamps, one per point."""
    name = batch.name
    found = _arrays.place(**{f"times of {name}": times})
    if found != place:
        raise TypeError(f"mixed devices: {name} is on {place}, its times are on {found or 'cpu'}; move them to one")
    rows = list(times) if isinstance(times, (list, tuple)) else times
    array = library.joined(rows) if isinstance(rows, list) else rows
    count, wrong = len(batch), f"times of {name} must be one per point"
    if isinstance(rows, list):
        lengths = batch.lengths or [batch.view.shape[1]] * count
        found_lengths = [int(row.shape[0]) for row in rows]
        if found_lengths != lengths:
            raise ValueError(f"{wrong}: got lengths {found_lengths[:8]}, expected {lengths[:8]}")
    else:
        expected = list(batch.view.shape[:2])
        if len(batch.view.shape) == 2 or list(array.shape) != expected:
            if not (count == 1 and list(array.shape) == expected[1:]):
                raise ValueError(f"{wrong}: expected shape {expected}, got {list(array.shape)}")
    batch.times = library.packed(array, number)
    if batch.lengths is not None and len(batch.view.shape) == 3:
        # Times lie without gaps between series, and values as they do.
        values = library.packed(batch.array, number)
        batch.view = library.view(values, name)
    if len(batch.view.shape) == 3:
        batch.times = batch.times.reshape(batch.view.shape[:2])
