"""What figures are made of: axes, checked channels and paths, lines and images of a bounded size."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Of the first series or the average, of the second series, and of what stands behind.
FIRST, SECOND, BEHIND = "C0", "C1", "0.6"
#: Points of a line beyond which only the range of each stretch is drawn.
_MOST_POINTS = 20_000
#: Rows and columns of a matrix beyond which blocks are averaged.
_MOST_CELLS = 2_000


def matplotlib() -> Any:
    """`matplotlib.pyplot`.

    Errors: `ImportError` that says how to install it.
    """
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    return pyplot


def axes_of(ax: Axes | None) -> Axes:
    """What is drawn on."""
    pyplot = matplotlib()
    if ax is not None:
        return ax
    _, axes = pyplot.subplots(layout="constrained")
    own: Axes = axes
    return own


def channel_of(series: NDArray[Any], name: str, channel: int) -> NDArray[np.float64]:
    """One channel of one series."""
    points, channels = series.shape
    if not 0 <= channel < channels:
        raise ValueError(f"channel {channel} is out of range: {name} has {channels}")
    if points == 0:
        raise ValueError(f"{name} has no points")
    return np.asarray(series[:, channel], dtype=np.float64)


def pairs_of(path: Any, n: int, m: int) -> NDArray[np.int64]:
    """A path, checked."""
    pairs = np.asarray(path)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or len(pairs) == 0:
        raise ValueError(f"path must be [steps, 2] of whole numbers, got {pairs.dtype} of shape {list(pairs.shape)}")
    if pairs.min() < 0 or pairs[:, 0].max() >= n or pairs[:, 1].max() >= m:
        raise ValueError(
            f"the path has points that series of {n} and {m} points have not; pass those that were aligned"
        )
    return pairs.astype(np.int64)


def evenly(count: int, most: int) -> NDArray[np.int64]:
    """`most` indices below `count`, from the first to the last."""
    if most < 1:
        raise ValueError(f"expected a positive number to draw, got {most}")
    return np.linspace(0, count - 1, most).round().astype(np.int64)


def reduced(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places and values of a line; of a long one the least and greatest value of each stretch."""
    if len(values) <= _MOST_POINTS:
        return np.arange(len(values), dtype=np.float64), values
    starts = np.linspace(0, len(values), _MOST_POINTS // 4, endpoint=False).astype(np.int64)
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return np.repeat(starts.astype(np.float64), 2), np.stack([low, high], axis=1).ravel()


def square(half: NDArray[Any]) -> NDArray[Any]:
    """The whole of a matrix of which only the part above the diagonal is given."""
    n = (1 + isqrt(1 + 8 * len(half))) // 2
    if n * (n - 1) // 2 != len(half):
        raise ValueError(f"{len(half)} distances are no upper half of a square matrix; pass a matrix")
    whole = np.zeros((n, n), dtype=half.dtype)
    whole[np.triu_indices(n, 1)] = half
    return whole + whole.T


def blocks(values: NDArray[Any]) -> NDArray[np.float64]:
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


def image(values: NDArray[Any], axes: Axes, colorbar: bool, label: str, cmap: str) -> Axes:
    """A matrix on `axes`, row by row from above."""
    from matplotlib import colormaps

    rows, columns = values.shape
    image = axes.imshow(
        blocks(values),
        cmap=colormaps[cmap].with_extremes(bad="0.8"),
        interpolation="nearest",
        aspect="equal" if rows == columns else "auto",
        extent=(-0.5, columns - 0.5, rows - 0.5, -0.5),
    )
    if colorbar and axes.figure is not None:
        axes.figure.colorbar(image, ax=axes, label=label)
    return axes


def draw_members(axes: Axes, members: list[NDArray[np.float64]]) -> None:
    """Series behind what stands for them: the more there are, the fainter each."""
    opacity = min(0.6, max(0.08, 8.0 / max(1, len(members))))
    for series in members:
        axes.plot(*reduced(series), color=BEHIND, alpha=opacity, linewidth=0.8, zorder=1)


def panels_of(axes: Any, count: int, across: int, size: tuple[float, float], same_scale: bool = True) -> NDArray[Any]:
    """So many axes, each of this size in inches where they are made here: those given, or of a figure of their own.

    Errors: `ValueError` for other axes than there are panels.
    """
    pyplot = matplotlib()
    if axes is not None:
        given = np.ravel(np.asarray(axes, dtype=object))
        if len(given) != count:
            raise ValueError(f"axes must be one for each of {count} panels, got {len(given)}")
        return given
    across = min(across, count)
    down = -(-count // across)
    figure, grid = pyplot.subplots(
        down,
        across,
        figsize=(size[0] * across, size[1] * down),
        sharex=same_scale,
        sharey=same_scale,
        squeeze=False,
        layout="constrained",
    )
    for unused in grid.ravel()[count:]:
        figure.delaxes(unused)
    own: NDArray[Any] = grid.ravel()[:count]
    return own
