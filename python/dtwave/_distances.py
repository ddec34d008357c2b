"""Distances: of one pair, of pairs, of all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _calls, _inputs, _missing, _native, _options, _resident, _resident_calls, _workers
from ._options import Cutoff, Given, OfManyTimed, OfPair, taken, takes
from ._results import Explanation, Kernel, Neighbors
from ._spec import spec

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Bytes of memory that a neighbour takes while they are sought.
CANDIDATE_BYTES = 48

_default_engine = _options.engine(Given())


@takes(OfPair)
def distance(x: Any, y: Any, *, cutoff: float | None = None, **options: Unpack[OfPair]) -> Any:
    """Distance of two series.

    x, y: one series each, `[length]` or `[length, channels]`. Lengths may differ, numbers of channels may not. (For many
        series see `pairwise` and `zipped`.) PyTorch's tensors and CuPy's arrays may be in a GPU's memory.
    measure: a key with the measure's parameters as keywords (`measure="msm", c=0.5`), or an object
        (`dtwave.Msm(c=0.5)`). `dtwave.MEASURES` lists the keys, `help(dtwave.Msm)` the parameters of one.
    band: which points may match. None: all. An int: points up to that many places apart, for series of equal length. A
        float: the same as a fraction of the longer series, 0.1 for 10%. Both are Sakoe-Chiba bands. Or one of
        `SakoeChiba`, `Slanted`, `Itakura` and `Ranges`, or text as the command takes it: "10%", "slanted:5".
    device: "cpu" (the default), "cuda" (the first NVIDIA GPU), "cuda:1" (the second), "hip" (the first AMD GPU), "wgpu"
        (any GPU, in float32). Series in an NVIDIA GPU's memory are computed there: leave it out.
    dtype: float32 or float64, in which the call computes; unless given, float32 if all values are of it or of a half
        precision, else float64.
    threads: how many CPU threads compute, at most 1024 (or as many as there are cores); one per core unless given. The
        result does not depend on it.
    memory_limit: bytes of working memory, also as "512MiB"; 1 GiB unless given.
    layout: "channels_first" for series of shape `[channels, length]`, "channels_last" for `[length, channels]`. Unless
        given it is the latter, and series with more channels than points get a `dtwave.LayoutWarning`.
    missing: what is done about missing values (NaN, None, pandas' NA, what an array masks). "error", the default, refuses
        them. "linear" fills a gap by the line between its neighbours, by their places; "previous" by the value before.
        Both fill what has no known value on one side with the nearest known one, channel by channel. "drop" leaves out
        points that lack a channel, except in functions that return places of points. A `dtwave.MissingWarning` counts
        what was filled or left out. A series without any known value is an error.
    resample: makes points equally spaced where series have times: pandas Series and DataFrames whose index (or, a series per
        row, whose columns) are dates or numbers, a `panel` with times, or `times=`. "none", the default, takes points as they are. "median" takes
        the median spacing; a number is a step in units of the times (of dates in seconds), and so are "5min" and a
        `timedelta`. Values are on the line between the points before and after; a `dtwave.MissingWarning` counts those
        that lie in gaps, where neighbours are further apart than one and a half steps and median spacings. A missing value that `missing` allows is a gap. Places of points in a
        result are those of the new points.
    normalize: "z" compares the series z-normalised, each channel with mean 0 and deviation 1 (see `normalize`).
    sqrt: True gives the root of the accumulated cost, for measures that accumulate one.
    times: for twed, a tuple of the timestamps of x and those of y, `[length]` each. Or which times of a pandas index, or of
        a `panel`, are meant: "index" takes them (dates in seconds, numbers as they are), "elapsed" those since the first
        point of each series, "count" 1, 2, … Unless given, points at equal steps count 1, 2, …; else the times of the index
        are taken, with a `dtwave.TimesWarning`, and the call is an error where series start at different times. Whole
        numbers of an index are taken for labels of rows. Points that `resample` made count 1, 2, … unless `times` is given.
    cutoff: a distance above it (with `sqrt` a root above it) is infinite, any other the same as without. `dtw` takes
        little time for large distances then. Not for similarities, nor for series in a GPU's memory.

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
    if cutoff is None and (not options or (len(options) == 1 and "measure" in options)):
        quick = _quick(x, y, options.get("measure", "dtw"), _default_engine)
        if quick is not None:
            return quick
    given, place = taken(options, OfPair), _resident.place_of(x=x, y=y)
    most = Cutoff.of(cutoff, place)
    if place is not None:
        return given.rooted(_resident_calls.distance(place, x, y, given))
    what = spec(given.measure, given.band, given.parameters)
    _inputs.check_layout(given.layout)
    _missing.check(given.missing)
    engine = _options.engine(given)
    is_plain = given.normalize == "none" and given.dtype is None and given.times is None
    if is_plain and given.missing == "error" and most is None and not given.is_resampled:
        quick = _quick(x, y, what, engine)
        if quick is not None:
            singles = all(getattr(each, "dtype", None) == np.float32 for each in (x, y))
            return given.rooted_one(quick, np.float32 if singles else np.float64)
    call = _calls.prepared(_calls.pair(x, y, given, "dtwave.pairwise and dtwave.zipped"), given)
    found = np.empty(1, dtype=call.number)
    if most is not None:
        engine = most.engine(engine, call.number, given)
    with _missing.Explained():
        _native.distances(*call.sides, call.spec, engine, True, found, None)
    return float((given.rooted(found) if most is None else most.roots(found, given))[0])


def _quick(x: Any, y: Any, what: Any, engine: _native.Engine) -> float | None:
    """The distance of two short arrays, by the shortest way to the engine; `None` for all others."""
    try:
        return _native.distance_of_arrays(x, y, what, engine)
    except ValueError as error:
        if " has NaN at " in str(error):
            # The longer way says what helps.
            return None
        raise


@takes(OfManyTimed)
def zipped(x: Any, y: Any, *, cutoff: float | None = None, **options: Unpack[OfManyTimed]) -> Any:
    """Distances of the first series of `x` with the first of `y`, the second with the second, and so on.

    x, y: equally many series: `[series, length]`, `[series, length, channels]`, or lists of series of any lengths.
    lengths: a tuple: how many points of each series of x count, and of y, `[series]` each, for padded arrays. Either may
        be None.
    padding: "nan" if NaN at the end of a series is padding.
    times: a tuple of the timestamps of x and those of y, one per point; or a word, as for `distance`; for twed.
    progress: True shows a progress bar (tqdm's if it is installed).
    measure, band, device, dtype, threads, memory_limit, layout, normalize, sqrt, cutoff: as for `distance`.

    Returns `[series]`, of float32 or float64.

    Time: one sweep per pair. Errors: as `distance`.
    """
    given, place = taken(options, OfManyTimed), _resident.place_of(x=x, y=y)
    most = Cutoff.of(cutoff, place)
    if place is not None:
        return given.rooted(_resident_calls.zipped(place, x, y, given))
    a, b = _calls.many(x, y, given)
    call = _calls.prepared([a, b], given)
    with call.bar("zipped", True) as bar:
        found = call.empty("the list of distances", len(a))
        engine = call.engine if most is None else most.engine(call.engine, call.number, given)
        _native.distances(call.first, call.second, call.spec, engine, True, found, bar)
        return given.rooted(found) if most is None else most.roots(found, given)


@takes(OfManyTimed)
def nearest(x: Any, y: Any = None, *, k: int = 1, client: Any = None, **options: Unpack[OfManyTimed]) -> Neighbors:
    """The k series of `x` that are nearest to each series of `y`. Without `y`: to each series of `x`, except itself.

    x, y: series as for `pairwise`.
    k: how many neighbours: from 1 to the number of series of x; without `y` to one less.
    client: workers that compute, as for `pairwise`: they share the series of y, or those of x where there are few of y.
    Other options: as for `pairwise`.

    Returns `Neighbors`: `indices` into x and `distances`, both `[n_y, k]` (without `y` `[n_x, k]`), nearest first. Of
    equal distances the smaller index comes first. Of a similarity (log_gak, lcss with output="length") the largest
    values are nearest. The distances are `distance(x[i], y[j])`, in this order. Both arrays are where the series are:
    in main memory, or in a GPU's.

    Time: one sweep per pair, without `y` of half of them. Memory: one or two tiles of the matrix, and k entries per series.

    Errors: as `distance`; in main memory `ValueError` for a distance that is not finite.
    """
    many, given = _options.whole("k", k, 1), taken(options, OfManyTimed)
    place = _resident.place_of(x=x, y=y)
    if client is not None:
        _workers.on_host(place)
    if place is not None:
        found = _resident_calls.nearest(place, x, y, many, given)
        return Neighbors(found.indices, given.rooted(found.distances))
    batches = _calls.many(x, y, given)
    if y is None and many >= len(batches[0]):
        raise ValueError(f"k must be less than the number of series of x ({len(batches[0])}) without y, got {many}")
    call = _calls.prepared(batches, given if client is None else _workers.local(given))
    _calls.afford(CANDIDATE_BYTES * (many + 1) * len(batches[-1]), "the list of neighbours")
    if client is not None:
        if y is not None:
            _calls.check_neighbors(many, len(batches[0]), False)
        indices, distances = _workers.nearest(client, given, call, many + (y is None))
        if y is None:
            indices, distances = others(indices, distances)
        return Neighbors(indices, given.rooted(distances))
    with call.bar("nearest", False, (call.first, call.second)) as bar:
        if call.second is not None:
            indices, distances = _native.nearest(call.first, call.second, many, call.spec, call.engine, bar)
        else:
            indices, distances = others(*_native.nearest(call.first, None, many + 1, call.spec, call.engine, bar))
        return Neighbors(indices, given.rooted(distances))


@takes(OfManyTimed)
def explain(x: Any, y: Any = None, **options: Unpack[OfManyTimed]) -> Explanation:
    """How the distances of every series of `x` with every series of `y` are computed, and how fast: computes them.

    x, y: series as for `pairwise`; for two series write `explain([x], [y])`.
    Other options: as for `pairwise`.

    Returns `Explanation`: which kernels or sweeps, in which shape and why these; how many launches, tiles and cells;
    how much memory; how long it took. `print` shows a line for each kernel, and one for all, as `--explain` of the
    command does. Distances themselves are not kept. Plans are made anew, so a first call of a GPU takes its time.

    Time and memory: as `pairwise`. Errors: as `distance`, and for series in a GPU's memory.

    >>> import dtwave
    >>> told = dtwave.explain([[0.0, 1.0, 2.0], [0.0, 2.0, 2.0]])
    >>> told.cells, sum(kernel.pairs for kernel in told.kernels)
    (27, 3)
    """
    given = taken(options, OfManyTimed)
    call = _calls.prepared(_calls.many(x, y, given), given)
    with call.bar("explain", False) as bar:
        told = _native.explain(call.first, call.second, call.spec, call.engine, bar)
    return Explanation(**{**told, "kernels": [Kernel(*kernel) for kernel in told["kernels"]]})


def others(indices: NDArray[np.int64], distances: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Neighbours without the series itself; without the last one where the series is not among them."""
    own = indices == np.arange(len(indices))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = len(indices), indices.shape[1] - 1
    return indices[~own].reshape(shape), distances[~own].reshape(shape)
