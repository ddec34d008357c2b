"""`resample=`: equal spacing from times, against plain loops, and what is refused."""

from __future__ import annotations

import warnings
from datetime import timedelta

import numpy as np
import pytest
from optional import need

import dtwave

pandas = need("pandas")

#: Six points in 9 seconds, with a gap.
SECONDS = np.array([0.0, 1.0, 2.0, 3.0, 8.0, 9.0])
VALUES = np.array([0.0, 1.0, 4.0, 9.0, 4.0, 3.0])
EVEN = np.array([0.0, 1.0, 4.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0])
START = pandas.Timestamp("2024-02-28 23:59:57")


def dated(values=VALUES, seconds=SECONDS, unit="ns"):
    index = pandas.DatetimeIndex(START + pandas.to_timedelta(seconds, unit="s")).as_unit(unit)
    return pandas.Series(values, index=index)


def quiet(function, *series, **options):
    """The result, without the warning of gaps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtwave.MissingWarning)
        return function(*series, **options)


def interpolated(seconds, values, step):
    """By a loop over the new points."""
    points, k = [], 0
    while k * step <= seconds[-1] - seconds[0] + 1e-9:
        at = seconds[0] + k * step
        after = next((i for i, time in enumerate(seconds) if time >= at), len(seconds) - 1)
        before = max(after - 1, 0)
        width = seconds[after] - seconds[before]
        share = (at - seconds[before]) / width if width else 1.0
        points.append(values[before] + share * (values[after] - values[before]))
        k += 1
    return np.array(points)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_are_resampled_by_the_median_spacing(unit):
    with pytest.warns(dtwave.MissingWarning, match=r"step of 1 made 4 points in gaps of 1 series of x"):
        found = dtwave.align(dated(unit=unit), dated(EVEN, np.arange(10.0)), resample="median")
    assert found.x[:, 0].tolist() == EVEN.tolist() and found.distance == 0.0 and len(found) == 10
    # Without the option times are no times, as ever.
    assert dtwave.align(dated(unit=unit), EVEN).x.shape == (6, 1)


@pytest.mark.parametrize("step", [0.5, 2, 2.5, "500ms", "0.05min", timedelta(seconds=3), np.timedelta64(700, "ms")])
def test_steps_are_numbers_or_durations(step):
    seconds = {"500ms": 0.5, "0.05min": 3.0}.get(step) if isinstance(step, str) else step
    if isinstance(step, timedelta):
        seconds = step.total_seconds()
    if isinstance(step, np.timedelta64):
        seconds = 0.7
    expected = interpolated(SECONDS, VALUES, seconds)
    assert np.allclose(quiet(dtwave.align, dated(), dated(), resample=step).x[:, 0], expected, rtol=0, atol=1e-12)
    rng = np.random.default_rng(3)
    seconds_of = np.cumsum(rng.uniform(0.2, 2.0, size=20))
    values = rng.normal(size=20)
    found = quiet(dtwave.align, dated(values, seconds_of, "ns"), dated(), resample=step).x[:, 0]
    # Dates have whole nanoseconds.
    assert np.allclose(found, interpolated(seconds_of, values, seconds), rtol=0, atol=1e-6)


def test_even_points_stay_and_nothing_is_said():
    values = np.random.default_rng(1).normal(size=(3, 20))
    minutes = pandas.date_range("2023-10-29 01:00", periods=20, freq="17min", tz="Europe/Berlin")
    frame = pandas.DataFrame(values, columns=minutes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(dtwave.pairwise(frame, resample="median"), dtwave.pairwise(values))
        series = [pandas.Series(row, index=minutes) for row in values]
        assert np.array_equal(dtwave.pairwise(series, resample=17 * 60), dtwave.pairwise(values))
        wide = pandas.DataFrame(values.T, index=minutes)
        assert dtwave.distance(wide, wide[::-1].set_axis(minutes), resample="17min") == dtwave.distance(
            values.T, values.T[::-1]
        )


def test_all_series_of_a_call_have_one_spacing():
    slow, fast = dated(np.arange(4.0), 2.0 * np.arange(4)), dated(np.arange(13.0) / 4, 0.5 * np.arange(13))
    # Finer steps than the points were apart make no gaps.
    found = dtwave.align(slow, fast, resample="median")
    assert found.x.shape == found.y.shape == (13, 1) and found.distance == 0.0


def test_every_function_takes_it():
    series = [dated(), dated(VALUES + 1), dated(EVEN, np.arange(10.0))]
    even = [EVEN, EVEN + 1, EVEN]
    for function in (
        lambda x, **how: dtwave.pairwise(x, **how),
        lambda x, **how: dtwave.nearest(x, **how).indices,
        lambda x, **how: dtwave.zipped(x, x[::-1], **how),
        lambda x, **how: dtwave.barycenter(x, **how).center,
        lambda x, **how: dtwave.kmeans(x, 2, **how).labels,
        lambda x, **how: dtwave.kmedoids(x, 2, **how).labels,
        lambda x, **how: dtwave.classify(x, [0, 1, 0], x, **how),
        lambda x, **how: dtwave.gradients(x, x, measure="soft_dtw", **how)[0],
        lambda x, **how: dtwave.search(x[0], x[1], k=1, **how),
        lambda x, **how: dtwave.search_all(x[:2], x[1], k=1, **how)[1],
        lambda x, **how: dtwave.align_pairs(x, x, **how)[0].path,
        lambda x, **how: dtwave.expected_alignment(x[0], x[1], **how),
        lambda x, **how: dtwave.cost_matrix(x[0], x[1], **how),
    ):
        found, expected = quiet(function, series, resample="median"), function(even)
        assert np.array_equal(found, expected) if isinstance(found, np.ndarray) else found == expected


def test_normalized_series_are_resampled():
    other = np.array([0.0, 3.0, 1.0, 2.0])
    found = quiet(dtwave.normalize, [dated(), dated(other, SECONDS[:4])], resample=1)
    expected = dtwave.normalize([EVEN, other])
    assert len(found) == 2 and all(np.array_equal(a, b) for a, b in zip(found, expected))
    table = pandas.DataFrame([VALUES, VALUES**2], columns=SECONDS)
    even = np.stack([EVEN, interpolated(SECONDS, VALUES**2, 1.0)])
    assert np.array_equal(quiet(dtwave.normalize, table, resample="median"), dtwave.normalize(even))
    with pytest.raises(ValueError, match="x has no times"):
        dtwave.normalize([VALUES], resample="median")


def test_times_are_those_of_times_too():
    values = np.stack([VALUES, VALUES + 1])
    times = np.stack([SECONDS, SECONDS])
    found = quiet(dtwave.pairwise, values, times=times, resample="median")
    assert np.array_equal(found, dtwave.pairwise(np.stack([EVEN, EVEN + 1])))
    # twed keeps the times of the new points.
    found = quiet(dtwave.pairwise, values, measure="twed", nu=0.5, times=times, resample=2)
    even = [interpolated(SECONDS, row, 2.0) for row in values]
    assert np.array_equal(found, dtwave.pairwise(even, measure="twed", nu=0.5, times=[2.0 * np.arange(5)] * 2))


def test_missing_values_are_gaps():
    gone = VALUES.copy()
    gone[2] = np.nan
    with pytest.raises(ValueError, match='series 0 of x has NaN at point 2, channel 0.*missing="linear"'):
        dtwave.distance(dated(gone), dated(), resample="median", missing="error")
    with pytest.warns(dtwave.MissingWarning, match="made 5 points in gaps"):
        found = dtwave.align(dated(gone), dated(), resample="median", missing="linear")
    assert found.x[:, 0].tolist() == [0.0, 1.0, 5.0, *EVEN[3:]]
    found = quiet(dtwave.align, dated(gone), dated(), resample="median", missing="previous")
    assert found.x[:, 0].tolist() == [0.0, 1.0, 1.0, *EVEN[3:]]
    with pytest.raises(ValueError, match="missing values only"):
        dtwave.distance(dated(VALUES * np.nan), dated(), resample="median", missing="linear")


def test_what_cannot_be_resampled_is_told():
    for x, options, message in [
        (VALUES, {"resample": "median"}, 'x has no times to resample by: .*resample="none"'),
        (pandas.Series(VALUES), {"resample": "median"}, "x has no times"),
        (pandas.Series(VALUES, index=list("abcdef")), {"resample": 1}, "x has no times"),
        (dated(seconds=SECONDS[[0, 1, 1, 3, 4, 5]]), {"resample": 1}, "series 0 of x must go forward.*: point 2"),
        (
            dated(),
            {"resample": 1e-9},
            "would make 9000000000 points of the 6 of series 0 of x, whose median spacing is 1",
        ),
        (dated(), {"resample": "mean"}, "resample must be .*got 'mean'"),
        (dated(), {"resample": 0}, "a step above 0.*got 0"),
        (dated(), {"resample": float("nan")}, "got nan"),
        (VALUES, {"resample": "median", "times": (SECONDS[:3], SECONDS)}, "series 0 has 6, and 3 times"),
    ]:
        with pytest.raises(ValueError, match=message):
            dtwave.distance(x, dated(), **options)
    for wrong in (True, None, [1]):
        with pytest.raises(TypeError, match="resample must be"):
            dtwave.distance(dated(), dated(), resample=wrong)
    numbered = pandas.Series(EVEN, index=np.arange(10) * 0.1)
    assert dtwave.distance(numbered, numbered, resample="median") == 0.0
