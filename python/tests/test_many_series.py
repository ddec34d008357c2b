"""Averages and clusters of many series: samples, mini-batches and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dtwave

RNG = np.random.default_rng(4)
TIME = np.linspace(0.0, 1.0, 24)
SHAPES = np.array([np.exp(-(((TIME - 0.5) / 0.1) ** 2)), TIME > 0.4, 1.0 - 2.0 * TIME])
KINDS = np.arange(400) % 3
SERIES = SHAPES[KINDS] + RNG.normal(scale=0.05, size=(400, 24))


def same_groups(labels: Any) -> bool:
    """Whether the labels are the kinds, by other names."""
    return len({*zip(labels.tolist(), KINDS.tolist(), strict=True)}) == 3


def started(**options: Any) -> int:
    center = dtwave.barycenter(SERIES, max_iterations=0, **options).center
    return int(np.flatnonzero((SERIES == center).all(axis=1))[0])


def test_an_average_starts_from_the_medoid_of_a_seeded_sample() -> None:
    exact = int(dtwave.kmedoids(SERIES, 1).medoids[0])
    assert {started(sample_size=400, seed=seed) for seed in range(3)} == {exact}
    drawn = [started(sample_size=5, seed=seed) for seed in range(8)]
    assert drawn == [started(sample_size=5, seed=seed) for seed in range(8)] and len({*drawn}) > 1
    sample = np.sort(drawn)
    weights = np.full(400, 1e-6)
    weights[sample[0]] = 1.0
    assert started(sample_size=5, weights=weights) == sample[0]


def test_clara_groups_without_the_matrix() -> None:
    limit = {"memory_limit": 400_000}
    with pytest.raises(MemoryError, match='"clara" needs none'):
        dtwave.kmedoids(SERIES, 3, **limit)
    found = dtwave.kmedoids(SERIES, 3, method="clara", samples=3, sample_size=40, seed=1, **limit)
    assert same_groups(found.labels) and found == dtwave.kmedoids(
        SERIES, 3, method="clara", samples=3, sample_size=40, seed=1
    )
    nearest = dtwave.nearest(SERIES[found.medoids], SERIES)
    assert np.array_equal(nearest.indices[:, 0], found.labels)
    assert found.loss == pytest.approx(nearest.distances.sum())
    whole = dtwave.kmedoids(SERIES, 3, method="clara", samples=1, sample_size=400)
    assert np.array_equal(whole.medoids, dtwave.kmedoids(SERIES, 3).medoids)


def test_mini_batches_and_sampled_starts_group() -> None:
    options: dict[str, Any] = {"batch_size": 50, "sample_size": 60, "seed": 2, "band": 0.1}
    found = dtwave.kmeans(SERIES, 3, **options)
    assert same_groups(found.labels) and found == dtwave.kmeans(SERIES, 3, **options)
    assert found != dtwave.kmeans(SERIES, 3, **{**options, "seed": 3})


def test_weights_of_kmeans() -> None:
    weights = (KINDS != 2).astype(float)
    found = dtwave.kmeans(SERIES, 2, weights=weights, seed=1)
    only = dtwave.kmeans(SERIES[KINDS != 2], 2, seed=1)
    assert all(np.array_equal(one, other) for one, other in zip(found.centers, only.centers, strict=True))
    assert np.array_equal(found.labels[KINDS != 2], only.labels) and len(found.labels) == 400
    assert found.inertia == pytest.approx((found.distances * weights).sum())


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: dtwave.kmedoids(SERIES, 3, method="pam"), ValueError, 'method must be "fasterpam" or "clara"'),
        (lambda: dtwave.kmedoids(SERIES, 3, samples=3), ValueError, 'samples is for method="clara"'),
        (lambda: dtwave.kmedoids(SERIES, 3, sample_size=9), ValueError, 'sample_size is for method="clara"'),
        (lambda: dtwave.kmedoids(SERIES, 3, method="clara", sample_size=2), ValueError, "as many series as"),
        (lambda: dtwave.kmedoids(SERIES @ SERIES.T, 3, method="clara", measure="precomputed"), ValueError, "all are"),
        (lambda: dtwave.kmeans(SERIES, 3, batch_size=0), ValueError, "batch_size must be a whole number of at least 1"),
        (lambda: dtwave.kmeans(SERIES, 3, sample_size=2), ValueError, "as many series as clusters"),
        (lambda: dtwave.kmeans(SERIES, 3, weights=[1.0]), ValueError, "one per series"),
        (lambda: dtwave.kmeans(SERIES, 3, weights=-np.ones(400)), ValueError, "the weight of series 0 is -1"),
        (lambda: dtwave.barycenter(SERIES, sample_size=0), ValueError, "sample_size must be a whole number of at"),
    ],
)
def test_what_is_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_estimators_pass_their_options_on() -> None:
    sklearn = pytest.importorskip("dtwave.sklearn")
    model = sklearn.TimeSeriesKMeans(3, random_state=2, batch_size=50, sample_size=60).fit(SERIES)
    found = dtwave.kmeans(SERIES, 3, seed=2, batch_size=50, sample_size=60)
    assert np.array_equal(model.cluster_centers_, np.stack(found.centers)) and model.inertia_ == found.inertia
    medoids = sklearn.TimeSeriesKMedoids(3, method="clara", samples=2, sample_size=30, random_state=5).fit(SERIES)
    expected = dtwave.kmedoids(SERIES, 3, method="clara", samples=2, sample_size=30, seed=5)
    assert np.array_equal(medoids.medoid_indices_, expected.medoids)
    average = sklearn.SoftDTWBarycenter(max_iter=1, sample_size=5, random_state=3).fit(SERIES)
    same = dtwave.barycenter(SERIES, measure="soft_dtw", max_iterations=1, sample_size=5, seed=3)
    assert np.array_equal(average.barycenter_, same.center)
