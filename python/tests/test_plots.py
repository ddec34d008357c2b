"""Figures: what is drawn is what was computed, and mistakes are told in a line."""

import sys

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot

import dtwave
from dtwave import plots


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def drawn(ax):
    """Draws the figure; a mistake in it would be an exception."""
    ax.figure.canvas.draw()
    return ax


def test_an_alignment_joins_the_points_that_match():
    x, y = np.array([0.0, 1.0, 2.0]), np.array([5.0, 4.0])
    ax = drawn(plots.alignment((x, y, [[0, 0], [1, 1], [2, 1]]), names=("query", "hit")))
    upper, lower = (line.get_ydata() for line in ax.lines)
    assert np.array_equal(lower, y)
    # The first series keeps its shape and lies above the other.
    assert np.allclose(np.diff(upper), np.diff(x)) and upper.min() > lower.max()
    joined = [segment.tolist() for segment in ax.collections[0].get_segments()]
    assert joined == [[[0, upper[0]], [0, 5]], [[1, upper[1]], [1, 4]], [[2, upper[2]], [1, 4]]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["query", "hit"]


def test_series_are_read_in_the_layout_that_is_told_and_doubted_in_others():
    center, members = np.arange(6.0).reshape(2, 3), np.arange(24.0).reshape(4, 2, 3)
    told = {"layout": "channels_first", "channel": 1}
    assert plots.barycenter(center, members, **told).lines[-1].get_ydata().tolist() == [3.0, 4.0, 5.0]
    assert plots.alignment((center, center, [[0, 0], [2, 2]]), **told).lines[1].get_ydata().tolist() == [3.0, 4.0, 5.0]
    assert plots.matches(center, [], **told).lines[0].get_ydata().tolist() == [3.0, 4.0, 5.0]
    for call in (
        lambda **how: plots.barycenter(center, members, **how),
        lambda **how: plots.alignment((center, center, [[0, 0]]), **how),
        lambda **how: plots.matches(center, [], **how),
    ):
        with pytest.warns(dtwave.LayoutWarning, match="2 points of 3 channels") as warned:
            call()
        assert len(warned) == 1 and warned[0].filename == __file__
        call(layout="channels_last")
        with pytest.raises(ValueError, match="layout must be"):
            call(layout="rows")
    # The axes of a result are known.
    drawn(plots.alignment(dtwave.align(center, center, layout="channels_last")))


def test_long_paths_are_joined_evenly():
    x = np.sin(np.arange(1000.0))
    path = np.stack([np.arange(1000)] * 2, axis=1)
    for links, expected in [(100, 100), (1, 1), (None, 1000), (5000, 1000)]:
        ax = plots.alignment((x, x, path), links=links)
        assert len(ax.collections[0].get_segments()) == expected
        pyplot.close(ax.figure)
    starts = [segment[0, 0] for segment in plots.alignment((x, x, path)).collections[0].get_segments()]
    assert starts[0] == 0 and starts[-1] == 999


def test_a_channel_of_several_is_drawn():
    x = np.array([[0.0, 9.0], [1.0, 7.0]])
    ax = plots.alignment((x, x, [[0, 0], [1, 1]]), channel=1)
    assert ax.lines[1].get_ydata().tolist() == [9.0, 7.0]
    with pytest.raises(ValueError, match="channel 2 is out of range: x has 2"):
        plots.alignment((x, x, [[0, 0]]), channel=2)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ([[0, 0], [3, 1]], "series of 3 and 2 points"),
        ([[0, 0], [1, 2]], "series of 3 and 2 points"),
        ([[-1, 0]], "series of 3 and 2 points"),
        ([[0.5, 0.0]], "whole numbers"),
        ([0, 1], r"got int64 of shape \[2\]"),
        (np.empty((0, 2), dtype=int), r"shape \[0, 2\]"),
    ],
)
def test_paths_that_do_not_fit(path, message):
    with pytest.raises(ValueError, match=message):
        plots.alignment(([0.0, 1.0, 2.0], [5.0, 4.0], path))


def test_a_matrix_is_an_image_with_a_bar():
    values = np.array([[0.0, 2.0, np.inf], [2.0, 0.0, 1.0]])
    ax = drawn(plots.matrix(values))
    image = ax.images[0]
    assert image.get_array().mask.tolist() == [[False, False, True], [False] * 3]
    assert image.get_clim() == (0.0, 2.0)
    bar = [other for other in ax.figure.axes if other is not ax]
    assert [other.get_ylabel() for other in bar] == ["distance"]
    assert len(plots.matrix(values, colorbar=False).figure.axes) == 1


def test_costs_are_an_image_under_the_path():
    x, y = [0.0, 1.0, 5.0], [0.0, 5.0, 5.0, 5.0]
    grid, found = dtwave.cost_matrix(x, y, band=1), dtwave.align(x, y, band=1)
    ax = drawn(plots.costs(grid, found))
    assert ax.images[0].get_array().mask.tolist() == np.isinf(grid).tolist()
    assert np.column_stack([ax.lines[0].get_ydata(), ax.lines[0].get_xdata()]).tolist() == found.path.tolist()
    assert len(plots.costs(grid, colorbar=False).lines) == 0
    with pytest.raises(ValueError, match="series of 3 and 4 points"):
        plots.costs(grid, [[3, 0]])
    with pytest.raises(ValueError, match="has rows and columns"):
        plots.costs(grid[0])


def test_half_a_matrix_is_drawn_whole():
    whole = dtwave.pairwise([[0.0, 1.0], [1.0, 1.0], [3.0, 3.0], [0.0, 5.0]])
    half = whole[np.triu_indices(4, 1)]
    assert np.array_equal(plots.matrix(half).images[0].get_array(), whole)
    with pytest.raises(ValueError, match="5 distances are no upper half"):
        plots.matrix(half[:5])
    with pytest.raises(ValueError, match=r"got shape \[0, 3\]"):
        plots.matrix(np.empty((0, 3)))


def test_large_matrices_are_averaged(tmp_path):
    values = np.lib.format.open_memmap(tmp_path / "d.npy", mode="w+", dtype=np.float32, shape=(2001, 4000))
    values[:] = np.arange(2001)[:, None] + np.arange(4000)
    image = plots.matrix(values).images[0]
    assert image.get_array().shape == (2000, 2000)
    # Of equally large blocks the mean would be that of all values.
    assert np.isclose(image.get_array().mean(), values.mean(dtype=np.float64), rtol=1e-3)
    assert image.get_array()[0, 0] == values[:1, :2].mean()
    assert not np.ma.is_masked(image.get_array())
    assert tuple(image.get_extent()) == (-0.5, 3999.5, 2000.5, -0.5)


def test_what_is_infinite_is_grey_in_large_matrices_too():
    values = np.zeros((3, 4000))
    values[1, 7], values[1, 6], values[2, 0] = np.inf, -np.inf, np.nan
    image = drawn(plots.matrix(values)).images[0]
    assert np.argwhere(image.get_array().mask).tolist() == [[1, 3], [2, 0]]


def test_an_average_lies_over_its_series():
    members = [[0.0, 1.0, 2.0], [1.0, 1.0, 1.0, 1.0]]
    ax = drawn(plots.barycenter([0.5, 1.0, 1.5], members))
    assert [line.get_ydata().tolist() for line in ax.lines] == [*members, [0.5, 1.0, 1.5]]
    assert ax.lines[2].get_zorder() > ax.lines[0].get_zorder()
    assert len(plots.barycenter([1.0], np.zeros((300, 4)), most=20).lines) == 21
    assert len(plots.barycenter([1.0]).lines) == 1


def test_matches_are_marked_with_their_rank():
    reference = np.arange(50.0)
    ax = drawn(plots.matches(reference, [dtwave.Match(0.0, 30, 39), dtwave.Match(0.0, 5, 5)], sample_rate=10.0))
    first, second = ax.lines[1:]
    assert first.get_ydata().tolist() == reference[30:40].tolist()
    assert np.allclose(first.get_xdata(), reference[30:40] / 10) and second.get_xdata().tolist() == [0.5]
    assert [text.get_text() for text in ax.texts] == ["1", "2"] and ax.get_xlabel() == "time (s)"
    assert len(plots.matches(reference, []).lines) == 1
    with pytest.raises(ValueError, match="match 2 goes from point 45 to 50: the reference has 50 points"):
        plots.matches(reference, [dtwave.Match(0.0, 0, 1), dtwave.Match(0.0, 45, 50)])
    with pytest.raises(ValueError, match="sample_rate must be a positive number"):
        plots.matches(reference, [], sample_rate=0.0)


def test_a_long_reference_keeps_its_peaks():
    reference = np.zeros(200_000)
    reference[123_457], reference[9] = 7.0, -3.0
    line = plots.matches(reference, []).lines[0]
    assert len(line.get_xdata()) == 10_000
    assert line.get_ydata().max() == 7.0 and line.get_ydata().min() == -3.0
    assert abs(line.get_xdata()[line.get_ydata().argmax()] - 123_457) < 40


def test_figures_are_drawn_where_they_are_wanted():
    _, panels = pyplot.subplots(2, 2)
    a, b, c, d = panels.ravel()
    x = [0.0, 1.0]
    assert plots.alignment((x, x, [[0, 0], [1, 1]]), ax=a) is a
    assert plots.matrix([[1.0]], ax=b) is b
    assert plots.barycenter(x, [x], ax=c) is c
    assert plots.matches(x, [dtwave.Match(0.0, 0, 1)], ax=d) is d
    assert len(pyplot.get_fignums()) == 1


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plots.matrix([[1.0]])


def test_alignments_draw_themselves_with_their_path():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 30)).cumsum(axis=1)
    found = dtwave.align(x, y, band=4)
    both = found.plot(links=None, names=("a", "b"), band=4)
    series, grid = map(drawn, both)
    joined = [segment[:, 0].tolist() for segment in series.collections[0].get_segments()]
    assert joined == found.path.tolist() and series.lines[1].get_ydata().tolist() == y.tolist()
    path = grid.lines[1]
    assert np.column_stack([path.get_ydata(), path.get_xdata()]).tolist() == found.path.tolist()
    assert (grid.get_xlabel(), grid.get_ylabel()) == ("point of b", "point of a") and grid.yaxis_inverted()
    # The band: row 10 may match columns 6 to 14, and cells reach half a step to each side.
    edges = grid.collections[0].get_paths()[0].vertices
    assert {6 - 0.5, 14 + 0.5} == set(edges[np.abs(edges[:, 1] - 10) < 0.51][:, 0]) & {5.5, 14.5}
    assert edges[:, 0].min() == -0.5 and edges[:, 0].max() == 29.5
    # A derivative has neither the first nor the last point.
    derivative = dtwave.align(x, y, measure="ddtw", band=3)
    series, grid = derivative.plot(links=None, band=3)
    joined = [segment[:, 0].tolist() for segment in series.collections[0].get_segments()]
    assert series.get_title() == f"{len(derivative)} matched pairs, distance {derivative.distance:.6g}"
    assert joined == (derivative.path + 1).tolist() and joined[-1] == [28, 28]
    edges = grid.collections[0].get_paths()[0].vertices
    assert edges[:, 0].min() == 0.5 and edges[:, 0].max() == 28.5
    with pytest.raises(ValueError, match="axes must be one for each of 2 panels, got 1"):
        found.plot(axes=[both[0]])
    _, own = pyplot.subplots(1, 2)
    assert found.plot(axes=own)[1] is own[1]
    assert plots.path((x, y, found.path)).get_title() == "warping path"


def test_averages_draw_themselves_in_their_spread():
    rng = np.random.default_rng(6)
    series = rng.normal(size=(6, 20, 2))
    average = dtwave.barycenter(series, max_iterations=2)
    ax = drawn(average.plot(series, channel=1))
    assert len(ax.lines) == 7 and ax.lines[6].get_ydata().tolist() == average.center[:, 1].tolist()

    # Five series, each a level: every point of the average matches 0, 1, 2, 3, 4.
    levels = np.repeat(np.arange(5.0)[:, None], 8, axis=1)
    for measure in ("dtw", "msm"):
        ax = drawn(plots.barycenter(np.full(8, 2.0), levels, spread="quantiles", measure=measure))
        assert len(ax.lines) == 1
        outer, inner = (band.get_paths()[0].vertices[:, 1] for band in ax.collections)
        assert np.allclose((outer.min(), outer.max()), (0.4, 3.6))
        assert np.allclose((inner.min(), inner.max()), (1, 3))
    # What is only shifted has no spread at its peak, though pointwise quantiles would.
    shifted = [np.roll([0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0], shift) for shift in range(4)]
    ax = plots.barycenter(shifted[1], shifted, spread="quantiles")
    edges = ax.collections[0].get_paths()[0].vertices
    assert edges[edges[:, 0] == 3][:, 1].tolist() == [5.0] * len(edges[edges[:, 0] == 3])
    ax = drawn(plots.barycenter(shifted[1], shifted, spread="quantiles", measure="ddtw"))
    assert np.isfinite(ax.collections[0].get_paths()[0].vertices).all()
    with pytest.raises(ValueError, match="spread must be"):
        plots.barycenter(levels[0], levels, spread="deviation")
    with pytest.raises(ValueError, match="pass them, too"):
        plots.barycenter(levels[0], spread="quantiles")


def test_clusters_draw_themselves():
    rng = np.random.default_rng(7)
    series = np.concatenate([rng.normal(size=(4, 12)), 9 + rng.normal(size=(3, 12))])
    means = dtwave.kmeans(series, 2, seed=1)
    for cluster, ax in enumerate(map(drawn, means.plot(series))):
        members = np.flatnonzero(means.labels == cluster)
        assert ax.get_title() == f"cluster {cluster}: {len(members)} series"
        assert [line.get_ydata().tolist() for line in ax.lines[:-1]] == series[members].tolist()
        assert ax.lines[-1].get_ydata().tolist() == means.centers[cluster].tolist()
    medoids = dtwave.kmedoids(series, 2, measure="msm")
    for cluster, ax in enumerate(medoids.plot(series, spread="quantiles", measure="msm")):
        assert ax.get_title().endswith(f"medoid {medoids.medoids[cluster]}")
        assert ax.lines[-1].get_ydata().tolist() == series[medoids.medoids[cluster]].tolist()
    with pytest.raises(ValueError, match="x has 6 series, the clusters have 7"):
        means.plot(series[:6])
    panels = series[:, None, :]
    found = dtwave.kmeans(panels, 2, layout="channels_first", seed=1)
    ax = found.plot(panels, layout="channels_first")[0]
    assert ax.lines[-1].get_ydata().tolist() == found.centers[0][0].tolist()
    # A figure has three panels a row; the last row may have fewer.
    many = dtwave.kmedoids(series, 4)
    assert len(many.plot(series)) == 4 == len(pyplot.gcf().axes)


def test_neighbours_draw_themselves():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(5, 9)), rng.normal(size=(2, 7))
    found = dtwave.nearest(x, y, k=3)
    for query, ax in enumerate(map(drawn, found.plot(x, y))):
        # The nearest lies above the others, the series itself above all.
        assert [line.get_ydata().tolist() for line in ax.lines[:-1]] == x[found.indices[query][::-1]].tolist()
        assert ax.lines[-1].get_ydata().tolist() == y[query].tolist()
        told = [text.get_text() for text in ax.get_legend().get_texts()]
        assert told == [f"{i}: {d:.4g}" for i, d in zip(found.indices[query], found.distances[query])]
    own = dtwave.nearest(x, k=1)
    panels = own.plot(x, most=2)
    assert [ax.get_title() for ax in panels] == ["series 0 of x", "series 4 of x"]
    with pytest.raises(ValueError, match="2 series were asked about, and x has 5"):
        found.plot(x)
    with pytest.raises(ValueError, match="channel 1 is out of range"):
        own.plot(x, channel=1)


def test_matches_draw_themselves():
    rng = np.random.default_rng(9)
    reference = rng.normal(size=80).cumsum()
    query = reference[10:20]
    hits = dtwave.search(query, reference, k=3, exclusion=5)
    assert isinstance(hits, list) and hits == list(hits) and isinstance(hits, dtwave.Matches)
    ax = drawn(hits.plot(reference))
    assert ax.lines[1].get_ydata().tolist() == query.tolist()
    whole, *close = map(drawn, hits.plot(reference, query, sample_rate=10.0))
    assert len(close) == 3 and len(whole.lines) == 4
    for hit, ax in zip(hits, close):
        assert ax.lines[0].get_ydata().tolist() == query.tolist()
        assert ax.lines[1].get_ydata().tolist() == reference[hit.slice].tolist()
        assert f"at {hit.start / 10:.2f} s" in ax.get_title()
    same = dtwave.search_all([query, query], reference, k=1)[1].plot(reference, query, normalize="z")[1]
    assert np.allclose(same.lines[0].get_ydata(), (query - query.mean()) / query.std())
    assert len(hits.plot(reference, query, most=1)) == 2
    assert len(dtwave.Matches([]).plot(reference, query)) == 1
    with pytest.raises(ValueError, match="normalize must be"):
        hits.plot(reference, query, normalize="minmax")


def test_bands_draw_how_well_they_do():
    pytest.importorskip("sklearn")
    from dtwave.sklearn import LeaveOneOutBand

    found = LeaveOneOutBand(0.05, (0.0, 0.05, 0.1), np.array([0.5, 0.75, 0.75]))
    ax = drawn(found.plot())
    assert ax.lines[0].get_xdata().tolist() == [0.0, 5.0, 10.0] and ax.lines[1].get_xdata().tolist() == [5.0]
    assert "%" in ax.get_xlabel() and ax.texts[0].get_text() == "band 0.05"
    mixed = LeaveOneOutBand(None, (None, 3), np.array([0.5, 0.25]))
    assert [tick.get_text() for tick in drawn(mixed.plot()).get_xticklabels()] == ["None", "3"]
    points = LeaveOneOutBand(3, (1, 3), np.array([0.25, 0.5]))
    assert points.plot().get_xlabel() == "radius of the band (points)"
