"""Estimators and series with times: `resample`, and what twed says of points that are not equally spaced."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from optional import need

need("sklearn")
pandas = need("pandas")

from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import dtwave
from dtwave.sklearn import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesRegressor,
    SoftDTWBarycenter,
    TimeSeriesKMeans,
    TimeSeriesKMedoids,
)

RNG = np.random.default_rng(5)
LABELS = np.arange(8) % 2
#: Points at steps of 1 and 2 seconds; every second one of the evenly spaced points after the first ten is left out.
SECONDS = np.concatenate([np.arange(10.0), np.arange(10.0, 20.0, 2)])
VALUES = RNG.normal(size=(8, len(SECONDS))) + 4.0 * LABELS[:, None]
EVEN = np.stack([np.interp(np.arange(19.0), SECONDS, row) for row in VALUES])
TABLE = pandas.DataFrame(VALUES, columns=pandas.Timestamp("2024-05-01") + pandas.to_timedelta(SECONDS, unit="s"))
SERIES = [pandas.Series(row, index=TABLE.columns) for row in VALUES]
ESTIMATORS = [
    KNeighborsTimeSeriesClassifier(),
    KNeighborsTimeSeriesRegressor(),
    TimeSeriesKMeans(2, random_state=0, max_iter=3),
    TimeSeriesKMedoids(2),
    SoftDTWBarycenter(max_iter=3),
]


def panel():
    rows = [(s, at, value) for s, row in enumerate(VALUES) for at, value in zip(SECONDS, row)]
    return dtwave.panel(pandas.DataFrame(rows, columns=["id", "at", "value"]), id="id", time="at")


def output(model, x):
    return model.transform(x) if hasattr(model, "transform") else model.predict(x)


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("form", ["table", "series", "panel"])
def test_points_are_resampled(model, form):
    x = {"table": TABLE, "series": SERIES, "panel": panel()}[form]
    resampling = clone(model).set_params(resample="median")
    expected = clone(model).fit(EVEN, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtwave.MissingWarning)
        resampling.fit(x, LABELS)
        assert resampling.resample_step_ == 1.0
        assert np.array_equal(output(resampling, x), output(expected, EVEN))
        again = pickle.loads(pickle.dumps(resampling))
        assert np.array_equal(output(again, x), output(expected, EVEN))


def test_later_series_get_the_spacing_of_fit():
    fine = [pandas.Series(np.repeat(row, 2), index=np.arange(38) / 2) for row in EVEN]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtwave.MissingWarning)
        model = TimeSeriesKMedoids(2, resample="median").fit([pandas.Series(row, index=SECONDS) for row in VALUES])
        assert np.array_equal(model.transform(fine), clone(model).set_params(resample="none").fit(EVEN).transform(EVEN))


def test_gaps_are_told_in_fit_and_later():
    model = KNeighborsTimeSeriesClassifier(resample=0.5)
    with pytest.warns(dtwave.MissingWarning, match="step of 0.5 made .* of X"):
        model.fit(TABLE, LABELS)
    with pytest.warns(dtwave.MissingWarning, match="step of 0.5 made .* of X"):
        model.predict(TABLE)


def test_cross_validation_takes_series_with_times():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtwave.MissingWarning)
        for x in (TABLE, SERIES):
            scores = cross_val_score(KNeighborsTimeSeriesClassifier(resample=1), x, LABELS, cv=2)
            assert np.array_equal(scores, cross_val_score(KNeighborsTimeSeriesClassifier(), EVEN, LABELS, cv=2))


def test_twed_says_that_unequal_points_count():
    model = KNeighborsTimeSeriesClassifier(measure="twed")
    for x in (TABLE, SERIES, panel()):
        with pytest.warns(dtwave.TimesWarning, match="of X are not equally spaced.*without an option times="):
            model.fit(x, LABELS)
        with warnings.catch_warnings():
            warnings.simplefilter("error", dtwave.TimesWarning)
            warnings.simplefilter("ignore", dtwave.MissingWarning)
            clone(model).set_params(resample="median").fit(x, LABELS).predict(x)
            clone(model).set_params(measure="dtw").fit(x, LABELS).predict(x)
            clone(model).set_params(measure=dtwave.Twed()).fit(VALUES, LABELS)


def test_what_cannot_be_resampled_is_told():
    for x, resample, message in [
        (VALUES, "median", "X has no times to resample by"),
        (TABLE, "mean", "resample must be"),
        (TABLE, 1e-9, "would make .* points of the 15 of series 0 of X"),
    ]:
        with pytest.raises(ValueError, match=message):
            KNeighborsTimeSeriesClassifier(resample=resample).fit(x, LABELS)
    distances = dtwave.pairwise(EVEN)
    with pytest.raises(ValueError, match="resample has no effect on distances that are precomputed"):
        KNeighborsTimeSeriesClassifier(measure="precomputed", resample="median").fit(distances, LABELS)
