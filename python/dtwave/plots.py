"""Figures: alignments, matrices of distances, accumulated costs, averages, matches in a long series.

Every function draws on `ax`, or on a figure of its own if there is none, and returns the `Axes`: change what you like
there, and save it with `ax.figure.savefig("name.svg")`. They need matplotlib, which is imported when one is called.

>>> import dtwave
>>> x, y = [0.0, 1.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0]
>>> ax = dtwave.plots.matrix(dtwave.pairwise([x, y]))
>>> ax.get_title()
'2 × 2 distances'
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _calls, _inputs
from ._inputs import Layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["alignment", "barycenter", "costs", "matches", "matrix"]


def __dir__() -> list[str]:
    return __all__


#: Of the first series or the average, of the second series, and of what stands behind.
_FIRST, _SECOND, _BEHIND = "C0", "C1", "0.6"
#: Points of a line beyond which only the range of each stretch is drawn.
_MOST_POINTS = 20_000
#: Rows and columns of a matrix beyond which blocks are averaged.
_MOST_CELLS = 2_000


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
    # Of a result the order is known: [length, channels].
    is_told = isinstance(found, (tuple, list))
    x, y, path = found if is_told else (found.x, found.y, found.path)
    distance = getattr(found, "distance", None)
    batches = [_inputs.one(each, name, layout if is_told else "channels_last") for each, name in ((x, "x"), (y, "y"))]
    _calls.ask(batches)
    upper, lower = (_channel(batch.arrays[0], batch.name, channel) for batch in batches)
    pairs = _pairs(path, len(upper), len(lower))
    if distance is not None and tuple(pairs[-1] + 3) == (len(upper), len(lower)):
        # A path of derivatives, which have neither a first nor a last point.
        pairs = pairs + 1
    spread = max(float(np.ptp(upper)), float(np.ptp(lower))) or 1.0
    upper = upper + (lower.max() - upper.min() + 0.3 * spread)
    shown = pairs if links is None or len(pairs) <= links else pairs[_spread(len(pairs), links)]

    axes = _axes(ax)
    from matplotlib.collections import LineCollection

    ends = np.empty((len(shown), 2, 2))
    ends[:, 0, 0], ends[:, 0, 1] = shown[:, 0], upper[shown[:, 0]]
    ends[:, 1, 0], ends[:, 1, 1] = shown[:, 1], lower[shown[:, 1]]
    axes.add_collection(LineCollection(list(ends), colors=_BEHIND, linewidths=0.6, zorder=1))
    axes.plot(np.arange(len(upper)), upper, color=_FIRST, label=names[0], zorder=2)
    axes.plot(np.arange(len(lower)), lower, color=_SECOND, label=names[1], zorder=2)
    axes.set_yticks([])
    axes.set_xlabel("point")
    axes.set_title(f"{len(pairs)} matched pairs" + ("" if distance is None else f", distance {distance:.6g}"))
    axes.legend()
    return axes


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
        values = _square(values)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"distances must be a matrix with rows and columns, got shape {list(values.shape)}")
    rows, columns = values.shape
    axes = _image(values, _axes(ax), colorbar, label, cmap)
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
    axes = _image(values, _axes(ax), colorbar, label, cmap)
    if path is not None:
        pairs = _pairs(getattr(path, "path", path), *values.shape)
        axes.plot(pairs[:, 1], pairs[:, 0], color=_SECOND, linewidth=1.4)
    axes.set_xlabel("point of y")
    axes.set_ylabel("point of x")
    axes.set_title(f"{values.shape[0]} × {values.shape[1]} accumulated costs")
    return axes


def _image(values: NDArray[Any], axes: Axes, colorbar: bool, label: str, cmap: str) -> Axes:
    """A matrix on `axes`, row by row from above."""
    from matplotlib import colormaps

    rows, columns = values.shape
    image = axes.imshow(
        _blocks(values),
        cmap=colormaps[cmap].with_extremes(bad="0.8"),
        interpolation="nearest",
        aspect="equal" if rows == columns else "auto",
        extent=(-0.5, columns - 0.5, rows - 0.5, -0.5),
    )
    if colorbar and axes.figure is not None:
        axes.figure.colorbar(image, ax=axes, label=label)
    return axes


def barycenter(
    center: Any,
    members: Any = None,
    *,
    ax: Axes | None = None,
    channel: int = 0,
    most: int = 200,
    layout: Layout = None,
) -> Axes:
    """An average over the series that it is of.

    center: what `dtwave.barycenter` found, or one series.
    members: the series, as `dtwave.barycenter` takes them.
    channel: the one to draw.
    most: series to draw; of more, as many are chosen evenly.
    layout: of the series and the average, as for `distance`.

    Errors: `ValueError` for a channel that the series do not have.
    """
    own = _inputs.one(getattr(center, "center", center), "center", layout)
    others = [] if members is None else [_inputs.many(members, "members", layout)]
    _calls.ask([own, *others])
    average = _channel(own.arrays[0], "center", channel)
    behind = [_channel(series, "members", channel) for batch in others for series in batch.arrays]
    shown = behind if len(behind) <= most else [behind[s] for s in _spread(len(behind), most)]

    axes = _axes(ax)
    opacity = min(0.6, max(0.08, 8.0 / max(1, len(shown))))
    for series in shown:
        axes.plot(*_reduced(series), color=_BEHIND, alpha=opacity, linewidth=0.8, zorder=1)
    axes.plot(*_reduced(average), color=_FIRST, linewidth=2.2, zorder=2)
    axes.set_xlabel("point")
    axes.set_title("average" if members is None else f"average of {len(behind)} series")
    return axes


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
    values = _channel(whole.arrays[0], "reference", channel)
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

    axes = _axes(ax)
    where, what = _reduced(values)
    axes.plot(where * unit, what, color=_BEHIND, linewidth=0.8, zorder=1)
    for rank, (start, end) in enumerate(stretches, 1):
        where, what = _reduced(values[start : end + 1])
        axes.plot((where + start) * unit, what, color=_SECOND, linewidth=1.4, zorder=2)
        top = float(values[start : end + 1].max())
        axes.annotate(
            str(rank), ((start + end) / 2 * unit, top), xytext=(0, 3), textcoords="offset points", ha="center"
        )
    axes.set_xlabel("point" if sample_rate is None else "time (s)")
    axes.set_title(f"{len(stretches)} match" + ("" if len(stretches) == 1 else "es"))
    return axes


def _axes(ax: Axes | None) -> Axes:
    """What is drawn on."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    if ax is not None:
        return ax
    _, axes = pyplot.subplots(layout="constrained")
    return axes


def _channel(series: NDArray[Any], name: str, channel: int) -> NDArray[np.float64]:
    """One channel of one series."""
    points, channels = series.shape
    if not 0 <= channel < channels:
        raise ValueError(f"channel {channel} is out of range: {name} has {channels}")
    if points == 0:
        raise ValueError(f"{name} has no points")
    return np.asarray(series[:, channel], dtype=np.float64)


def _pairs(path: Any, n: int, m: int) -> NDArray[np.int64]:
    """A path, checked."""
    pairs = np.asarray(path)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or len(pairs) == 0:
        raise ValueError(f"path must be [steps, 2] of whole numbers, got {pairs.dtype} of shape {list(pairs.shape)}")
    if pairs.min() < 0 or pairs[:, 0].max() >= n or pairs[:, 1].max() >= m:
        raise ValueError(
            f"the path has points that series of {n} and {m} points have not; pass those that were aligned"
        )
    return pairs.astype(np.int64)


def _spread(count: int, most: int) -> NDArray[np.int64]:
    """`most` indices below `count`, from the first to the last."""
    if most < 1:
        raise ValueError(f"expected a positive number to draw, got {most}")
    return np.linspace(0, count - 1, most).round().astype(np.int64)


def _reduced(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places and values of a line; of a long one the least and greatest value of each stretch."""
    if len(values) <= _MOST_POINTS:
        return np.arange(len(values), dtype=np.float64), values
    starts = np.linspace(0, len(values), _MOST_POINTS // 4, endpoint=False).astype(np.int64)
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return np.repeat(starts.astype(np.float64), 2), np.stack([low, high], axis=1).ravel()


def _square(half: NDArray[Any]) -> NDArray[Any]:
    """The whole of a matrix of which only the part above the diagonal is given."""
    n = (1 + isqrt(1 + 8 * len(half))) // 2
    if n * (n - 1) // 2 != len(half):
        raise ValueError(f"{len(half)} distances are no upper half of a square matrix; pass a matrix")
    whole = np.zeros((n, n), dtype=half.dtype)
    whole[np.triu_indices(n, 1)] = half
    return whole + whole.T


def _blocks(values: NDArray[Any]) -> NDArray[np.float64]:
    """The matrix, averaged over blocks if it is large; a few rows are in memory at a time. NaN where it is infinite."""
    rows, columns = values.shape
    if max(rows, columns) <= _MOST_CELLS:
        return np.where(np.isfinite(values), values, np.nan)
    down, across = min(rows, _MOST_CELLS), min(columns, _MOST_CELLS)
    left = np.arange(across) * columns // across
    widths = np.diff(np.append(left, columns))
    means = np.empty((down, across))
    for k in range(down):
        part = np.asarray(values[k * rows // down : (k + 1) * rows // down], dtype=np.float64)
        part = np.where(np.isfinite(part), part, np.nan)
        means[k] = np.add.reduceat(part.mean(axis=0), left) / widths
    return means
