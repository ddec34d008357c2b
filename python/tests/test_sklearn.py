"""Nearest neighbours as estimators: predictions, parameters, searches, series of every form."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from optional import need

need("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import dtwave
from dtwave.sklearn import KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesRegressor, TimeSeriesKMeans


def bumps(count, seed, length=30):
    """Series of one or two bumps at random places, in turn, and which of the two they are."""
    random, time = np.random.default_rng(seed), np.arange(length)
    kinds = np.arange(count) % 2
    shift = random.uniform(-4, 4, size=(count, 1))
    one = np.exp(-((time - length / 2 - shift) ** 2) / 6)
    two = np.exp(-((time - length / 3 - shift) ** 2) / 6) + np.exp(-((time - length / 1.5 - shift) ** 2) / 6)
    return np.where(kinds[:, None] == 0, one, two) + random.normal(scale=0.1, size=(count, length)), kinds


X, KINDS = bumps(24, 1)
Y, Y_KINDS = bumps(20, 2)
NAMES = np.array(["one", "two"])[KINDS]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("measure", "parameters"),
    [("dtw", {}), ("twed", {"lambda_": 0.5}), ("soft_dtw", {"gamma": 0.1}), ("log_gak", {"sigma": 1.0})],
)
def test_predictions_are_those_of_classify(k, measure, parameters):
    random = np.random.default_rng(5)
    labels = random.choice(["a", "b", "c"], size=len(X))  # so that votes are tied
    model = KNeighborsTimeSeriesClassifier(k, measure=measure, measure_params=parameters, band=0.2).fit(X, labels)
    expected = dtwave.classify(X, labels, Y, k=k, measure=measure, band=0.2, **parameters)
    assert model.predict(Y).tolist() == expected.tolist()
    assert model.n_samples_fit_ == 24 and model.n_features_in_ == 30 and model.band_ == 0.2
    shares = model.predict_proba(Y)
    assert shares.shape == (20, 3) and np.allclose(shares.sum(axis=1), 1)
    assert set(np.unique(shares * k)) <= set(range(k + 1))


def test_neighbours():
    model = KNeighborsTimeSeriesClassifier(2, band=3).fit(X, NAMES)
    distances, indices = model.kneighbors(Y)
    found = dtwave.nearest(X, Y, k=2, band=3)
    assert np.array_equal(indices, found.indices) and np.array_equal(distances, found.distances)
    others = model.kneighbors(n_neighbors=4, return_distance=False)
    assert np.array_equal(others, dtwave.nearest(X, k=4, band=3).indices)
    with pytest.raises(ValueError, match="n_neighbors=24 is more than there are: .* 24 series, and none is its own"):
        model.kneighbors(n_neighbors=24)
    with pytest.raises(NotFittedError):
        KNeighborsTimeSeriesClassifier().kneighbors()


def test_weights():
    train, labels = np.array([[0.0, 0.0], [3.0, 3.0], [3.5, 3.5]]), ["near", "far", "far"]
    votes = KNeighborsTimeSeriesClassifier(3).fit(train, labels)
    assert votes.predict([[1.0, 1.0]]).tolist() == ["far"]
    # dtw's distances are 2, 8 and 12.5.
    by_distance = clone(votes).set_params(weights="distance").fit(train, labels)
    total = 1 / 2 + 1 / 8 + 1 / 12.5
    assert by_distance.predict([[1.0, 1.0]]).tolist() == ["near"]
    assert by_distance.predict_proba([[1.0, 1.0]])[0] == pytest.approx([(1 / 8 + 1 / 12.5) / total, 1 / 2 / total])
    # An equal series is all that counts.
    assert by_distance.predict_proba([[3.0, 3.0]])[0].tolist() == [1.0, 0.0]
    values = KNeighborsTimeSeriesRegressor(3, weights="distance").fit(train, [1.0, 2.0, 3.0])
    assert values.predict([[1.0, 1.0]])[0] == pytest.approx((1 / 2 + 2 / 8 + 3 / 12.5) / total)
    own = KNeighborsTimeSeriesRegressor(3, weights=lambda distances: distances == distances.min(axis=1, keepdims=True))
    assert own.fit(train, [1.0, 2.0, 3.0]).predict([[1.0, 1.0]]).tolist() == [1.0]
    for wrong in (lambda distances: distances[0], lambda distances: -distances, lambda distances: 0 * distances):
        with pytest.raises(ValueError, match="the function weights must return"):
            own.set_params(weights=wrong).fit(train, [1.0, 2.0, 3.0]).predict([[1.0, 1.0]])
    with pytest.raises(ValueError, match="log_gak is a similarity"):
        KNeighborsTimeSeriesClassifier(weights="distance", measure=dtwave.LogGak(sigma=1.0)).fit(train, labels)
    negative = KNeighborsTimeSeriesClassifier(weights="distance", measure="soft_dtw").fit(train, labels)
    with pytest.raises(ValueError, match="needs distances of at least 0, and soft_dtw gave -"):
        negative.predict([[0.0, 0.0]])


def test_bad_parameters_are_named():
    for parameters, message in [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1, got 0"),
        ({"n_neighbors": 25}, "n_neighbors=25 is more than there are series: n_samples=24"),
        ({"weights": "near"}, "weights must be"),
        ({"measure": "dtv"}, "unknown measure 'dtv'.*did you mean 'dtw'"),
        ({"measure_params": {"gamma": 1.0}}, "dtw has no parameter 'gamma'"),
        ({"measure_params": {"threads": 1}}, "dtw has no parameter 'threads'"),
        ({"measure": dtwave.Msm(), "measure_params": {"c": 1.0}}, "no effect on a measure that is an object"),
        ({"band": "200%"}, "a fraction lies between 0 and 1, got 2.0"),
        ({"band": "best"}, "band must be a band or \"leave_one_out\", got 'best'"),
        ({"band": -1}, "a band radius is .*, got -1"),
        ({"bands": [0, 1]}, "bands are the candidates"),
    ]:
        with pytest.raises(ValueError, match=message):
            KNeighborsTimeSeriesClassifier(**parameters).fit(X, NAMES)
    with pytest.raises(TypeError, match="measure_params must be a dict"):
        KNeighborsTimeSeriesClassifier(measure_params=[1.0]).fit(X, NAMES)
    with pytest.raises(ValueError, match="the target y is None"):
        KNeighborsTimeSeriesClassifier().fit(X, None)
    with pytest.raises(ValueError, match="y must be numbers"):
        KNeighborsTimeSeriesRegressor().fit(X, NAMES)
    with pytest.raises(ValueError, match="y must be numbers, got dates"):
        KNeighborsTimeSeriesRegressor().fit(X, np.arange(24).astype("datetime64[D]"))
    days = np.arange(24).astype("datetime64[D]")
    days[3] = "NaT"
    with pytest.raises(ValueError, match="y contains NaT"):
        KNeighborsTimeSeriesClassifier().fit(X, days)
    for model in (KNeighborsTimeSeriesClassifier(), KNeighborsTimeSeriesRegressor()):
        with pytest.raises(ValueError, match=r"y\[2\] is masked"):
            model.fit(X, np.ma.array(np.arange(24), mask=np.arange(24) == 2))


@pytest.mark.parametrize("measure", ["soft_dtw", dtwave.SoftDtw(gamma=1.0)])
def test_parameters_of_the_measure_are_nested(measure):
    model = KNeighborsTimeSeriesClassifier(measure=measure)
    assert model.get_params()["measure__gamma"] == 1.0
    assert "measure__gamma" not in model.get_params(deep=False)
    model.set_params(measure__gamma=0.25, band=3)
    assert model.get_params()["measure__gamma"] == 0.25 and model.band == 3
    assert clone(model).get_params()["measure__gamma"] == 0.25
    # The object that was passed in is another's too.
    assert dtwave.SoftDtw(gamma=1.0).gamma == 1.0 and (isinstance(measure, str) or measure.gamma == 1.0)
    with pytest.raises(ValueError, match="measure__gama: soft_dtw has no parameter 'gama': it takes gamma"):
        model.set_params(measure__gama=1.0)
    # The measure first, then its parameters.
    model.set_params(measure__lambda_=0.5, measure="twed", measure_params=None)
    assert model.get_params()["measure__lambda_"] == 0.5 and model.get_params()["measure__nu"] == 0.001
    with pytest.raises(ValueError, match="frechet has no parameter 'c': it takes none"):
        model.set_params(measure=dtwave.Frechet(), measure__c=1.0, measure_params=None)


def test_nested_parameters_of_no_measure():
    for measure, error, message in [
        ("dtv", ValueError, "unknown measure 'dtv'"),
        (dtwave.Msm, TypeError, r"measure is a class: write dtwave.Msm\(...\)"),
        (None, TypeError, "measure must be a key"),
    ]:
        with pytest.raises(error, match=message):
            KNeighborsTimeSeriesClassifier(measure=measure).set_params(measure__c=1.0)
    # Two spellings of one parameter.
    model = KNeighborsTimeSeriesClassifier(measure="twed", measure_params={"lambda": 1.0})
    assert model.set_params(measure__lambda_=2.0).fit(X, NAMES).get_params()["measure__lambda_"] == 2.0


def test_parameters_of_incomplete_measures_are_shown():
    assert "measure__epsilon" not in KNeighborsTimeSeriesClassifier(measure="edr").get_params()
    model = KNeighborsTimeSeriesClassifier(measure="edr").set_params(measure__epsilon=0.1).fit(X, NAMES)
    assert model.get_params()["measure__epsilon"] == 0.1
    assert KNeighborsTimeSeriesClassifier(measure="no such").get_params()["measure"] == "no such"


def test_searches():
    grid = [
        {"measure": ["dtw"], "band": [0, 0.1, dtwave.SakoeChiba(5), dtwave.Itakura(2.0), None]},
        {"measure": ["soft_dtw"], "measure__gamma": [0.01, 1.0], "band": [0.1, None]},
        {"measure": [dtwave.Msm(c=0.1), dtwave.Frechet()]},
    ]
    search = GridSearchCV(KNeighborsTimeSeriesClassifier(), grid, cv=3).fit(X, NAMES)
    assert len(search.cv_results_["params"]) == 11
    model = KNeighborsTimeSeriesClassifier(measure="soft_dtw", measure_params={"gamma": 0.01}, band=0.1)
    expected = cross_val_score(model, X, NAMES, cv=3).mean()
    assert search.cv_results_["mean_test_score"][5] == pytest.approx(expected)
    # The parameters reach the measure: each gamma has distances of its own.
    gammas = {"measure__gamma": [0.01, 1000.0]}
    model = KNeighborsTimeSeriesRegressor(3, measure="soft_dtw")
    values = GridSearchCV(model, gammas, cv=3, scoring="neg_mean_squared_error").fit(X, X.argmax(axis=1))
    first, second = values.cv_results_["mean_test_score"]
    assert first != second and values.best_params_ == {"measure__gamma": 0.01 if first > second else 1000.0}


def test_searches_in_pipelines():
    pipeline = make_pipeline(FunctionTransformer(dtwave.normalize), KNeighborsTimeSeriesClassifier(measure="soft_dtw"))
    name = "kneighborstimeseriesclassifier"
    grid = {f"{name}__measure__gamma": [0.1, 1.0], f"{name}__band": [0, 0.2]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, NAMES)
    assert len(search.cv_results_["params"]) == 4 and search.score(Y, NAMES[:20]) > 0.8
    clusters = make_pipeline(FunctionTransformer(dtwave.normalize), TimeSeriesKMeans(2, random_state=0))
    assert clusters.fit(X).predict(Y).shape == (20,)


@pytest.mark.parametrize(
    "band",
    [
        0.1,
        "10%",
        "full",
        "leave-one-out",
        dtwave.Slanted(4),
        dtwave.Itakura(),
        dtwave.Ranges([[0, 30]] * 30),
        "leave_one_out",
    ],
)
def test_copies(band):
    model = KNeighborsTimeSeriesClassifier(2, measure=dtwave.Adtw(penalty=0.5), band=band)
    assert repr(clone(model).get_params()["measure"]) == repr(model.measure)
    model.fit(X, NAMES)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(Y), model.predict_proba(Y))
    fresh = clone(model)
    assert not hasattr(fresh, "classes_") and fresh.fit(X, NAMES).predict(Y).tolist() == model.predict(Y).tolist()


def test_series_of_several_channels():
    both = np.stack([X, -2 * X], axis=2)
    model = KNeighborsTimeSeriesClassifier(band=0.1).fit(both, NAMES)
    asked = np.stack([Y, -2 * Y], axis=2)
    assert model.predict(asked).tolist() == dtwave.classify(both, NAMES, asked, band=0.1).tolist()
    assert cross_val_score(model, both, NAMES, cv=3).min() > 0.5
    with pytest.raises(ValueError, match="1 channel, but KNeighborsTimeSeriesClassifier was fitted on series of 2"):
        model.predict(Y)
    with pytest.raises(ValueError, match=r"Found array with dim 4"):
        model.fit(both[None], NAMES)
    with pytest.raises(ValueError, match="without points or channels"):
        model.fit(np.empty((24, 0, 2)), NAMES)


@pytest.mark.parametrize("channels", [0, 2])
def test_series_of_different_lengths(channels):
    def cut(series, seed):
        lengths = np.random.default_rng(seed).integers(25, 31, size=len(series))
        parts = [one[:length] for one, length in zip(series, lengths)]
        return [np.stack([one] * channels, axis=1) for one in parts] if channels else parts

    train, asked = cut(X, 3), cut(Y, 4)
    model = KNeighborsTimeSeriesClassifier(3, band=0.2).fit(train, NAMES)
    expected = dtwave.classify(train, NAMES, asked, k=3, band=0.2).tolist()
    assert model.predict(asked).tolist() == expected
    assert model.predict([one.tolist() for one in asked]).tolist() == expected
    assert not hasattr(model, "n_features_in_")
    assert np.isfinite(cross_val_score(model, train, NAMES, cv=3)).all()
    search = GridSearchCV(model, {"band": [0.1, 0.3]}, cv=2).fit(train, NAMES)
    assert search.predict(asked).shape == (20,)
    # Other containers of arrays.
    objects = np.empty(len(asked), dtype=object)
    objects[:] = asked
    assert model.predict(objects).tolist() == expected
    pandas = need("pandas")
    assert model.predict(pandas.Series([one.tolist() for one in asked])).tolist() == expected
    # What an earlier array left is forgotten, and a list of one length is series, too.
    model.fit(X, NAMES).fit(train, NAMES)
    assert not hasattr(model, "n_features_in_") and model.predict(asked).tolist() == expected


def test_lengths_of_arrays_are_compared_and_those_of_lists_are_not():
    model = KNeighborsTimeSeriesClassifier().fit(X, NAMES)
    with pytest.raises(ValueError, match="X has 29 features, but .* is expecting 30"):
        model.predict(Y[:, :29])
    assert model.predict(list(Y[:, :29])).tolist() == dtwave.classify(X, NAMES, Y[:, :29]).tolist()
    of_lists = KNeighborsTimeSeriesClassifier().fit(list(X), NAMES)
    assert of_lists.predict(Y[:, :29]).tolist() == model.predict(list(Y[:, :29])).tolist()


def test_bad_series_are_named():
    model = KNeighborsTimeSeriesClassifier()
    ragged = [np.zeros(3), np.zeros(4)]
    for series, message in [
        (
            [np.zeros(3), np.array([0.0, np.nan])],
            "X has NaN in series 1, point 1: values must be finite; if it is missing, missing=",
        ),
        ([np.zeros(3), np.zeros(0)], "series 1 of X has no points"),
        ([np.zeros((3, 1)), np.zeros((4, 2))], "series 0 of X has 1 channel, series 1 has 2 channels"),
        ([1.0, 2.0], "Expected 2D array, got 1D array"),
        ([["a", "b"], ["c"]], "strings"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(series, [0, 1])
    with pytest.raises(ValueError, match="X has NaN in series 0, point 0"):
        model.fit(np.ma.masked_array(np.zeros((2, 3)), np.eye(2, 3)), [0, 1])
    with pytest.raises(TypeError, match="booleans"):
        model.fit(np.eye(2, 3) > 0, [0, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(ragged, [0, 1, 2])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((2, 3), np.nan), [0, 1])


def test_numbers_and_devices():
    single = KNeighborsTimeSeriesClassifier().fit(X.astype(np.float32), NAMES)
    assert single.kneighbors(Y.astype(np.float32))[0].dtype == np.float32
    assert KNeighborsTimeSeriesClassifier(dtype="float32").fit(X, NAMES).kneighbors(Y)[0].dtype == np.float32
    one = KNeighborsTimeSeriesClassifier(threads=1, memory_limit=64 << 20, device="cpu").fit(X, NAMES)
    assert one.predict(Y).tolist() == KNeighborsTimeSeriesClassifier().fit(X, NAMES).predict(Y).tolist()
    for parameters, error in [
        ({"threads": 0}, ValueError),
        ({"memory_limit": 0}, ValueError),
        ({"dtype": "int8"}, ValueError),
        ({"device": "abacus"}, (ValueError, dtwave.DeviceError)),
    ]:
        with pytest.raises(error, match=next(iter(parameters))):
            KNeighborsTimeSeriesClassifier(**parameters).fit(X, NAMES)


def test_precomputed_distances_that_rounding_left_below_zero_weigh():
    rounded = np.array([[0.0, -1e-12, 2.0], [-1e-12, 0.0, 2.0], [2.0, 2.0, 0.0]])
    model = KNeighborsTimeSeriesClassifier(2, measure="precomputed", weights="distance").fit(rounded, [0, 1, 0])
    assert model.predict_proba(rounded).tolist() == [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]
    medoids = dtwave.kmedoids(np.abs(rounded), 2, measure="precomputed", resample="none", sqrt=False)
    assert medoids.labels.tolist() == [0, 0, 1]
