"""Values and gradients of measures that have them: Soft-DTW and its divergence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _calls, _inputs, _native, _progress, _resident, _resident_calls
from ._bands import Band
from ._inputs import Layout, Padding
from ._measure import Measure
from ._options import DeviceLike


def gradients(
    x: Any,
    y: Any,
    *,
    measure: str | Measure = "soft_dtw",
    upstream: Any = None,
    band: Band = None,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    layout: Layout = "channels_last",
    lengths: tuple[Any, Any] | None = None,
    padding: Padding = None,
    progress: bool = False,
    **parameters: Any,
) -> tuple[NDArray[Any], Any, Any]:
    """Distances as of `zipped`, and their gradients with respect to the points of both series.

    x, y: equally many series: arrays, or lists of series of any lengths.
    measure: soft_dtw or soft_dtw_divergence.
    upstream: `[series]`, by which each pair's gradients are multiplied (the gradient of a loss by the values); 1 unless
        given.
    Other options: as for `zipped`.

    Returns `(values, grad_x, grad_y)`: values are `[series]`; the gradients have the form of `x` and `y`, and are 0 at
    padding.

    Time: two sweeps per pair. Memory: O(√n · m) per pair in flight. Cuturi & Blondel 2017, arXiv 1703.01541; Blondel,
    Mensch & Vert 2021, arXiv 2010.08354.

    Errors: as `distance`; `ValueError` for measures without gradients, `dtwave.DeviceError` for series in a GPU's
    memory (`dtwave.torch.soft_dtw` takes tensors there).
    """
    a, b = _calls.two(x, y, layout, lengths, padding)
    call = _calls.prepared([a, b], measure, band, device, dtype, threads, memory_limit, parameters)
    factors = None
    if upstream is not None:
        factors = np.ascontiguousarray(_inputs.plain(upstream, "upstream"), dtype=call.number)
        if factors.shape != (len(a),):
            raise ValueError(f"upstream must be one number per pair ({len(a)}), got shape {list(factors.shape)}")
    first, second = call.packed
    with _progress.shown(progress, "gradients", lambda: _native.cells(first, second, call.spec, True)) as bar:
        values, grad_x, grad_y = _native.gradients(first, second, factors, call.spec, call.engine, bar)
    return values, a.like(grad_x), b.like(grad_y)


def normalize(
    x: Any,
    *,
    dtype: DTypeLike | None = None,
    layout: Layout = "channels_last",
    lengths: Any = None,
    padding: Padding = None,
) -> Any:
    """Every series z-normalised, channel by channel: mean 0 and standard deviation 1; a constant channel becomes 0.

    x: series as for `pairwise`; in a GPU's memory one array, without `lengths`.

    Returns a copy in the form of `x`; padding becomes NaN. The standard deviation is that of the population (a sum
    divided by the number of points).

    Time: a few passes. Errors: `ValueError` and `TypeError` for bad series.
    """
    place = _resident.place_of(x=x)
    if place is not None:
        return _resident_calls.normalize(place, x, dtype, layout, lengths, padding)
    batch = _calls.one(x, layout, lengths, padding)
    call = _calls.prepared([batch], "dtw", None, None, dtype, None, None, {})
    return batch.like(_native.z_normalize(call.packed[0]), float("nan"))
