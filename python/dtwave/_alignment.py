"""Which points of two series match, and at what cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import DTypeLike, NDArray

from . import _calls, _missing, _native, _resident, _resident_calls
from ._bands import Band
from ._inputs import Layout
from ._measure import Measure
from ._missing import Missing
from ._options import Given, OfManyTimed, OfPair, Shared, Times, taken, takes
from ._resampling import Resample
from ._results import Alignment

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(OfPair)
def align(x: Any, y: Any, **options: Unpack[OfPair]) -> Alignment:
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
    given, place = taken(options, OfPair), _resident.place_of(x=x, y=y)
    _missing.check_places(given.missing)
    if place is not None:
        return _resident_calls.align(place, x, y, given, single=True)[0]
    batches = _calls.pair(x, y, given, "dtwave.align_pairs")
    call = _calls.prepared(batches, given)
    with _missing.Explained():
        ((found, path),) = _native.align(*call.sides, call.spec, call.engine, None)
    return Alignment(given.rooted_one(found, call.number), path, batches[0].arrays[0], batches[1].arrays[0])


@takes(OfManyTimed)
def align_pairs(x: Any, y: Any, **options: Unpack[OfManyTimed]) -> list[Alignment]:
    """The best warping path of the first series of `x` with the first of `y`, of the second with the second, and so on.

    x, y: equally many series. Options: as for `zipped`. Returns a list of `Alignment`.

    Time: as `align` for each pair; pairs share the threads. Errors: as `align`.
    """
    given, place = taken(options, OfManyTimed), _resident.place_of(x=x, y=y)
    _missing.check_places(given.missing)
    if place is not None:
        return _resident_calls.align(place, x, y, given)
    a, b = _calls.many(x, y, given)
    call = _calls.prepared([a, b], given)
    with call.bar("align", True) as bar:
        found = _native.align(*call.sides, call.spec, call.engine, bar)
    return [
        Alignment(given.rooted_one(distance, call.number), path, a.arrays[s], b.arrays[s])
        for s, (distance, path) in enumerate(found)
    ]


@takes(Shared, "soft_dtw")
def expected_alignment(x: Any, y: Any, **options: Unpack[Shared]) -> NDArray[Any]:
    """The expected alignment of two series under soft_dtw: the share of all paths that matches each pair of points.

    Paths of smaller cost weigh more. With a small gamma it is nearly the best path alone.

    x, y: one series each, `[length]` or `[length, channels]`. measure: soft_dtw alone. Other options: as for `distance`.

    Returns `[len(x), len(y)]`: values from 0 to 1, the derivative of the distance by each local cost. Cuturi & Blondel
    2017, arXiv 1703.01541.

    Memory: the result. Errors: as `distance`; `MemoryError` if it does not fit the memory limit.
    """
    given = taken(options, Shared, "soft_dtw")
    _missing.check_places(given.missing)
    call = _calls.prepared(_calls.pair(x, y, given, "dtwave.align_pairs"), given)
    with _missing.Explained():
        return _native.expected_alignment(*call.sides, call.spec, call.engine, None)


def cost_matrix(
    x: Any,
    y: Any,
    *,
    measure: str | Measure = "dtw",
    band: Band = None,
    dtype: DTypeLike | None = None,
    layout: Layout = None,
    missing: Missing = "error",
    resample: Resample = "none",
    times: Times = None,
    **parameters: Any,
) -> NDArray[Any]:
    """Accumulated costs of two series: what the measure is of all that begins as they do. On the CPU.

    x, y: one series each, `[length]` or `[length, channels]`, of any lengths.
    measure, band, dtype, layout, missing, resample, times: as for `distance`. The divergence of Soft-DTW has no such
        matrix: it is made of those of three pairs.

    Returns `[len(x), len(y)]`: entry `[i, j]` is the value of the points up to i of x and up to j of y, in the band and
    with the weights of the whole series; the last entry is the distance. Outside the band entries are infinite (not of
    lcss, whose band restricts matches only). Of subsequence_dtw, entry `[-1, j]` is the cost of the best match that
    ends at j. Derivative measures have two rows and two columns less. `dtwave.plots.costs` draws it.

    Time: one plain loop over `len(x) * len(y)` cells, on one thread. Memory: the result.

    Errors: as `distance`; `MemoryError` for a matrix that the machine has no room for.

    >>> import dtwave
    >>> dtwave.cost_matrix([0.0, 1.0, 3.0], [0.0, 3.0])
    array([[ 0.,  9.],
           [ 1.,  4.],
           [10.,  1.]])
    """
    given = Given(
        measure,
        band,
        dtype=dtype,
        layout=layout,
        missing=missing,
        resample=resample,
        times=times,
        parameters=parameters,
    )
    _missing.check_places(missing)
    call = _calls.prepared(_calls.pair(x, y, given, "dtwave.align_pairs"), given)
    with _missing.Explained():
        return _native.cost_matrix(*call.sides, call.spec)
