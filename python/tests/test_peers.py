"""Values of other libraries: the same where the definitions agree, and different in the way that docs/measures.md says.

Each row of `SAME` is a measure, a library and a call of it that computes the same. Each test of a difference computes
the library's value from its own definition, in a plain loop here.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import dtwave
from optional import need

Array = np.ndarray[Any, np.dtype[np.float64]]
Call = Callable[[Array, Array], float]


def aeon(name: str, /, **options: Any) -> Call:
    """A distance of aeon, which has channels first."""

    def call(x: Array, y: Array) -> float:
        distances = need("aeon.distances")
        distance = getattr(distances, f"{name}_distance")
        return float(distance(np.ascontiguousarray(x.T), np.ascontiguousarray(y.T), **options))

    return call


def tsdistances(name: str, /, **options: Any) -> Call:
    """A distance of tsdistances: one channel, a matrix of one value."""

    def call(x: Array, y: Array) -> float:
        distance = getattr(need("tsdistances"), f"{name}_distance")
        try:
            return float(np.ravel(distance(x[:, 0], y[:, 0], par=False, **options))[0])
        finally:
            # It takes the interrupt signal for itself and would end the process; other tests send that signal.
            signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))

    return call


def tslearn(name: str, /, finish: Callable[[float], float] = float, **options: Any) -> Call:
    """A distance of tslearn, which may return a path before it."""

    def call(x: Array, y: Array) -> float:
        found = getattr(need("tslearn.metrics"), name)(x, y, **options)
        return finish(float(np.ravel(found[-1] if isinstance(found, tuple) else found)[0]))

    return call


def dtaidistance(module: str, name: str, /, finish: Callable[[float], float] = float, **options: Any) -> Call:
    """A distance of dtaidistance; `dtw_ndim` is its module for several channels."""

    def call(x: Array, y: Array) -> float:
        distance = getattr(need(f"dtaidistance.{module}"), name)
        if module == "dtw":
            x, y = np.ascontiguousarray(x[:, 0]), np.ascontiguousarray(y[:, 0])
        return finish(float(distance(x, y, **options)))

    return call


def square(distance: float) -> float:
    """For libraries that take the root of the accumulated cost."""
    return distance * distance


def similarity(share: float) -> float:
    """The distance that a share of common points stands for."""
    return 1.0 - share


@dataclass(frozen=True)
class Same:
    """A measure of ours and a call of another library that computes the same."""

    library: str
    measure: str
    theirs: Call
    ours: dict[str, Any] = field(default_factory=dict)
    channels: tuple[int, ...] = (1,)
    equal_lengths: bool = False
    """Whether they agree for series of one length only."""
    least: int = 1
    """Points that a series needs."""

    def __str__(self) -> str:
        options = "".join(f"-{name}={value}" for name, value in self.ours.items())
        return f"{self.library}-{self.measure}{options}"


def aeon_banded(name: str, /, **options: Any) -> Call:
    """A band of BAND points: aeon takes a share of the shorter series, and rounds the points down."""

    def call(x: Array, y: Array) -> float:
        window = min(1.0, (BAND + 0.5) / min(len(x), len(y)))
        return aeon(name, window=window, **options)(x, y)

    return call


def tsdistances_banded(name: str, /, **options: Any) -> Call:
    """A band of BAND points: tsdistances takes a share of the series, rounds the points down and adds one."""

    def call(x: Array, y: Array) -> float:
        band = min(1.0, (BAND - 0.5) / min(len(x), len(y)))
        return tsdistances(name, band=band, **options)(x, y)

    return call


MANY = (1, 3)
BAND = 3

SAME = [
    Same("aeon", "dtw", aeon("dtw"), channels=MANY),
    Same("aeon", "ddtw", aeon("ddtw"), channels=MANY, least=3),
    Same("aeon", "wdtw", aeon("wdtw", g=0.2), {"g": 0.2}, channels=MANY),
    Same("aeon", "wddtw", aeon("wddtw", g=0.2), {"g": 0.2}, channels=MANY, least=3),
    Same("aeon", "adtw", aeon("adtw", warp_penalty=0.75), {"penalty": 0.75}, channels=MANY),
    Same("aeon", "lcss", aeon("lcss", epsilon=0.5), {"epsilon": 0.5}, channels=MANY),
    Same("aeon", "msm", aeon("msm", c=0.3), {"c": 0.3}, channels=MANY),
    Same("aeon", "twed", aeon("twe", nu=0.05, lmbda=0.8), {"nu": 0.05, "lambda_": 0.8}, channels=MANY),
    Same("aeon", "soft_dtw", aeon("soft_dtw", gamma=0.5), {"gamma": 0.5}, channels=MANY),
    Same("aeon", "dtw", aeon_banded("dtw"), {"band": BAND}, channels=MANY, equal_lengths=True),
    Same("aeon", "msm", aeon_banded("msm"), {"band": BAND}, channels=MANY, equal_lengths=True),
    Same("tsdistances", "dtw", tsdistances("dtw")),
    Same("tsdistances", "dtw", tsdistances_banded("dtw"), {"band": BAND}, equal_lengths=True),
    Same("tsdistances", "ddtw", tsdistances("ddtw"), least=3),
    Same("tsdistances", "wdtw", tsdistances("wdtw", g=0.2), {"g": 0.2}),
    Same("tsdistances", "wddtw", tsdistances("wddtw", g=0.2), {"g": 0.2}, least=3),
    Same("tsdistances", "adtw", tsdistances("adtw", warp_penalty=0.75), {"penalty": 0.75}),
    Same("tsdistances", "lcss", tsdistances("lcss", epsilon=0.5), {"epsilon": 0.5}, equal_lengths=True),
    Same("tsdistances", "msm", tsdistances("msm"), {"c": 1.0}, equal_lengths=True),
    Same(
        "tsdistances",
        "twed",
        tsdistances("twe", stifness=0.05, penalty=0.8),
        {"nu": 0.05, "lambda_": 0.8},
        equal_lengths=True,
    ),
    Same("tslearn", "dtw", tslearn("dtw", square), channels=MANY),
    Same("tslearn", "dtw", tslearn("dtw", square, sakoe_chiba_radius=BAND), {"band": BAND}, channels=MANY),
    Same(
        "tslearn",
        "dtw",
        tslearn("dtw_path_from_metric", metric="euclidean"),
        {"cost": "euclidean"},
        channels=MANY,
    ),
    Same("tslearn", "dtw", tslearn("dtw_path_from_metric", metric="cityblock"), {"cost": "manhattan"}, channels=MANY),
    Same(
        "tslearn",
        "dtw",
        tslearn("dtw", square, itakura_max_slope=2.0),
        {"band": dtwave.Itakura(2.0)},
        equal_lengths=True,
    ),
    Same("tslearn", "lcss", tslearn("lcss", similarity, eps=0.5), {"epsilon": 0.5}, channels=MANY),
    Same(
        "tslearn",
        "lcss",
        tslearn("lcss", similarity, eps=0.5, sakoe_chiba_radius=BAND),
        {"epsilon": 0.5, "band": BAND},
        channels=MANY,
    ),
    Same("tslearn", "frechet", tslearn("frechet"), channels=MANY),
    Same("tslearn", "soft_dtw", tslearn("soft_dtw", gamma=0.5), {"gamma": 0.5}, channels=MANY),
    Same(
        "tslearn",
        "soft_dtw_divergence",
        tslearn("soft_dtw_normalized", gamma=0.5),
        {"gamma": 0.5},
        channels=MANY,
    ),
    Same("tslearn", "log_gak", tslearn("unnormalized_gak", np.log, sigma=9.0), {"sigma": 9.0}, channels=MANY),
    Same("tslearn", "subsequence_dtw", tslearn("dtw_subsequence_path", square), channels=MANY),
    Same("dtaidistance", "dtw", dtaidistance("dtw", "distance", square)),
    # With its pruning, which is on by default, distance_fast finds no path for some pairs of different lengths.
    Same(
        "dtaidistance",
        "dtw",
        dtaidistance("dtw", "distance_fast", square, window=BAND + 1, use_pruning=False),
        {"band": BAND},
    ),
    Same("dtaidistance", "dtw", dtaidistance("dtw_ndim", "distance", square), channels=MANY),
    Same("dtaidistance", "dtw", dtaidistance("dtw", "distance", inner_dist="euclidean"), {"cost": "manhattan"}),
    Same("dtaidistance", "adtw", dtaidistance("dtw", "distance", square, penalty=0.75**0.5), {"penalty": 0.75}),
]

# Lengths of pairs. Of one point, of the least that has a derivative, equal, longer on either side.
LENGTHS = [(1, 1), (1, 6), (6, 1), (3, 3), (20, 20), (20, 27), (31, 12), (64, 64)]


def pairs(channels: int) -> list[tuple[Array, Array]]:
    """Walks, walks in steps of an eighth (so that many values are equal), and a constant against one of them."""
    rng = np.random.default_rng(11)
    found = []
    for n, m in LENGTHS:
        x, y = (rng.normal(size=(length, channels)).cumsum(axis=0) for length in (n, m))
        found += [(x, y), (np.round(x * 8) / 8, np.round(y * 8) / 8), (np.full_like(x, 0.5), y)]
    return found


def quietly(call: Call, x: Array, y: Array) -> float:
    """What another library warns of is its own affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(x, y)


@pytest.mark.parametrize("same", SAME, ids=str)
def test_same_values(same: Same) -> None:
    compared = 0
    for channels in same.channels:
        for x, y in pairs(channels):
            if len(x) != len(y) and same.equal_lengths or min(len(x), len(y)) < same.least:
                continue
            if same.measure == "subsequence_dtw" and len(x) > len(y):
                x, y = y, x
            theirs = quietly(same.theirs, x, y)
            ours = dtwave.distance(x, y, measure=same.measure, **same.ours)
            assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9), (x.shape, y.shape)
            compared += 1
    assert compared >= 9


def erp_with_whole_borders(x: Array, y: Array, gap: float) -> float:
    """ERP whose border cells all cost what leaving out the whole series costs."""
    to_gap = [np.linalg.norm(series - gap, axis=1) for series in (x, y)]
    grid = np.zeros((len(x) + 1, len(y) + 1))
    grid[1:, 0], grid[0, 1:] = to_gap[0].sum(), to_gap[1].sum()
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            grid[i, j] = min(
                grid[i - 1, j - 1] + float(np.linalg.norm(x[i - 1] - y[j - 1])),
                grid[i - 1, j] + to_gap[0][i - 1],
                grid[i, j - 1] + to_gap[1][j - 1],
            )
    return float(grid[-1, -1])


def edr_with_free_borders(x: Array, y: Array, epsilon: float) -> float:
    """EDR whose borders are 0 and whose points match below epsilon, divided by the longer length."""
    grid = np.zeros((len(x) + 1, len(y) + 1))
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            differs = float(np.linalg.norm(x[i - 1] - y[j - 1]) >= epsilon)
            grid[i, j] = min(grid[i - 1, j - 1] + differs, grid[i - 1, j] + 1.0, grid[i, j - 1] + 1.0)
    return float(grid[-1, -1]) / max(len(x), len(y))


@pytest.mark.parametrize("library", ["aeon", "tsdistances"])
def test_erp_differs_by_its_borders(library: str) -> None:
    call = aeon("erp", g=0.25) if library == "aeon" else tsdistances("erp", gap_penalty=0.25)
    differences = 0
    for x, y in pairs(1):
        # tsdistances finds no path where lengths are far apart.
        if library == "tsdistances" and len(x) != len(y):
            continue
        theirs = quietly(call, x, y)
        assert theirs == pytest.approx(erp_with_whole_borders(x, y, 0.25), rel=1e-9)
        ours = dtwave.distance(x, y, measure="erp", gap=0.25)
        assert ours <= theirs * (1 + 1e-9)
        differences += abs(ours - theirs) > 1e-6
    assert differences > 0


def test_edr_of_aeon_differs_by_its_borders() -> None:
    differences = 0
    for x, y in pairs(1):
        theirs = quietly(aeon("edr", epsilon=0.5), x, y)
        assert theirs == pytest.approx(edr_with_free_borders(x, y, 0.5), abs=1e-12)
        ours = dtwave.distance(x, y, measure="edr", epsilon=0.5, output="normalized")
        differences += abs(ours - theirs) > 1e-6
    assert differences > 0


def test_lcss_of_tsdistances_is_divided_by_the_longer_length() -> None:
    for x, y in pairs(1):
        theirs = quietly(tsdistances("lcss", epsilon=0.5), x, y)
        length = dtwave.distance(x, y, measure="lcss", epsilon=0.5, output="length")
        assert theirs == pytest.approx(1.0 - length / max(len(x), len(y)), abs=1e-12)


def test_gak_of_tslearn_is_normalised() -> None:
    def ours(x: Array, y: Array) -> float:
        return dtwave.distance(x, y, measure="log_gak", sigma=9.0)

    for x, y in pairs(2):
        expected = np.exp(ours(x, y) - 0.5 * (ours(x, x) + ours(y, y)))
        assert quietly(tslearn("gak", sigma=9.0), x, y) == pytest.approx(expected, rel=1e-9)


def test_subsequence_of_dtaidistance_without_its_penalty() -> None:
    alignment = need("dtaidistance.subsequence.dtw")

    def theirs(x: Array, y: Array) -> float:
        found = alignment.subsequence_alignment(x[:, 0].copy(), y[:, 0].copy(), penalty=0.0)
        # Per end, and per point of the query. Its best_match leaves out matches of one point.
        return square(float(np.min(found.matching_function())) * len(x))

    for x, y in pairs(1):
        if 1 < len(x) <= len(y):
            ours = dtwave.distance(x, y, measure="subsequence_dtw")
            assert ours == pytest.approx(quietly(theirs, x, y), rel=1e-9, abs=1e-9)


def test_paths_of_tslearn_and_dtaidistance() -> None:
    tslearn_path, dtaidistance_path = need("tslearn.metrics").dtw_path, need("dtaidistance.dtw").warping_path
    # Walks alone: where points are equal, libraries break ties differently.
    for x, y in pairs(1)[::3]:
        ours = list(dtwave.align(x, y))
        for theirs in (tslearn_path(x, y)[0], dtaidistance_path(x[:, 0].copy(), y[:, 0].copy())):
            assert ours == [(int(i), int(j)) for i, j in theirs]


def test_match_of_tslearn() -> None:
    subsequence_path = need("tslearn.metrics").dtw_subsequence_path
    for x, y in pairs(2)[::3]:
        if len(x) > len(y):
            x, y = y, x
        path, distance = subsequence_path(x, y)
        (match,) = dtwave.search(x, y, k=1)
        assert (match.start, match.end) == (path[0][1], path[-1][1])
        assert match.distance == pytest.approx(square(distance), rel=1e-9)


@pytest.mark.parametrize("gamma", [0.1, 1.0])
def test_expected_alignment_of_tslearn(gamma: float) -> None:
    for x, y in pairs(2)[::3]:
        theirs, value = need("tslearn.metrics").soft_dtw_alignment(x, y, gamma=gamma)
        np.testing.assert_allclose(dtwave.expected_alignment(x, y, gamma=gamma), theirs, atol=1e-9)
        assert dtwave.distance(x, y, measure="soft_dtw", gamma=gamma) == pytest.approx(value, rel=1e-9)


def test_scaler_of_tslearn() -> None:
    scaler = need("tslearn.preprocessing").TimeSeriesScalerMeanVariance()
    x = np.stack([series for series, _ in pairs(3) if len(series) == 20])
    np.testing.assert_allclose(dtwave.normalize(x), scaler.fit_transform(x), atol=1e-12)
