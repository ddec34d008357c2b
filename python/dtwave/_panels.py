"""Figures of one panel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _calls, _inputs
from ._alignment import align_pairs
from ._bands import Band
from ._drawing import BEHIND, FIRST, SECOND, axes_of, channel_of, image, pairs_of, reduced, square, evenly, draw_members
from ._inputs import Layout
from ._measure import Measure
from ._spec import spec

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def alignment(
    found: Any,
    *,
    ax: Axes | None = None,
    channel: int = 0,
    links: int | None = 100,
    names: tuple[str, str] = ("x", "y"),
    layout: Layout = None,
) -> Axes:
    """Two series one above the other, with lines between the points that match.

    found: what `dtwave.align` found, or a tuple `(x, y, path)`: two series, `[length]` or `[length, channels]`, and
        `[steps, 2]` of points of x and of y, from 0.
    channel: the one to draw.
    links: how many of the matched pairs are joined, spread evenly over the path; None for all.
    names: of the two series, in the legend.
    layout: of the series of a tuple, as for `distance`.

    Errors: `ValueError` for a path that does not fit the series, and for a channel that they do not have.
    """
    upper, lower, pairs, _ = _aligned(found, channel, layout)
    distance = getattr(found, "distance", None)
    height = max(float(np.ptp(upper)), float(np.ptp(lower))) or 1.0
    upper = upper + (lower.max() - upper.min() + 0.3 * height)
    shown = pairs if links is None or len(pairs) <= links else pairs[evenly(len(pairs), links)]

    axes = axes_of(ax)
    from matplotlib.collections import LineCollection

    ends = np.empty((len(shown), 2, 2))
    ends[:, 0, 0], ends[:, 0, 1] = shown[:, 0], upper[shown[:, 0]]
    ends[:, 1, 0], ends[:, 1, 1] = shown[:, 1], lower[shown[:, 1]]
    axes.add_collection(LineCollection(list(ends), colors=BEHIND, linewidths=0.6, zorder=1))
    axes.plot(np.arange(len(upper)), upper, color=FIRST, label=names[0], zorder=2)
    axes.plot(np.arange(len(lower)), lower, color=SECOND, label=names[1], zorder=2)
    axes.set_yticks([])
    axes.set_xlabel("point")
    axes.set_title(f"{len(pairs)} matched pairs" + ("" if distance is None else f", distance {distance:.6g}"))
    axes.legend()
    return axes


def path(
    found: Any,
    *,
    ax: Axes | None = None,
    band: Band = None,
    names: tuple[str, str] = ("x", "y"),
    layout: Layout = None,
) -> Axes:
    """The way of a warping path through the grid of the points of both series: the points of x downwards, those of y to
    the right.

    found, names, layout: as for `alignment`.
    band: that of the alignment, as `dtwave.align` takes it: the points that might match are shaded.

    A path on the grey diagonal would match points at equal shares of both lengths.

    Errors: as `alignment`; `ValueError` for a band that leaves these lengths no path.
    """
    upper, lower, pairs, cut = _aligned(found, 0, layout)
    n, m = len(upper), len(lower)
    ranges = None if band is None else spec("dtw", band, {}).ranges(n - 2 * cut, m - 2 * cut)

    axes = axes_of(ax)
    if ranges is not None:
        starts, ends = (edge.astype(np.float64) + cut - 0.5 for edge in ranges)
        rows = np.repeat(np.arange(len(starts) + 1.0), 2)[1:-1] + cut - 0.5
        axes.fill_betweenx(
            rows, np.repeat(starts, 2), np.repeat(ends, 2), color=FIRST, alpha=0.12, linewidth=0, label="band"
        )
    axes.plot([0, m - 1], [0, n - 1], color="0.85", linewidth=1.0, zorder=1)
    axes.plot(pairs[:, 1], pairs[:, 0], color="0.15", linewidth=1.6, label="path", zorder=2)
    axes.set_xlim(-0.5, m - 0.5)
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_xlabel(f"point of {names[1]}")
    axes.set_ylabel(f"point of {names[0]}")
    axes.set_title("warping path")
    if ranges is not None:
        axes.legend()
    return axes


def _aligned(
    found: Any, channel: int, layout: Layout
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], int]:
    """One channel of the two series of an alignment, its path in their points, and how many points the path leaves out
    at each end.
    """
    # Of a result the order is known: [length, channels].
    is_told = isinstance(found, (tuple, list))
    x, y, path = found if is_told else (found.x, found.y, found.path)
    batches = [_inputs.one(each, name, layout if is_told else "channels_last") for each, name in ((x, "x"), (y, "y"))]
    _calls.ask(batches)
    upper, lower = (channel_of(batch.arrays[0], batch.name, channel) for batch in batches)
    pairs = pairs_of(path, len(upper), len(lower))
    # A path of derivatives, which have neither a first nor a last point.
    cut = int(not is_told and tuple(pairs[-1] + 3) == (len(upper), len(lower)))
    return upper, lower, pairs + cut, cut


def matrix(
    distances: Any,
    *,
    ax: Axes | None = None,
    colorbar: bool = True,
    label: str = "distance",
    cmap: str = "viridis",
) -> Axes:
    """A matrix of distances as an image, with a colour bar.

    distances: `[n_x, n_y]`, or the upper half of a square matrix, `[n * (n - 1) / 2]`, as `condensed=True` gives it.
    colorbar: whether a colour bar stands beside the image.
    label: what the values are.
    cmap: name of a colour map of matplotlib.

    Matrices of more than 2000 rows or columns are averaged over blocks, so a memory map of any size can be drawn.
    Values that are not finite are grey.

    Errors: `ValueError` for another shape.
    """
    values = distances if isinstance(distances, np.ndarray) else np.asarray(distances)
    if values.ndim == 1:
        values = square(values)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"distances must be a matrix with rows and columns, got shape {list(values.shape)}")
    rows, columns = values.shape
    axes = image(values, axes_of(ax), colorbar, label, cmap)
    axes.set_xlabel("series of y" if rows != columns else "series")
    axes.set_ylabel("series of x" if rows != columns else "series")
    axes.set_title(f"{rows} × {columns} distances")
    return axes


def costs(
    grid: Any,
    path: Any = None,
    *,
    ax: Axes | None = None,
    colorbar: bool = True,
    label: str = "accumulated cost",
    cmap: str = "viridis",
) -> Axes:
    """Accumulated costs of two series as an image, with the best path over them.

    grid: what `dtwave.cost_matrix` returned, `[n, m]`.
    path: what `dtwave.align` found, or `[steps, 2]` of points of x and of y, from 0; none unless given.
    colorbar, label, cmap: as for `matrix`. What is infinite is grey.

    Errors: `ValueError` for another shape, and for a path that leaves the matrix.
    """
    values = np.asarray(grid)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"a cost matrix has rows and columns, got shape {list(values.shape)}")
    axes = image(values, axes_of(ax), colorbar, label, cmap)
    if path is not None:
        pairs = pairs_of(getattr(path, "path", path), *values.shape)
        axes.plot(pairs[:, 1], pairs[:, 0], color=SECOND, linewidth=1.4)
    axes.set_xlabel("point of y")
    axes.set_ylabel("point of x")
    axes.set_title(f"{values.shape[0]} × {values.shape[1]} accumulated costs")
    return axes


def barycenter(
    center: Any,
    members: Any = None,
    *,
    ax: Axes | None = None,
    channel: int = 0,
    most: int = 200,
    spread: Literal["members", "quantiles"] = "members",
    measure: str | Measure = "dtw",
    band: Band = None,
    layout: Layout = None,
) -> Axes:
    """An average over the series that it is of, or in the spread of their values.

    center: what `dtwave.barycenter` found, or one series.
    members: the series, as `dtwave.barycenter` takes them.
    channel: the one to draw.
    most: series to draw; of more, as many are chosen evenly.
    spread: "members" draws the series themselves. "quantiles" aligns each of them with the average and shades, for each
        point of the average, what lies between the 10 % and the 90 % of the values that it matches, and darker between
        the quarters: where the series differ in height, not in time.
    measure, band: of those alignments, as `dtwave.align` takes them.
    layout: of the series and the average, as for `distance`.

    Errors: `ValueError` for a channel that the series do not have; as `dtwave.align_pairs` for "quantiles".
    """
    if spread not in ("members", "quantiles"):
        raise ValueError(f'spread must be "members" or "quantiles", got {spread!r}')
    if spread == "quantiles" and members is None:
        raise ValueError("quantiles are of the series that the average is of: pass them, too")
    own = _inputs.one(getattr(center, "center", center), "center", layout)
    others = [] if members is None else [_inputs.many(members, "members", layout)]
    _calls.ask([own, *others])
    average = channel_of(own.arrays[0], "center", channel)
    behind = [channel_of(series, "members", channel) for batch in others for series in batch.arrays]

    axes = axes_of(ax)
    if spread == "quantiles":
        matched = _matched(
            own.arrays[0], [series for batch in others for series in batch.arrays], channel, measure, band
        )
        for low, high, opacity in ((10, 90, 0.18), (25, 75, 0.25)):
            under, over = (np.array([np.percentile(values, share) for values in matched]) for share in (low, high))
            places = np.arange(len(average))
            axes.fill_between(
                places, under, over, color=FIRST, alpha=opacity, linewidth=0, zorder=1, label=f"{low} % to {high} %"
            )
        axes.legend()
    else:
        shown = behind if len(behind) <= most else [behind[s] for s in evenly(len(behind), most)]
        draw_members(axes, shown)
    axes.plot(*reduced(average), color=FIRST, linewidth=2.2, zorder=2)
    axes.set_xlabel("point")
    axes.set_title("average" if members is None else f"average of {len(behind)} series")
    return axes


def _matched(
    center: NDArray[Any], members: list[NDArray[Any]], channel: int, measure: str | Measure, band: Band
) -> list[NDArray[np.float64]]:
    """The values that each point of the average is matched with."""
    found = align_pairs([center] * len(members), members, measure=measure, band=band, layout="channels_last")
    cut = int(len(found) > 0 and len(center) - 3 == found[0].path[-1, 0])
    points = np.concatenate([each.path[:, 0] for each in found]) + cut
    values = np.concatenate([one[each.path[:, 1] + cut, channel] for each, one in zip(found, members)])
    order = np.argsort(points, kind="stable")
    parts = np.split(values[order].astype(np.float64), np.searchsorted(points[order], np.arange(1, len(center))))
    # What a derivative has no point for matches what its neighbour matches.
    return [parts[min(max(i, cut), len(center) - 1 - cut)] for i in range(len(center))]


def matches(
    reference: Any,
    found: Iterable[Any],
    *,
    ax: Axes | None = None,
    channel: int = 0,
    sample_rate: float | None = None,
    layout: Layout = None,
) -> Axes:
    """A long series with the stretches that a search found.

    reference: the series that was searched, `[length]` or `[length, channels]`.
    found: the matches of one query, as `dtwave.search` gives them. Their numbers are their ranks, from 1.
    channel: the one to draw.
    sample_rate: points per second; the axis then shows seconds instead of points.
    layout: of the reference, as for `distance`.

    Of more than 20,000 points, the range of each of 5000 stretches is drawn: no peak is lost.

    Errors: `ValueError` for a match outside the reference, and for a channel that the series does not have.
    """
    whole = _inputs.one(reference, "reference", layout)
    _calls.ask([whole])
    values = channel_of(whole.arrays[0], "reference", channel)
    if sample_rate is not None and not (np.isfinite(sample_rate) and sample_rate > 0):
        raise ValueError(f"sample_rate must be a positive number of points per second, got {sample_rate!r}")
    unit = 1.0 if sample_rate is None else 1.0 / sample_rate
    stretches = [(int(match.start), int(match.end)) for match in found]
    for rank, (start, end) in enumerate(stretches, 1):
        if not 0 <= start <= end < len(values):
            raise ValueError(
                f"match {rank} goes from point {start} to {end}: the reference has {len(values)} points; pass the series "
                "that was searched"
            )

    axes = axes_of(ax)
    where, what = reduced(values)
    axes.plot(where * unit, what, color=BEHIND, linewidth=0.8, zorder=1)
    for rank, (start, end) in enumerate(stretches, 1):
        where, what = reduced(values[start : end + 1])
        axes.plot((where + start) * unit, what, color=SECOND, linewidth=1.4, zorder=2)
        top = float(values[start : end + 1].max())
        axes.annotate(
            str(rank), ((start + end) / 2 * unit, top), xytext=(0, 3), textcoords="offset points", ha="center"
        )
    axes.set_xlabel("point" if sample_rate is None else "time (s)")
    axes.set_title(f"{len(stretches)} match" + ("" if len(stretches) == 1 else "es"))
    return axes
