"""What workers are given once: options, and series by value or by the name of a file; a part of it is a call."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Callable, Iterable, Iterator, Union

import numpy as np
from numpy.typing import NDArray

from .. import _calls, _inputs, _options
from .._calls import Call
from .._inputs import Batch, Packed
from .._options import Cutoff, Given
from .._spec import spec
from . import _places

#: Series from a place to another, which is not among them.
Span = tuple[int, int]


@dataclass(frozen=True)
class Stored:
    """Series in a file that every worker can read, by its name: only the rows of a tile are read.

    path: a `.npy` file, which is mapped into memory, or a zarr array (needs zarr): `[series, length]` or
        `[series, length, channels]`. It may be a URL in an object store, such as `s3://bucket/series.npy` (needs
        fsspec and the store's own package, such as s3fs).
    start, stop: the series that count; all unless given.
    """

    path: str
    start: int = 0
    stop: int | None = None

    @property
    def array(self) -> Any:
        """The whole array, of which nothing is read yet.

        Errors: `OSError` for a file that cannot be read, `ValueError` for one whose header is not true,
        `ModuleNotFoundError` without zarr for what is no `.npy` file.
        """
        path = os.fspath(self.path)
        if path.lower().endswith(".npy"):
            return _places.npy(path)
        return zarr_module("series that are no .npy file").open_array(path, mode="r")

    @property
    def span(self) -> Span:
        """The series that count.

        Errors: `ValueError` for a start or a stop that the file does not have.
        """
        return self._span(self.array)

    def _span(self, array: Any) -> Span:
        if not array.shape:
            raise ValueError(f"{self.path} must hold [series, length] or [series, length, channels], got one number")
        count = int(array.shape[0])
        stop = count if self.stop is None else self.stop
        if not 0 <= self.start <= stop <= count:
            raise ValueError(f"{self.path} has {count} series, so there are none from {self.start} to {stop}")
        return self.start, stop

    def read(self, span: Span) -> NDArray[Any]:
        """These of the series that count."""
        array = self.array
        first, _ = self._span(array)
        return np.asarray(array[first + span[0] : first + span[1]])


def zarr_module(what: str) -> Any:
    """Errors: `ModuleNotFoundError` without zarr; `what` needs it."""
    return _places.module("zarr", what)


#: The series of one side of a call.
Side = Union[Packed, Stored]


@dataclass(frozen=True)
class Work:
    """A call that can be pickled, without the engine that computes it: a worker has its own, and keeps it."""

    given: Given
    number: np.dtype[Any]
    sides: tuple[Side, ...]
    cutoff: Cutoff | None = None

    @staticmethod
    def of(call: Call, given: Given, cutoff: Cutoff | None = None) -> Work:
        """A call whose series are prepared: what prepared them is not done again."""
        plain = Given(
            measure=given.measure,
            band=given.band,
            device=device_of(given),
            threads=given.threads,
            memory_limit=given.memory_limit,
            sqrt=given.sqrt,
            parameters=given.parameters,
        )
        return Work(plain, call.number, tuple(call.packed), cutoff)

    def on(self, threads: int) -> Work:
        """This work with so many CPU threads, unless the caller said how many."""
        if self.given.threads is not None or not self.is_for_cpu:
            return self
        return replace(self, given=replace(self.given, threads=threads))

    @property
    def is_for_cpu(self) -> bool:
        """Whether the CPU computes."""
        return is_cpu(self.given)

    def call(self, *spans: tuple[int, Span]) -> Call:
        """The call of parts: of a side's number, and which of its series."""
        sides = [self.sides[side] for side, _ in spans]
        engine = _options.engine(self.given)
        if self.cutoff is not None:
            engine = self.cutoff.engine(engine, self.number, self.given)
        if any(isinstance(side, Stored) for side in sides):
            batches = [self._read(side, span) for side, (_, span) in zip(sides, spans)]
            call = _calls.prepared(batches, replace(self.given, dtype=self.number))
            return replace(call, engine=engine)
        what = spec(self.given.measure, self.given.band, self.given.parameters)
        packed = [part(side, span) for side, (_, span) in zip(sides, spans) if not isinstance(side, Stored)]
        return Call(what, engine, self.number, packed)

    def _read(self, side: Side, span: Span) -> Batch:
        if not isinstance(side, Stored):
            raise TypeError("one of x and y is in a file, the other is not: pass both in one way")
        first = side.span[0] + span[0]
        name = f"{side.path}, from series {first},"
        values = side.read(span)
        if self.given.missing == "error" and self.given.padding is None and not np.isfinite(values).all():
            at = int(np.argwhere(~np.isfinite(values))[0][0])
            what = "NaN" if np.isnan(values[at]).any() else "an infinity"
            raise ValueError(f"series {first + at} of {side.path} has {what}: every value must be finite")
        return _inputs.many(values, name, self.given.layout, None, self.given.padding, None)

    def finish(self, found: NDArray[Any]) -> NDArray[Any]:
        """Distances as the call gives them."""
        done: NDArray[Any] = self.given.rooted(found) if self.cutoff is None else self.cutoff.roots(found, self.given)
        return done

    def __sizeof__(self) -> int:
        """Bytes of the series: engines decide by it how data travels."""
        parts = [array for side in self.sides if not isinstance(side, Stored) for array in side if array is not None]
        return object.__sizeof__(self) + sum(array.nbytes for array in parts)


#: What a worker computes of a job: the result is what can be pickled.
Function = Callable[[Work, Any], Any]

#: Has workers that hold series compute jobs: gives jobs and their results, as they come. A bounded number of jobs is
#: under way; closing ends them.
Run = Callable[[Function, Iterable[Any]], Iterator[tuple[Any, Any]]]


@contextmanager
def naming(name: Callable[[int, int], str]) -> Iterator[None]:
    """Within it, an error about two series of parts of a call says what `name` makes of their places in these parts."""
    try:
        yield
    except ValueError as error:
        said = re.sub(r"series (\d+) of x and series (\d+) of y", lambda at: name(int(at[1]), int(at[2])), str(error))
        if said == str(error):
            raise
        raise ValueError(said) from None


def device_of(given: Given) -> Any:
    """The device as text, which can be pickled; several as a list of them."""
    device = given.device
    if isinstance(device, (list, tuple)):
        return [str(each) for each in device]
    return None if device is None else str(device)


def is_cpu(given: Given) -> bool:
    """Whether the CPU computes."""
    return all(name.strip() == "cpu" for name in _options.device_name(given.device).split(","))


def local(given: Given) -> Given:
    """The options as the caller's process prepares the series: the device need not be there.

    Errors: `ValueError` and `TypeError` for numbers of threads and bytes that make no sense.
    """
    if given.threads is not None:
        _options.whole("threads", given.threads, 1, most=1 << 16, hint="; leave it out")
        if not is_cpu(given):
            raise ValueError(f"threads is for the CPU; leave it out with device={_options.device_name(given.device)!r}")
    _options.memory_limit(given)
    return replace(given, device=None, threads=None)


def part(packed: Packed, span: Span) -> Packed:
    """Some of packed series: no copy, but of what came to a worker at an odd address."""
    values, offsets, times = packed
    start, stop = span
    if offsets is None:
        first, last = start * values.shape[1], stop * values.shape[1]
        own, lengths = values[start:stop], None
    else:
        first, last = int(offsets[start]), int(offsets[stop])
        own, lengths = values[first:last], offsets[start : stop + 1] - offsets[start]
    return (
        np.require(own, requirements=["C", "A"]),
        lengths,
        None if times is None else np.require(times[first:last], requirements=["C", "A"]),
    )


def picked(packed: Packed, indices: NDArray[np.int64]) -> Packed:
    """Copies of the series at these indices, in this order. They have no times."""
    values, offsets, _ = packed
    if offsets is None:
        return np.require(values[indices], requirements=["C", "A"]), None, None
    own = [values[offsets[s] : offsets[s + 1]] for s in indices]
    ends = np.cumsum([0, *map(len, own)], dtype=np.int64)
    return np.require(np.concatenate([values[:0], *own]), requirements=["C", "A"]), ends, None


def lengths_of(packed: Packed) -> NDArray[np.int64]:
    """Points of each series."""
    values, offsets, _ = packed
    if offsets is not None:
        return np.diff(offsets)
    return np.full(len(values), values.shape[1], dtype=np.int64)
