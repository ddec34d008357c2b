"""Clusters and averages as estimators: the functions' results, and what scikit-learn adds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from optional import need

need("sklearn")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import dtwave
from dtwave.sklearn import SoftDTWBarycenter, TimeSeriesKMeans, TimeSeriesKMedoids

RNG = np.random.default_rng(8)
KINDS = np.arange(18) % 3
SERIES = np.sin(np.arange(16) * np.array([0.2, 0.5, 0.9])[KINDS][:, None]) + RNG.normal(scale=0.1, size=(18, 16))
OTHERS = SERIES[::-1] + 0.05
RAGGED = [one[: 12 + s % 5] for s, one in enumerate(SERIES)]


@pytest.mark.parametrize(
    ("measure", "parameters"),
    [("dtw", {}), ("msm", {"c": 0.2}), ("soft_dtw", {"gamma": 0.1}), ("soft_dtw_divergence", {"gamma": 0.5})],
)
def test_kmeans(measure, parameters):
    model = TimeSeriesKMeans(3, measure=measure, measure_params=parameters, band=4, random_state=7).fit(SERIES)
    expected = dtwave.kmeans(SERIES, 3, measure=measure, band=4, seed=7, **parameters)
    assert np.array_equal(model.cluster_centers_, expected.centers) and model.cluster_centers_.shape == (3, 16)
    assert model.labels_.tolist() == expected.labels.tolist() and model.inertia_ == expected.inertia
    assert model.n_iter_ == expected.iterations and model.converged_ == expected.converged
    distances = model.transform(OTHERS)
    options = {"measure": measure, "band": 4, **parameters}
    assert np.array_equal(distances, dtwave.pairwise(model.cluster_centers_, OTHERS, **options).T)
    assert model.predict(OTHERS).tolist() == distances.argmin(axis=1).tolist()
    assert model.score(OTHERS) == pytest.approx(-distances.min(axis=1).sum())
    assert model.get_feature_names_out().tolist() == [f"timeserieskmeans{c}" for c in range(3)]
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.transform(OTHERS), distances)


def test_labels_are_predictions():
    for model in (TimeSeriesKMeans(3, random_state=0), TimeSeriesKMedoids(3)):
        assert model.fit_predict(SERIES).tolist() == model.predict(SERIES).tolist() == model.labels_.tolist()
        assert len({(kind, label) for kind, label in zip(KINDS, model.labels_)}) == 3
        assert model.score(SERIES) == pytest.approx(-model.inertia_)


@pytest.mark.parametrize(
    "measure", ["dtw", "twed", dtwave.Lcss(epsilon=0.2, output="length"), dtwave.LogGak(sigma=1.0)]
)
def test_kmedoids(measure):
    model = TimeSeriesKMedoids(3, measure=measure).fit(SERIES)
    expected = dtwave.kmedoids(SERIES, 3, measure=measure)
    assert model.medoid_indices_.tolist() == expected.medoids.tolist() and model.inertia_ == expected.loss
    assert np.array_equal(model.cluster_centers_, SERIES[expected.medoids])
    assert model.predict(SERIES).tolist() == model.labels_.tolist() == expected.labels.tolist()
    assert model.score(SERIES) == pytest.approx(-expected.loss)
    random = TimeSeriesKMedoids(3, measure=measure, n_init=4, random_state=5).fit(SERIES)
    expected = dtwave.kmedoids(SERIES, 3, measure=measure, restarts=4, seed=5)
    assert random.medoid_indices_.tolist() == expected.medoids.tolist()


def test_series_of_different_lengths_and_of_several_channels():
    for model in (TimeSeriesKMeans(3, random_state=0), TimeSeriesKMedoids(3), SoftDTWBarycenter()):
        model.fit(RAGGED)
        assert model.transform(RAGGED[:5]).shape == (5, 1 if isinstance(model, SoftDTWBarycenter) else 3)
        assert not hasattr(model, "n_features_in_")
        both = np.stack([SERIES, -SERIES], axis=2)
        model.fit(both)
        center = model.barycenter_ if isinstance(model, SoftDTWBarycenter) else model.cluster_centers_[0]
        assert center.shape == (16, 2) and model.transform(both[:4]).shape[0] == 4
        with pytest.raises(ValueError, match="X has 3 channels, but .* was fitted on series of 2"):
            model.transform(np.zeros((2, 16, 3)))
    lengths = {len(center) for center in TimeSeriesKMeans(4, random_state=0).fit(RAGGED).cluster_centers_}
    assert lengths <= {12, 13, 14, 15, 16}


def test_tables_as_output():
    pandas = need("pandas")
    frame = pandas.DataFrame(SERIES)
    model = TimeSeriesKMedoids(2).set_output(transform="pandas").fit(frame)
    assert model.transform(frame).columns.tolist() == ["timeserieskmedoids0", "timeserieskmedoids1"]


def test_random_states():
    a = TimeSeriesKMeans(3, n_init=1, random_state=np.random.RandomState(3)).fit(SERIES)
    b = TimeSeriesKMeans(3, n_init=1, random_state=np.random.RandomState(3)).fit(SERIES)
    assert np.array_equal(a.cluster_centers_, b.cluster_centers_)
    # Without one, starts come from NumPy's global state.
    seeds = []
    for state in (1, 2):
        np.random.seed(state)
        seeds.append(dtwave.sklearn._clusters.seed_of(None))
    assert seeds[0] != seeds[1]
    with pytest.raises(ValueError, match="random_state must be a whole number of at least 0, got -1"):
        TimeSeriesKMeans(random_state=-1).fit(SERIES)
    with pytest.raises(ValueError, match="random_state must be a whole number, None, or a NumPy Generator"):
        TimeSeriesKMeans(random_state="seed").fit(SERIES)


def test_bad_parameters_are_named():
    for model, message in [
        (TimeSeriesKMeans(19), "n_samples=18 should be >= n_clusters=19"),
        (TimeSeriesKMedoids(0), "n_clusters must be a whole number of at least 1, got 0"),
        (TimeSeriesKMeans(n_init=0), "n_init must be a whole number of at least 1, got 0"),
        (TimeSeriesKMeans(measure="frechet"), "frechet"),
        (TimeSeriesKMeans(optimizer="sgd"), "optimizer must be"),
        (TimeSeriesKMedoids(measure="precomputed"), "X must be a square matrix of distances"),
        (TimeSeriesKMedoids(measure="precomputed", band=3), "band has no effect on distances that are precomputed"),
        (TimeSeriesKMeans(measure="precomputed"), "averages need series"),
        (SoftDTWBarycenter(gamma=0.0), "gamma"),
        (SoftDTWBarycenter(init="median"), 'start must be "medoid", "mean" or a series, got \'median\''),
        (SoftDTWBarycenter(max_iter=0), "max_iter must be a whole number of at least 1, got 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(SERIES)


@pytest.mark.parametrize("divergence", [False, True])
def test_averages(divergence):
    measure = "soft_dtw_divergence" if divergence else "soft_dtw"
    weights = RNG.uniform(size=18)
    model = SoftDTWBarycenter(0.3, divergence=divergence, band=5, max_iter=20).fit(SERIES, sample_weight=weights)
    expected = dtwave.barycenter(SERIES, measure=measure, gamma=0.3, band=5, max_iterations=20, weights=weights)
    assert np.array_equal(model.barycenter_, expected.center) and np.array_equal(model.costs_, expected.costs)
    assert model.n_iter_ == expected.iterations and model.converged_ == expected.converged
    found = model.transform(OTHERS)
    assert np.array_equal(found, dtwave.pairwise(OTHERS, [expected.center], band=5)) and found.shape == (18, 1)
    assert model.score(OTHERS) == pytest.approx(-found.mean())
    assert model.get_feature_names_out().tolist() == ["softdtwbarycenter0"]
    ragged = SoftDTWBarycenter(max_iter=3).fit(RAGGED, sample_weight=weights)
    expected = dtwave.barycenter(RAGGED, measure="soft_dtw", max_iterations=3, weights=weights)
    assert np.array_equal(ragged.barycenter_, expected.center)
    with pytest.raises(ValueError, match="expected"):
        ragged.fit(RAGGED, sample_weight=weights[:3])
    start = SoftDTWBarycenter(init=SERIES[0, :10], max_iter=3)
    assert clone(start).fit(SERIES).barycenter_.shape == (10,)


def test_searches_over_gamma():
    search = GridSearchCV(SoftDTWBarycenter(max_iter=10), {"gamma": [0.01, 0.1, 1.0], "band": [2, None]}, cv=3)
    search.fit(SERIES[::3])
    model = clone(search.estimator).set_params(gamma=0.1, band=2).fit(SERIES[::3][2:])
    at = search.cv_results_["params"].index({"band": 2, "gamma": 0.1})
    assert search.cv_results_["split0_test_score"][at] == model.score(SERIES[::3][:2])
    # Scores are in units that do not depend on gamma, so they compare.
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() and search.best_params_["gamma"] < 1.0
    model = TimeSeriesKMeans(3, measure="soft_dtw", n_init=1, max_iter=3, random_state=0)
    clusters = GridSearchCV(model, {"measure__gamma": [0.1, 1.0]}, cv=2).fit(SERIES)
    assert clusters.best_estimator_.get_params()["measure__gamma"] in (0.1, 1.0)
