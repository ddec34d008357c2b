"""Profiles of long series against all pairs of windows."""

from __future__ import annotations

import numpy as np
import pytest

import dtwave


def windows(series, m, step, normalize):
    taken = np.lib.stride_tricks.sliding_window_view(series, m, axis=0)[::step]
    taken = taken if series.ndim == 1 else np.moveaxis(taken, -1, 1)
    return dtwave.normalize(taken) if normalize == "z" else np.ascontiguousarray(taken)


def brute(series, m, other=None, step=1, exclusion=None, normalize="z", **options):
    """All distances of windows, of which those in the exclusion zone are infinite."""
    own = windows(series, m, step, normalize)
    if other is not None:
        return dtwave.pairwise(windows(other, m, step, normalize), own, **options).T
    distances = dtwave.pairwise(own, own.copy(), **options).T
    starts = np.arange(len(own)) * step
    zone = -(-m // 2) if exclusion is None else exclusion
    distances[np.abs(starts[:, None] - starts) <= zone] = np.inf
    return distances


def check(found, distances, step=1):
    least = distances.min(axis=1)
    places = np.where(np.isfinite(least), distances.argmin(axis=1) * step, -1)
    np.testing.assert_array_equal(found.distances, least)
    np.testing.assert_array_equal(found.indices, places)
    assert found.indices.dtype == np.int64


@pytest.fixture
def series():
    rng = np.random.default_rng(5)
    values = np.cumsum(rng.normal(size=220))
    values[150:180] = values[20:50]
    values[90:120] = 1.0
    return values


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"band": 2},
        {"normalize": "none", "band": 0.1},
        {"step": 3},
        {"exclusion": 0},
        {"exclusion": 1000},
        {"exclusion": 100},
        {"measure": "msm"},
        {"measure": dtwave.Twed(nu=0.1), "normalize": "none"},
        {"cost": "manhattan"},
    ],
)
def test_profiles_are_those_of_all_pairs(series, options):
    step = options.get("step", 1)
    check(dtwave.profile(series, 16, **options), brute(series, 16, **options), step)
    if "exclusion" not in options:
        other = series[::-1][:80].copy()
        found = dtwave.profile(series, 16, other, **options)
        check(found, brute(series, 16, other, **options), step)
        assert found.is_join


def test_options_of_a_call(series):
    found = dtwave.profile(series, 16, band=1)
    assert len(found) == 205 and (found.window, found.step, found.exclusion) == (16, 1, 8)
    assert repr(found) == "Profile(205 windows of 16 points)"
    assert found == dtwave.profile(series, 16, band=1, threads=1, memory_limit="1MiB", device="cpu")
    np.testing.assert_array_equal(dtwave.profile(series, 16, band=1, sqrt=True).distances, np.sqrt(found.distances))
    single = dtwave.profile(series.astype(np.float32), 16, band=1)
    assert single.distances.dtype == np.float32
    np.testing.assert_allclose(single.distances, found.distances, rtol=1e-3, atol=1e-4)
    wide = np.stack([series, series[::-1]], axis=1)
    check(dtwave.profile(wide, 16, layout="channels_last"), brute(wide, 16))
    holes = series.copy()
    holes[5] = np.nan
    with pytest.warns(dtwave.MissingWarning):
        dtwave.profile(holes, 16, missing="linear")


def test_motifs_and_discords(series):
    found = dtwave.profile(series, 16, band=1)
    first = found.motifs(1)[0]
    assert first.distance == 0.0 and found.distances[first.first] == 0.0
    motifs = found.motifs(100)
    starts = [start for motif in motifs for start in (motif.first, motif.second)]
    pairs = [(a, b) for k, a in enumerate(starts) for b in starts[2 * (k // 2) + 2 :]]
    assert len(motifs) > 3 and all(abs(a - b) > 8 for a, b in pairs)
    assert [motif.distance for motif in motifs] == sorted(motif.distance for motif in motifs)
    assert found.motifs(2) == motifs[:2] and found.motifs(0) == []
    discords = found.discords(100)
    assert discords[0].distance == found.distances.max()
    assert discords[0].nearest == found.indices[discords[0].start]
    assert all(abs(a.start - b.start) > 8 for k, a in enumerate(discords) for b in discords[:k])
    alone = dtwave.profile(series, 16, exclusion=1000)
    assert np.isinf(alone.distances).all() and not alone.motifs() and not alone.discords()


def test_euclidean_profiles_are_those_of_the_definition(series):
    """Without a band's freedom, the root of dtw is Euclidean distance."""
    noisy = series + 0.1 * np.random.default_rng(1).normal(size=len(series))
    view = np.lib.stride_tricks.sliding_window_view(noisy, 20)
    normal = (view - view.mean(axis=1, keepdims=True)) / view.std(axis=1, keepdims=True)
    distances = np.sqrt(((normal[:, None] - normal[None]) ** 2).sum(axis=2))
    places = np.arange(len(view))
    distances[np.abs(places[:, None] - places) <= 10] = np.inf
    found = dtwave.profile(noisy, 20, band=0, sqrt=True)
    np.testing.assert_allclose(found.distances, distances.min(axis=1), rtol=1e-9)
    np.testing.assert_array_equal(found.indices, distances.argmin(axis=1))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        (([1.0, 2.0, 3.0], 4), {}, ValueError, "series has 3 points, fewer than a window of 4"),
        (([1.0, 2.0, 3.0], 2, [1.0]), {}, ValueError, "other has 1 points, fewer than a window of 2"),
        (([1.0, 2.0, 3.0], 0), {}, ValueError, "window must be a whole number of points of at least 1"),
        (([1.0, 2.0, 3.0], 1.5), {}, TypeError, "window must be a whole number"),
        (([1.0, 2.0, 3.0], 2), {"step": 0}, ValueError, "step must be a whole number"),
        (([1.0, 2.0, 3.0], 2), {"exclusion": -1}, ValueError, "exclusion must be a whole number"),
        (([1.0, 2.0, 3.0], 2), {"normalize": "x"}, ValueError, 'normalize must be "none" or "z"'),
        (([1.0, 2.0, 3.0], 2), {"measure": "soft_dtw"}, ValueError, "the cost of one path"),
        (([1.0, 2.0, 3.0], 2), {"measure": "msm", "sqrt": True}, ValueError, "sqrt is no option of msm"),
        (([1.0, 2.0, 3.0], 2), {"missing": "drop"}, ValueError, "moves points to other places"),
        (([1.0, np.nan, 3.0], 2), {}, ValueError, "NaN|nan"),
        (([1.0, 2.0, 3.0], 2), {"gamma": 1.0}, ValueError, "gamma"),
    ],
)
def test_what_has_no_profile_is_refused(arguments, options, error, text):
    with pytest.raises(error, match=text):
        dtwave.profile(*arguments, **options)


def test_profiles_are_drawn(series):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found = dtwave.profile(series, 16, band=1)
    axes = found.plot(series)
    assert len(axes) == 3 and "205 windows of 16 points" in axes[0].get_title()
    assert "best motif" in axes[2].get_title() and len(axes[2].lines) == 2
    other = series[:90].copy()
    assert len(dtwave.profile(series, 16, other).plot(series, other)) == 3
    assert len(dtwave.profile(series, 16, exclusion=1000).plot(series)) == 3
    with pytest.raises(ValueError, match="205 windows"):
        found.plot(series[:-1])
    with pytest.raises(ValueError, match="one series"):
        found.plot(series, series)
    pyplot.close("all")
