"""Which points of two series match."""

from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike, NDArray

from . import _calls, _inputs, _native, _progress, _resident, _resident_calls
from ._bands import Band
from ._inputs import Batch, Layout, Padding
from ._measure import Measure
from ._options import DeviceLike
from ._results import Alignment


def align(
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
) -> Alignment:
    """The best warping path of two series: which points match.

    x, y: one series each, `[length]` or `[length, channels]`, of any lengths.
    Options: as for `distance`. Measures that sum over all paths (soft_dtw, its divergence, log_gak) have no best path;
    msm has one for one channel only.

    Returns `Alignment`: its `path` is `[steps, 2]`, pairs of a point of x and a point of y, from 0. The path is walked
    back from its end. If several steps are equally good, the diagonal one is taken, else the one in x alone.

    Time: one sweep; parts of it are swept again if two bits per cell do not fit the memory limit.

    Errors: as `distance`.

    >>> import dtwave
    >>> list(dtwave.align([0.0, 1.0, 5.0], [0.0, 5.0, 5.0], band=1))
    [(0, 0), (1, 0), (2, 1), (2, 2)]
    """
    place = _resident.place_of(x=x, y=y)
    if place is not None:
        return _resident_calls.align(
            place, _calls.both(x, y, None, times), measure, band, parameters, device=device, dtype=dtype,
            threads=threads, memory_limit=memory_limit, layout=layout, single=True,
        )[0]
    times_x, times_y = _calls.each("times", times)
    batches = [_inputs.one(x, "x", layout, times_x), _inputs.one(y, "y", layout, times_y)]
    _inputs.same_channels(batches[0], batches[1], "dtwave.align_pairs")
    call = _calls.prepared(batches, measure, band, device, dtype, threads, memory_limit, parameters)
    first, second = call.packed
    ((found, path),) = _native.align(first, second, call.spec, call.engine, None)
    return Alignment(found, path, batches[0].arrays[0], batches[1].arrays[0])


def align_pairs(
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
) -> list[Alignment]:
    """The best warping path of the first series of `x` with the first of `y`, of the second with the second, and so on.

    x, y: equally many series. Options: as for `zipped`. Returns a list of `Alignment`.

    Time: as `align` for each pair; pairs share the threads. Errors: as `align`.
    """
    place = _resident.place_of(x=x, y=y)
    if place is not None:
        return _resident_calls.align(
            place, _calls.both(x, y, lengths, times), measure, band, parameters, device=device, dtype=dtype,
            threads=threads, memory_limit=memory_limit, layout=layout, padding=padding,
        )
    a, b = _calls.two(x, y, layout, lengths, padding, times)
    call = _calls.prepared([a, b], measure, band, device, dtype, threads, memory_limit, parameters)
    first, second = call.packed
    with _progress.shown(progress, "align", lambda: _native.cells(first, second, call.spec, True)) as bar:
        found = _native.align(first, second, call.spec, call.engine, bar)
    return [Alignment(d, path, a.arrays[s], b.arrays[s]) for s, (d, path) in enumerate(found)]


def expected_alignment(
    x: Any,
    y: Any,
    *,
    measure: str | Measure = "soft_dtw",
    band: Band = None,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    layout: Layout = "channels_last",
    **parameters: Any,
) -> NDArray[Any]:
    """The expected alignment of two series under soft_dtw: the share of all paths that matches each pair of points.

    Paths of smaller cost weigh more. With a small gamma it is nearly the best path alone.

    x, y: one series each, `[length]` or `[length, channels]`. measure: soft_dtw alone. Other options: as for `distance`.

    Returns `[len(x), len(y)]`: values from 0 to 1, the derivative of the distance by each local cost. Cuturi & Blondel
    2017, arXiv 1703.01541.

    Memory: the result. Errors: as `distance`; `MemoryError` if it does not fit the memory limit.
    """
    _inputs.same_device(x=x, y=y)
    batches: list[Batch] = [_inputs.one(x, "x", layout), _inputs.one(y, "y", layout)]
    call = _calls.prepared(batches, measure, band, device, dtype, threads, memory_limit, parameters)
    first, second = call.packed
    return _native.expected_alignment(first, second, call.spec, call.engine, None)
