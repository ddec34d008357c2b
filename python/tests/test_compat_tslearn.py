"""`dtwave.compat.tslearn` beside tslearn: the same numbers and paths, and errors for what is not offered."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import dtwave
import dtwave.compat.tslearn as ours
from optional import need

rng = np.random.default_rng(3)


def theirs(module: str = "metrics") -> Any:
    return need(f"tslearn.{module}")


def walk(*shape: int) -> Any:
    return rng.normal(size=shape).cumsum(axis=0)


def stepped(series: Any) -> Any:
    """Steps of a half, so that many costs are equal."""
    return np.round(series * 2) / 2


PAIRS = {
    "one point each": (walk(1, 1), walk(1, 1)),
    "one point": (walk(1, 2), walk(7, 2)),
    "flat arrays": (walk(9), walk(12)),
    "lists": ([1, 2, 3], [1.0, 2.0, 2.0, 3.0]),
    "unequal": (walk(30, 1), walk(21, 1)),
    "channels": (walk(16, 3), walk(16, 3)),
    "constant": (np.full((8, 1), 0.5), walk(8, 1)),
    "both constant": (np.full((8, 1), 0.5), np.full((5, 1), 0.5)),
    "ties": (stepped(walk(20, 1)), stepped(walk(20, 1))),
    "padded": (np.vstack([walk(9, 2), np.full((3, 2), np.nan)]), walk(12, 2)),
}
LIMITS: dict[str, dict[str, Any]] = {
    "free": {},
    "radius 0": {"sakoe_chiba_radius": 0},
    "radius 2": {"global_constraint": "sakoe_chiba", "sakoe_chiba_radius": 2},
    "default radius": {"global_constraint": "sakoe_chiba"},
    "large radius": {"sakoe_chiba_radius": 99},
    "slope": {"itakura_max_slope": 1.7},
    "default slope": {"global_constraint": "itakura"},
}
# Functions of two series and limits, with their other arguments.
OF_PAIRS: list[tuple[str, dict[str, Any]]] = [
    ("dtw", {}),
    ("dtw_path", {}),
    ("dtw_path_from_metric", {}),
    ("dtw_path_from_metric", {"metric": "cityblock"}),
    ("dtw_path_from_metric", {"metric": "chebyshev"}),
    ("dtw_path_from_metric", {"metric": lambda a, b: float(abs(a - b).sum())}),
    ("frechet", {}),
    ("frechet_path", {}),
    ("frechet_path_from_metric", {"metric": "euclidean"}),
    ("frechet_path_from_metric", {"metric": "sqeuclidean"}),
    ("lcss", {"eps": 0.5}),
    ("lcss_path", {"eps": 0.5}),
    ("lcss_path_from_metric", {"eps": 0.5}),
    ("soft_dtw", {"gamma": 0.3}),
    ("soft_dtw", {"gamma": 0.0}),
    ("soft_dtw_normalized", {"gamma": 0.3}),
    ("soft_dtw_alignment", {"gamma": 0.3}),
    ("soft_dtw_alignment", {"gamma": 0.0}),
]


def call(function: Any, *args: Any, **options: Any) -> Any:
    """What a function returns, or the error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **options)
        except (RuntimeWarning, ValueError, IndexError) as error:
            return error


def same(mine: Any, other: Any) -> None:
    if isinstance(other, tuple):
        assert isinstance(mine, tuple) and len(mine) == len(other)
        for a, b in zip(mine, other):
            same(a, b)
    elif isinstance(other, list):
        assert [tuple(map(int, step)) for step in other] == mine
    else:
        assert isinstance(mine, type(other)) or isinstance(mine, np.generic) or isinstance(mine, float)
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize(("name", "options"), OF_PAIRS, ids=lambda value: value if isinstance(value, str) else "")
def test_of_two_series(name: str, options: dict[str, Any], limit: str) -> None:
    compared = 0
    for what, (x, y) in PAIRS.items():
        if name.startswith("lcss_path") and what == "padded":
            # tslearn counts the padding there; ours removes it, as its other functions do.
            continue
        if name.startswith("lcss_path") and limit != "free":
            if name.endswith("from_metric"):
                need("scipy")
            # tslearn's may not end, where the path back leaves the mask. The similarity is that of `lcss`.
            found, similarity = (call(getattr(ours, f), x, y, **options, **LIMITS[limit]) for f in (name, "lcss"))
            if not isinstance(found, Exception):
                assert found[1] == similarity and len(found[0]) <= min(len(x), len(y))
            compared += 1
            continue
        other = call(getattr(theirs(), name), x, y, **options, **LIMITS[limit])
        mine = call(getattr(ours, name), x, y, **options, **LIMITS[limit])
        if isinstance(other, Exception):
            assert isinstance(mine, type(other)), (what, mine, other)
            continue
        if name == "lcss" and what != "padded" and limit in ("radius 0", "slope", "default slope"):
            # tslearn forgets matches outside the mask.
            assert mine >= other
            if limit == "radius 0":
                assert mine == pytest.approx(
                    1.0 - dtwave.distance(x, y, measure="lcss", epsilon=0.5, band=0, layout="channels_last")
                )
            compared += 1
            continue
        if not np.isfinite(np.ravel(other[1] if isinstance(other, tuple) else other)).all():
            # A mask without a path: infinite there, an error here.
            value = mine[1] if isinstance(mine, tuple) else mine
            assert isinstance(mine, ValueError) or not np.isfinite(np.ravel(value)).all()
            continue
        try:
            same(mine, other)
        except AssertionError as error:
            raise AssertionError(f"{what}: {mine} and {other}") from error
        compared += 1
    assert compared >= 5


DATASETS: dict[str, Any] = {
    "array": rng.normal(size=(5, 12)).cumsum(axis=1),
    "channels": rng.normal(size=(4, 9, 2)).cumsum(axis=1),
    "list": [[1, 2, 2, 3], [1.0, 2.0, 3.0, 4.0]],
    "ragged": [walk(n, 1) for n in (5, 8, 1, 8)],
    "padded": np.where(np.arange(10)[None] < np.array([[10], [7], [4]]), rng.normal(size=(3, 10)), np.nan),
    "one series": [1.0, 2.0, 5.0],
    "constant": np.full((3, 6, 1), 2.0),
}
OF_SETS: list[tuple[str, dict[str, Any]]] = [
    ("cdist_dtw", {}),
    ("cdist_frechet", {}),
    ("cdist_soft_dtw", {"gamma": 0.5}),
    ("cdist_soft_dtw", {"gamma": 0.0}),
    ("cdist_soft_dtw_normalized", {"gamma": 0.5}),
    ("cdist_gak", {"sigma": 2.0}),
]


@pytest.mark.parametrize("limit", ["free", "radius 0", "radius 2", "slope"])
@pytest.mark.parametrize(("name", "options"), OF_SETS, ids=lambda value: value if isinstance(value, str) else "")
def test_of_data_sets(name: str, options: dict[str, Any], limit: str) -> None:
    limits = LIMITS[limit]
    if name == "cdist_gak" and limits:
        with pytest.raises(TypeError):
            ours.cdist_gak([[1.0]], **limits)
        return
    for what, x in DATASETS.items():
        second = [walk(6, 2), walk(9, 2)] if what == "channels" else [[1.0, 2.5, 3.0], [0.0, 1.0, 1.0, 2.0]]
        for y in (None, second):
            other = call(getattr(theirs(), name), x, y, **options, **limits)
            mine = call(getattr(ours, name), x, y, n_jobs=2, **options, **limits)
            if isinstance(other, Exception):
                assert isinstance(mine, type(other)), (what, mine, other)
            elif np.isfinite(other).all():
                np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9, err_msg=what)
            else:
                assert isinstance(mine, ValueError), what


def test_masks() -> None:
    for n, m in [(1, 1), (1, 5), (5, 1), (6, 6), (7, 3), (3, 7), (20, 23), (40, 30), (42, 50), (30, 33)]:
        for radius in (0, 1, 3, 50):
            assert np.array_equal(ours.sakoe_chiba_mask(n, m, radius), theirs().sakoe_chiba_mask(n, m, radius))
        for slope in (1.0, 1.3, 1.5, 2.0, 3.7):
            other = call(theirs().itakura_mask, n, m, slope)
            mine = call(ours.itakura_mask, n, m, slope)
            if isinstance(other, Exception):
                assert isinstance(mine, RuntimeWarning)
            else:
                assert np.array_equal(mine, other), (n, m, slope)
    with pytest.raises(RuntimeWarning, match="name the one"):
        ours.dtw([1.0], [1.0], sakoe_chiba_radius=1, itakura_max_slope=2.0)


def test_grids_and_limited_lengths() -> None:
    for x, y in ((walk(9, 2), walk(7, 2)), (walk(1, 1), walk(4, 1)), (stepped(walk(12, 1)), stepped(walk(12, 1)))):
        mask = ours.sakoe_chiba_mask(len(x), len(y), 2)
        for name in ("dtw_accumulated_matrix", "frechet_accumulated_matrix"):
            np.testing.assert_allclose(getattr(ours, name)(x, y, mask), getattr(theirs(), name)(x, y, mask), rtol=1e-12)
        for length in (max(len(x), len(y)), max(len(x), len(y)) + 2, 99):
            same(
                ours.dtw_path_limited_warping_length(x, y, length),
                theirs().dtw_path_limited_warping_length(x, y, length),
            )
        short, long = (x, y) if len(x) <= len(y) else (y, x)
        same(ours.dtw_subsequence_path(short, long), theirs().dtw_subsequence_path(short, long))
        grid = ours.subsequence_cost_matrix(short, long)
        np.testing.assert_allclose(grid, theirs().subsequence_cost_matrix(short, long), rtol=1e-12)
        for end in range(len(long)):
            same(ours.subsequence_path(grid, end), theirs().subsequence_path(grid, end))
    with pytest.raises(ValueError, match="length 2"):
        ours.dtw_limited_warping_length([1.0, 2.0, 3.0], [1.0], 2)


def test_kernels_bounds_and_widths() -> None:
    x, y = walk(12, 2), walk(15, 2)
    for name in ("gak", "unnormalized_gak"):
        np.testing.assert_allclose(getattr(ours, name)(x, y, 2.0), getattr(theirs(), name)(x, y, 2.0), rtol=1e-9)
    for series in (rng.normal(size=(6, 20, 2)), DATASETS["ragged"], DATASETS["padded"]):
        for name in ("sigma_gak", "gamma_soft_dtw"):
            mine, other = (getattr(module, name)(series, random_state=4) for module in (ours, theirs()))
            np.testing.assert_allclose(mine, other, rtol=1e-12)
    one, other = walk(20, 1), walk(20, 1)
    for radius in (0, 1, 30):
        same(ours.lb_envelope(one, radius), theirs().lb_envelope(one, radius))
        bound = ours.lb_keogh(one, other, radius)
        assert bound == pytest.approx(theirs().lb_keogh(one, other, radius), rel=1e-12)
        assert bound <= ours.dtw(one, other, sakoe_chiba_radius=radius) + 1e-12
        assert bound == ours.lb_keogh(one, envelope_candidate=ours.lb_envelope(other, radius))


def test_soft_dtw_of_costs() -> None:
    x, y = walk(8, 2), walk(6, 2)
    mine, other = ours.SquaredEuclidean(x, y), theirs().SquaredEuclidean(x, y)
    ours_soft, their_soft = ours.SoftDTW(mine, gamma=0.7), call(theirs().SoftDTW, other, gamma=0.7)
    with pytest.raises(ValueError, match="compute"):
        ours_soft.grad()
    assert ours_soft.compute() == pytest.approx(call(their_soft.compute), rel=1e-12)
    assert ours_soft.compute() == pytest.approx(ours.soft_dtw(x, y, gamma=0.7), rel=1e-9)
    np.testing.assert_allclose(ours_soft.grad(), call(their_soft.grad), atol=1e-12)
    np.testing.assert_allclose(
        mine.jacobian_product(ours_soft.grad()), call(other.jacobian_product, call(their_soft.grad)), atol=1e-10
    )


@pytest.mark.parametrize("limits", [{}, {"sakoe_chiba_radius": 1}, {"itakura_max_slope": 2.0}])
def test_barycenters(limits: dict[str, Any]) -> None:
    codes = dict(limits, global_constraint=0)
    weights = np.array([1.0, 2.0, 0.5, 1.5, 1.0])
    for series in (rng.normal(size=(5, 10, 2)), [walk(n, 1) for n in (9, 10, 11, 10, 9)]):
        others = theirs("barycenters")
        for name in ("dtw_barycenter_averaging", "dtw_barycenter_averaging_petitjean"):
            for options in ({}, {"weights": weights, "barycenter_size": 10}, {"max_iter": 2, "n_jobs": 2}):
                np.testing.assert_allclose(
                    getattr(ours, name)(series, metric_params=limits, **options),
                    call(getattr(others, name), series, metric_params=codes, **options),
                    rtol=1e-8,
                    atol=1e-9,
                )
        np.testing.assert_allclose(
            ours.dtw_barycenter_averaging_subgradient(series, max_iter=4, random_state=1, metric_params=limits),
            others.dtw_barycenter_averaging_subgradient(series, max_iter=4, random_state=1, metric_params=codes),
            rtol=1e-8,
            atol=1e-9,
        )
        np.testing.assert_allclose(
            ours.softdtw_barycenter(series, gamma=0.5, weights=weights, max_iter=6, **limits),
            call(others.softdtw_barycenter, series, gamma=0.5, weights=weights, max_iter=6, **limits),
            rtol=1e-5,
            atol=1e-5,
        )
    same(ours.euclidean_barycenter(np.ones((2, 3))), theirs("barycenters").euclidean_barycenter(np.ones((2, 3))))


def test_tensors_in_tensors_out() -> None:
    torch = need("torch")
    x, y = torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [4.0], [4.0]])
    assert isinstance(ours.dtw(x, y), torch.Tensor) and isinstance(ours.cdist_dtw([x, y], be="pytorch"), torch.Tensor)
    assert isinstance(ours.dtw(x, y, be="numpy"), np.float64)
    with pytest.raises(NotImplementedError, match="dtwave.torch"):
        ours.soft_dtw(x.requires_grad_(), y)
    series = torch.rand(3, 8, 2)
    loss, other = (module.SoftDTWLossPyTorch(gamma=0.5, normalize=True) for module in (ours, theirs()))
    np.testing.assert_allclose(loss(series, series + 1), other(series, series + 1), rtol=1e-4)
    with pytest.raises(NotImplementedError, match="dist_func"):
        ours.SoftDTWLossPyTorch(dist_func=lambda a, b: a)


def test_names_and_arguments_are_theirs() -> None:
    for module, mine in (("metrics", ours.metrics), ("barycenters", ours.barycenters)):
        other = theirs(module)
        constants = {"TSLEARN_VALID_METRICS", "VARIABLE_LENGTH_METRICS"}
        assert set(other.__all__) <= set(mine.__all__) | constants | {"SoftDTWLossPyTorch"}
        for name in set(other.__all__) & set(mine.__all__):
            function = getattr(other, name)
            if not inspect.isfunction(function) or "args" in inspect.signature(getattr(mine, name)).parameters:
                continue
            expected = inspect.signature(function).parameters
            found = inspect.signature(getattr(mine, name)).parameters
            for argument, parameter in expected.items():
                if argument == "metric_params" and parameter.kind is parameter.VAR_KEYWORD:
                    continue
                assert found[argument].default == parameter.default, (name, argument)
                assert list(found)[: len(expected)].index(argument) == list(expected).index(argument), (name, argument)


def test_what_is_not_offered_says_so() -> None:
    for name in ("ctw", "ctw_path", "cdist_ctw", "cdist_sax", "cdist_normalized_cc", "y_shifted_sbd_vec"):
        with pytest.raises(NotImplementedError, match=f"{name} is not offered"):
            getattr(ours, name)([1.0], [1.0])
    with pytest.raises(ValueError, match="NaN at point 1"):
        ours.dtw([1.0, np.nan, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="one per series"):
        ours.dtw_barycenter_averaging([[1.0, 2.0]], weights=[1.0, 2.0])
    with pytest.raises(ValueError, match="not all 0"):
        ours.dtw_barycenter_averaging([[1.0, 2.0]], weights=[0.0])
    with pytest.raises(ValueError, match="one length"):
        ours.euclidean_barycenter([[1.0, 2.0], [1.0]])
    with pytest.raises(ValueError, match="costs? of points 0 and 1 is NaN"):
        ours.dtw_path_from_metric([[1.0, np.nan]], metric="precomputed")
    with pytest.raises(TypeError, match="masked"):
        ours.dtw(np.ma.array([1.0, 2.0], mask=[False, True]), [1.0])
    with pytest.raises(TypeError, match="whole number"):
        ours.dtw([1.0, 2.0], [1.0], sakoe_chiba_radius=0.5)
    with pytest.raises(ValueError, match="no path"):
        ours.dtw_path_from_metric([[np.inf, 1.0], [1.0, np.inf]], metric="precomputed")
    with pytest.raises(TypeError, match="gamma"):
        ours.dtw_barycenter_averaging([[1.0, 2.0]], metric_params={"gamma": 1.0})


def test_same_as_dtwave() -> None:
    x = rng.normal(size=(6, 30))
    assert np.array_equal(ours.cdist_dtw(x), np.sqrt(dtwave.pairwise(x)))


def test_needs_no_other_library() -> None:
    code = (
        "import sys\n"
        "for name in ('tslearn', 'scipy', 'sklearn', 'numba', 'torch', 'aeon', 'dtaidistance'):\n"
        "    sys.modules[name] = None\n"
        "from dtwave.compat.tslearn import cdist_dtw, dtw_barycenter_averaging, softdtw_barycenter\n"
        "assert cdist_dtw([[1.0, 2.0], [1.0, 4.0]])[0, 1] == 2.0\n"
        "dtw_barycenter_averaging([[1.0, 2.0], [1.0, 4.0]])\n"
        "try:\n"
        "    softdtw_barycenter([[1.0, 2.0], [1.0, 4.0]])\n"
        "except NotImplementedError as error:\n"
        "    assert 'dtwave.barycenter' in str(error)\n"
        "else:\n"
        "    raise SystemExit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
