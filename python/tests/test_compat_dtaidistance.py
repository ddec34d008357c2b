"""`dtwave.compat.dtaidistance` beside dtaidistance: the same numbers and paths, and errors for what is not offered."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import dtwave
from dtwave.compat.dtaidistance import dtw as ours
from dtwave.compat.dtaidistance import dtw_ndim as ours_ndim
from dtwave.compat.dtaidistance.subsequence import dtw as ours_subsequence
from optional import need

rng = np.random.default_rng(8)


def theirs(module: str = "dtw") -> Any:
    return need(f"dtaidistance.{module}")


def walk(*shape: int) -> Any:
    return rng.normal(size=shape).cumsum(axis=0)


PAIRS = {
    "one point": (walk(1), walk(1)),
    "one against many": (walk(1), walk(7)),
    "equal": (walk(12), walk(12)),
    "longer": (walk(19), walk(12)),
    "shorter": (walk(9), walk(21)),
    "constant": (np.full(8, 0.5), walk(8)),
    "both constant": (np.full(8, 0.5), np.full(6, 0.5)),
    "ties": (np.round(walk(15)), np.round(walk(15))),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "free": {},
    "window 1": {"window": 1},
    "window 3": {"window": 3},
    "window 99": {"window": 99},
    "euclidean": {"inner_dist": "euclidean"},
    "penalty": {"penalty": 0.7},
    "penalty, euclidean": {"penalty": 0.7, "inner_dist": "euclidean", "window": 5},
    "max_dist": {"max_dist": 3.0},
    "max_step": {"max_step": 1.5},
    "max_length_diff": {"max_length_diff": 4},
    "psi": {"psi": 2},
    "four psi": {"psi": (1, 0, 2, 3), "window": 4, "penalty": 0.1},
    "psi at one end": {"psi": [0, 2, 0, 0]},
    "all": {"psi": 1, "window": 6, "penalty": 0.2, "max_step": 3.0, "max_dist": 9.0},
    "pruning": {"use_pruning": True},
}


def fits(options: dict[str, Any], *series: Any) -> bool:
    """Whether no psi is longer than its series; dtaidistance reads beyond the series otherwise."""
    return int(np.max(options.get("psi", 0))) < min(map(len, series))


@pytest.mark.parametrize("what", OPTIONS)
def test_of_two_series(what: str) -> None:
    options = OPTIONS[what]
    compared = 0
    for name, (x, y) in PAIRS.items():
        if not fits(options, x, y):
            continue
        other = theirs().distance(x, y, **options)
        if not options.get("use_pruning"):
            assert ours.distance(x, y, **options) == pytest.approx(other, rel=1e-9, abs=1e-9), name
        elif np.isfinite(other):
            # Its pruning may lose the path of series of different lengths.
            assert ours.distance(x, y, **options) == pytest.approx(other, rel=1e-9, abs=1e-9), name
        assert ours.distance_fast(x, y, **options) == ours.distance(x, y, **options)
        compared += 1
        if options.get("max_length_diff") is not None and abs(len(x) - len(y)) > 4:
            assert ours.warping_paths(x, y, **options) == (float("inf"), None)
            continue
        if options.get("use_pruning") or options.get("max_dist") or options.get("max_step"):
            # It leaves cells out, or, with max_step, fails.
            continue
        for keep in (False, True):
            found, grid = ours.warping_paths(x, y, keep_int_repr=keep, **options)
            their_found, their_grid = theirs().warping_paths(x, y, keep_int_repr=keep, **options)
            np.testing.assert_allclose(grid, their_grid, rtol=1e-9, atol=1e-9, err_msg=name)
            assert found == pytest.approx(their_found, rel=1e-9, abs=1e-9), name
        if np.isfinite(other):
            path, found = ours.warping_path(x, y, include_distance=True, **options)
            assert found == pytest.approx(other, rel=1e-9, abs=1e-9), name
            if "penalty" not in options:
                assert path == theirs().warping_path(x, y, **options), name
            grid = theirs().warping_paths(x, y, **options)[1]
            assert ours.best_path(grid) == theirs().best_path(grid), name
    assert compared >= 6


@pytest.mark.parametrize(
    ("x", "y", "options"),
    [
        ([0, 0], [3, 0], {"max_dist": 3.0}),
        ([0, 0], [3, 0], {"max_dist": 3.0, "inner_dist": "euclidean"}),
        ([0, 0], [3, 0], {"max_dist": 2.999}),
        ([0, 0], [3, 0], {"max_step": 3.0}),
        # Of equally good ends that in the last row.
        ([0, 5, 5], [0, -5, -5], {"psi": (0, 2, 0, 2)}),
    ],
)
def test_equal_numbers(x: list[int], y: list[int], options: dict[str, Any]) -> None:
    a, b = np.array(x, dtype=np.float64), np.array(y, dtype=np.float64)
    expected = theirs().distance(a, b, **options)
    for found in (ours.distance(a, b, **options), ours.distance_matrix([a, b], **options)[0, 1]):
        assert found == expected
    (found, grid), (expected, their_grid) = (module.warping_paths(a, b, **options) for module in (ours, theirs()))
    assert found == expected
    if "psi" in options:
        np.testing.assert_array_equal(grid, their_grid)
        assert ours.warping_path(a, b, **options) == theirs().warping_path(a, b, **options)


def test_penalised_paths_are_the_best() -> None:
    x, y = PAIRS["longer"]
    path, found = ours.warping_path(x, y, include_distance=True, penalty=0.7)
    steps = np.diff(np.array(path), axis=0)
    costs = sum((x[i] - y[j]) ** 2 for i, j in path) + 0.49 * (steps != 1).any(axis=1).sum()
    assert costs == pytest.approx(found**2) == pytest.approx(ours.distance(x, y, penalty=0.7) ** 2)


@pytest.mark.parametrize("what", ["free", "window 3", "euclidean", "penalty", "max_dist", "max_step", "psi"])
def test_of_several_channels(what: str) -> None:
    for n, m in [(3, 3), (9, 9), (12, 7), (5, 10)]:
        x, y = walk(n, 2), walk(m, 2)
        expected = theirs("dtw_ndim").distance(x, y, **OPTIONS[what])
        assert ours_ndim.distance(x, y, **OPTIONS[what]) == pytest.approx(expected, rel=1e-9)
        assert ours_ndim.distance_fast(x, y, **OPTIONS[what]) == pytest.approx(expected, rel=1e-9)
        found, grid = ours_ndim.warping_paths(x, y, **OPTIONS[what])
        assert found == pytest.approx(expected, rel=1e-9)
    with pytest.raises(ValueError, match="channels"):
        ours_ndim.distance(walk(4, 2), walk(4, 3))


SETS: dict[str, Any] = {
    "matrix": rng.normal(size=(6, 10)).cumsum(axis=1),
    "ragged": [walk(n) for n in (4, 9, 7, 12, 9)],
    "constant": np.ones((3, 5)),
    "two": [walk(5), walk(8)],
}


@pytest.mark.parametrize(
    "what", ["free", "window 3", "euclidean", "penalty", "max_dist", "max_length_diff", "psi", "all"]
)
def test_matrices(what: str) -> None:
    options = OPTIONS[what]
    for name, series in SETS.items():
        blocks = [None, ((0, 2), (1, len(series)))]
        blocks += [((1, 4), (3, 5)), ((2, 4), (0, 4))] if len(series) > 4 else []
        for block in blocks:
            for more in ({}, {"compact": True}, {"only_triu": True}):
                expected = theirs().distance_matrix(series, block=block, **more, **options)
                for parallel in (False, True):
                    found = ours.distance_matrix(series, block=block, parallel=parallel, **more, **options)
                    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=f"{name} {block} {more}")
    assert np.array_equal(ours.distance_matrix_fast(series, **options), ours.distance_matrix(series, **options))


def test_matrices_of_several_channels() -> None:
    series = rng.normal(size=(4, 7, 2))
    expected = theirs("dtw_ndim").distance_matrix(series, 2)
    np.testing.assert_allclose(ours_ndim.distance_matrix(series, 2), expected, rtol=1e-9)
    half = ours_ndim.distance_matrix_fast(list(series), compact=True)
    np.testing.assert_allclose(half, expected[np.triu_indices(4, 1)])
    block = ((0, 2), (2, 4), False)
    np.testing.assert_allclose(ours_ndim.distance_matrix(series, block=block, compact=True), expected[:2, 2:].ravel())
    with pytest.raises(ValueError, match="ndim is 3"):
        ours_ndim.distance_matrix(series, 3)


def test_condensed_distances() -> None:
    series = SETS["ragged"]
    half = ours.distance_matrix(series, compact=True)
    for a, b in [(0, 1), (3, 1), (4, 3)]:
        at = ours.distance_array_index(a, b, len(series))
        assert at == theirs().distance_array_index(a, b, len(series))
        assert half[at] == pytest.approx(ours.distance(series[a], series[b]))
    assert np.array_equal(ours.distances_array_to_matrix(half, len(series)), ours.distance_matrix(series))
    assert np.array_equal(ours.distance_matrix_func()(series), ours.distance_matrix(series))
    with pytest.raises(ValueError, match="outside"):
        ours.distance_matrix(series, block=((0, 9), (0, 9)))


def test_warps_and_bounds() -> None:
    for x, y in PAIRS.values():
        np.testing.assert_allclose(ours.warp(x, y)[0], theirs().warp(x, y)[0], rtol=1e-9)
        for inner in ("squared euclidean", "euclidean"):
            assert ours.ub_euclidean(x, y, inner) == pytest.approx(theirs().ub_euclidean(x, y, inner_dist=inner))
            for window in (None, 1, 4):
                options = {"window": window, "inner_dist": inner}
                bound = ours.lb_keogh(x, y, **options)
                assert bound == pytest.approx(theirs().lb_keogh(x, y, **options))
                assert bound <= ours.distance(x, y, **options) + 1e-12 <= ours.ub_euclidean(x, y, inner) + 1e-9
        found, expected = (module.warping_path_penalty(x, y, penalty_post=0.5) for module in (ours, theirs()))
        assert found[0] == pytest.approx(expected[0]) and found[1] == expected[1]
        np.testing.assert_allclose(found[2], expected[2], atol=1e-9)
        assert ours.warping_amount(found[1]) == theirs().warping_amount(expected[1])


@pytest.mark.parametrize("penalty", [0.1, 0.0, 1.0])
@pytest.mark.parametrize("channels", [0, 2])
def test_subsequences(penalty: float, channels: int) -> None:
    query, series = (walk(n, channels) if channels else walk(n) for n in (6, 60))
    found = ours_subsequence.subsequence_alignment(query, series, penalty=penalty)
    expected = theirs("subsequence.dtw").subsequence_alignment(query, series, penalty=penalty)
    np.testing.assert_allclose(found.matching_function(), expected.matching_function(), rtol=1e-9)
    np.testing.assert_allclose(found.warping_paths(), expected.warping_paths(), rtol=1e-9)
    lengths = {"k": 4, "minlength": 4, "maxlength": 9}
    for options in ({"k": 3}, {"k": None, "overlap": 2}, lengths, {"k": 2, "minlength": None}):
        mine, other = list(found.kbest_matches(**options)), list(expected.kbest_matches(**options))
        assert [match.idx for match in mine] == [match.idx for match in other]
        for a, b in zip(mine, other):
            assert a.segment == b.segment and a.path == b.path
            assert a.distance == pytest.approx(b.distance) and a.value == pytest.approx(b.value)
    mine, other = (list(one.best_matches_rangefactor(1.5)) for one in (found, expected))
    assert [match.idx for match in mine] == [match.idx for match in other]
    assert found.best_match().idx == expected.best_match().idx
    if penalty == 0.0:
        (match,) = dtwave.search(query, series, k=1)
        best = next(iter(found.best_matches(1, minlength=None)))
        assert best.distance**2 == pytest.approx(match.distance) and best.idx == match.end


def test_names_and_arguments_are_theirs() -> None:
    for mine, other in ((ours, theirs()), (ours_ndim, theirs("dtw_ndim"))):
        for name, function in inspect.getmembers(other, inspect.isfunction):
            internal = name.startswith("_") or name in ("distance_matrix_python", "warping_path_args_to_c")
            if internal or function.__module__ != other.__name__:
                continue
            found = inspect.signature(getattr(mine, name)).parameters
            if "options" in found:
                continue
            for argument, parameter in inspect.signature(function).parameters.items():
                if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    continue
                assert found[argument].default == parameter.default, (name, argument)
    settings = inspect.signature(ours.DTWSettings).parameters
    assert list(settings) == list(inspect.signature(theirs().DTWSettings).parameters)


def test_what_is_not_offered_says_so() -> None:
    x, y = walk(5), walk(6)
    for name in ("warping_path_prob", "warping_paths_affinity", "best_path2"):
        with pytest.raises(NotImplementedError, match=f"{name} is not offered"):
            getattr(ours, name)(x, y)
    for call in (
        lambda: ours.distance(x, y, inner_dist=object()),
        lambda: ours.warping_paths_fast(x, y, compact=True),
        lambda: ours.warping_paths(x, y, second_matrix=(x, y)),
        lambda: ours_subsequence.subsequence_alignment(x, y).best_matches_knee(),
        lambda: ours_subsequence.SubsequenceAlignment(x, y, window=3),
        lambda: ours_subsequence.subsequence_search(x, [y]),
    ):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(TypeError, match="windows"):
        ours.distance(x, y, windows=3)
    for wrong in ({"window": 0}, {"psi": (1, 2)}, {"psi": -1}, {"penalty": -1.0}, {"max_dist": float("nan")}):
        with pytest.raises(ValueError):
            ours.distance(x, y, **wrong)
    for options in ({"psi": 1}, {"max_step": 1.0}):
        with pytest.raises(ValueError, match="finite"):
            ours.distance([1.0, float("inf")], [1.0, 2.0], **options)
    assert ours.distance([0.0, 9.0], [0.0, 0.0], max_step=1.0) == float("inf")
    with pytest.raises(ValueError, match="no path"):
        ours.warping_path([0.0, 9.0], [0.0, 0.0], max_step=1.0)
    with pytest.raises(ValueError, match="empty"):
        ours.distance([], y)
    with pytest.raises(ValueError, match="NaN"):
        ours.distance([1.0, float("nan")], y)


def test_same_as_dtwave() -> None:
    series = SETS["matrix"]
    assert np.array_equal(ours.distance_matrix(series), np.sqrt(dtwave.pairwise(series)))
