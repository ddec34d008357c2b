"""The choice of a band by leaving one out: the same as computing every pair in every band."""

from __future__ import annotations

import numpy as np
import pytest
from optional import need

need("sklearn")

import dtwave
from dtwave.sklearn import KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesRegressor, leave_one_out_band
from dtwave.sklearn import _window

RNG = np.random.default_rng(11)
SERIES = RNG.normal(size=(30, 20)).cumsum(axis=1)
LABELS = RNG.choice(["a", "b", "c"], size=30)


def plainly(series, labels, bands, k, **options):
    """The accuracy of each band, one band after the other, with a vote of its own."""
    scores = []
    for band in bands:
        indices = dtwave.nearest(series, k=k, band=band, **options).indices
        right = 0
        for own, row in zip(labels, indices):
            votes = [labels[i] for i in row]
            most = max(votes.count(label) for label in votes)
            right += next(label for label in votes if votes.count(label) == most) == own
        scores.append(right / len(labels))
    return scores


MEASURES = [
    ("dtw", {}), ("ddtw", {}), ("wdtw", {"g": 0.1}), ("wddtw", {}), ("adtw", {"penalty": 0.3}), ("erp", {"gap": 0.5}),
    ("edr", {"epsilon": 0.5}), ("edr", {"epsilon": 0.5, "output": "normalized"}), ("lcss", {"epsilon": 0.5}),
    ("lcss", {"epsilon": 0.5, "output": "length"}), ("msm", {"c": 0.3}), ("twed", {"nu": 0.1}), ("frechet", {}),
    ("soft_dtw", {"gamma": 0.5}), ("soft_dtw_divergence", {}), ("log_gak", {"sigma": 2.0}),
]  # fmt: skip


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("measure", "parameters"), MEASURES)
def test_every_measure(measure, parameters, k):
    model = KNeighborsTimeSeriesClassifier(k, measure=measure, measure_params=parameters)
    found = leave_one_out_band(model, SERIES, LABELS)
    assert found.bands == tuple(percent / 100 for percent in range(0, 101, 5))  # each number of points once
    expected = plainly(SERIES, LABELS.tolist(), found.bands, k, measure=measure, **parameters)
    assert found.scores.tolist() == pytest.approx(expected)
    assert found.score == found.scores.max() and found.band == found.bands[int(np.argmax(expected))]


@pytest.mark.parametrize("kind", ["ragged", "channels", "float32", "ties"])
def test_every_kind_of_series(kind):
    series = {
        "ragged": [one[: 12 + s % 9] for s, one in enumerate(SERIES)],
        "channels": np.stack([SERIES, SERIES[::-1]], axis=2),
        "float32": SERIES.astype(np.float32),
        "ties": np.round(SERIES / 4)[:, :6],
    }[kind]
    found = leave_one_out_band(KNeighborsTimeSeriesClassifier(2), series, LABELS)
    assert len(found.bands) == {"ragged": 101, "ties": 7}.get(kind, 21)
    assert found.scores.tolist() == pytest.approx(plainly(series, LABELS.tolist(), found.bands, 2))


def test_bands_of_every_kind():
    bands = [None, 3, 0.1, dtwave.SakoeChiba(5), dtwave.SakoeChiba(0.6), dtwave.Itakura(2.0), 0, 0.0]
    bands += [np.float64(0.3), np.int64(1)]
    found = leave_one_out_band(KNeighborsTimeSeriesClassifier(), SERIES, LABELS, bands=bands)
    assert found.scores.tolist() == pytest.approx(plainly(SERIES, LABELS.tolist(), bands, 1))
    words = leave_one_out_band(KNeighborsTimeSeriesClassifier(), SERIES, LABELS, bands=["10%", "full", "slanted:3"])
    assert words.bands == (0.1, None, dtwave.Slanted(3))
    of_array = leave_one_out_band(KNeighborsTimeSeriesClassifier(), SERIES, LABELS, bands=np.arange(4))
    assert of_array.bands == (0, 1, 2, 3)
    for wrong, error, message in [
        ([], ValueError, "bands is empty"),
        (3, TypeError, "bands must be a sequence"),
        ("0123", TypeError, "bands must be a sequence"),
        ([1.5], ValueError, "between 0 and 1, got 1.5"),
        ([-1], ValueError, "negative"),
        (["one"], ValueError, "'one' is no band"),
        ([dtwave.Slanted], TypeError, "band is a class"),
    ]:
        with pytest.raises(error, match=message):
            leave_one_out_band(KNeighborsTimeSeriesClassifier(), SERIES, LABELS, bands=wrong)


def test_few_pairs_are_computed(monkeypatch):
    computed = []

    def counted(x, y, **options):
        computed.append(len(x))
        return dtwave.zipped(x, y, **options)

    monkeypatch.setattr(_window, "zipped", counted)
    shapes = np.sin(np.linspace(0, 6, 40) * np.array([[1.0], [1.3]]))[np.arange(60) % 2]
    series = shapes * 3 + np.random.default_rng(0).normal(scale=0.3, size=(60, 40))
    found = leave_one_out_band(KNeighborsTimeSeriesClassifier(), series, np.arange(60) % 2)
    assert len(found.bands) == 41
    assert 0 < sum(computed) < 0.25 * 40 * (60 * 59 // 2)


def test_large_work_is_done_in_portions(monkeypatch):
    whole = leave_one_out_band(KNeighborsTimeSeriesClassifier(3), SERIES, LABELS)
    monkeypatch.setattr(_window, "_PORTION", 70)
    assert np.array_equal(leave_one_out_band(KNeighborsTimeSeriesClassifier(3), SERIES, LABELS).scores, whole.scores)


@pytest.mark.parametrize("portion", [_window._PORTION, 4_000])
def test_no_pair_is_left_out_of_many(monkeypatch, portion):
    monkeypatch.setattr(_window, "_PORTION", portion)
    # All neighbours but one: in a narrower band nearly all of the 6,105 pairs are computed anew.
    series = RNG.normal(size=(111, 4)).cumsum(axis=1)
    shrinking = _window._Shrinking(series, 109, {"measure": "dtw"})
    for band in (3, 1, 0):
        expected = dtwave.nearest(series, k=109, band=band)
        for found, wanted in zip(shrinking.neighbors(band), (expected.indices, expected.distances)):
            assert np.array_equal(found, wanted)


def test_a_known_window():
    # Bumps of one class come early, of the other late, by 2 points or more: a narrow window tells them apart. A wide
    # one cannot, and then follows the height, which means nothing.
    time = np.arange(30)
    places = np.array([10, 16] * 6) + np.repeat([-1, 0, 1], 4)
    heights = np.linspace(1.0, 1.2, 12)
    series = heights[:, None] * np.exp(-((time - places[:, None]) ** 2) / 4)
    found = leave_one_out_band(KNeighborsTimeSeriesClassifier(), series, np.arange(12) % 2)
    assert found.score == 1.0 and found.scores[-1] < 0.5
    # The narrowest of the best.
    assert found.band == found.bands[found.scores.tolist().index(1.0)]


def test_estimators_choose():
    model = KNeighborsTimeSeriesClassifier(band="leave_one_out", measure="msm").fit(SERIES, LABELS)
    found = leave_one_out_band(KNeighborsTimeSeriesClassifier(measure="msm"), SERIES, LABELS)
    assert model.band_ == found.band == model.leave_one_out_.band and model.band == "leave_one_out"
    asked = SERIES[::-1] + 0.5
    expected = dtwave.classify(SERIES, LABELS, asked, measure="msm", band=found.band)
    assert model.predict(asked).tolist() == expected.tolist()
    model.set_params(band=0.1).fit(SERIES, LABELS)
    assert model.band_ == 0.1 and not hasattr(model, "leave_one_out_")
    assert repr(found).startswith("LeaveOneOutBand(band=0.")
    fewer = KNeighborsTimeSeriesClassifier(band="leave_one_out", bands=[1, 4]).fit(SERIES, LABELS)
    assert fewer.leave_one_out_.bands == (1, 4)


def test_values():
    values = SERIES.sum(axis=1)
    model = KNeighborsTimeSeriesRegressor(2, weights="distance", band="leave_one_out").fit(SERIES, values)
    expected = []
    for band in model.leave_one_out_.bands:
        indices, distances = dtwave.nearest(SERIES, k=2, band=band)
        predicted = (values[indices] / distances).sum(axis=1) / (1 / distances).sum(axis=1)
        expected.append(-np.mean((predicted - values) ** 2))
    assert model.leave_one_out_.scores == pytest.approx(expected)
    assert model.band_ == model.leave_one_out_.bands[int(np.argmax(expected))]


def test_bad_work_is_named():
    model = KNeighborsTimeSeriesClassifier(band="leave_one_out")
    with pytest.raises(ValueError, match="leaving one out needs more series than n_neighbors=1, got n_samples=1"):
        model.fit([[0.0, 1.0]], ["a"])
    with pytest.raises(ValueError, match="not finite: scale or normalise"):
        model.fit([[1e200, 0.0], [-1e200, 0.0], [0.0, 0.0]], ["a", "b", "a"])
    with pytest.raises(TypeError, match="estimator must be a KNeighborsTimeSeriesClassifier or -Regressor, got str"):
        leave_one_out_band("dtw", SERIES, LABELS)
