"""Distances: of one pair, of pairs, of all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _calls, _inputs, _native, _options, _progress, _resident, _resident_calls
from ._bands import Band
from ._inputs import Layout, Padding
from ._measure import Measure
from ._options import DeviceLike
from ._results import Neighbors
from ._spec import spec

#: Bytes of memory that a neighbour takes while they are sought.
CANDIDATE_BYTES = 48

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
) -> Any:
    """Distance of two series.

    x, y: one series each, `[length]` or `[length, channels]`. Lengths may differ, numbers of channels may not. (For many
        series see `pairwise` and `zipped`.) PyTorch's tensors and CuPy's arrays may be in a GPU's memory.
    measure: a key with the measure's parameters as keywords (`measure="msm", c=0.5`), or an object
        (`dtwave.Msm(c=0.5)`). `dtwave.MEASURES` lists the keys, `help(dtwave.Msm)` the parameters of one.
    band: which points may match. None: all. An int: points up to that many places apart, for series of equal length. A
        float: the same as a fraction of the longer series, 0.1 for 10%. Both are Sakoe-Chiba bands. Or one of
        `SakoeChiba`, `Slanted`, `Itakura` and `Ranges`.
    device: "cpu" (the default), "cuda" (the first NVIDIA GPU), "cuda:1" (the second), "hip" (the first AMD GPU), "wgpu"
        (any GPU, in float32). Series in an NVIDIA GPU's memory are computed there: leave it out.
    dtype: float32 or float64, in which the call computes; unless given, float32 if all values are of it or of a half
        precision, else float64.
    threads: how many CPU threads compute, at most 1024 (or as many as there are cores); one per core unless given. The
        result does not depend on it.
    memory_limit: bytes of working memory, 1 GiB unless given.
    layout: "channels_first" for series of shape `[channels, length]`.
    times: a tuple of the timestamps of x and those of y, `[length]` each; for twed.

    Returns the distance, in the unit that the measure defines: of dtw the accumulated squared cost, without a root. For
    series in a GPU's memory it is an array without axes there; the call does not wait for it.

    Time: one sweep over the cells, of which there are `len(x) * len(y)`, or those in the band. Memory: linear in the
    lengths.

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
) -> Any:
    place = _resident.place_of(x=x, y=y)
    if place is not None:
        return _resident_calls.distance(
            place, x, y, _calls.each("times", times), measure, band, parameters, device=device, dtype=dtype,
            threads=threads, memory_limit=memory_limit, layout=layout,
        )
    what = spec(measure, band, parameters)
    engine = _options.engine(device, threads, memory_limit)
    _inputs.check_layout(layout)
    if dtype is None and times is None:
        quick = _native.distance_of_arrays(x, y, what, engine)
        if quick is not None:
            return quick
    times_x, times_y = _calls.each("times", times)
    a = _inputs.one(x, "x", layout, times_x)
    b = _inputs.one(y, "y", layout, times_y)
    _inputs.same_channels(a, b, "dtwave.pairwise and dtwave.zipped")
    number = _inputs.number_type([a, b], _options.number_type(dtype))
    found = np.empty(1, dtype=number)
    _native.distances(_inputs.pack(a, number), _inputs.pack(b, number), what, engine, True, found, None)
    return float(found[0])


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
    progress: bool = False,
    **parameters: Any,
) -> Any:
    """Distances of the first series of `x` with the first of `y`, the second with the second, and so on.

    x, y: equally many series: `[series, length]`, `[series, length, channels]`, or lists of series of any lengths.
    lengths: a tuple: how many points of each series of x count, and of y, `[series]` each, for padded arrays. Either may
        be None.
    padding: "nan" if NaN at the end of a series is padding.
    times: a tuple of the timestamps of x and those of y, one per point; for twed.
    progress: True shows a progress bar (tqdm's if it is installed).
    measure, band, device, dtype, threads, memory_limit, layout: as for `distance`.

    Returns `[series]`, of float32 or float64.

    Time: one sweep per pair. Errors: as `distance`.
    """
    place = _resident.place_of(x=x, y=y)
    if place is not None:
        return _resident_calls.zipped(
            place, _calls.both(x, y, lengths, times), measure, band, parameters, device=device, dtype=dtype,
            threads=threads, memory_limit=memory_limit, layout=layout, padding=padding,
        )
    a, b = _calls.two(x, y, layout, lengths, padding, times)
    call = _calls.prepared([a, b], measure, band, device, dtype, threads, memory_limit, parameters)
    first, second = call.packed
    with _progress.shown(progress, "zipped", lambda: _native.cells(first, second, call.spec, True)) as bar:
        found = call.empty("the list of distances", len(a))
        _native.distances(first, second, call.spec, call.engine, True, found, bar)
        return found


def nearest(
    x: Any,
    y: Any = None,
    *,
    k: int = 1,
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
    progress: bool = False,
    **parameters: Any,
) -> Neighbors:
    """The k series of `x` that are nearest to each series of `y`. Without `y`: to each series of `x`, except itself.

    x, y: series as for `pairwise`.
    k: how many neighbours: from 1 to the number of series of x; without `y` to one less.
    Other options: as for `pairwise`.

    Returns `Neighbors`: `indices` into x and `distances`, both `[n_y, k]` (without `y` `[n_x, k]`), nearest first. Of
    equal distances the smaller index comes first. Of a similarity (log_gak, lcss with output="length") the largest
    values are nearest. The distances are `distance(x[i], y[j])`, in this order. Both arrays are where the series are:
    in main memory, or in a GPU's.

    Time: one sweep per pair. Memory: one tile of the matrix, and k entries per series of y.

    Errors: as `distance`; in main memory `ValueError` for a distance that is not finite.
    """
    many = _options.whole("k", k, 1)
    place = _resident.place_of(x=x, y=y)
    if place is not None:
        return _resident_calls.nearest(
            place, _calls.both(x, y, lengths, times), many, measure, band, parameters, device=device, dtype=dtype,
            threads=threads, memory_limit=memory_limit, layout=layout, padding=padding,
        )
    if y is None:
        a = _calls.one(x, layout, lengths, padding, times)
        batches = [a]
        if many >= len(a):
            raise ValueError(f"k must be less than the number of series of x ({len(a)}) without y, got {many}")
    else:
        batches = list(_calls.two(x, y, layout, lengths, padding, times))
    call = _calls.prepared(batches, measure, band, device, dtype, threads, memory_limit, parameters)
    first, second = call.packed[0], call.packed[1] if y is not None else None
    _calls.afford(CANDIDATE_BYTES * (many + 1) * len(batches[-1]), "the list of neighbours")
    with _progress.shown(progress, "nearest", lambda: _cells(call.spec, first, second)) as bar:
        if second is not None:
            return Neighbors(*_native.nearest(first, second, many, call.spec, call.engine, bar))
        return Neighbors(*others(*_native.nearest(first, None, many + 1, call.spec, call.engine, bar)))


def _cells(what: _native.Spec, x: _inputs.Packed, y: _inputs.Packed | None) -> int:
    """Cells of all pairs: neighbours are sought among all of them."""
    return _native.cells(x, x if y is None else y, what, False)


def others(
    indices: NDArray[np.int64], distances: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Neighbours without the series itself; without the last one where the series is not among them."""
    own = indices == np.arange(len(indices))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = len(indices), indices.shape[1] - 1
    return indices[~own].reshape(shape), distances[~own].reshape(shape)
