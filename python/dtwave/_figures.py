"""Figures of several panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _calls, _inputs, _panels
from ._bands import Band
from ._drawing import BEHIND, FIRST, SECOND, axes_of, channel_of, evenly, matplotlib, panels_of, reduced
from ._inputs import Layout
from ._measure import Measure
from ._options import Normalize

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def warping(
    found: Any,
    *,
    axes: Any = None,
    channel: int = 0,
    links: int | None = 100,
    band: Band = None,
    names: tuple[str, str] = ("x", "y"),
    layout: Layout = None,
) -> NDArray[Any]:
    """An alignment (`alignment`), and beside it its path in the grid of both series' points (`path`).

    found, channel, links, names, layout: as for `alignment`. band: as for `path`.
    axes: the two to draw on; those of a new figure unless given.

    Returns both axes, `[2]`. Errors: as `alignment` and `path`.
    """
    if axes is None:
        _, axes = matplotlib().subplots(1, 2, figsize=(10, 4), width_ratios=[3, 2], layout="constrained")
    both = panels_of(axes, 2, 2, (5.0, 4.0))
    _panels.alignment(found, ax=both[0], channel=channel, links=links, names=names, layout=layout)
    _panels.path(found, ax=both[1], band=band, names=names, layout=layout)
    return both


def clusters(
    found: Any,
    x: Any,
    *,
    axes: Any = None,
    channel: int = 0,
    most: int = 120,
    spread: Literal["members", "quantiles"] = "members",
    measure: str | Measure = "dtw",
    band: Band = None,
    layout: Layout = None,
) -> NDArray[Any]:
    """Clusters, a panel each: the series of a cluster with its centre.

    found: what `dtwave.kmeans` or `dtwave.kmedoids` found.
    x: the series that were clustered.
    axes: one for each cluster; those of a new figure unless given.
    channel: the one to draw. most: series to draw of a cluster.
    spread, measure, band: as for `barycenter`.
    layout: of the series and the centres, as for `distance`.

    Returns the axes, one per cluster. Errors: as `barycenter`; `ValueError` for other series than were clustered.
    """
    batch = _inputs.many(x, "x", layout)
    labels = np.asarray(found.labels)
    if len(batch) != len(labels):
        raise ValueError(f"x has {len(batch)} series, the clusters have {len(labels)}: pass those that were clustered")
    _calls.ask([batch])
    medoids = getattr(found, "medoids", None)
    if medoids is None:
        centers = [_inputs.one(center, "center", layout).arrays[0] for center in found.centers]
    else:
        centers = [batch.arrays[int(medoid)] for medoid in medoids]
    panels = panels_of(axes, len(centers), 3, (3.4, 2.6))
    for cluster, (panel, center) in enumerate(zip(panels, centers)):
        members = [batch.arrays[int(s)] for s in np.flatnonzero(labels == cluster)]
        how: dict[str, Any] = {"channel": channel, "spread": spread, "measure": measure, "band": band}
        _panels.barycenter(center, members or None, ax=panel, layout="channels_last", most=most, **how)
        named = f"cluster {cluster}: {len(members)} series"
        panel.set_title(named if medoids is None else f"{named}, medoid {int(medoids[cluster])}")
    return panels


def neighbors(
    found: Any,
    x: Any,
    y: Any = None,
    *,
    axes: Any = None,
    channel: int = 0,
    most: int = 12,
    layout: Layout = None,
) -> NDArray[Any]:
    """Series with their nearest ones, a panel for each series that was asked about.

    found: what `dtwave.nearest` found. x, y: the series that it was given.
    axes: one for each panel; those of a new figure unless given.
    channel: the one to draw. most: panels; of more series, as many are chosen evenly.
    layout: of the series, as for `distance`.

    The nearest series is drawn strongest; the legend has the places of the neighbours in `x` and their distances. Of more
    than six neighbours, it names the first six.

    Returns the axes. Errors: `ValueError` for other series than were compared, and for a channel that they do not have.
    """
    batches = [_inputs.many(x, "x", layout)] + ([] if y is None else [_inputs.many(y, "y", layout)])
    known, asked = batches[0], batches[-1]
    indices, distances = np.asarray(found.indices), np.asarray(found.distances)
    if len(indices) != len(asked) or (indices.size and indices.max() >= len(known)):
        raise ValueError(
            f"{len(indices)} series were asked about, and {asked.name} has {len(asked)}: pass the x and y that were given "
            "to nearest"
        )
    _calls.ask(batches)
    shown = np.arange(len(asked)) if len(asked) <= most else evenly(len(asked), most)
    panels = panels_of(axes, len(shown), 3, (3.4, 2.6))
    for panel, query in zip(panels, shown):
        count = indices.shape[1]
        for rank in range(count - 1, -1, -1):
            near = channel_of(known.arrays[int(indices[query, rank])], "x", channel)
            label = f"{indices[query, rank]}: {distances[query, rank]:.4g}" if rank < 6 else None
            panel.plot(*reduced(near), color=SECOND, alpha=0.9 * 0.75**rank + 0.1, linewidth=1.2, label=label, zorder=2)
        own = channel_of(asked.arrays[int(query)], asked.name, channel)
        panel.plot(*reduced(own), color=FIRST, linewidth=2.0, zorder=3)
        panel.set_title(f"series {query} of {asked.name}")
        panel.set_xlabel("point")
        handles, labels = panel.get_legend_handles_labels()
        panel.legend(handles[::-1], labels[::-1], title="nearest: distance", fontsize="small", title_fontsize="small")
    return panels


def search(
    found: Any,
    reference: Any,
    query: Any,
    *,
    axes: Any = None,
    channel: int = 0,
    sample_rate: float | None = None,
    normalize: Normalize = "none",
    most: int = 8,
    layout: Layout = None,
) -> NDArray[Any]:
    """A long series with the stretches that a search found (`matches`), and below it each match with the query.

    found, reference, query: what `dtwave.search` gave and was given.
    axes: the one of the whole series, then one for each match; those of a new figure unless given.
    channel: the one to draw. sample_rate: as for `matches`.
    normalize: "z" draws query and matches z-normalised, as a search of normalised windows compares them.
    most: matches with a panel of their own; the long series marks all.
    layout: of both series, as for `distance`.

    Returns the axes: of the whole series, then of the matches. Errors: as `matches`.
    """
    if normalize not in ("none", "z"):
        raise ValueError(f'normalize must be "none" or "z", got {normalize!r}')
    hits = list(found)
    whole, asked = (_inputs.one(each, name, layout) for each, name in ((reference, "reference"), (query, "query")))
    _calls.ask([whole, asked])
    values = channel_of(whole.arrays[0], "reference", channel)
    sought = _shown(channel_of(asked.arrays[0], "query", channel), normalize)
    shown = hits[:most]
    if axes is None:
        axes = _overview(len(shown))
    panels = panels_of(axes, 1 + len(shown), 1, (8.0, 2.5))
    how: dict[str, Any] = {"channel": channel, "sample_rate": sample_rate, "layout": "channels_last"}
    _panels.matches(whole.arrays[0], hits, ax=panels[0], **how)
    for rank, (panel, hit) in enumerate(zip(panels[1:], shown), 1):
        stretch = _shown(values[int(hit.start) : int(hit.end) + 1], normalize)
        panel.plot(*reduced(sought), color=FIRST, alpha=0.35, linewidth=4.0, label="query" if rank == 1 else None)
        panel.plot(*reduced(stretch), color=SECOND, linewidth=1.4)
        place = f"point {hit.start}" if sample_rate is None else f"{hit.start / sample_rate:.2f} s"
        panel.set_title(f"{rank} · at {place} · d = {hit.distance:.4g}", fontsize="small")
        panel.set_xlabel("point")
        if rank == 1:
            panel.legend(fontsize="small")
    return panels


def profile(
    found: Any,
    series: Any,
    other: Any = None,
    *,
    axes: Any = None,
    channel: int = 0,
    motifs: int = 3,
    discords: int = 1,
    normalize: Normalize = "z",
    layout: Layout = None,
) -> NDArray[Any]:
    """A long series with its best motifs, the distances of its windows, and the two windows of the best motif.

    found, series, other: what `dtwave.profile` gave and was given.
    axes: three, of the series, the profile and the best motif; those of a new figure unless given.
    channel: the one to draw. motifs, discords: how many are marked; the windows of a motif have one colour.
    normalize: "z" draws the best motif z-normalised, as windows are compared unless told otherwise.
    layout: of the series, as for `distance`.

    Returns the axes, `[3]`. Errors: as `matches`; `ValueError` for another series than was profiled.
    """
    if normalize not in ("none", "z"):
        raise ValueError(f'normalize must be "none" or "z", got {normalize!r}')
    if found.is_join != (other is not None):
        raise ValueError(f"the profile is of {'two series' if found.is_join else 'one series'}: pass those it was made of")
    batches = [_inputs.one(series, "series", layout)] + ([] if other is None else [_inputs.one(other, "other", layout)])
    _calls.ask(batches)
    values = [channel_of(batch.arrays[0], batch.name, channel) for batch in batches]
    if (len(values[0]) - found.window) // found.step + 1 != len(found):
        raise ValueError(
            f"a series of {len(values[0])} points does not have {len(found)} windows: pass the one that was profiled"
        )
    if axes is None:
        figure = matplotlib().figure(figsize=(10, 7), layout="constrained")
        top = figure.add_subplot(3, 1, 1)
        axes = [top, figure.add_subplot(3, 1, 2, sharex=top), figure.add_subplot(3, 1, 3)]
    whole, below, close = panels = panels_of(axes, 3, 1, (10.0, 2.4))
    whole.plot(*reduced(values[0]), color=FIRST, linewidth=0.8)
    best = found.motifs(motifs)
    for rank, motif in enumerate(best, 1):
        for start in [motif.first] if found.is_join else [motif.first, motif.second]:
            whole.axvspan(start, start + found.window - 1, color=f"C{rank}", alpha=0.3, linewidth=0)
    whole.set_title(f"{len(found)} windows of {found.window} points, {len(best)} motifs")
    places, heights = reduced(np.where(np.isfinite(found.distances), found.distances, np.nan))
    below.plot(places * found.step, heights, color=FIRST, linewidth=1.0)
    for discord in found.discords(discords):
        below.axvline(discord.start, color=BEHIND, linestyle="--", linewidth=1.0)
        below.annotate(f" discord at {discord.start}", (discord.start, discord.distance), fontsize="small")
    below.set_xlabel("first point of the window")
    below.set_ylabel("distance to the nearest")
    if found.motifs(1):
        motif = found.motifs(1)[0]
        for start, source, width in ((motif.first, values[0], 4.0), (motif.second, values[-1], 1.4)):
            window = _shown(source[start : start + found.window], normalize)
            close.plot(window, color="C1", alpha=0.4 if width > 2 else 1.0, linewidth=width, label=f"at {start}")
        close.set_title(f"best motif, d = {motif.distance:.4g}", fontsize="small")
        close.legend(fontsize="small")
    close.set_xlabel("point of the window")
    return panels


def _shown(values: NDArray[np.float64], normalize: Normalize) -> NDArray[np.float64]:
    """The values as a search compares them."""
    if normalize == "none":
        return values
    deviation = float(values.std())
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)


def _overview(count: int) -> list[Axes]:
    """Axes across a new figure, and below them so many small ones."""
    across = min(4, max(1, count))
    down = -(-count // across)
    figure = matplotlib().figure(figsize=(10, 3.0 + 2.2 * down), layout="constrained")
    grid = figure.add_gridspec(1 + down, across, height_ratios=[3.0] + [2.2] * down)
    first: Axes = figure.add_subplot(grid[0, :])
    return [first] + [figure.add_subplot(grid[1 + k // across, k % across]) for k in range(count)]


def accuracies(found: Any, *, ax: Axes | None = None) -> Axes:
    """How well the series of a leave-one-out predict each other in each band, with the band that was chosen.

    found: what `dtwave.sklearn.leave_one_out_band` returned. Bands that are radii stand at their width; others one after
        the other, by name.

    Returns the axes.
    """
    axes = axes_of(ax)
    widths, label, ticks = _widths(found.bands)
    axes.plot(widths, found.scores, marker="o", markersize=3, color=FIRST)
    best = int(np.argmax(found.scores))
    axes.plot(widths[best], found.scores[best], marker="o", markersize=8, color=SECOND, linestyle="none")
    axes.annotate(
        f"band {found.bands[best]!r}", (widths[best], found.scores[best]), xytext=(8, 8), textcoords="offset points"
    )
    if ticks is not None:
        axes.set_xticks(widths, ticks)
    axes.set_xlabel(label)
    axes.set_ylabel("leave-one-out score")
    axes.set_title(f"{len(found.bands)} bands, the best score {found.scores[best]:.4g}")
    return axes


def _widths(bands: Any) -> tuple[NDArray[np.float64], str, list[str] | None]:
    """Where bands stand on an axis, what it says, and names where they are no numbers."""
    kinds = {type(band) for band in bands}
    if kinds == {float}:
        return 100 * np.array(bands, dtype=np.float64), "radius of the band (% of the longer series)", None
    if kinds == {int}:
        return np.array(bands, dtype=np.float64), "radius of the band (points)", None
    return np.arange(len(bands), dtype=np.float64), "band", [repr(band) for band in bands]
