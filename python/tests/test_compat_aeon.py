"""`dtwave.compat.aeon` beside aeon: the same numbers, but for what docs/compat.md lists; and with `strict_aeon` all."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import dtwave
import dtwave.compat.aeon as ours
from optional import need

rng = np.random.default_rng(5)
NAMES = ["dtw", "ddtw", "wdtw", "wddtw", "lcss", "erp", "edr", "twe", "msm", "adtw", "soft_dtw"]
# Parameters other than the default ones.
OTHERS: dict[str, dict[str, Any]] = {
    "wdtw": {"g": 0.3},
    "wddtw": {"g": 0.3},
    "lcss": {"epsilon": 0.4},
    "erp": {"g": 0.7},
    "edr": {"epsilon": 0.5},
    "twe": {"nu": 0.05, "lmbda": 0.4},
    "msm": {"c": 0.3},
    "adtw": {"warp_penalty": 0.25},
    "soft_dtw": {"gamma": 0.4},
}
BANDS: dict[str, dict[str, Any]] = {
    "free": {},
    "window 0": {"window": 0.0},
    "window 0.2": {"window": 0.2},
    "window 1": {"window": 1.0},
    "slope": {"itakura_max_slope": 0.4},
}


def theirs() -> Any:
    return need("aeon.distances")


def walk(channels: int, length: int) -> Any:
    return rng.normal(size=(channels, length)).cumsum(axis=1)


PAIRS = {
    "one point": (walk(1, 1), walk(1, 1)),
    "one against many": (walk(1, 1), walk(1, 6)),
    "flat": (walk(1, 12)[0], walk(1, 12)[0]),
    "channels": (walk(3, 14), walk(3, 14)),
    "longer": (walk(2, 20), walk(2, 13)),
    "shorter": (walk(1, 11), walk(1, 25)),
    "constant": (np.full((1, 9), 0.5), walk(1, 9)),
    "equal": (np.round(walk(1, 9)),) * 2,
    "ties": (np.round(walk(1, 15)), np.round(walk(1, 15))),
}


def call(function: Any, *args: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **options)
        except (ValueError, ZeroDivisionError, IndexError) as error:
            return error


def points(name: str) -> int:
    return {"ddtw": 3, "wddtw": 3, "edr": 2}.get(name, 1)


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("name", NAMES)
def test_strict_numbers_are_theirs(name: str, band: str) -> None:
    compared = 0
    for options in ({}, OTHERS.get(name, {})):
        for what, (x, y) in PAIRS.items():
            if min(x.shape[-1], y.shape[-1]) < points(name):
                continue
            both = options | BANDS[band]
            for kind in ("distance", "cost_matrix", "alignment_path"):
                if kind == "alignment_path" and (name in ("lcss", "erp") and band != "free" or name == "edr"):
                    # aeon's may not end (lcss), forgets the slope (erp), and meets infinite borders (edr).
                    continue
                other = call(getattr(theirs(), f"{name}_{kind}"), x, y, **both)
                mine = call(getattr(ours, f"{name}_{kind}"), x, y, **both, strict_aeon=True)
                if isinstance(other, Exception) or isinstance(mine, Exception):
                    # A slope that leaves no path is an error here.
                    assert isinstance(mine, ValueError), (what, mine)
                    assert isinstance(other, Exception) or band == "slope", (what, mine)
                    continue
                if kind == "alignment_path":
                    path, value = other
                    if np.isfinite(value):
                        assert mine[0] == [(int(i), int(j)) for i, j in path], what
                    mine, other = mine[1], value
                np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9, err_msg=f"{kind} of {what}")
                compared += 1
    assert compared >= 8


@pytest.mark.parametrize("name", NAMES)
def test_distances_follow_the_papers(name: str) -> None:
    key, parameters = {
        "twe": ("twed", {"nu": 0.05, "lambda_": 0.4}),
        "erp": ("erp", {"gap": 0.7}),
        "adtw": ("adtw", {"penalty": 0.25}),
        "edr": ("edr", {"epsilon": 0.5, "output": "normalized"}),
    }.get(name, (name, OTHERS.get(name, {})))
    for what, (x, y) in PAIRS.items():
        if min(x.shape[-1], y.shape[-1]) < points(name):
            continue
        a, b = (series[:, None] if series.ndim == 1 else series.T for series in (x, y))
        expected = dtwave.distance(a, b, measure=key, **parameters)
        options = OTHERS.get(name, {})
        assert getattr(ours, f"{name}_distance")(x, y, **options) == pytest.approx(expected, rel=1e-12), what
        assert getattr(ours, f"{name}_alignment_path")(x, y, **options)[1] == pytest.approx(expected, abs=1e-9), what
        grid = getattr(ours, f"{name}_cost_matrix")(x, y, **options)
        last = {
            "lcss": 1 - grid[-1, -1] / min(len(a), len(b)),
            "edr": grid[-1, -1] / max(len(a), len(b)),
        }.get(name, grid[-1, -1])
        assert last == pytest.approx(expected, rel=1e-9, abs=1e-9), what


def test_where_they_differ_without_strict() -> None:
    x, y = walk(1, 12), walk(1, 9)
    for name in ("erp", "edr"):
        assert getattr(ours, f"{name}_distance")(x, y) != pytest.approx(getattr(theirs(), f"{name}_distance")(x, y))
    assert ours.soft_dtw_distance(x, x) < 0 == theirs().soft_dtw_distance(x, x)
    try:
        ours.set_strict(True)
        assert ours.erp_distance(x, y) == pytest.approx(theirs().erp_distance(x, y))
        assert ours.erp_distance(x, y, strict_aeon=False) != pytest.approx(theirs().erp_distance(x, y))
    finally:
        ours.set_strict(False)


COLLECTIONS: dict[str, tuple[Any, Any]] = {
    "array": (rng.normal(size=(4, 1, 10)).cumsum(axis=2), None),
    "flat": (rng.normal(size=(4, 10)).cumsum(axis=1), None),
    "channels": (rng.normal(size=(4, 3, 10)).cumsum(axis=2), rng.normal(size=(2, 3, 10))),
    "one of several channels": (rng.normal(size=(4, 3, 10)), rng.normal(size=(3, 10))),
    "single": (walk(1, 10)[0], walk(1, 10)[0]),
    "ragged": ([walk(2, n) for n in (5, 9, 7, 5)], None),
    "ragged flat": ([walk(1, n)[0] for n in (5, 9, 7)], [walk(1, n)[0] for n in (4, 8)]),
    "constant": (np.ones((3, 1, 6)), None),
}


@pytest.mark.parametrize("band", ["free", "window 0.2", "slope"])
@pytest.mark.parametrize("name", NAMES)
def test_pairwise(name: str, band: str) -> None:
    options = OTHERS.get(name, {}) | BANDS[band]
    compared = 0
    for what, (x, y) in COLLECTIONS.items():
        for strict in (True, False):
            mine = call(getattr(ours, f"{name}_pairwise_distance"), x, y, n_jobs=2, strict_aeon=strict, **options)
            if isinstance(mine, ValueError) and band == "slope":
                continue
            rows, columns = ours._series.collections(x, y)
            columns = rows if columns is None else columns
            distance = getattr(ours, f"{name}_distance")
            one_by_one = [[distance(a.T, b.T, strict_aeon=strict, **options) for b in columns] for a in rows]
            if y is None and name == "soft_dtw" and strict:
                np.fill_diagonal(np.asarray(one_by_one), 0.0)
            tolerance = dict(rtol=1e-9, atol=1e-9)
            if band == "free" or len({len(row) for row in [*rows, *columns]}) == 1:
                np.testing.assert_allclose(mine, one_by_one, **tolerance, err_msg=what)
            derived = name in ("ddtw", "wddtw", "twe") and band != "free"
            if strict and not derived:
                # In a band, aeon's pairwise ddtw, wddtw and twe are not its distances: its band has other lengths.
                other = getattr(theirs(), f"{name}_pairwise_distance")(x, y, **options)
                np.testing.assert_allclose(mine, other, **tolerance, err_msg=what)
            assert mine.shape == (len(rows), len(columns))
            compared += 1
    assert compared >= 4


def test_bounding_matrices() -> None:
    for n, m in [(1, 1), (5, 5), (3, 9), (9, 3), (37, 50), (50, 37), (20, 20)]:
        for window in (None, 0.0, 0.1, 0.35, 0.9, 1.0):
            assert np.array_equal(
                ours.create_bounding_matrix(n, m, window), theirs().create_bounding_matrix(n, m, window)
            )
        for slope in (0.2, 0.5, 1.0):
            other = call(theirs().create_bounding_matrix, n, m, None, slope)
            mine = call(ours.create_bounding_matrix, n, m, None, slope)
            if isinstance(mine, Exception):
                assert min(n, m) < 5
            else:
                assert np.array_equal(mine, other), (n, m, slope)


def test_by_name_and_by_function() -> None:
    x, y = walk(1, 8), walk(1, 8)
    assert ours.distance(x, y, method="msm", c=0.5) == ours.msm_distance(x, y, c=0.5)
    assert ours.alignment_path(x, y, method="dtw") == ours.dtw_alignment_path(x, y)
    assert np.array_equal(ours.cost_matrix(x, y, method="twe"), ours.twe_cost_matrix(x, y))
    series = rng.normal(size=(4, 1, 8))

    def largest(a: Any, b: Any) -> float:
        return float(np.abs(a - b).max())

    assert np.array_equal(
        ours.pairwise_distance(series, method=largest), theirs().pairwise_distance(series, method=largest)
    )
    assert ours.get_distance_function("dtw") is ours.dtw_distance
    with pytest.raises(ValueError, match="supported strings"):
        ours.distance(x, y, method="FOO")
    with pytest.raises(NotImplementedError, match="n_jobs"):
        ours.pairwise_distance(series, method=largest, n_jobs=2)


def test_names_and_arguments_are_theirs() -> None:
    other = theirs()
    assert set(other.__all__) <= set(ours.__all__)
    for name in NAMES:
        for kind in ("distance", "pairwise_distance", "alignment_path", "cost_matrix"):
            mine = list(inspect.signature(getattr(ours, f"{name}_{kind}")).parameters.values())
            found = inspect.signature(getattr(other, f"{name}_{kind}")).parameters.values()
            expected = [(parameter.name, parameter.default) for parameter in found]
            if (name, kind) == ("ddtw", "cost_matrix"):
                # Its y has a default there, with which it fails.
                expected[1] = "y", inspect.Parameter.empty
            assert [(parameter.name, parameter.default) for parameter in mine[:-1]] == expected
            assert mine[-1].name == "strict_aeon"


def test_the_module_has_its_whole_name_too() -> None:
    from dtwave.compat.aeon import distances

    assert dir(distances) == dir(ours)
    assert all(getattr(distances, name) is getattr(ours, name) for name in ours.__all__)


def test_what_is_not_offered_says_so() -> None:
    for name in ("euclidean_distance", "dtw_gi_distance", "shape_dtw_cost_matrix", "mindist_sax_distance"):
        with pytest.raises(NotImplementedError, match=f"{name} is not offered"):
            getattr(ours, name)([1.0], [1.0])
    with pytest.raises(ValueError, match="channels"):
        ours.dtw_distance(walk(2, 5), walk(3, 5))
    with pytest.raises(ValueError, match="between 0 and 1"):
        ours.dtw_distance(walk(2, 5), walk(2, 5), window=5)
    with pytest.raises(TypeError, match="it has x, y, window"):
        ours.dtw_distance(walk(2, 5), walk(2, 5), gamma=5)
    with pytest.raises(ValueError, match="NaN at point 1"):
        ours.dtw_cost_matrix(np.array([1.0, np.nan]), np.zeros(2))
    with pytest.raises(ValueError, match="c >= 0"):
        ours.msm_cost_matrix(walk(1, 5), walk(1, 5), c=-1.0)
    with pytest.raises(ValueError, match="g_arr"):
        ours.erp_distance(walk(2, 5), walk(2, 5), g_arr=np.zeros(3))
    with pytest.raises(AttributeError):
        ours.dtw_distances


def test_erp_takes_a_gap_for_each_channel() -> None:
    x, y, gap = walk(2, 9), walk(2, 12), np.array([0.5, -1.0])
    assert ours.erp_distance(x, y, g_arr=gap, strict_aeon=True) == pytest.approx(theirs().erp_distance(x, y, g_arr=gap))
    shifted = (x - gap[:, None]).T, (y - gap[:, None]).T
    assert ours.erp_distance(x, y, g_arr=gap) == pytest.approx(dtwave.distance(*shifted, measure="erp"))
    series = rng.normal(size=(3, 2, 7))
    found = ours.erp_pairwise_distance(series, g_arr=gap)
    assert found[0, 1] == pytest.approx(ours.erp_distance(series[0], series[1], g_arr=gap))
    same_gap = ours.erp_pairwise_distance(series, g=0.5)
    assert same_gap[0, 1] == pytest.approx(ours.erp_distance(series[0], series[1], g=0.5))


@pytest.mark.parametrize(
    ("name", "options"),
    [("edr", {"epsilon": 1.0}), ("msm", {"independent": False, "c": 0.2})],
)
def test_points_on_a_boundary_are_on_their_side_of_it(name: str, options: dict[str, Any]) -> None:
    # Whole numbers are epsilon apart, and on the sphere round two others.
    x, y = (rng.integers(0, 4, size=(2, n)).astype(np.float64) for n in (15, 18))
    for kind in ("distance", "cost_matrix"):
        mine = getattr(ours, f"{name}_{kind}")(x, y, **options, strict_aeon=True)
        np.testing.assert_allclose(mine, getattr(theirs(), f"{name}_{kind}")(x, y, **options), rtol=1e-12)


def test_dependent_msm() -> None:
    x, y = walk(3, 9), walk(3, 12)
    expected = theirs().msm_distance(x, y, independent=False, c=0.2)
    assert ours.msm_distance(x, y, independent=False, c=0.2) == pytest.approx(expected)
    np.testing.assert_allclose(
        ours.msm_cost_matrix(x, y, independent=False, c=0.2), theirs().msm_cost_matrix(x, y, independent=False, c=0.2)
    )


def test_a_band_is_that_of_the_matrix_compiled_or_not() -> None:
    """The example of docs/compat.md: aeon compiled by numba gives 10.78."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(1, 13)), random.normal(size=(1, 10))
    mask = ours.create_bounding_matrix(13, 10, window=0.1)
    expected = np.full((14, 11), np.inf)
    expected[0, 0] = 0.0
    for i, j in np.argwhere(mask):
        before = min(expected[i, j], expected[i, j + 1], expected[i + 1, j])
        expected[i + 1, j + 1] = (x[0, i] - y[0, j]) ** 2 + before
    assert ours.dtw_distance(x, y, window=0.1) == pytest.approx(expected[-1, -1]) == pytest.approx(10.0516215)
