"""Values and gradients of measures that have them: Soft-DTW and its divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _arrays, _calls, _missing, _native, _resident, _resident_calls
from ._inputs import Batch, Layout, Padding
from ._missing import Missing
from ._options import Given, OfMany, taken, takes
from ._resampling import Resample

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(OfMany, "soft_dtw")
def gradients(x: Any, y: Any, *, upstream: Any = None, **options: Unpack[OfMany]) -> tuple[NDArray[Any], Any, Any]:
    """Distances as of `zipped`, and their gradients with respect to the points of both series.

    x, y: equally many series: arrays, or lists of series of any lengths.
    measure: soft_dtw or soft_dtw_divergence.
    upstream: `[series]`, by which each pair's gradients are multiplied (the gradient of a loss by the values); 1 unless
        given.
    Other options: as for `zipped`.

    Returns `(values, grad_x, grad_y)`: values are `[series]`; the gradients have the form of `x` and `y`, and are 0 at
    padding. Where `missing` filled values, they are those by the filled series. Where a value is not finite, all gradients
    of the pair are NaN.

    Time: two sweeps per pair. Memory: O(√n · m) per pair in flight. Cuturi & Blondel 2017, arXiv 1703.01541; Blondel,
    Mensch & Vert 2021, arXiv 2010.08354.

    Errors: as `distance`; `ValueError` for measures without gradients, `dtwave.DeviceError` for series in a GPU's
    memory (`dtwave.torch.soft_dtw` takes tensors there).
    """
    given = taken(options, OfMany, "soft_dtw")
    a, b = _calls.many(x, y, given)
    call = _calls.prepared([a, b], given)
    factors = None
    if upstream is not None:
        factors = np.ascontiguousarray(_arrays.plain(upstream, "upstream"), dtype=call.number)
        if factors.shape != (len(a),):
            raise ValueError(f"upstream must be one number per pair ({len(a)}), got shape {list(factors.shape)}")
    with call.bar("gradients", True) as bar:
        values, grad_x, grad_y = _native.gradients(*call.sides, factors, call.spec, call.engine, bar)
    for batch, gradient in ((a, grad_x), (b, grad_y)):
        _not_silent(values, batch, gradient)
    return values, a.like(grad_x), b.like(grad_y)


def _not_silent(values: NDArray[Any], batch: Batch, gradient: NDArray[Any]) -> None:
    """Puts NaN where the value of a pair is not finite: where a cost overflowed, paths have no weights."""
    ends = np.cumsum(batch.lengths)
    for s in np.flatnonzero(~np.isfinite(values)):
        gradient.reshape(-1, batch.channels)[ends[s] - batch.lengths[s] : ends[s]] = np.nan


def normalize(
    x: Any,
    *,
    dtype: DTypeLike | None = None,
    layout: Layout = None,
    missing: Missing = "error",
    resample: Resample = "none",
    lengths: Any = None,
    padding: Padding = None,
) -> Any:
    """Every series z-normalised, channel by channel: mean 0 and standard deviation 1; a constant channel becomes 0.

    x: series as for `pairwise`, of two points or more; in a GPU's memory one array, without `lengths`.
    dtype, layout, missing, resample: as for `distance`. lengths, padding: as for `pairwise`.

    Returns a copy in the form of `x`, of arrays without times; padding becomes NaN. Resampled series of different lengths
    are a list. The standard deviation is that of the population (a sum
    divided by the number of points).

    Time: a few passes. Errors: `ValueError` and `TypeError` for bad series, and for series of one point.
    """
    given = Given(dtype=dtype, layout=layout, missing=missing, resample=resample, lengths=lengths, padding=padding)
    place = _resident.place_of(x=x)
    if place is not None:
        return _resident_calls.normalize(place, x, given)
    (batch,) = _calls.many(x, None, given)
    call = _calls.prepared([batch], given)
    _calls.check_spread(batch.lengths, "x")
    with _missing.Explained():
        normalized = _native.z_normalize(call.first)
    return batch.like(normalized, float("nan"))
