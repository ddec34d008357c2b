"""Anything that holds series, as contiguous arrays: one copy where the layout asks for it, none otherwise.

| what | how it is read |
| --- | --- |
| NumPy arrays | any stride, byte order and real number type |
| PyTorch, JAX and others with `__dlpack__` | through DLPack, in place, on the CPU |
| lists of arrays or lists | one series each, of different lengths |
| pandas, polars, Arrow | a column of lists: a series per row; a table of numbers: a series per row (`_frames.py`) |
| masked arrays, None, pandas' NA | NaN where a value is missing (`_missing.py`) |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _frames
from ._arrays import plain, shape_text
from ._panel import Panel
from ._stamps import Stamps

#: The order of axes: `[series, length, channels]`, or `[series, channels, length]`. None is the first, and an array
#: that has more channels than points then gets a warning.
Layout = Union[None, Literal["channels_last", "channels_first"]]
#: What stands for points that are not there: nothing, or NaN at the end of a series.
Padding = Union[None, Literal["nan"]]


@dataclass
class Batch:
    """Series before their number type is decided.

    arrays: `[series, length, channels]`, or a list of `[length, channels]`.
    """

    arrays: NDArray[Any] | list[NDArray[Any]]
    name: str
    times: NDArray[Any] | list[NDArray[Any]] | None = None
    #: Whether the series came without an axis of channels.
    flat: bool = False
    layout: Layout = None
    #: How the series were read, if their axes may be in the other order.
    question: str | None = None
    #: Points of each series with its padding, where there were lengths or NaN tails; and whether they were one array.
    padded: list[int] | None = None
    was_array: bool = False
    #: When the points of each series are, by labels of pandas or the times of a panel; `None` if no series says it.
    index: list[Stamps | None] | None = None
    #: Whether the points were made equally spaced.
    is_even: bool = False

    def __len__(self) -> int:
        return len(self.arrays)

    @property
    def parts(self) -> Sequence[NDArray[Any]]:
        """The arrays that the values are in."""
        return self.arrays if isinstance(self.arrays, list) else [self.arrays]

    @property
    def channels(self) -> int:
        """Numbers of a point."""
        return int(self.parts[0].shape[-1])

    @property
    def lengths(self) -> list[int]:
        """Points of each series."""
        if isinstance(self.arrays, list):
            return [len(series) for series in self.arrays]
        return [self.arrays.shape[1]] * len(self.arrays)

    def shaped(self, series: NDArray[Any]) -> NDArray[Any]:
        """A series of `[length, channels]` with the axes that the series of this batch came with."""
        if self.flat:
            return series[:, 0]
        return series.T if self.layout == "channels_first" else series

    def like(self, values: NDArray[Any], fill: float = 0.0) -> Any:
        """Values in the order of the packed series, in the form the series came in: an array, or a list of arrays.
        Points that do not count are `fill`.
        """
        if isinstance(self.arrays, np.ndarray):
            whole = values.reshape(self.arrays.shape)
            if self.flat:
                return whole[:, :, 0]
            return whole.transpose(0, 2, 1) if self.layout == "channels_first" else whole
        parts = np.split(values.reshape(-1, self.channels), np.cumsum(self.lengths)[:-1])
        if self.padded is not None:
            parts = [_padded(part, points, fill) for part, points in zip(parts, self.padded)]
        shaped = [self.shaped(part) for part in parts]
        return np.stack(shaped) if self.was_array else shaped


def _padded(series: NDArray[Any], points: int, fill: float) -> NDArray[Any]:
    """The series with as many points; those that it lacks are `fill`."""
    whole = np.full((points, series.shape[1]), fill, dtype=series.dtype)
    whole[: len(series)] = series
    return whole


#: `(values, offsets, times)`: what the native functions take.
Packed = tuple[NDArray[Any], Union[None, NDArray[np.int64]], Union[None, NDArray[Any]]]


def rows_of(value: Any) -> list[Any] | None:
    """The series of a list, or of a column of lists; `None` for what is one array."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, np.ndarray):
        return list(value) if _is_of_arrays(value) else None
    return _frames.cells(value) if _frames.is_column(value) else None


def _is_of_arrays(value: NDArray[Any]) -> bool:
    """Whether an array of objects is a list of series."""
    return (
        value.dtype == object and value.ndim == 1 and value.size > 0 and all(hasattr(row, "__len__") for row in value)
    )


def values_of(value: Any, name: str) -> NDArray[Any]:
    """The numbers of one array, or of one column; what is missing is NaN."""
    if isinstance(value, np.ma.MaskedArray):
        mask: NDArray[np.bool_] = np.broadcast_to(value.mask, value.shape)
        there = _arrays.plain(np.asarray(value.compressed()), name)
        return _arrays.with_gaps(there, mask.ravel(), name).reshape(value.shape)
    if _frames.is_column(value):
        return _frames.series(value, name)
    return plain(value, name)


def _series(value: Any, name: str) -> NDArray[Any]:
    """The numbers of one series."""
    return _frames.points(value, name) if _frames.is_table(value) else values_of(value, name)


def _points(array: NDArray[Any], name: str, layout: Layout) -> NDArray[Any]:
    """One series as `[length, channels]`."""
    if array.ndim == 1:
        return array[:, None]
    if array.ndim == 2:
        return array.T if layout == "channels_first" else array
    raise not_one(array, name, layout)


def not_one(array: Any, name: str, layout: Layout) -> ValueError:
    """The error for an array of other axes than one series has."""
    axes = "[channels, length]" if layout == "channels_first" else "[length, channels]"
    return ValueError(f"{name} must be one series, [length] or {axes}; got {shape_text(array)}")


def not_many(array: Any, name: str, layout: Layout) -> ValueError:
    """The error for an array of other axes than many series have."""
    axes = "[series, channels, length]" if layout == "channels_first" else "[series, length, channels]"
    hint = f"; for one series write {name}[None]" if len(array.shape) == 1 else ""
    return ValueError(f"{name} must be [series, length] or {axes}, got {shape_text(array)}{hint}")


def channels_text(count: int) -> str:
    return "1 channel" if count == 1 else f"{count} channels"


def check_rows(rows: Sequence[Any], name: str, layout: Layout) -> None:
    """Errors: `ValueError` for series of a list, `[length, channels]`, of different channels."""
    counts = [int(row.shape[1]) for row in rows]
    other = next((s for s, count in enumerate(counts) if count != counts[0]), None)
    if other is not None:
        hint = "" if layout == "channels_first" else '; for series of [channels, length] pass layout="channels_first"'
        raise ValueError(
            f"series 0 of {name} has {channels_text(counts[0])}, series {other} has {channels_text(counts[other])}: "
            f"they must be equal{hint}"
        )


def question_of(shape: Sequence[int], name: str, layout: Layout, form: str = "") -> str | None:
    """How series of this shape, `[series, length, channels]`, are read, if they may be `[series, channels, length]`:
    with more channels than points and no layout. `form` is what the argument is, for the text.
    """
    count, points, channels = shape
    if layout is not None or not count or not 0 < points < channels:
        return None
    which, axis = ("a series", "first") if form == "series" else (f"{count} series", "second")
    if form == "list":
        axis = "first axis of each"
    else:
        axis = f"{axis} axis"
    points_text = "1 point" if points == 1 else f"{points} points"
    return (
        f"{name} is read as {which} of {points_text} of {channels} channels; if the {axis} holds channels "
        f'({channels} points of {channels_text(points)}), pass layout="channels_first", else layout="channels_last"'
    )


def check_layout(layout: object) -> None:
    """Errors: `ValueError` for another layout than the two."""
    if layout not in (None, "channels_last", "channels_first"):
        raise ValueError(f'layout must be "channels_last" or "channels_first", got {layout!r}')


def one(value: Any, name: str, layout: Layout = None, times: Any = None) -> Batch:
    """One series, `[length]` or `[length, channels]`.

    Errors: `TypeError` and `ValueError`, naming what was expected and found.
    """
    check_layout(layout)
    array = _series(value, name)
    stamps = None if times is None else _plain_times(times, f"times of {name}")[None]
    batch = Batch(_points(array, name, layout)[None], name, stamps, array.ndim == 1, layout)
    if array.ndim == 2 and not _frames.is_in_time(value):
        batch.question = question_of((1, *array.shape), name, layout, "series")
    own = _frames.times_of(value)
    batch.index = None if own is None else [own]
    return batch


def many(
    value: Any,
    name: str,
    layout: Layout = None,
    lengths: Any = None,
    padding: Padding = None,
    times: Any = None,
) -> Batch:
    """Series: `[series, length]`, `[series, length, channels]`, or a list of `[length]` or `[length, channels]`.

    Errors: `TypeError` and `ValueError`, naming what was expected and found.
    """
    check_layout(layout)
    if padding not in (None, "nan"):
        raise ValueError(f'padding must be None or "nan", got {padding!r}')
    rows = rows_of(value)
    if rows is not None:
        batch = _of_rows(rows, name, layout)
        if isinstance(value, Panel):
            batch.index = value.stamps(name)
    else:
        array = _frames.rows(value, name) if _frames.is_table(value) else values_of(value, name)
        batch = Batch(_three_axes(array, name, layout), name, None, array.ndim == 2, layout)
        if array.ndim == 3:
            batch.question = question_of(array.shape, name, layout)
        own = _frames.times_of_columns(value)
        batch.index = None if own is None else [own] * len(array)
    if times is not None:
        stamps = rows_of(times)
        what = f"times of {name}"
        batch.times = _plain_times(times, what) if stamps is None else [_plain_times(row, what) for row in stamps]
    return _unpadded(batch, lengths, padding)


def _plain_times(times: Any, what: str) -> NDArray[Any]:
    """Errors: `TypeError` for what are no numbers, such as dates."""
    try:
        return plain(times, what)
    except TypeError as error:
        raise TypeError(f'{error}; of dates pass seconds, or times="index" for those of a pandas index') from None


def _of_rows(rows: list[Any], name: str, layout: Layout) -> Batch:
    if rows and all(isinstance(row, (int, float)) for row in rows):
        raise ValueError(f"{name} is a list of numbers: expected a list of series; for one series write [{name}]")
    arrays = [_series(row, f"series {s} of {name}") for s, row in enumerate(rows)]
    series = [_points(array, f"series {s} of {name}", layout) for s, array in enumerate(arrays)]
    check_rows(series, name, layout)
    _frames.check_same_order(rows, f"series of {name}")
    flat = all(array.ndim == 1 for array in arrays)
    if not series:
        return Batch(np.empty((0, 0, 1)), name)
    same = len({len(array) for array in series}) == 1
    batch = Batch(np.stack(series) if same else series, name, None, flat, layout)
    if not flat and not any(_frames.is_in_time(row) for row in rows):
        # Series of several lengths can only be in the other order if each of them has more channels than points.
        most = max(len(array) for array in series)
        batch.question = question_of((len(series), most, series[0].shape[1]), name, layout, "list")
    stamps = [_frames.times_of(row) for row in rows]
    batch.index = None if all(own is None for own in stamps) else stamps
    return batch


def _three_axes(array: NDArray[Any], name: str, layout: Layout) -> NDArray[Any]:
    if array.ndim == 2:
        return array[:, :, None]
    if array.ndim == 3:
        return array.transpose(0, 2, 1) if layout == "channels_first" else array
    raise not_many(array, name, layout)


def _unpadded(batch: Batch, lengths: Any, padding: Padding) -> Batch:
    """The points that count."""
    if lengths is None and padding is None:
        return batch
    name = batch.name
    if lengths is not None and padding is not None:
        raise ValueError(f"{name}: give lengths or padding, not both")
    if not len(batch):
        return batch
    if isinstance(batch.arrays, list):
        if lengths is not None:
            raise ValueError(
                f"lengths of {name} are for padded arrays; {name} is a list of series of different lengths"
            )
        counted = np.array([_count(series) for series in batch.arrays], dtype=np.int64)
    else:
        counted = _counted(batch.arrays, name, lengths)
        batch.was_array = True
    batch.padded = batch.lengths
    if batch.times is not None:
        # Padded as the series are. Others are told of where they are packed.
        rows = zip(batch.times, batch.padded, counted)
        trimmed = [row[:points] if row.shape == (padded,) else row for row, padded, points in rows]
        batch.times = [*trimmed, *batch.times[len(trimmed) :]]
    batch.arrays = [series[:points] for series, points in zip(batch.arrays, counted)]
    return batch


def _count(series: NDArray[Any]) -> int:
    """Points up to the last one that is not NaN in every channel."""
    if series.dtype.kind != "f":
        return len(series)
    there = np.flatnonzero(~np.isnan(series).all(axis=1))
    return int(there[-1]) + 1 if len(there) else 0


def _counted(array: NDArray[Any], name: str, lengths: Any) -> NDArray[np.int64]:
    if lengths is None:
        return np.array([_count(series) for series in array], dtype=np.int64)
    return counted(lengths, name, *array.shape[:2])


def counted(lengths: Any, name: str, count: int, points: int) -> NDArray[np.int64]:
    """Lengths of padded series, checked.

    Errors: `TypeError` and `ValueError` for what is no length from 1 to `points` for each of `count` series.
    """
    given = plain(lengths, f"lengths of {name}")
    if given.dtype.kind not in "iu" or given.shape != (count,):
        raise ValueError(f"lengths of {name} must be {count} whole numbers, got {given.dtype} of {shape_text(given)}")
    wrong = np.flatnonzero((given < 1) | (given > points))
    if len(wrong):
        s = int(wrong[0])
        raise ValueError(f"lengths of {name}: series {s} has length {given[s]}, expected 1 to {points}")
    return given.astype(np.int64)


def number_type(batches: Sequence[Batch], asked: np.dtype[Any] | None) -> np.dtype[Any]:
    """float32 if all values and times are of it (or of float16), float64 otherwise; or what was asked for.

    Errors: `ValueError` for values that float64 would round, unless it was asked for.
    """
    if asked is not None:
        return asked
    parts = [(batch.name, part) for batch in batches for part in batch.parts]
    for batch in batches:
        if batch.times is not None:
            rows = batch.times if isinstance(batch.times, list) else [batch.times]
            parts += [(f"times of {batch.name}", row) for row in rows]
    for name, part in parts:
        _check_exact(part, name)
    small = all(part.dtype.kind == "f" and part.dtype.itemsize <= 4 for _, part in parts)
    return np.dtype(np.float32 if small else np.float64)


def _check_exact(part: NDArray[Any], name: str) -> None:
    """Refuses values that float64 would round."""
    if part.dtype.itemsize < 8 or part.dtype == np.float64 or not part.size:
        return
    if part.dtype.kind == "f":
        if part.dtype.itemsize == 8:
            return
        with np.errstate(over="ignore"):
            rounded = part[part.astype(np.float64) != part]
        wrong = rounded[~np.isnan(rounded)]
    else:
        wrong = np.array([value for value in (part.max(), part.min()) if abs(int(value)) > _arrays.MOST_EXACT])
    if len(wrong):
        raise ValueError(
            f'{name} has {wrong[0]}, which float64 would round: subtract an offset, or pass dtype="float64"'
        )


def pack(batch: Batch, dtype: np.dtype[Any]) -> Packed:
    """The series in one contiguous array of `dtype`.

    Errors: `ValueError` for a value that is too large for `dtype`, and for times that do not fit the points.
    """
    times = _packed_times(batch, dtype)
    if isinstance(batch.arrays, np.ndarray):
        return _cast(batch.arrays, dtype, batch), None, times
    offsets = np.zeros(len(batch.arrays) + 1, dtype=np.int64)
    np.cumsum(batch.lengths, out=offsets[1:])
    return _cast(np.concatenate(batch.arrays), dtype, batch), offsets, times


def _cast(values: NDArray[Any], dtype: np.dtype[Any], batch: Batch) -> NDArray[Any]:
    if values.dtype == dtype:
        return np.require(values, requirements=["C", "A"])
    with np.errstate(over="ignore", invalid="ignore"):
        cast = np.require(values, dtype, ["C", "A"])
    if values.dtype.kind == "f" and values.dtype.itemsize > dtype.itemsize:
        lost = np.isinf(cast) & np.isfinite(values)
        if lost.any():
            raise ValueError(f"{batch.name} has {values[lost].flat[0]}, which is too large for {dtype}")
    return cast


def _packed_times(batch: Batch, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    if batch.times is None:
        return None
    found = [row.shape for row in batch.times]
    expected = [(length,) for length in batch.lengths]
    if found != expected:
        s = next((s for s, (a, b) in enumerate(zip(found, expected)) if a != b), min(len(found), len(expected)))
        some = f"shape {list(found[s])}" if s < len(found) else "no shape"
        wanted = f"{expected[s][0]} points" if s < len(expected) else "no points"
        raise ValueError(f"times of {batch.name} must be one per point: series {s} has {wanted}, and times of {some}")
    rows = [np.asarray(row) for row in batch.times]
    if len({row.dtype for row in rows}) == 1:
        # At once, as long as no step of any series is lost.
        whole = np.concatenate(rows)
        cast = np.ascontiguousarray(whole, dtype=dtype)
        if whole.dtype == dtype or not len(_lost(whole, cast, np.repeat(np.arange(len(rows)), batch.lengths))[0]):
            return cast
    for s, row in enumerate(rows):
        wrong, steps, left = _lost(row, row.astype(dtype), np.zeros(len(row)))
        if len(wrong):
            at = int(wrong[0])
            raise ValueError(
                f"times of {batch.name} would be rounded in {dtype}: points {at} and {at + 1} of series {s} are "
                f"{steps[at]:g} apart, and would be {left[at]:g}; subtract the first time from all, or pass "
                'dtype="float64"'
            )
    return np.concatenate([row.astype(dtype) for row in rows]) if rows else np.empty(0, dtype=dtype)


#: How much of the smallest step between times may be lost to rounding.
_LOST = 1e-3


def _lost(
    times: NDArray[Any], rounded: NDArray[Any], which: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The steps that rounding changes too much, all steps, and what is left of them; `which` says of what series each
    time is.
    """
    # Of whole numbers before they are floats.
    exact = times.astype(np.int64 if times.dtype.kind in "iu" else np.float64)
    inner = np.diff(which) == 0
    with np.errstate(over="ignore", invalid="ignore"):
        steps, left = np.diff(exact).astype(np.float64), np.diff(rounded.astype(np.float64))
        least = np.abs(steps[inner & (steps != 0)]).min(initial=np.inf)
        return np.flatnonzero(inner & (np.abs(left - steps) > _LOST * least)), steps, left
