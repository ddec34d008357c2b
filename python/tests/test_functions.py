"""Paths, searches, gradients, classes, averages, clusters: worked numbers and what must hold of any result."""

import pickle

import numpy as np
import pytest

import dtwave

RNG = np.random.default_rng(21)


def test_paths():
    found = dtwave.align([0.0, 1.0, 5.0], [0.0, 5.0, 5.0], band=1)
    assert list(found) == [(0, 0), (1, 0), (2, 1), (2, 2)] and found.distance == 1.0
    assert len(found) == 4 and found.path.dtype == np.int64
    assert repr(found) == "Alignment(distance=1, path=4 steps)"
    x, y = RNG.normal(size=(3, 20, 2)), RNG.normal(size=(3, 25, 2))
    for one, a, b in zip(dtwave.align_pairs(x, y, measure="adtw"), x, y):
        assert one.distance == dtwave.distance(a, b, measure="adtw")
        alone = dtwave.align(a, b, measure="adtw")
        assert np.array_equal(one.path, alone.path) and np.array_equal(one.x, a)
    steps = np.diff(dtwave.align(x[0], y[0]).path, axis=0)
    assert {tuple(step) for step in steps.tolist()} <= {(0, 1), (1, 0), (1, 1)}
    with pytest.raises(ValueError, match="soft_dtw has no warping path: .* use dtwave.expected_alignment"):
        dtwave.align(x[0], y[0], measure="soft_dtw")


def test_expected_alignments_are_gradients():
    x, y = RNG.normal(size=5), RNG.normal(size=6)
    expected = dtwave.expected_alignment(x, y, gamma=0.5)
    _, grad_x, _ = dtwave.gradients(x[None], y[None], gamma=0.5)
    assert expected.shape == (5, 6) and expected[0, 0] == pytest.approx(1.0)
    assert grad_x[0] == pytest.approx((expected * 2.0 * (x[:, None] - y)).sum(axis=1))


MATRICES = {
    **{key: {"measure": key} for key in dtwave.MEASURES if key not in ("edr", "log_gak", "soft_dtw_divergence")},
    "edr": {"measure": "edr", "epsilon": 0.5},
    "log_gak": {"measure": "log_gak", "sigma": 2.0},
}


@pytest.mark.parametrize("key", MATRICES)
@pytest.mark.parametrize("band", [None, 0.5, dtwave.Itakura(3.0)])
def test_cost_matrices_end_in_the_distance(key, band):
    if key == "subsequence_dtw" and band is not None:
        band = dtwave.Ranges([[0, 14]] * 9)
    x, y = RNG.normal(size=(9, 2)), RNG.normal(size=(14, 2))
    found = dtwave.cost_matrix(x, y, band=band, **MATRICES[key])
    cut = 2 if key in ("ddtw", "wddtw") else 0
    assert found.shape == (9 - cut, 14 - cut) and found.dtype == np.float64
    last = found[-1].min() if key == "subsequence_dtw" else found[-1, -1]
    assert last == pytest.approx(dtwave.distance(x, y, band=band, **MATRICES[key]), rel=1e-12)
    first_channels = dtwave.cost_matrix(x.T, y.T, band=band, layout="channels_first", **MATRICES[key])
    assert np.array_equal(first_channels, found)
    if band is None and key not in ("wdtw", "wddtw", "ddtw"):
        part = dtwave.cost_matrix(x[:4], y[:6], **MATRICES[key])
        assert np.array_equal(part, found[:4, :6])


def test_cost_matrices():
    x, y = [0.0, 1.0, 3.0], [0.0, 3.0, 3.0]
    assert dtwave.cost_matrix(x, y).tolist() == [[0, 9, 18], [1, 4, 8], [10, 1, 1]]
    inf = float("inf")
    assert dtwave.cost_matrix(x, y, band=1).tolist() == [[0, 9, inf], [1, 4, 8], [inf, 1, 1]]
    lengths = dtwave.cost_matrix(x, y, measure="lcss", epsilon=0.5, output="length", band=0)
    assert lengths.tolist() == [[1, 1, 1], [1, 1, 1], [1, 1, 2]]
    assert dtwave.cost_matrix(np.float32(x), np.float32(y)).dtype == np.float32
    times = [1.0, 2.0, 9.0], [1.0, 5.0, 6.0]
    timed = dtwave.cost_matrix(x, y, measure="twed", times=times)[-1, -1]
    assert timed == dtwave.distance(x, y, measure="twed", times=times) != dtwave.distance(x, y, measure="twed")
    for options, text in [
        ({"measure": "soft_dtw_divergence"}, "those of soft_dtw"),
        ({"measure": "mms"}, "did you mean 'msm'"),
        ({"threads": 2}, "'threads' is no option"),
    ]:
        with pytest.raises(ValueError, match=text):
            dtwave.cost_matrix(x, y, **options)
    with pytest.raises(ValueError, match="series 0 of y has NaN at point 1"):
        dtwave.cost_matrix(x, [0.0, np.nan])


def test_explanations():
    x, y = RNG.normal(size=(5, 40)), RNG.normal(size=(3, 50))
    for arguments, pairs, cells in [((x,), 15, 15 * 40 * 40), ((x, y), 15, 15 * 40 * 50), (([x[0]], [y[0]]), 1, 2000)]:
        told = dtwave.explain(*arguments, threads=1)
        assert sum(kernel.pairs for kernel in told.kernels) == pairs and told.cells == cells and told.tiles == 1
        assert 0 < told.memory_bytes <= told.allowed_bytes == 1 << 30 and told.seconds > 0
        for kernel in told.kernels:
            assert kernel.name.endswith("sweep") and "lanes, 1 threads" in kernel.shape and kernel.launches > 0
            assert f"{kernel.name} ({kernel.shape}): " in str(told) and kernel.why in str(told)
        assert f"{cells} cells in " in str(told)
    assert dtwave.explain(x, memory_limit=1 << 20).allowed_bytes == 1 << 20
    with pytest.raises(ValueError, match="did you mean 'band'"):
        dtwave.explain(x, bnad=1)


def test_searches():
    reference = np.array([5.0, 5.0, 0.0, 1.0, 2.0, 2.0, 1.0, 5.0, 1.0, 2.1, 1.0])
    query = [1.0, 2.0, 1.0]
    (best,) = dtwave.search(query, reference, k=1)
    assert best == dtwave.Match(0.0, 3, 6) and len(best) == 4
    assert np.array_equal(reference[best.slice], [1.0, 2.0, 2.0, 1.0])
    two = dtwave.search(query, reference, k=2, exclusion=2)
    assert [hit.end for hit in two] == [6, 10] and not two.proposed
    copy = pickle.loads(pickle.dumps(dtwave.Matches(two, proposed=True)))
    assert copy == two and copy.proposed
    within = dtwave.search(query, reference, threshold=0.5, exclusion=2)
    assert within == two
    assert dtwave.search_all([query, [5.0, 5.0]], reference, k=1)[0] == [best]
    (window,) = dtwave.search([0.0, 1.0, 0.0], reference, k=1, normalized_window=3)
    assert (window.start, window.end) == (6, 8) and window.distance < 1e-20
    with pytest.raises(ValueError, match="defined for dtw only, got msm"):
        dtwave.search(query, reference, measure="msm")
    with pytest.raises(ValueError, match="finite cost of at least 0"):
        dtwave.search(query, reference, threshold=-1.0)
    with pytest.raises(ValueError, match="full.*half.*double"):
        dtwave.search(query, reference, precision="double")
    with pytest.raises(ValueError, match="f32"):
        dtwave.search(query, reference, precision="half")
    with pytest.raises(ValueError, match="cuda and hip"):
        dtwave.search(np.float32(query), np.float32(reference), precision="half")
    with pytest.raises(TypeError, match="threshold must be a number"):
        dtwave.search(query, reference, threshold="much")


@pytest.mark.parametrize("measure", ["soft_dtw", "soft_dtw_divergence"])
def test_gradients_are_slopes(measure):
    x, y = [RNG.normal(size=4), RNG.normal(size=6)], [RNG.normal(size=5), RNG.normal(size=3)]
    values, grad_x, grad_y = dtwave.gradients(x, y, measure=measure, upstream=[1.0, 3.0])
    assert np.array_equal(values, dtwave.zipped(x, y, measure=measure))
    assert [g.shape for g in grad_x] == [(4,), (6,)] and [g.shape for g in grad_y] == [(5,), (3,)]
    step = 1e-6
    for point in range(6):
        up, down = x[1].copy(), x[1].copy()
        up[point] += step
        down[point] -= step
        slope = dtwave.distance(up, y[1], measure=measure) - dtwave.distance(down, y[1], measure=measure)
        assert grad_x[1][point] == pytest.approx(3.0 * slope / (2 * step), rel=1e-6, abs=1e-6)
    with pytest.raises(ValueError, match="msm has no gradient"):
        dtwave.gradients(x, y, measure="msm")
    with pytest.raises(ValueError, match="one number per pair"):
        dtwave.gradients(x, y, upstream=[1.0])


def test_gradients_of_padded_series_have_their_form():
    x, y = RNG.normal(size=(2, 3, 5)), RNG.normal(size=(2, 3, 6))
    lengths = [5, 2], [4, 6]
    _, grad_x, grad_y = dtwave.gradients(x, y, layout="channels_first", lengths=lengths)
    assert grad_x.shape == x.shape and grad_y.shape == y.shape
    assert not grad_x[1, :, 2:].any() and grad_x[1, :, :2].all() and not grad_y[0, :, 4:].any()


def test_classes_keep_the_type_of_their_labels():
    train = [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]
    test = [[0.1, 0.9, 0.1], [1.0, 0.1, 1.0]]
    assert dtwave.classify(train, ["peak", "dip", "peak"], test).tolist() == ["peak", "dip"]
    assert dtwave.classify(train, [7, -3, 7], test, k=3, measure="msm").tolist() == [7, 7]
    with pytest.raises(ValueError, match=r"one per series of train \(3\)"):
        dtwave.classify(train, [1, 2], test)


def test_averages():
    found = dtwave.barycenter([[0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]])
    assert found.center.tolist() == [0.0, 2.0, 0.0, 0.0] and found.converged and found.cost == 0.0
    assert np.asarray(found).tolist() == found.center.tolist()
    x = RNG.normal(size=(5, 8, 2))
    soft = dtwave.barycenter(x, measure="soft_dtw", gamma=0.1, start="mean", weights=[1, 1, 1, 1, 0])
    assert soft.center.shape == (8, 2) and soft.costs[0] > soft.costs[-1] == soft.cost
    assert np.array_equal(dtwave.barycenter(x, start=x[2], max_iterations=0).center, x[2])
    adam = dtwave.barycenter(x, measure="soft_dtw", optimizer="adam", learning_rate=0.01, max_iterations=3)
    assert adam.iterations == 3
    for options, text in [
        ({"measure": "frechet"}, "an average is defined under"),
        ({"start": "middle"}, 'start must be "medoid"'),
        ({"optimizer": "sgd"}, "optimizer must be"),
        ({"learning_rate": 0.1}, "for optimizer="),
        ({"weights": [1.0]}, r"one per series \(5\)"),
        ({"weights": [-1.0] * 5}, "weight"),
        ({"max_iterations": -1}, "max_iterations must be"),
        ({"tolerance": -1.0}, "tolerance must be"),
    ]:
        with pytest.raises(ValueError, match=text):
            dtwave.barycenter(x, **options)


@pytest.mark.parametrize("measure", ["ddtw", "wdtw", "wddtw", "adtw", "erp", "msm", "twed"])
def test_averages_along_paths(measure):
    x = np.sin(0.5 * np.arange(15)) + np.random.default_rng(4).normal(scale=0.3, size=(6, 15))
    weights = [1, 2, 1, 0, 1, 2]
    found = dtwave.barycenter(x, measure=measure, weights=weights)
    costs = dtwave.zipped([found.center] * 6, list(x), measure=measure) @ weights
    assert found.cost == pytest.approx(costs) and np.all(np.diff(found.costs) < 0)
    assert found.cost < found.costs[0]
    repeated = dtwave.barycenter(np.repeat(x, weights, axis=0), measure=measure, max_iterations=1)
    assert dtwave.barycenter(x, measure=measure, weights=weights, max_iterations=1).cost == pytest.approx(repeated.cost)
    channels = dtwave.barycenter(x.reshape(3, 2, 15), measure=measure, layout="channels_first")
    assert channels.center.shape == (2, 15) and channels.cost <= channels.costs[0]
    groups = dtwave.kmeans(np.concatenate([x, x + 50 * np.sin(np.arange(15))]), 2, measure=measure, seed=1)
    assert len(set(groups.labels[:6])) == 1 == len(set(groups.labels[6:])) and groups.labels[0] != groups.labels[6]


def test_averages_of_series_with_times_are_refused():
    x = RNG.normal(size=(3, 5))
    with pytest.raises(ValueError, match="'times' is no option|times"):
        dtwave.barycenter(x, measure="twed", times=np.arange(5.0))


def test_clusters():
    x = np.array([[0.0, 1.0, 0.0], [5.0, 5.0, 5.0], [0.0, 1.1, 0.0], [5.0, 5.1, 5.0]])
    means = dtwave.kmeans(x, 2, seed=3)
    medoids = dtwave.kmedoids(x, 2, measure="twed")
    for labels in (means.labels, medoids.labels):
        assert labels[0] == labels[2] != labels[1] == labels[3]
    assert means.centers[0].shape == (3,) and means.inertia == pytest.approx(means.distances.sum())
    assert means.distances[0] == dtwave.distance(means.centers[means.labels[0]], x[0])
    assert medoids.loss == pytest.approx(sum(dtwave.pairwise(x, measure="twed")[medoids.medoids].min(axis=0)))
    assert np.array_equal(dtwave.kmeans(x, 2, seed=3).labels, means.labels)
    drawn = dtwave.kmedoids(x, 2, restarts=4, seed=1)
    assert drawn.loss == pytest.approx(dtwave.kmedoids(x, 2).loss)
    assert "2 clusters of 4 series" in repr(means) and "converged" in repr(medoids)
    with pytest.raises(ValueError, match="5 clusters were asked for"):
        dtwave.kmeans(x, 5)
    with pytest.raises(ValueError, match="'random_state' is no option, .* did you mean 'seed'"):
        dtwave.kmeans(x, 2, random_state=3)
    with pytest.raises(ValueError, match="did you mean 'restarts'"):
        dtwave.kmedoids(x, 2, n_init=3)
    assert "1 iteration," in repr(dtwave.kmeans(x, 1, restarts=1, max_iterations=1))
    with pytest.raises(ValueError, match="explicit ranges is not symmetric in x and y$"):
        dtwave.kmedoids(x, 2, band=dtwave.Ranges([[0, 3]] * 3))
    with pytest.raises(ValueError, match="at least 1 cluster, got 0"):
        dtwave.kmedoids(x, 0)
    with pytest.raises(MemoryError, match=r"the 4 x 4 distance matrix \(.*\) needs 128 bytes, 100 bytes are allowed"):
        dtwave.kmedoids(x, 2, memory_limit=100)


def test_clusters_of_a_given_matrix():
    x = RNG.normal(size=(9, 12))
    matrix = dtwave.pairwise(x, measure="msm")
    for options in ({}, {"restarts": 3, "seed": 4}, {"max_iterations": 0}):
        found = dtwave.kmedoids(matrix, 3, measure="precomputed", **options)
        expected = dtwave.kmedoids(x, 3, measure="msm", **options)
        assert np.array_equal(found.medoids, expected.medoids) and found.loss == expected.loss
        assert np.array_equal(found.labels, expected.labels) and found.iterations == expected.iterations
    line = np.abs(np.subtract.outer([0, 4, 5], [0, 4, 5]))
    for given in (line, line.astype(np.float32), line.tolist(), np.asfortranarray(line)):
        assert dtwave.kmedoids(given, 1, measure="precomputed").medoids.tolist() == [1]
    # Roundings are no differences: of the largest entry 1e-8, in float32 1e-4.
    uneven = matrix + 1e-9 * np.tri(9) * matrix.max()
    for given in (uneven, (matrix + 1e-5 * np.tri(9) * matrix.max()).astype(np.float32)):
        found = dtwave.kmedoids(given, 3, measure="precomputed")
        assert found.loss == pytest.approx(dtwave.kmedoids(x, 3, measure="msm").loss, rel=1e-3)
    for given, options, error, text in [
        (matrix[:5], {}, ValueError, r"x must be a square matrix of distances, .*, got shape \[5, 9\]"),
        (matrix[0], {}, ValueError, "x must be a square matrix"),
        ([matrix[0], matrix[1][:3]], {}, ValueError, "got rows of several lengths"),
        (matrix.astype(complex), {}, TypeError, "x is an array of complex numbers"),
        (matrix * np.nan, {}, ValueError, r"entry \[0, 0\] of x is nan: distances must be finite"),
        (
            matrix + np.eye(9),
            {},
            ValueError,
            r"entry \[0, 0\] of x is 1.0, where the distance of a series to itself is 0",
        ),
        (1.0 - matrix / matrix.max(), {}, ValueError, r"entry \[0, 0\] of x is 1.0"),
        (-matrix, {}, ValueError, r"entry \[0, 1\] of x is -.*: distances must be 0 or more"),
        (
            np.triu(matrix),
            {},
            ValueError,
            r"entries \[0, 1\] and \[1, 0\] of x are .* and 0.0, where distances are the same",
        ),
        (matrix + 1e-6 * np.tri(9, k=-1) * matrix.max(), {}, ValueError, r"entries \[0, 1\] and \[1, 0\]"),
        (matrix, {"band": 3}, ValueError, "band has no effect on distances that are precomputed"),
        (matrix, {"c": 1.0}, ValueError, "c has no effect"),
        (matrix, {"threads": 1}, ValueError, "threads has no effect"),
        (np.empty((0, 0)), {}, ValueError, "at least one series, got none"),
    ]:
        with pytest.raises(error, match=text):
            dtwave.kmedoids(given, 2, measure="precomputed", **options)


def test_normalized_series():
    x = RNG.normal(3.0, 5.0, size=(4, 50, 2))
    found = dtwave.normalize(x)
    assert found.shape == x.shape and found.mean(axis=1) == pytest.approx(0.0)
    assert found.std(axis=1) == pytest.approx(1.0)
    assert dtwave.normalize([[1.0, 3.0], [7.0, 7.0, 7.0]])[1].tolist() == [0.0, 0.0, 0.0]
    tails = dtwave.normalize([[1.0, 3.0, 9.0], [1.0, 1.0, 1.0]][:1] * 2, layout="channels_last")
    assert tails.shape == (2, 3)
    padded = dtwave.normalize(np.array([[1.0, 3.0, np.nan], [1.0, 2.0, 3.0]]), padding="nan")
    assert padded[0, :2].tolist() == [-1.0, 1.0] and np.isnan(padded[0, 2])
    lists = dtwave.normalize([[1.0, 3.0, np.nan], [1.0, 2.0, 3.0, 4.0]], padding="nan")
    assert [len(series) for series in lists] == [3, 4] and np.isnan(lists[0][2])


@pytest.mark.parametrize(
    "labels", [[1, 2, 1.0], [1, 2, np.int64(1)], ["a", "b", np.str_("a")], [True, 2, np.bool_(True)]]
)
def test_equal_labels_vote_together(labels):
    objects = np.empty(3, dtype=object)
    objects[:] = labels
    assert dtwave.classify([[0.0], [0.1], [0.2]], objects, [[0.12]], k=3).tolist() == labels[:1]


def test_labels_come_back_as_they_were_given():
    train, test = (
        [[0.0, 5.0, 0.0], [5.0, 0.0, 5.0], [1.0, 1.0, 1.0]],
        [[0.0, 4.0, 0.0], [4.0, 0.0, 4.0], [1.0, 1.0, 1.1]],
    )
    for labels in ([1, "a", 2.5], [True, 1, "1"], np.array([1, "a", True], dtype=object), ["a", "b", "a"], [3, 1, 2]):
        found = dtwave.classify(train, labels, test).tolist()
        expected = labels if isinstance(labels, list) else labels.tolist()
        assert [(type(each), each) for each in found] == [(type(each), each) for each in expected]
    with pytest.raises(ValueError, match=r"series 1 of train has no label \(None\)"):
        dtwave.classify(train, ["a", None, "b"], test)
