"""Axes that may be in the other order: a warning, once a call, unless `layout` says which they are."""

import warnings

import numpy as np
import pytest

import dtwave

RNG = np.random.default_rng(8)
LAST = RNG.normal(size=(6, 12, 2)).cumsum(axis=1)
FIRST = np.ascontiguousarray(LAST.transpose(0, 2, 1))
LABELS = [0, 1] * 3
ONE = "query is read as a series of 2 points of 12 channels"

#: Every function of series: what it is called with, and how the warning begins.
CALLS = {
    "distance": (lambda x, **o: dtwave.distance(x[0], x[1], **o), "x is read as a series of 2 points of 12 channels"),
    "zipped": (lambda x, **o: dtwave.zipped(x, x, **o), "x is read as 6 series of 2 points of 12 channels"),
    "pairwise": (lambda x, **o: dtwave.pairwise(x, **o), "x is read as 6 series"),
    "pairwise of two": (lambda x, **o: dtwave.pairwise(x, x, **o), "x is read as 6 series"),
    "pairwise, sparse": (lambda x, **o: dtwave.pairwise(x, k=2, **o).data, "x is read as 6 series"),
    "nearest": (lambda x, **o: dtwave.nearest(x, k=2, **o).distances, "x is read as 6 series"),
    "explain": (lambda x, **o: dtwave.explain(x, **o).cells, "x is read as 6 series"),
    "classify": (lambda x, **o: dtwave.classify(x, LABELS, x, **o), "train is read as 6 series"),
    "align": (lambda x, **o: dtwave.align(x[0], x[1], **o).path, "x is read as a series"),
    "align_pairs": (lambda x, **o: dtwave.align_pairs(x, x, **o)[1].distance, "x is read as 6 series"),
    "expected_alignment": (lambda x, **o: dtwave.expected_alignment(x[0], x[1], **o), "x is read as a series"),
    "cost_matrix": (lambda x, **o: dtwave.cost_matrix(x[0], x[1], **o), "x is read as a series"),
    "search": (lambda x, **o: dtwave.search(x[0], x[1], **o)[0].distance, ONE),
    "search_all": (lambda x, **o: dtwave.search_all(x, x[1], **o)[0][0].distance, "queries is read as 6 series"),
    "gradients": (lambda x, **o: dtwave.gradients(x, x, **o)[0], "x is read as 6 series"),
    "barycenter": (lambda x, **o: dtwave.barycenter(x, **o).cost, "x is read as 6 series"),
    "kmeans": (lambda x, **o: dtwave.kmeans(x, 2, **o).inertia, "x is read as 6 series"),
    "kmedoids": (lambda x, **o: dtwave.kmedoids(x, 2, **o).loss, "x is read as 6 series"),
    "normalize": (lambda x, **o: np.sort(dtwave.normalize(x, **o), axis=None), "x is read as 6 series"),
}


def quiet(call, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call(*args, **options)


@pytest.mark.parametrize(("call", "text"), CALLS.values(), ids=CALLS)
def test_a_call_without_layout_warns_once(call, text):
    expected = quiet(call, LAST)
    assert np.allclose(quiet(call, FIRST, layout="channels_first"), expected)
    assert np.array_equal(quiet(call, LAST, layout="channels_last"), expected)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        read = call(FIRST)
    (one,) = told
    assert one.category is dtwave.LayoutWarning and one.filename == __file__
    assert str(one.message).startswith(text)
    for part in ("12 points of 2 channels", 'pass layout="channels_first", else layout="channels_last"'):
        assert part in str(one.message)
    assert np.array_equal(read, quiet(call, FIRST, layout="channels_last"))


def test_univariate_panels_of_other_libraries():
    x = RNG.normal(size=(5, 1, 30))
    with pytest.warns(dtwave.LayoutWarning, match=r"5 series of 1 point of 30 channels; .* \(30 points of 1 channel\)"):
        dtwave.pairwise(x)
    with pytest.warns(dtwave.LayoutWarning, match="if the first axis of each holds channels"):
        dtwave.pairwise(list(x))
    assert np.array_equal(quiet(dtwave.pairwise, x, layout="channels_first"), dtwave.pairwise(x[:, 0]))
    with pytest.raises(ValueError, match='one point, .* expected two or more; .* pass layout="channels_first"'):
        dtwave.normalize(x, layout="channels_last")
    assert np.array_equal(dtwave.normalize(x, layout="channels_first")[:, 0], dtwave.normalize(x[:, 0]))


def test_series_of_several_lengths():
    ragged = [row[:, :n] for row, n in zip(FIRST, (12, 9, 11))]
    with pytest.raises(ValueError, match='series 0 of x has 12 channels, series 1 has 9 .* layout="channels_first"'):
        dtwave.pairwise(ragged)
    with pytest.raises(ValueError, match="they must be equal$"):
        dtwave.pairwise([row.T for row in ragged], layout="channels_first")
    assert np.array_equal(
        quiet(dtwave.pairwise, ragged, layout="channels_first"), dtwave.pairwise([r.T for r in ragged])
    )
    # Some are shorter than their channels are many: of several lengths there is one reading alone.
    assert quiet(dtwave.pairwise, [LAST[0], LAST[1, :1]]).shape == (2, 2)
    # As many channels as points may be either; padding counts as points.
    assert quiet(dtwave.pairwise, LAST[:, :2]).shape == (6, 6)
    assert quiet(dtwave.pairwise, LAST, lengths=[1] * 6).shape == (6, 6)
    with pytest.raises(ValueError, match='layout must be "channels_last" or "channels_first", got \'first\''):
        dtwave.pairwise(LAST, layout="first")
