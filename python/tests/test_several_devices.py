"""Several devices as one: the results of one device, and errors that say what a device is."""

import numpy as np
import pytest

import dtwave

TWO = ["cpu", "cpu"]


@pytest.fixture
def series():
    return np.random.default_rng(5).normal(size=(120, 150)).cumsum(axis=1)


@pytest.mark.parametrize("device", [TWO, tuple(TWO), "cpu,cpu"])
def test_all_pairs(series, device):
    one = dtwave.pairwise(series, threads=1)
    assert np.array_equal(dtwave.pairwise(series, device=device, threads=1), one)


def test_every_function_that_computes_many(series, tmp_path):
    queries, reference = series[:40], series[40:].ravel()
    two = {"device": TWO, "threads": 1}
    for dtype in (np.float32, np.float64):
        x, y = series.astype(dtype), series[::-1].astype(dtype)
        assert np.array_equal(dtwave.pairwise(x, y, **two), dtwave.pairwise(x, y))
        assert np.array_equal(dtwave.pairwise(x, condensed=True, **two), dtwave.pairwise(x, condensed=True))
        assert np.array_equal(dtwave.zipped(x, y, **two), dtwave.zipped(x, y))
        found, expected = (dtwave.nearest(x, k=3, **options) for options in (two, {}))
        assert np.array_equal(found.indices, expected.indices)
        assert np.array_equal(found.distances, expected.distances)
    hits, expected = (dtwave.search_all(queries, reference, **options) for options in (two, {}))
    assert str(hits) == str(expected)
    stored = dtwave.pairwise(series, out=tmp_path / "two.npy", **two)
    assert np.array_equal(stored, dtwave.pairwise(series))
    labels, expected = (dtwave.kmeans(series, 3, seed=1, max_iterations=3, **options).labels for options in (two, {}))
    assert np.array_equal(labels, expected)


def test_devices_that_are_none(series):
    with pytest.raises(ValueError, match="empty list"):
        dtwave.pairwise(series, device=[])
    with pytest.raises(ValueError, match="of no backend"):
        dtwave.pairwise(series, device="cpu,1")
    with pytest.raises(ValueError, match="unknown (device|backend)"):
        dtwave.pairwise(series, device=["cpu", "abacus"])
    with pytest.raises(ValueError, match="threads is for the CPU"):
        dtwave.pairwise(series, device=["cuda:0", "cuda:1"], threads=2)
