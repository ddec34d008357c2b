"""Results, bands and measures: equal after they were pickled, and what a module shows of itself."""

import copy
import pickle

import numpy as np
import pytest
from optional import need

import dtwave

RNG = np.random.default_rng(21)
X = RNG.normal(size=(6, 9))

RESULTS = {
    "alignment": lambda x: dtwave.align(x[0], x[1]),
    "matches": lambda x: dtwave.search(x[0, :4], x[1], k=2),
    "neighbours": lambda x: dtwave.nearest(x, k=2),
    "graph": lambda x: dtwave.pairwise(x, k=2),
    "average": dtwave.barycenter,
    "means": lambda x: dtwave.kmeans(x, 2, seed=1),
    "medoids": lambda x: dtwave.kmedoids(x, 2),
}


@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS)
def test_results_are_equal_if_their_values_are(make):
    found, again, other = make(X), make(X), make(X + RNG.normal(size=X.shape))
    assert found == again == pickle.loads(pickle.dumps(found)) == copy.deepcopy(found)
    assert found != other and found != None and not found == "text"  # noqa: E711
    if not isinstance(found, list):
        with pytest.raises(TypeError, match="unhashable"):
            hash(found)


def test_nan_is_equal_and_number_types_are_not():
    made = [dtwave.Neighbors(np.zeros((1, 1), np.int64), np.full((1, 1), np.nan)) for _ in range(2)]
    assert made[0] == made[1]
    assert made[0] != dtwave.Neighbors(np.zeros((1, 1), np.int64), np.full((1, 1), np.nan, np.float32))


def test_ranges():
    band, other = dtwave.Ranges([[0, 5]] * 9), dtwave.Ranges([[0, 9]] * 9)
    again = pickle.loads(pickle.dumps(band))
    assert band == again == dtwave.Ranges(np.full((9, 2), [0, 5])) and hash(band) == hash(again)
    assert band != other and band != dtwave.Ranges([[0, 5]] * 8) and len({band, again, other}) == 2
    assert dtwave.distance(X[0], X[1][:5], band=again) == dtwave.distance(X[0], X[1][:5])
    with pytest.raises(ValueError, match="read-only"):
        again._starts_ends[0][0] = 1


def test_a_choice_of_bands():
    need("sklearn")
    from dtwave.sklearn import KNeighborsTimeSeriesClassifier, leave_one_out_band

    found = leave_one_out_band(KNeighborsTimeSeriesClassifier(), X, [0, 1] * 3, bands=[0, 1])
    assert found == pickle.loads(pickle.dumps(found))


def test_modules_show_their_functions():
    assert dir(dtwave.plots) == dtwave.plots.__all__
    assert set(dtwave.__all__) <= set(dir(dtwave)) and "np" not in dir(dtwave)
