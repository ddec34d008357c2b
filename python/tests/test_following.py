"""Streams that are followed."""

from __future__ import annotations

import itertools

import dtwave
import numpy as np
import pytest
from optional import need

RNG = np.random.default_rng(7)


def ends(matches):
    return sorted((m.end, m.start, m.distance) for m in matches)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"normalize": "z", "band": 3}, {"sqrt": True}, {"exclusion": 0}])
@pytest.mark.parametrize("channels", [1, 2])
def test_a_stream_gives_the_matches_of_the_whole(dtype, options, channels):
    shape = (1500,) if channels == 1 else (1500, channels)
    reference = np.round(np.cumsum(RNG.normal(size=shape), axis=0), 2).astype(dtype)
    query = reference[700:720]
    first = dtwave.search(query, reference, k=20, **options)
    threshold = first[-1].distance
    whole = dtwave.search(query, reference, threshold=threshold, **options)
    for lengths in ([1], [1, 17, 400], [1500]):
        cuts = list(
            itertools.takewhile(lambda at: at < 1500, itertools.accumulate(itertools.cycle(lengths), initial=0))
        )
        pieces = (reference[a:b] for a, b in zip(cuts, [*cuts[1:], 1500]))
        told = list(dtwave.follow(query, pieces, threshold=threshold, **options))
        assert [m.end for m in told] == sorted(m.end for m in told)
        assert ends(told) == ends(whole)


def test_a_match_is_told_when_it_is_settled():
    given = 0

    def points():
        nonlocal given
        for value in [9.0] * 50 + [1.0, 2.0, 3.0] + [9.0] * 50:
            given += 1
            yield value

    heard = dtwave.follow([1.0, 2.0, 3.0], points(), threshold=0.5, exclusion=5)
    assert next(heard) == dtwave.Match(0.0, 50, 52)
    assert given == 52 + 5 + 1  # the last one that is near it has come
    assert list(heard) == []
    assert list(dtwave.follow([1.0], iter([1.0, 1.0]), threshold=0, exclusion=9)) == [dtwave.Match(0.0, 0, 0)]


def test_a_stream_may_be_left():
    heard = dtwave.follow([1.0, 2.0], itertools.cycle([1.0, 2.0, 7.0, 7.0]), threshold=0, exclusion=1)
    assert [next(heard).end for _ in range(100)] == [1 + 4 * k for k in range(100)]
    heard.close()


def test_what_cannot_be_followed_is_refused():
    with pytest.raises(TypeError, match="threshold"):
        dtwave.follow([1.0, 2.0], [1.0], threshold=None)
    with pytest.raises(TypeError, match="points must give"):
        dtwave.follow([1.0, 2.0], 3.0, threshold=1)
    with pytest.raises(ValueError, match="2 channels"):
        list(dtwave.follow([[1.0, 2.0]] * 3, [[[1.0]]], threshold=1, layout="channels_last"))
    with pytest.raises(TypeError, match="points is text, 'x'"):
        list(dtwave.follow([1.0, 2.0], ["x"], threshold=1))
    with pytest.raises(ValueError, match="the stream of points has NaN at point 1"):
        list(dtwave.follow([1.0, 2.0], [1.0, np.nan], threshold=1))
    with pytest.raises(ValueError, match="band"):
        list(dtwave.follow([1.0, 2.0], [1.0], threshold=1, band=2))
    with pytest.raises(ValueError, match="^query has NaN at point 1"):
        dtwave.follow([1.0, np.nan], [1.0], threshold=1)


@pytest.mark.parametrize(
    ("points", "error", "text"),
    [
        ("0012300", TypeError, "points is text, '0012300': expected numbers or arrays"),
        (b"0012300", TypeError, "points is text"),
        ({1.0: 2.0}, TypeError, r"points is a dict, which gives its keys: pass points.values\(\)"),
        ({1.0, 2.0}, TypeError, "points is a set, which has no order"),
        (np.ma.array([1.0, 999.0], mask=[False, True]), ValueError, "stream of points has NaN at point 1"),
        ([0.0, np.ma.array([1.0, 999.0], mask=[False, True])], ValueError, "stream of points has NaN at point 2"),
        ([1.0, 2j], TypeError, "points is an array of complex numbers"),
        (np.array([1, 2j]), TypeError, "points is an array of complex numbers"),
        (np.array(["2024-01-01"], dtype="M8[D]"), TypeError, "points is an array of dates"),
        ([np.array(["2024-01-01"], dtype="M8[D]")], TypeError, "points is an array of dates"),
        ([True, False], TypeError, "points is an array of booleans"),
        ([np.array([True])], TypeError, "points is an array of booleans"),
        ([1.0, 2**53 + 1], ValueError, "points has 9007199254740993, which float64 would round"),
        ([[1, 2**53 + 1]], ValueError, "points has 9007199254740993, which float64 would round"),
        ([1.0, None], TypeError, "points is None"),
        ([1.0, {2.0: 3.0}], TypeError, "points is a dict"),
        ([[1.0], {2.0}], TypeError, "points is a set"),
        ([], ValueError, "the stream of points is empty"),
    ],
)
def test_what_is_no_stream_of_numbers(points, error, text):
    with pytest.raises(error, match=text):
        list(dtwave.follow([1.0, 2.0], points, threshold=1))


def test_points_are_read_as_series_are():
    whole = [dtwave.Match(0.0, 0, 1)]
    for points in ([1, 2], [np.float32(1), np.int8(2)], [np.array(1.0), [2.0]], [(1.0, 2.0)], iter([range(1, 3)])):
        assert list(dtwave.follow([1.0, 2.0], points, threshold=0)) == whole
    # Asked for float64, whole numbers are rounded as those of a series are.
    assert list(dtwave.follow([1.0, 2.0], [1, 2, 2**53 + 1], threshold=0, dtype="float64")) == whole
    with pytest.raises(ValueError, match=r"points has 1e\+300, which is too large for float32"):
        list(dtwave.follow(np.float32([1, 2]), [1e300], threshold=1))


def test_tables_and_columns_as_points():
    pandas = need("pandas")
    table = pandas.DataFrame([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(TypeError, match=r"points is a DataFrame, .* pass \[points\]"):
        dtwave.follow([[1.0, 2.0]], table, threshold=1)
    assert list(dtwave.follow(table, [table], threshold=0)) == [dtwave.Match(0.0, 0, 1)]
    series = pandas.Series([1.0, 2.0], pandas.to_datetime(["2024-01-02", "2024-01-01"]))
    for points in (series, [series]):
        with pytest.raises(ValueError, match=r"the times of points go back, .* points.sort_index\(\)"):
            list(dtwave.follow([1.0, 2.0], points, threshold=1))
    assert list(dtwave.follow([2.0, 1.0], series.sort_index(), threshold=0)) == [dtwave.Match(0.0, 0, 1)]
    with pytest.raises(TypeError, match="points holds text"):
        dtwave.follow([1.0, 2.0], pandas.Series(["1", "2"]), threshold=1)
