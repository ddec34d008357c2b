"""Streams that are followed."""

from __future__ import annotations

import itertools

import dtwave
import numpy as np
import pytest

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
    with pytest.raises(TypeError, match="got 'x'"):
        list(dtwave.follow([1.0, 2.0], ["x"], threshold=1))
    with pytest.raises(ValueError, match="NaN at point 1"):
        list(dtwave.follow([1.0, 2.0], [1.0, np.nan], threshold=1))
    with pytest.raises(ValueError, match="band"):
        list(dtwave.follow([1.0, 2.0], [1.0], threshold=1, band=2))
