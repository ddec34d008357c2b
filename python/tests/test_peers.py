"""Values of other libraries: the same where the definitions agree, and different in the way that docs/measures.md says.

What agrees with tslearn, aeon and dtaidistance the tests of `dtwave.compat` compare, which calls the functions of the
package; `SAME` has what agrees with tsdistances. Each test of a difference computes the library's value from its own
definition, in a plain loop here.
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


def square(distance: float) -> float:
    """For libraries that take the root of the accumulated cost."""
    return distance * distance


@dataclass(frozen=True)
class Same:
    """A measure of ours and a call of tsdistances that computes the same."""

    measure: str
    theirs: Call
    ours: dict[str, Any] = field(default_factory=dict)
    equal_lengths: bool = False
    """Whether they agree for series of one length only."""
    least: int = 1
    """Points that a series needs."""

    def __str__(self) -> str:
        return "-".join([self.measure, *(f"{name}={value}" for name, value in self.ours.items())])


def tsdistances_banded(name: str, /, **options: Any) -> Call:
    """A band of BAND points: tsdistances takes a share of the series, rounds the points down and adds one."""

    def call(x: Array, y: Array) -> float:
        band = min(1.0, (BAND - 0.5) / min(len(x), len(y)))
        return tsdistances(name, band=band, **options)(x, y)

    return call


BAND = 3

SAME = [
    Same("dtw", tsdistances("dtw")),
    Same("dtw", tsdistances_banded("dtw"), {"band": BAND}, equal_lengths=True),
    Same("ddtw", tsdistances("ddtw"), least=3),
    Same("wdtw", tsdistances("wdtw", g=0.2), {"g": 0.2}),
    Same("wddtw", tsdistances("wddtw", g=0.2), {"g": 0.2}, least=3),
    Same("adtw", tsdistances("adtw", warp_penalty=0.75), {"penalty": 0.75}),
    Same("lcss", tsdistances("lcss", epsilon=0.5), {"epsilon": 0.5}, equal_lengths=True),
    Same("msm", tsdistances("msm"), {"c": 1.0}, equal_lengths=True),
    Same("twed", tsdistances("twe", stifness=0.05, penalty=0.8), {"nu": 0.05, "lambda_": 0.8}, equal_lengths=True),
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
    for x, y in pairs(1):
        if len(x) != len(y) and same.equal_lengths or min(len(x), len(y)) < same.least:
            continue
        ours = dtwave.distance(x, y, measure=same.measure, **same.ours)
        assert ours == pytest.approx(quietly(same.theirs, x, y), rel=1e-9, abs=1e-9), (x.shape, y.shape)
        compared += 1
    assert compared >= 9


def test_an_itakura_band_is_tslearns() -> None:
    theirs = need("tslearn.metrics").dtw
    for x, y in pairs(1):
        if len(x) == len(y):
            ours = dtwave.distance(x, y, band=dtwave.Itakura(2.0))
            assert ours == pytest.approx(square(theirs(x, y, itakura_max_slope=2.0)), rel=1e-9, abs=1e-9), len(x)


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


def test_match_of_tslearn() -> None:
    subsequence_path = need("tslearn.metrics").dtw_subsequence_path
    for x, y in pairs(2)[::3]:
        if len(x) > len(y):
            x, y = y, x
        path, distance = subsequence_path(x, y)
        (match,) = dtwave.search(x, y, k=1, layout="channels_last")
        assert (match.start, match.end) == (path[0][1], path[-1][1])
        assert match.distance == pytest.approx(square(distance), rel=1e-9)


def test_scaler_of_tslearn() -> None:
    scaler = need("tslearn.preprocessing").TimeSeriesScalerMeanVariance()
    x = np.stack([series for series, _ in pairs(3) if len(series) == 20])
    np.testing.assert_allclose(dtwave.normalize(x), scaler.fit_transform(x), atol=1e-12)
