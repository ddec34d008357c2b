"""k-means and the choice of a band by the jobs of a client: the bits, and the errors, of one process."""

from __future__ import annotations

import re

import numpy as np
import pytest
from machines import RAGGED, RNG, X, here, same, same_means
from optional import need

import dtwave

__all__ = ["here"]  # a fixture

WALKS = X.cumsum(axis=1)
WEIGHTS = RNG.uniform(size=41) * (RNG.uniform(size=41) < 0.6)
AVERAGED = ["dtw", "ddtw", "wdtw", "wddtw", "adtw", "erp", "msm", "twed", "soft_dtw", "soft_dtw_divergence"]


@pytest.mark.parametrize("measure", AVERAGED)
def test_means_are_those_without_a_client(here, measure):
    for x, options in (
        (WALKS, {"restarts": 2, "max_iterations": 4}),
        (RAGGED, {"band": 0.4, "restarts": 1, "max_iterations": 3, "center_iterations": 2}),
        (WALKS.astype(np.float32), {"weights": WEIGHTS, "max_iterations": 2, "seed": 7, "normalize": "z"}),
    ):
        expected = dtwave.kmeans(x, 3, measure=measure, **options)
        assert same_means(dtwave.kmeans(x, 3, measure=measure, client=here, **options), expected)


def test_starts_and_ends_are_those_without_a_client(here):
    again = np.repeat(WALKS[:5], 9, axis=0)
    for x, clusters, options in (
        *((WALKS, 5, {"seed": seed, "max_iterations": 1}) for seed in (0, 1, 2, 77, 1 << 40, 1 << 62)),
        # Of equal series some clusters are empty, and the last starts are drawn evenly.
        (again, 7, {"seed": 2}),
        (np.zeros((6, 4)), 6, {}),
        # Their differences are too small for squares: all distances are 0.
        (1e-200 * WALKS, 20, {}),
        (np.round(WALKS / 4), 8, {"restarts": 5}),
        (WALKS, 41, {"restarts": 1}),
        (WALKS, 1, {"seed": np.random.default_rng(3).integers(1 << 31)}),
        (WALKS, 3, {"tolerance": 0.0, "center_iterations": 1, "restarts": 2}),
        # A round that gains nothing; an inertia near 0, where gamma says what little is.
        (WALKS, 3, {"measure": "twed", "seed": 3, "tolerance": 0.0, "center_iterations": 1, "restarts": 1}),
        (WALKS, 3, {"measure": "soft_dtw", "gamma": 1.89, "tolerance": 0.1, "center_iterations": 3, "restarts": 1}),
        (WALKS, 3, {"measure": "soft_dtw", "optimizer": "adam", "learning_rate": 0.2, "max_iterations": 3}),
        (WALKS, 2, {"center_iterations": 0}),
        (WALKS, 4, {"weights": np.where(np.arange(41) < 4, 1.0, 0.0)}),
        (WALKS.reshape(41, 12, 2).transpose(0, 2, 1), 2, {"layout": "channels_first", "max_iterations": 3}),
    ):
        expected = dtwave.kmeans(x, clusters, **options)
        assert same_means(dtwave.kmeans(x, clusters, client=here, **options), expected), (clusters, options)


@pytest.mark.parametrize(
    ("weights", "labels", "distances", "centers"),
    [
        ([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 2], [0.0, 1.0, 0.0, 0.0], [0.0, 5.0, 2.0]),
        # What counts most is furthest.
        ([1.0, 30.0, 1.0, 1.0], [0, 1, 2, 0], [0.0, 0.0, 0.0, 4.0], [0.0, 1.0, 5.0]),
    ],
)
def test_an_empty_cluster_takes_the_series_furthest_from_its_centre(here, weights, labels, distances, centers):
    from dtwave import _calls, _options
    from dtwave.distributed import _engines, _means, _work

    given = _options.Given()
    call = _calls.prepared(_calls.many([[0.0], [1.0], [5.0], [2.0]], None, given), given)
    with _engines.workers_of(here).hold(_work.Work.of(call, given)) as run:
        rounds = _means._Rounds(run, 2, call.spec, call.packed, np.array(weights), None, None)
        (found,) = rounds.labelled([[np.array([[value]]) for value in (0.0, 90.0, 80.0)]])
    assert (found.labels.tolist(), found.distances.tolist()) == (labels, distances)
    assert [center.item() for center in found.centers] == centers
    assert found.inertia == np.dot(weights, distances)


def test_starts_are_different_series(here):
    from dtwave import _calls, _native, _options
    from dtwave.distributed import _engines, _seeds, _work

    given = _options.Given()
    call = _calls.prepared(_calls.many(np.zeros((41, 3)), None, given), given)
    with _engines.workers_of(here).hold(_work.Work.of(call, given)) as run:
        found = _seeds.seeds(run, [(0, 20), (20, 41)], np.ones(41), 41, _native.Draws(0))
    assert sorted(found) == list(range(41))


def test_draws_are_in_range_and_follow_their_weights():
    from dtwave import _native

    draws = _native.Draws(0)
    assert {draws.below(3) for _ in range(100)} == {0, 1, 2}
    assert [_native.Draws(5).below(1 << 40) for _ in range(2)] == [_native.Draws(5).below(1 << 40)] * 2
    counts = np.bincount([draws.by_weight(np.array([1.0, 0.0, 3.0])) for _ in range(2000)], minlength=3)
    assert counts[1] == 0 and 1400 < counts[2] < 1600
    with pytest.raises(ValueError, match="less than 0"):
        draws.below(0)
    with pytest.raises(ValueError, match="the weights cannot be drawn by"):
        draws.by_weight(np.zeros(3))


FAR = np.where(np.arange(41)[:, np.newaxis] == 3, 1e200, X)
HUGE = np.where(np.arange(41)[:, np.newaxis] == 3, 1e153, X)
ALL_BUT = {s: np.where(np.arange(41) == s, 0.0, 1.0) for s in (0, 3)}


@pytest.mark.parametrize(
    ("x", "options"),
    [
        (X, {"clusters": 0}),
        (X[:0], {}),
        (X, {"clusters": 42}),
        (X, {"restarts": 0}),
        (X, {"max_iterations": 0}),
        (X, {"tolerance": -1.0}),
        (X, {"seed": -1}),
        (X, {"seed": 1 << 70}),
        (X, {"measure": "frechet"}),
        (X, {"measure": "subsequence_dtw"}),
        (X, {"cost": "manhattan"}),
        (X, {"optimizer": "newton"}),
        (X, {"measure": "soft_dtw", "optimizer": "adam", "learning_rate": -1.0}),
        (X, {"weights": [1.0]}),
        (X, {"weights": -ALL_BUT[0] / 4}),
        (X, {"weights": ALL_BUT[0] * np.nan}),
        (X, {"weights": 0 * ALL_BUT[0]}),
        (X, {"weights": 1e308 * ALL_BUT[0]}),
        (X, {"weights": 1.0 - ALL_BUT[0]}),
        (np.where(X == X[4, 2], np.nan, X), {}),
        (FAR, {}),
        (FAR, {"clusters": 1}),
        (FAR, {"clusters": 1, "weights": ALL_BUT[0]}),
        (FAR, {"clusters": 1, "weights": ALL_BUT[3]}),
        (HUGE, {"clusters": 1, "weights": 1e10 * ALL_BUT[0]}),
        (HUGE, {"weights": 100 * ALL_BUT[0]}),
        (X, {"sede": 1}),
        (X, {"memory_limit": 10}),
    ],
)
def test_errors_are_those_without_a_client(here, x, options):
    options = {"clusters": 2, **options}
    with pytest.raises((ValueError, MemoryError)) as alone:
        dtwave.kmeans(x, **options)
    with pytest.raises(type(alone.value), match=f"^{re.escape(str(alone.value))}$"):
        dtwave.kmeans(x, client=here, **options)


def test_what_is_refused(here):
    for options, kind, text in (
        ({"client": 3}, TypeError, "client must be a dask.distributed.Client, .* got int"),
        ({"client": here, "batch_size": 9}, ValueError, "batch_size is for calls without client"),
        ({"client": here, "sample_size": 9}, ValueError, "sample_size is for calls without client"),
        ({"client": here, "device": "cuda", "threads": 2}, ValueError, "threads is for the CPU"),
        ({"client": here, "device": "hip:77"}, dtwave.DeviceError, "hip"),
        ({"client": here, "device": ["hip:76", "hip:77"]}, dtwave.DeviceError, "hip"),
    ):
        with pytest.raises(kind, match=text):
            dtwave.kmeans(X, 2, **options)


def test_errors_of_neighbours_tell_places_among_all(here):
    far = np.where(np.arange(41)[:, np.newaxis] == 33, 1e200, X)
    with pytest.raises(ValueError, match="the distance of series 0 of x and series 33 of y is inf"):
        dtwave.nearest(X, far, client=here)


def test_bands_are_those_without_a_client(here):
    need("sklearn")
    from dtwave.sklearn import KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesRegressor, leave_one_out_band

    some = [0, 0.1, 3, dtwave.SakoeChiba(0.6), dtwave.Itakura(2.0), None, "slanted:4"]
    for x, bands, measure in (
        (WALKS, None, {"measure": "dtw"}),
        (WALKS.astype(np.float32), some, {"measure": "msm"}),
        (RAGGED, [0, 0.3], {"measure": "soft_dtw"}),
        (RAGGED, [0.3, 2], {"measure": "dtw"}),
        (np.round(WALKS / 4), some, {"measure": "dtw"}),
        (np.round(WALKS / 4), some, {"measure": "log_gak", "measure_params": {"sigma": 3.0}}),
    ):
        for model, y in (
            (KNeighborsTimeSeriesClassifier(1, **measure), np.arange(len(x)) % 3),
            (KNeighborsTimeSeriesRegressor(3, **measure), np.linspace(0.0, 5.0, len(x))),
        ):
            found = leave_one_out_band(model, x, y, bands=bands, client=here)
            expected = leave_one_out_band(model, x, y, bands=bands)
            assert found == expected and same(found.scores, expected.scores)
    for client, options, kind, text in (
        (3, {}, TypeError, "client must be a dask.distributed.Client, .* got int"),
        (here, {"n_neighbors": 41}, ValueError, "needs more series than n_neighbors=41"),
        (here, {"threads": 0}, ValueError, "threads must be a whole number"),
        # Of the workers: the caller needs no such device to ask for it.
        (3, {"device": "hip:77"}, TypeError, "client must be"),
        (here, {"device": "hip:77"}, dtwave.DeviceError, "hip"),
    ):
        with pytest.raises(kind, match=text):
            leave_one_out_band(KNeighborsTimeSeriesClassifier(**options), X, np.arange(41) % 2, client=client)
    # The last block is computed first: its first series is named by its place among all.
    with pytest.raises(ValueError, match="series 33 and series 36 of X is inf: scale or normalise"):
        far = np.where(np.arange(41)[:, np.newaxis] == 33, 1e200, X)
        leave_one_out_band(KNeighborsTimeSeriesClassifier(), far, np.arange(41) % 2, bands=[0], client=here)
