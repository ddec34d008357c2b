"""What every function does before its own work: options and series become what the native half takes."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _frames, _inputs, _missing, _native, _notes, _options, _progress, _resampling, _times
from ._inputs import Batch, Packed
from ._measure import Measure
from ._options import Given
from ._spec import spec


@dataclass
class Call:
    """What to compute, where, and of what."""

    spec: _native.Spec
    engine: _native.Engine
    number: np.dtype[Any]
    packed: list[Packed]
    progress: bool = False

    @property
    def first(self) -> Packed:
        """The series that come first."""
        return self.packed[0]

    @property
    def second(self) -> Packed | None:
        """Those that come second, if there are any."""
        return self.packed[1] if len(self.packed) > 1 else None

    @property
    def sides(self) -> tuple[Packed, Packed]:
        """Both, of a call of two."""
        first, second = self.packed
        return first, second

    def empty(self, what: str, *shape: int) -> NDArray[Any]:
        """An array for results.

        Errors: `MemoryError` if the machine cannot give as much.
        """
        try:
            return np.empty(shape, dtype=self.number)
        except (MemoryError, ValueError):
            size = prod(shape) * self.number.itemsize
            raise MemoryError(
                f"out of memory: {what} needs {size} bytes, more than there is; pairwise with out=PATH writes it to a file"
            ) from None

    @contextmanager
    def bar(
        self, what: str, is_zipped: bool | None, among: tuple[Any, Any] | None = None
    ) -> Iterator[_progress.Progress]:
        """A bar while the call runs, if one is wanted: over zipped pairs, over all, or over nobody knows how many; with
        `among`, the two sides of a search for neighbours, over those that it sweeps.
        """

        def cells() -> int:
            if among is not None:
                return _native.nearest_cells(*among, self.spec, self.engine)
            return 0 if is_zipped is None else _native.cells(self.first, self.second, self.spec, is_zipped)

        with _missing.Explained(), _progress.shown(self.progress, what, cells) as shown:
            yield shown


def same_channels(a: Any, b: Any, advice: str) -> None:
    """Errors: `ValueError` for batches of other channels; `advice` says which function takes many series."""
    if a.channels != b.channels:
        one, other = (f"{batch.name} has {_inputs.channels_text(batch.channels)}" for batch in (a, b))
        raise ValueError(
            f"{one}, {other}: they must be equal; "
            f"a series of two axes is [length, channels], many series are for {advice}; "
            'for [channels, length] pass layout="channels_first"'
        )


def check_condensed(is_cross: bool, spec: _native.Spec) -> None:
    """Errors: `ValueError` for a matrix that is not symmetric."""
    if is_cross or not spec.is_symmetric:
        why = "y is given" if is_cross else "these distances are not symmetric"
        raise ValueError(f"condensed is for the symmetric matrix of x with itself, but {why}")


def check_neighbors(k: int, count: int, is_own: bool) -> None:
    """Errors: `ValueError` for more neighbours than the `count` series have, of which one is the series itself."""
    if k > count - is_own:
        which = "other series" if is_own else "series"
        raise ValueError(f"k must be at most {count - is_own}, the number of {which}, got {k}")


def check_spread(lengths: Sequence[int], name: str) -> None:
    """Errors: `ValueError` for a series of one point, which has no standard deviation to be divided by."""
    one = next((s for s, length in enumerate(lengths) if length == 1), None)
    if one is not None:
        raise ValueError(
            f"series {one} of {name} has one point, which z-normalisation would make 0 whatever it is: expected two or "
            'more; for series of [channels, length] pass layout="channels_first"'
        )


def afford(size: int, what: str) -> None:
    """Errors: `MemoryError` if the machine cannot give as many bytes."""
    try:
        np.empty(size, dtype=np.uint8)
    except (MemoryError, ValueError):
        raise MemoryError(f"out of memory: {what} needs {size} bytes, more than there is") from None


def prepared(batches: list[Batch], given: Given, options: tuple[str, ...] = ()) -> Call:
    """What a call computes; `options` are those that the other functions do not have.

    Errors: those of bad options, and of values that a number type cannot hold."""
    what = spec(given.measure, given.band, given.parameters, options)
    ask(batches)
    # Points are left out before it is asked whether those that stay are equally spaced.
    told = [] if given.is_resampled else filled(batches, given.missing)
    _times.settle(batches, given.times, what.key, given.is_resampled, given.is_timed)
    if given.is_resampled:
        told = resampled(batches, given) + filled(batches, given.missing)
    if told:
        _notes.warn("; ".join(told), _notes.MissingWarning)
    engine = _options.engine(given)
    number = _inputs.number_type(batches, _options.number_type(given.dtype))
    return Call(what, engine, number, pack(batches, number, given), given.progress)


def filled(batches: Sequence[Batch], missing: _missing.Missing) -> list[str]:
    """Fills or leaves out what is missing; says how much of each batch."""
    return [text for text in (_missing.treated(batch, missing) for batch in batches) if text is not None]


def key_of(measure: Any) -> str:
    """The key of a measure, however its name is written."""
    return measure.key if isinstance(measure, Measure) else str(measure).replace("-", "_").lower()


def resampled(batches: Sequence[Batch], given: Given) -> list[str]:
    """Makes points equally spaced, if that was asked for; says what of them lies in gaps."""
    if not given.is_resampled:
        return []
    uneven = [batch for batch in batches if not batch.is_even]
    told = _resampling.treated(uneven, given.resample, given.missing) if uneven else []
    if key_of(given.measure) != "twed":
        # They said where the points are, and now that is known.
        for batch in batches:
            batch.times = None
    return told


def pack(batches: list[Batch], number: np.dtype[Any], given: Given) -> list[Packed]:
    """The series as they are compared: normalised, if that was asked for."""
    packed = [_inputs.pack(batch, number) for batch in batches]
    if given.normalize == "z":
        packed = [(_native.z_normalize(each).reshape(each[0].shape), *each[1:]) for each in packed]
    return packed


def ask(batches: Sequence[Any]) -> None:
    """Warns, once, of a batch whose axes may be in the other order."""
    question = next((batch.question for batch in batches if batch.question is not None), None)
    if question is not None:
        _notes.warn(question, _notes.LayoutWarning)


def pair(x: Any, y: Any, given: Given, advice: str) -> list[Batch]:
    """Two series; `advice` says which function takes many."""
    _arrays.same_device(x=x, y=y)
    times = each("times", given.times)
    batches = [_inputs.one(x, "x", given.layout, times[0]), _inputs.one(y, "y", given.layout, times[1])]
    _frames.check_same_order([x, y], "x and y")
    same_channels(batches[0], batches[1], advice)
    return batches


def many(x: Any, y: Any, given: Given) -> list[Batch]:
    """The batches of a call of two or, without `y`, of one."""
    _arrays.same_device(x=x, y=y)
    batches = [
        _inputs.many(values, name, given.layout, lengths, given.padding, times)
        for name, values, lengths, times in named(x, y, given)
    ]
    if y is not None:
        _frames.check_both(x, y, "x and y")
    return batches


def named(x: Any, y: Any, given: Given) -> list[tuple[str, Any, Any, Any]]:
    """The arguments of a call of two or, without `y`, of one, each with its name, its lengths and its times."""
    if y is None:
        return [("x", x, given.lengths, None if isinstance(given.times, str) else given.times)]
    lengths, times = each("lengths", given.lengths), each("times", given.times)
    return [("x", x, lengths[0], times[0]), ("y", y, lengths[1], times[1])]


def each(name: str, values: Any) -> tuple[Any, Any]:
    """An option of both arguments; a word about times is none.

    Errors: `TypeError` if it is no tuple of two.
    """
    if values is None or (name == "times" and isinstance(values, str)):
        return None, None
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        raise TypeError(f"{name} must be a tuple of two: the {name} of x and those of y")
    return values[0], values[1]
