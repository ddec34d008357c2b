"""Classes, averages and clusters of series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _calls, _frames, _inputs, _native, _resident, _workers
from ._options import Given, OfManyPrepared, Seed, memory_limit, real, seed_of, taken, takes, whole
from ._results import Barycenter, KMeans, KMedoids

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Options that only some functions have: what a misspelt one may have meant.
_OF_AVERAGES = (
    "optimizer",
    "learning_rate",
    "max_iterations",
    "tolerance",
    "start",
    "weights",
    "sample_size",
    "seed",
)
_OF_MEDOIDS = ("method", "samples", "sample_size", "restarts", "max_iterations", "seed")
_OF_MEANS = (
    "restarts",
    "max_iterations",
    "seed",
    "weights",
    "sample_size",
    "batch_size",
    "optimizer",
    "learning_rate",
    "tolerance",
    "center_iterations",
)

#: How averages are minimised where there is a gradient.
Optimizer = Literal["lbfgs", "adam"]


def _minimizer(optimizer: str, learning_rate: float | None) -> tuple[str, float]:
    if optimizer not in ("lbfgs", "adam"):
        raise ValueError(f'optimizer must be "lbfgs" or "adam", got {optimizer!r}')
    if optimizer == "lbfgs":
        if learning_rate is not None:
            raise ValueError('learning_rate is for optimizer="adam"')
        return optimizer, 10.0
    return optimizer, 0.05 if learning_rate is None else real("learning_rate", learning_rate)


def _shares(weights: Any, count: int) -> list[float] | None:
    """One weight per series.

    Errors: `ValueError` for another number of them.
    """
    if weights is None:
        return None
    shares = np.asarray(_arrays.plain(weights, "weights"), dtype=np.float64)
    if shares.shape != (count,):
        raise ValueError(f"weights must be one per series ({count}), got shape {list(shares.shape)}")
    found: list[float] = shares.tolist()
    return found


def _classes(labels: Any, count: int) -> tuple[NDArray[Any], list[int]]:
    """The different labels as they were given, and which of them each series has.

    Errors: `TypeError` and `ValueError` if there is not one label per series, or one is missing.
    """
    if isinstance(labels, np.ma.MaskedArray):
        raise TypeError("labels is a masked array: every series of train needs a label")
    expected = f"labels must be one per series of train ({count})"
    try:
        names = np.asarray(labels)
    except ValueError:
        raise ValueError(f"{expected}, got rows of several lengths") from None
    if names.shape != (count,):
        raise ValueError(f"{expected}, got {_arrays.shape_text(names)}")
    # NumPy writes numbers among words as words, and truth among numbers as numbers.
    if isinstance(labels, (list, tuple)) and any(np.asarray(each).dtype.kind != names.dtype.kind for each in labels):
        names = np.empty(count, dtype=object)
        names[:] = labels
    # What is not equal to itself is missing: NaN, NaT.
    rows = names if names.dtype.kind in "fcMmO" else names[:0]
    missing = np.flatnonzero([name is None or type(name).__name__ == "NAType" or name != name for name in rows])
    if len(missing):
        raise ValueError(f"series {missing[0]} of train has no label ({names[missing[0]]})")
    if names.dtype != object:
        known, places = np.unique(names, return_inverse=True)
        return known, places.tolist()
    # Equal numbers, and equal words, are one class whatever their types; but True is not 1.
    codes: dict[tuple[bool, Any], int] = {}
    classes = [codes.setdefault((isinstance(each, (bool, np.bool_)), each), len(codes)) for each in names]
    different = np.empty(len(codes), dtype=object)
    different[:] = [value for _, value in codes]
    return different, classes


def _elected(votes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most frequent class of each row, `[n]`. If several are equally frequent, the first of them in the row.

    Time: of sorting all votes.
    """
    of_rows = votes + (votes.max(initial=0) + 1) * np.arange(len(votes))[:, np.newaxis]
    _, places, counts = np.unique(of_rows, return_inverse=True, return_counts=True)
    counts = counts[places].reshape(votes.shape)
    elected: NDArray[np.int64] = votes[np.arange(len(votes)), np.argmax(counts, axis=1)]
    return elected


@takes(OfManyPrepared)
def classify(
    train: Any, labels: Any, test: Any, *, k: int = 1, client: Any = None, **options: Unpack[OfManyPrepared]
) -> NDArray[Any]:
    """The label of each series of `test`: the most frequent one among its k nearest series of `train`.

    train, test: series as for `pairwise`.
    labels: one per series of `train`, numbers or strings.
    k: how many neighbours, from 1. Of equally frequent labels the one with the nearest series is taken.
    client: workers that compute, as for `nearest`.
    lengths: a tuple of those of train and those of test.
    Other options: as for `nearest`.

    Returns `[n_test]`, of the type of the labels: of Python objects where they are of several types. Cover & Hart 1967, 10.1109/TIT.1967.1053964.

    Time and memory: as `nearest`. Errors: as `nearest`; `ValueError` if there is not one label per series.
    """
    given = taken(options, OfManyPrepared)
    _arrays.same_device(train=train, test=test)
    if client is not None:
        _workers.on_host(_resident.place_of(train=train, test=test))
    lengths = _calls.each("lengths", given.lengths)
    batches = [
        _inputs.many(train, "train", given.layout, lengths[0], given.padding),
        _inputs.many(test, "test", given.layout, lengths[1], given.padding),
    ]
    _frames.check_both(train, test, "train and test")
    known, classes = _classes(labels, len(batches[0]))
    call = _calls.prepared(batches, given if client is None else _workers.local(given), ("k", "client"))
    first, second = call.packed
    many = whole("k", k, 1)
    if many > len(batches[0]):
        raise ValueError(f"k must be at most {len(batches[0])}, the number of series of train, got {many}")
    if client is not None:
        return known[_elected(np.asarray(classes, dtype=np.int64)[_workers.nearest(client, given, call, many)[0]])]
    with call.bar("classify", False) as bar:
        found = _native.classify(first, classes, second, many, call.spec, call.engine, bar)
    predicted: NDArray[Any] = known[found]
    return predicted


@takes(OfManyPrepared)
def barycenter(
    x: Any,
    *,
    weights: Any = None,
    start: Union[Literal["medoid", "mean"], Any] = "medoid",
    optimizer: Optimizer = "lbfgs",
    learning_rate: float | None = None,
    max_iterations: int = 100,
    tolerance: float = 1e-6,
    sample_size: int = 256,
    seed: Seed = 0,
    **options: Unpack[OfManyPrepared],
) -> Barycenter:
    """The average of series: along their warping paths (for dtw that is DBA), or by descent along the gradient for soft_dtw
    and soft_dtw_divergence.

    x: series as for `pairwise`.
    measure: dtw, ddtw, wdtw, wddtw, adtw, erp, msm, twed, soft_dtw or soft_dtw_divergence. docs/measures.md says which point
        paths make of what they match. `kmedoids` is for the others.
    weights: one per series, at least 0, not all 0.
    start: "medoid" (the series with the least sum of distances to the others; of more than `sample_size` series, the
        medoid of so many that are drawn), "mean" (of series of equal length), or a series. The average is as long as
        the start.
    optimizer: "lbfgs" or "adam", for soft_dtw and its divergence.
    learning_rate: of adam, in units of the values; 0.05 unless given.
    max_iterations: 0 returns the start with its cost.
    tolerance: converged when an iteration lowers the cost by no more than this fraction of it.
    sample_size: of how many series the starting medoid is at most; 256 take some 33 thousand sweeps. They are drawn in
        proportion to their weights. With the number of series, or more, it is the medoid of all.
    seed: of that draw; as for `kmeans`.
    Other options: as for `distance`.

    Returns `Barycenter`, whose `center` has the axes of one series of `x`. It depends on the start: it is a local minimum of
    the sum of distances or, under msm and twed, a centre that another round does not improve.

    Time: a matrix of the distances of the sample for the medoid, then about two sweeps per series and iteration.

    Errors: as `distance`; `ValueError` for measures without an average. Petitjean et al. 2011,
    10.1016/j.patcog.2010.09.013; under other measures Holder, Guijo-Rubio & Bagnall 2023, 10.5220/0012164900003598; Cuturi &
    Blondel 2017, arXiv 1703.01541.

    >>> import dtwave
    >>> dtwave.barycenter([[0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]]).center
    array([0., 2., 0., 0.])
    """
    given = taken(options, OfManyPrepared)
    (batch,) = batches = _calls.many(x, None, given)
    kind = start if isinstance(start, str) else "series"
    if kind == "series":
        batches.append(_inputs.one(start, "start", given.layout))
    elif kind not in ("medoid", "mean"):
        raise ValueError(f'start must be "medoid", "mean" or a series, got {start!r}')
    call = _calls.prepared(batches, given, _OF_AVERAGES)
    sample = (whole("sample_size", sample_size, 1), seed_of(seed))
    with call.bar("barycenter", None) as bar:
        center, costs, converged = _native.barycenter(
            call.first,
            call.spec,
            call.engine,
            _shares(weights, len(batch)),
            kind,
            call.second,
            sample,
            _minimizer(optimizer, learning_rate),
            whole("max_iterations", max_iterations, 0),
            real("tolerance", tolerance),
            bar,
        )
    return Barycenter(batch.shaped(center), np.array(costs), converged)


@takes(OfManyPrepared)
def kmeans(
    x: Any,
    clusters: int,
    *,
    restarts: int = 3,
    max_iterations: int = 50,
    tolerance: float = 1e-6,
    center_iterations: int = 10,
    optimizer: Optimizer = "lbfgs",
    learning_rate: float | None = None,
    seed: Seed = 0,
    weights: Any = None,
    sample_size: int | None = None,
    batch_size: int | None = None,
    client: Any = None,
    **options: Unpack[OfManyPrepared],
) -> KMeans:
    """Clusters around averages (k-means), under the measures of `barycenter`.

    x: series as for `pairwise`.
    clusters: how many clusters, from 1 to the number of series.
    restarts: how many starts by k-means++; the result with the least inertia (sum of distances to the centres) is
        returned.
    max_iterations: rounds per start. center_iterations: iterations of each average per round.
    tolerance: converged when a round lowers the inertia by no more than this fraction of it.
    seed: of the random starts; the same seed gives the same clusters. None draws another each time; a NumPy `Generator`
        or `RandomState` draws the next.
    weights: one per series, at least 0, not all 0. Series of weight 0 get labels, and change nothing.
    sample_size: of how many series, drawn anew, each start is chosen by k-means++, which takes a sweep per cluster and
        series; of all unless given.
    batch_size: series that a round looks at, drawn for each; all unless given. With mini-batches a centre moves towards
        the average of its series of the batch by the share that they have of all that it has seen; they end when the
        running mean of their inertia has not fallen for ten batches. Then all series get labels.
    client: workers that compute, as for `pairwise`: they have the series, and in each round they share the series that
        get labels and the clusters that get averages. The result has the same bits. Not with `sample_size` or
        `batch_size`.
    Other options: as for `barycenter`.

    Returns `KMeans`. Time per round: `clusters * n` sweeps and an average per cluster; of a mini-batch, that of its
    series.

    Errors: as `barycenter`. MacQueen 1967; with DBA Petitjean et al. 2011, 10.1016/j.patcog.2010.09.013; mini-batches
    Sculley 2010, 10.1145/1772690.1772862.
    """
    given = taken(options, OfManyPrepared)
    if client is not None:
        for name, value in (("sample_size", sample_size), ("batch_size", batch_size)):
            if value is not None:
                raise ValueError(f"{name} is for calls without client: leave it out")
        _workers.on_host(_resident.place_of(x=x))
    (batch,) = _calls.many(x, None, given)
    local = given if client is None else _workers.local(given)
    call = _calls.prepared([batch], local, (*_OF_MEANS, "client"))
    asked = _workers.Asked(
        whole("clusters", clusters, 0),
        whole("restarts", restarts, 0),
        whole("max_iterations", max_iterations, 0),
        real("tolerance", tolerance),
        whole("center_iterations", center_iterations, 0),
        _minimizer(optimizer, learning_rate),
        seed_of(seed),
    )
    shares = _shares(weights, len(batch))
    if client is not None:
        found = _workers.kmeans(client, given, call, shares, asked)
    else:
        with call.bar("kmeans", None) as bar:
            found = _native.kmeans(
                call.first,
                asked.clusters,
                call.spec,
                call.engine,
                asked.restarts,
                asked.max_iterations,
                asked.tolerance,
                asked.center_iterations,
                asked.minimizer,
                asked.seed,
                shares,
                None if sample_size is None else whole("sample_size", sample_size, 1),
                None if batch_size is None else whole("batch_size", batch_size, 1),
                bar,
            )
    values, points, labels, distances, inertia, iterations, converged = found
    parts = np.split(values.reshape(-1, batch.channels), np.cumsum(points)[:-1])
    return KMeans([batch.shaped(part) for part in parts], labels, distances, inertia, iterations, converged)


@takes(OfManyPrepared)
def kmedoids(
    x: Any,
    clusters: int,
    *,
    method: Literal["fasterpam", "clara"] = "fasterpam",
    samples: int | None = None,
    sample_size: int | None = None,
    restarts: int | None = None,
    max_iterations: int = 100,
    seed: Seed = 0,
    client: Any = None,
    **options: Unpack[OfManyPrepared],
) -> KMedoids:
    """Clusters around members (medoids), under any measure, by FasterPAM or, of very many series, by CLARA.

    x: series as for `pairwise`; with `measure="precomputed"` a matrix of their distances, `[n, n]`, as `pairwise`
        returns it: finite, not negative, symmetric, with a diagonal of 0. Entries may miss that by 1e-8 of the largest
        one (in float32 by 1e-4). Of a similarity s pass a distance, such as `s.max() - s` with a diagonal of 0.
    clusters: how many clusters, from 1 to the number of series.
    method: "fasterpam" searches the matrix of all distances. "clara" searches samples; the medoids of the sample that
        serves all series best are taken.
    samples, sample_size: of "clara": how many samples (10 unless given) of how many series (`80 + 4 * clusters`).
    measure: as for `pairwise`, or "precomputed". Then only the options from `restarts` to `seed` have an effect, and
        others are an error.
    restarts: how many random starts, of which the best result is returned; unless given, one greedy start (BUILD).
    max_iterations: passes over all candidates per start. seed: as for `kmeans`, of random starts and of samples.
    client: workers that compute the distances of "fasterpam", as for `pairwise`. The caller holds the matrix and
        searches it.
    Other options: as for `pairwise`.

    Returns `KMedoids`. Time: half a matrix of distances, then O(n²) per pass. Memory: the matrix. With "clara", per sample
    its matrix and `clusters * n` distances; memory: in proportion to the series.

    Errors: as `distance`; `MemoryError` if the matrix does not fit the memory limit. Schubert & Rousseeuw 2021,
    10.1016/j.is.2021.101804; CLARA Kaufman & Rousseeuw 1990, 10.1002/9780470316801.
    """
    if method not in ("fasterpam", "clara"):
        raise ValueError(f'method must be "fasterpam" or "clara", got {method!r}')
    clara = None
    if method == "clara":
        clara = (
            None if samples is None else whole("samples", samples, 1),
            None if sample_size is None else whole("sample_size", sample_size, 1),
            seed_of(seed),
        )
    elif samples is not None or sample_size is not None:
        raise ValueError(f'{"samples" if samples is not None else "sample_size"} is for method="clara"')
    random = None
    if restarts is not None:
        random = (whole("restarts", restarts, 0), seed_of(seed))
    if client is not None and clara is not None:
        raise ValueError('client is for method="fasterpam"')
    given = taken(options, OfManyPrepared)
    size, most = whole("clusters", clusters, 0), whole("max_iterations", max_iterations, 0)
    if isinstance(given.measure, str) and given.measure == "precomputed":
        if client is not None:
            raise ValueError("client has no effect on distances that are precomputed: leave it out")
        # Those that have their defaults may be there.
        usual = {
            "measure": given.measure,
            "layout": "channels_last",
            "missing": "error",
            "progress": False,
            "normalize": "none",
            "resample": "none",
            "sqrt": False,
        }
        for name, value in options.items():
            if value is not None and not (name in usual and value == usual[name]):
                raise ValueError(f"{name} has no effect on distances that are precomputed: leave it out")
        if clara is not None:
            raise ValueError('method="clara" is for series: of distances that are precomputed all are there')
        matrix = _arrays.square(x, "x")
        return KMedoids(*_native.kmedoids_of_matrix(matrix, len(matrix), size, random, most))
    if client is not None:
        return _medoids_by_workers(client, x, given, (size, random, most))
    call = _calls.prepared(_calls.many(x, None, given), given, _OF_MEDOIDS)
    with call.bar("kmedoids", False) as bar:
        found = _native.kmedoids(
            call.first,
            size,
            call.spec,
            call.engine,
            random,
            clara,
            most,
            bar,
        )
    return KMedoids(*found)


def _medoids_by_workers(client: Any, x: Any, given: Given, search: tuple[int, tuple[int, int] | None, int]) -> KMedoids:
    """`kmedoids` by FasterPAM, of the matrix that the workers compute.

    Errors: as `kmedoids`; `ValueError` for a measure or a band that is not symmetric.
    """
    clusters, random, most = search
    _workers.on_host(_resident.place_of(x=x))
    batches, limit = _calls.many(x, None, given), memory_limit(given)
    call, count = _calls.prepared(batches, _workers.local(given), (*_OF_MEDOIDS, "client")), len(batches[0])
    # Before the workers begin; what else is wrong with the search is said after.
    if clusters > count:
        raise ValueError(f"{clusters} clusters were asked for, but there are only {count} series")
    size = count * count * call.number.itemsize
    if size > limit:
        raise MemoryError(
            f'out of memory: the {count} x {count} distance matrix (the method "clara" needs none) needs {size} bytes, '
            f"{limit} bytes are allowed; raise memory_limit"
        )
    if not call.spec.is_symmetric:
        raise ValueError("kmedoids with a client needs a symmetric measure and band: leave client out")
    matrix = _workers.pairwise(client, given, call, (False, None, False), None)
    if call.spec.is_similarity:
        np.subtract(0, matrix, out=matrix)
    return KMedoids(*_native.kmedoids_of_matrix(matrix, len(matrix), clusters, random, most))
