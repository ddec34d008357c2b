"""Distances up to a cutoff: larger ones are infinite, the others have the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dtwave

rng = np.random.default_rng(3)
X = rng.normal(size=(20, 40)).cumsum(axis=1)
Y = rng.normal(size=(20, 40)).cumsum(axis=1)


def cut(values, cutoff):
    """What a cutoff makes of distances."""
    return np.where(values > cutoff, np.inf, values)


@pytest.mark.parametrize("number", [np.float32, np.float64])
@pytest.mark.parametrize("sqrt", [False, True])
@pytest.mark.parametrize("measure", ["dtw", "msm", "ddtw"])
def test_larger_distances_are_infinite_and_others_the_same(number, sqrt, measure):
    options = {"measure": measure, "band": 0.2}
    if measure != "msm":
        options["sqrt"] = sqrt
    elif sqrt:
        pytest.skip("msm has no root")
    x, y = X.astype(number), Y.astype(number)
    matrix = dtwave.pairwise(x, y, **options)
    for cutoff in (float(np.median(matrix)), float(matrix[3, 4]), 0.0, np.inf):
        np.testing.assert_array_equal(dtwave.pairwise(x, y, cutoff=cutoff, **options), cut(matrix, cutoff))
        into = np.empty_like(matrix)
        assert dtwave.pairwise(x, y, out=into, cutoff=cutoff, **options) is into
        np.testing.assert_array_equal(into, cut(matrix, cutoff))
        pairs = dtwave.zipped(x, y, cutoff=cutoff, **options)
        np.testing.assert_array_equal(pairs, cut(dtwave.zipped(x, y, **options), cutoff))
        one = dtwave.distance(x[3], y[4], cutoff=cutoff, **options)
        assert one == (matrix[3, 4] if matrix[3, 4] <= cutoff else np.inf)
    own = dtwave.pairwise(x, condensed=True, **options)
    middle = float(np.median(own))
    np.testing.assert_array_equal(dtwave.pairwise(x, condensed=True, cutoff=middle, **options), cut(own, middle))


def test_what_has_no_cutoff_says_so(tmp_path: Path):
    with pytest.raises(ValueError, match="a cutoff is for distances: of log_gak, larger values are nearer"):
        dtwave.distance(X[0], Y[0], measure="log_gak", sigma=1.0, cutoff=3.0)
    with pytest.raises(ValueError, match="cutoff must be a number, got NaN"):
        dtwave.pairwise(X, cutoff=float("nan"))
    with pytest.raises(TypeError, match="cutoff must be a number, got '3'"):
        dtwave.zipped(X, Y, cutoff="3")
    with pytest.raises(ValueError, match="^k and cutoff exclude each other"):
        dtwave.pairwise(X, k=2, cutoff=3.0)
    with pytest.raises(ValueError, match="^out as a file and cutoff exclude each other"):
        dtwave.pairwise(X, out=tmp_path / "x.npy", cutoff=3.0)
