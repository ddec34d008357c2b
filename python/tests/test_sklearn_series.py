"""Series of estimators: the order of axes, missing values, tables, and distances in their place."""

import warnings

import numpy as np
import pytest
from optional import need

need("sklearn")

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

RNG = np.random.default_rng(17)
LABELS = np.repeat([0, 1], 6)
#: Two classes of two channels, `[series, length, channels]`.
LAST = RNG.normal(size=(12, 15, 2)) + np.where(LABELS, 3.0, 0.0)[:, None, None] * np.sin(np.arange(15))[:, None]
FIRST = np.ascontiguousarray(LAST.transpose(0, 2, 1))
ESTIMATORS = [
    KNeighborsTimeSeriesClassifier(2),
    KNeighborsTimeSeriesClassifier(band="leave_one_out"),
    KNeighborsTimeSeriesRegressor(2),
    TimeSeriesKMeans(2, random_state=0, max_iter=3),
    TimeSeriesKMedoids(2),
    SoftDTWBarycenter(max_iter=3),
]


def told(call, *args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = call(*args)
    return result, found


def output(model, x):
    return model.transform(x) if hasattr(model, "transform") else model.predict(x)


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("form", [np.asarray, list])
def test_axes_in_the_other_order(model, form):
    first = clone(model).set_params(layout="channels_first")
    assert clone(first).get_params()["layout"] == "channels_first" and model.get_params()["layout"] is None
    expected = output(clone(model).fit(form(LAST), LABELS), form(LAST))
    assert np.allclose(output(first.fit(form(FIRST), LABELS), form(FIRST)), expected)
    silent = clone(model).set_params(layout="channels_last").fit(form(FIRST), LABELS)
    fitted, warned = told(clone(model).fit, form(FIRST), LABELS)
    assert [one.category for one in warned] == [dtwave.LayoutWarning]
    assert str(warned[0].message).startswith("X is read as 12 series of 2 points of 15 channels")
    found, warned = told(output, fitted, form(FIRST))
    assert [one.category for one in warned] == [dtwave.LayoutWarning]
    assert np.array_equal(found, output(silent, form(FIRST)))
    if isinstance(model, TimeSeriesKMeans):
        assert first.cluster_centers_.shape == (2, 2, 15)
    if isinstance(model, SoftDTWBarycenter):
        assert first.barycenter_.shape == (2, 15)
    with pytest.raises(ValueError, match="layout must be"):
        clone(model).set_params(layout="first").fit(form(LAST), LABELS)


def test_leave_one_out_counts_points():
    model = KNeighborsTimeSeriesClassifier(band="leave_one_out", layout="channels_first").fit(FIRST, LABELS)
    assert len(model.leave_one_out_.bands) == 16


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("form", [np.asarray, list])
@pytest.mark.parametrize("layout", ["channels_last", "channels_first"])
def test_missing_values(model, form, layout):
    whole = LAST.copy()
    whole[3, 4] = (whole[3, 3] + whole[3, 5]) / 2
    gappy = whole.copy()
    gappy[3, 4] = np.nan
    if layout == "channels_first":
        whole, gappy = whole.transpose(0, 2, 1), gappy.transpose(0, 2, 1)
    of_whole, of_gappy = (clone(model).set_params(layout=layout, missing=way) for way in ("error", "linear"))
    of_whole.fit(form(whole), LABELS)
    _, warned = told(of_gappy.fit, form(gappy), LABELS)
    assert [one.category for one in warned] == [dtwave.MissingWarning]
    assert str(warned[0].message) == 'missing="linear" filled 2 values of series 3 of X'
    found, warned = told(output, of_gappy, form(gappy))
    assert [one.category for one in warned] == [dtwave.MissingWarning]
    assert np.allclose(found, output(of_whole, form(whole)))
    with pytest.raises(ValueError, match='X has NaN in series 3, point 4: values must be finite; .* missing="linear"'):
        output(of_whole, form(gappy))


def test_tables():
    pandas = need("pandas")
    table = pandas.DataFrame(LAST[:, :, 0]).convert_dtypes()
    model = KNeighborsTimeSeriesClassifier().fit(table, LABELS)
    expected = KNeighborsTimeSeriesClassifier().fit(LAST[:, :, 0], LABELS)
    assert np.array_equal(model.predict(table), expected.predict(LAST[:, :, 0]))
    days = pandas.date_range("2024-01-01", periods=12)
    with pytest.raises(ValueError, match="the rows of X are times"):
        model.fit(table.set_axis(days), LABELS)
    with pytest.raises(ValueError, match="column 'label' of X would count among the values"):
        model.predict(table.assign(label=LABELS))
    stacked = table.rename_axis("t", axis=1).stack()
    with pytest.raises(ValueError, match=r"an index of several levels .* dtwave.panel\(X\)"):
        model.fit(stacked.to_frame(), LABELS)
    panel = dtwave.panel(stacked)
    assert np.array_equal(KNeighborsTimeSeriesClassifier().fit(panel, LABELS).predict(panel), LABELS)


def test_distances_in_place_of_series():
    matrix = dtwave.pairwise(LAST, measure="msm", c=0.5)
    later = dtwave.pairwise(LAST[::2] + 0.1, LAST, measure="msm", c=0.5)
    options = {"measure": "msm", "measure_params": {"c": 0.5}}
    for kind in (KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesRegressor):
        for weights in ("uniform", "distance"):
            given = kind(3, measure="precomputed", weights=weights).fit(matrix, LABELS)
            series = kind(3, weights=weights, **options).fit(LAST, LABELS)
            assert np.allclose(given.predict(later), series.predict(LAST[::2] + 0.1))
            assert np.array_equal(given.kneighbors(return_distance=False), series.kneighbors(return_distance=False))
    model = KNeighborsTimeSeriesClassifier(measure="precomputed")
    # scikit-learn cuts both axes.
    assert np.array_equal(
        cross_val_score(model, matrix, LABELS, cv=3),
        cross_val_score(KNeighborsTimeSeriesClassifier(**options), LAST, LABELS, cv=3),
    )
    given = TimeSeriesKMedoids(2, measure="precomputed").fit(matrix)
    series = TimeSeriesKMedoids(2, **options).fit(LAST)
    assert np.array_equal(given.labels_, series.labels_) and given.inertia_ == series.inertia_
    assert np.array_equal(given.predict(later), series.predict(LAST[::2] + 0.1))
    assert np.allclose(given.transform(later), series.transform(LAST[::2] + 0.1))
    assert np.isclose(given.score(later), series.score(LAST[::2] + 0.1)) and not hasattr(given, "cluster_centers_")
    for wrong, text in [
        (1.0 - matrix / matrix.max(), r"entry \[0, 0\] of X is 1.0"),
        (np.triu(matrix), r"entries \[0, 1\] and \[1, 0\] of X"),
        (matrix[:6], r"X must be a square matrix of distances, .* got shape \[6, 12\]"),
    ]:
        for kind in (TimeSeriesKMedoids(2, measure="precomputed"), model):
            with pytest.raises(ValueError, match=text):
                kind.fit(wrong, LABELS[: len(wrong)])
    with pytest.raises(ValueError, match=r"entry \[0, 0\] of X is -"):
        model.fit(matrix, LABELS).predict(-1.0 - later)
    for name, value in [("band", 3), ("layout", "channels_last"), ("missing", "drop"), ("measure_params", {"c": 1.0})]:
        with pytest.raises(ValueError, match=f"{name} has no effect on distances that are precomputed"):
            clone(model).set_params(**{name: value}).fit(matrix, LABELS)


def test_seeds_are_drawn_from_generators():
    for make in (np.random.default_rng, np.random.RandomState):
        fits = [TimeSeriesKMeans(2, n_init=1, random_state=make(5)).fit(LAST).inertia_ for _ in range(2)]
        assert fits[0] == fits[1]
        found = [dtwave.kmeans(LAST, 2, restarts=1, seed=make(5)).inertia for _ in range(2)]
        assert found[0] == found[1]
    assert dtwave.kmedoids(LAST, 2, restarts=1, seed=None).labels.shape == (12,)
    with pytest.raises(
        TypeError, match="seed must be a whole number, None, or a NumPy Generator or RandomState, got 'x'"
    ):
        dtwave.kmeans(LAST, 2, seed="x")
