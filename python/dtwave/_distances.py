"""Distances: of one pair, of pairs, of all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _inputs, _native, _options
from ._bands import Band
from ._inputs import Layout, Padding
from ._measure import Measure, spec
from ._options import DeviceLike

_default_engine = _options.default_engine()


def distance(
    x: Any,
    y: Any,
    *,
    measure: str | Measure = "dtw",
    band: Band = None,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    layout: Layout = "channels_last",
    times: tuple[Any, Any] | None = None,
    **parameters: Any,
) -> float:
    """Distance of two series.

    x, y: `[length]` or `[length, channels]`, of any lengths and as many channels.
    measure: a key with its parameters as keywords (`measure="msm", c=0.5`), or an object (`dtwave.Msm(c=0.5)`).
    band: None for every cell; whole points or a fraction of the longer series for a Sakoe-Chiba band; or one of
        `SakoeChiba`, `Slanted`, `Itakura` and `Ranges`.
    device: "cpu" (the default), "cuda", "cuda:1".
    dtype: float32 or float64; unless given, float32 if both arrays are of it, else float64.
    threads: of the CPU; one per core unless given. The result does not depend on it.
    memory_limit: bytes of scratch memory, 1 GiB unless given.
    layout: "channels_first" for series of shape `[channels, length]`.
    times: timestamps of both series, `[length]` each; for twed.

    Returns the distance, in the unit that the measure defines: of dtw the accumulated cost, of which no root is taken.

    Time: one sweep of `len(x) * len(y)` cells, or of those in the band. Memory: linear in the lengths.

    Errors: `ValueError` and `TypeError` for bad series or options, `dtwave.DeviceError` for a device that is not there
    or cannot do this, `MemoryError` if the memory limit is too small.

    >>> import dtwave
    >>> dtwave.distance([0.0, 1.0, 2.0], [0.0, 2.0, 2.0])
    1.0
    """
    if (
        device is None
        and band is None
        and dtype is None
        and threads is None
        and memory_limit is None
        and times is None
        and layout == "channels_last"
        and not parameters
    ):
        quick = _native.distance_of_arrays(x, y, measure, _default_engine)
        if quick is not None:
            return quick
    return _distance(
        x, y, measure, band, device, dtype, threads, memory_limit, layout, times, parameters
    )


def _distance(
    x: Any,
    y: Any,
    measure: str | Measure,
    band: Band,
    device: DeviceLike,
    dtype: DTypeLike | None,
    threads: int | None,
    memory_limit: int | None,
    layout: Layout,
    times: tuple[Any, Any] | None,
    parameters: dict[str, Any],
) -> float:
    what = spec(measure, band, parameters)
    engine = _options.engine(device, threads, memory_limit)
    _inputs.check_layout(layout)
    if dtype is None and times is None:
        quick = _native.distance_of_arrays(x, y, what, engine)
        if quick is not None:
            return quick
    _inputs.same_device(x=x, y=y)
    times_x, times_y = _both_times(times)
    a = _inputs.one(x, "x", layout, times_x)
    b = _inputs.one(y, "y", layout, times_y)
    number = _inputs.number_type([a, b], _options.number_type(dtype))
    found = _native.zipped(_inputs.pack(a, number), _inputs.pack(b, number), what, engine, None)
    return float(found[0])


def _both_times(times: Any) -> tuple[Any, Any]:
    """Timestamps of x and of y."""
    if times is None:
        return None, None
    if not isinstance(times, (tuple, list)) or len(times) != 2:
        raise TypeError("times must be a tuple of two: the timestamps of x and those of y")
    return times[0], times[1]


def zipped(
    x: Any,
    y: Any,
    *,
    measure: str | Measure = "dtw",
    band: Band = None,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    layout: Layout = "channels_last",
    lengths: tuple[Any, Any] | None = None,
    padding: Padding = None,
    times: tuple[Any, Any] | None = None,
    **parameters: Any,
) -> NDArray[Any]:
    """Distances of the s-th series of `x` with the s-th of `y`.

    x, y: as many series each: `[series, length]`, `[series, length, channels]`, or lists of series of any lengths.
    lengths: points of each series of x and of y, `[series]` each, of padded arrays; either may be None.
    padding: "nan" if NaN at the end of a series is no part of it.
    times: timestamps of x and of y, one per point; for twed.
    Other options: as for `distance`.

    Returns `[series]`, of float32 or float64.

    Time: one sweep per pair. Errors: as `distance`.
    """
    what = spec(measure, band, parameters)
    engine = _options.engine(device, threads, memory_limit)
    a, b = pair(x, y, layout, lengths, padding, times)
    number = _inputs.number_type([a, b], _options.number_type(dtype))
    return _native.zipped(_inputs.pack(a, number), _inputs.pack(b, number), what, engine, None)


def pair(
    x: Any,
    y: Any,
    layout: Layout,
    lengths: tuple[Any, Any] | None,
    padding: Padding,
    times: tuple[Any, Any] | None,
) -> tuple[_inputs.Batch, _inputs.Batch]:
    """Two batches."""
    _inputs.same_device(x=x, y=y)
    lengths_x, lengths_y = _both_lengths(lengths)
    times_x, times_y = _both_times(times)
    return (
        _inputs.many(x, "x", layout, lengths_x, padding, times_x),
        _inputs.many(y, "y", layout, lengths_y, padding, times_y),
    )


def _both_lengths(lengths: Any) -> tuple[Any, Any]:
    if lengths is None:
        return None, None
    if not isinstance(lengths, (tuple, list)) or len(lengths) != 2:
        raise TypeError("lengths must be a tuple of two: the lengths of x and those of y")
    return lengths[0], lengths[1]


def pairwise(
    x: Any,
    y: Any = None,
    *,
    measure: str | Measure = "dtw",
    band: Band = None,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    layout: Layout = "channels_last",
    lengths: Any = None,
    padding: Padding = None,
    times: Any = None,
    **parameters: Any,
) -> NDArray[Any]:
    """Distances of every series of `x` with every series of `y`, or with every other of `x`.

    x, y: `[series, length]`, `[series, length, channels]`, or lists of series of any lengths. Without `y`, half of the
        matrix is computed and mirrored (not for subsequence_dtw and bands of explicit ranges, which are not symmetric).
    lengths, times: of x; with `y` a tuple of those of x and of y.
    Other options: as for `zipped`.

    Returns `[n_x, n_y]`, of float32 or float64.

    Time: one sweep per pair. Memory: the matrix. Errors: as `distance`.
    """
    what = spec(measure, band, parameters)
    engine = _options.engine(device, threads, memory_limit)
    asked = _options.number_type(dtype)
    if y is None:
        _inputs.same_device(x=x)
        a = _inputs.many(x, "x", layout, lengths, padding, times)
        number = _inputs.number_type([a], asked)
        return _native.pairwise(_inputs.pack(a, number), None, what, engine, None)
    a, b = pair(x, y, layout, lengths, padding, times)
    number = _inputs.number_type([a, b], asked)
    return _native.pairwise(_inputs.pack(a, number), _inputs.pack(b, number), what, engine, None)
