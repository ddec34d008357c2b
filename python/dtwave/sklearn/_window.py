"""The choice of a band by leaving one out: the window of the UCR archive's tables.

Each training series is predicted from its nearest neighbours among the others, once for each candidate band. The band
that predicts best is chosen; of equally good ones the narrowest, which is the first. Dau et al. 2019, The UCR Time
Series Archive, 10.1109/JAS.2019.1911747.

A narrower band only removes paths. So, for a measure that is a minimum over paths, distances grow as the band shrinks:
a distance in a wide band is a lower bound in all narrower ones. Bands are tried from the widest on. In each, the
neighbours of the band before are computed anew, and then only the pairs whose lower bound does not exceed the distance
of the last of them. The result is that of computing every pair in every band. (The idea is that of Tan et al. 2018,
Efficient search of the best warping window for dynamic time warping, 10.1137/1.9781611975321.26.)
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .. import _calls, _native, _workers
from .._bands import Band, SakoeChiba, checked_radius, plain
from .._distances import nearest, others, zipped
from .._inputs import Layout
from .._matrices import pairwise
from .._measures import MINIMA
from .._options import OfManyTimed, taken
from .._results import Equal
from ._series import Series, chosen

#: The candidates of the UCR archive: 0% to 100% of the length.
PERCENTS: tuple[float, ...] = tuple(percent / 100 for percent in range(101))

#: Points that are gathered at once.
_PORTION = 1 << 22


@dataclass(frozen=True, eq=False)
class LeaveOneOutBand(Equal):
    """The band that predicts the training series best, and how well each candidate does.

    band: the best; of equally good ones the first of `bands`.
    bands: the candidates, in the order they were given.
    scores: `[len(bands)]`: of classes the accuracy, of values minus the mean squared error; more is better.
    """

    band: Band
    bands: tuple[Band, ...]
    scores: NDArray[np.float64]

    @property
    def score(self) -> float:
        """The score of `band`."""
        return float(self.scores.max())

    def plot(self, **options: Any) -> Any:
        """Draws the score of each band; needs matplotlib. Options are those of `dtwave.plots.accuracies`."""
        return import_module("dtwave.plots").accuracies(self, **options)

    def __repr__(self) -> str:
        return f"LeaveOneOutBand(band={self.band!r}, score={self.score:.6g}, of {len(self.bands)} bands)"


def candidates(bands: Any, series: Series, layout: Layout) -> tuple[Band, ...]:
    """The bands to try, checked.

    Errors: `TypeError` and `ValueError` for what is no sequence of bands.
    """
    if bands is None:
        if isinstance(series, list):
            return PERCENTS
        # Fractions that are the same number of points once.
        length = series.shape[-1 if layout == "channels_first" else 1]
        first = {percent * length // 100: percent / 100 for percent in range(100, -1, -1)}
        return tuple(sorted(first.values()))
    if isinstance(bands, (str, bytes)) or not isinstance(bands, (Sequence, np.ndarray)):
        raise TypeError(f"bands must be a sequence of bands, such as [0, 0.05, 0.1], got {bands!r}")
    found: list[Band] = []
    for band in bands.tolist() if isinstance(bands, np.ndarray) else bands:
        band = plain(band)
        if not (band is None or hasattr(band, "_band")):
            band = checked_radius(band)
        found.append(band)
    if not found:
        raise ValueError("bands is empty: give at least one band")
    return tuple(found)


def search(
    series: Series,
    bands: tuple[Band, ...],
    n_neighbors: int,
    options: dict[str, Any],
    is_monotone: bool,
    score: Callable[[NDArray[np.int64], NDArray[Any]], float],
    client: Any = None,
) -> LeaveOneOutBand:
    """Tries all bands; `score` says how good neighbours are, of which there are `indices` and `distances`, `[n, k]`.
    The workers of a client, if there is one, find all neighbours in each band by itself.

    Errors: `ValueError` if there are too few series to leave one out.
    """
    if len(series) <= n_neighbors:
        raise ValueError(
            f"leaving one out needs more series than n_neighbors={n_neighbors}, got n_samples={len(series)}"
        )
    scores = np.full(len(bands), np.nan)
    if client is not None:
        given = taken(options, OfManyTimed)
        call = _calls.prepared(_calls.many(series, None, given), _workers.local(given))
        with closing(_workers.of_bands(client, given, call, bands, n_neighbors + 1)) as found:
            for b, indices, distances in found:
                scores[b] = score(*others(indices, distances))
        return LeaveOneOutBand(bands[int(scores.argmax())], bands, scores)
    radii = [_radius(band) for band in bands]
    nested = [b for b, radius in enumerate(radii) if radius is not None and is_monotone]
    shrinking = None
    # A radius of 7 points and one of 7% are not in an order that all pairs of series share.
    for kind in (float, int):
        for b in sorted((b for b in nested if type(radii[b]) is kind), key=lambda b: -(radii[b] or 0)):
            shrinking = shrinking or _Shrinking(series, n_neighbors, options)
            scores[b] = score(*shrinking.neighbors(bands[b]))
        shrinking = None
    for b in set(range(len(bands))) - set(nested):
        scores[b] = score(*nearest(series, k=n_neighbors, band=bands[b], **options))
    return LeaveOneOutBand(bands[int(scores.argmax())], bands, scores)


def shrinks(what: _native.Spec) -> bool:
    """Whether distances only grow as the band becomes narrower, in every digit."""
    return what.key in MINIMA and not what.is_similarity


def _radius(band: Band) -> int | float | None:
    """The radius of a Sakoe–Chiba band."""
    if isinstance(band, SakoeChiba):
        return band.radius
    return band if isinstance(band, (int, float)) else None


class _Shrinking:
    """Neighbours in bands that only become narrower."""

    def __init__(self, series: Series, k: int, options: dict[str, Any]) -> None:
        self.series, self.k, self.options = series, k, options
        n = len(series)
        #: For each pair the distance in the narrowest band where it was computed: a lower bound. `[n, n]`; infinite on
        #: the diagonal, because a series is not its own neighbour.
        self.bounds: NDArray[Any] | None = None
        self.is_current = np.ones((n, n), dtype=bool)
        self.indices = np.zeros((n, k), dtype=np.int64)

    def neighbors(self, band: Band) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The k nearest others of each series, and their distances, nearest first; of equal ones the smaller index."""
        rows = np.arange(len(self.series))[:, None]
        if self.bounds is None:
            self.bounds = _finite(pairwise(self.series, band=band, **self.options))
            np.fill_diagonal(self.bounds, np.inf)
        else:
            self.is_current[:] = False
            near = np.zeros_like(self.is_current)
            near[rows, self.indices] = True
            self._compute(near, band)
            # The k-th nearest is at most as far as the farthest of any k series.
            reach = self.bounds[rows, self.indices].max(axis=1, keepdims=True)
            self._compute(self.bounds <= reach, band)
        # What was not computed is farther than the reach.
        portion = max(1, _PORTION // len(self.bounds))
        for start in range(0, len(self.bounds), portion):
            part = slice(start, start + portion)
            if self.k == 1:
                self.indices[part, 0] = self.bounds[part].argmin(axis=1)
            else:
                self.indices[part] = np.argsort(self.bounds[part], axis=1, kind="stable")[:, : self.k]
        return self.indices, self.bounds[rows, self.indices]

    def _compute(self, wanted: NDArray[np.bool_], band: Band) -> None:
        """Distances of pairs that are not computed in this band yet."""
        assert self.bounds is not None
        wanted = np.triu((wanted | wanted.T) & ~self.is_current, 1)
        first, second = np.nonzero(wanted)
        portion = max(1, _PORTION // max(one.size for one in self.series))
        for start in range(0, len(first), portion):
            i, j = first[start : start + portion], second[start : start + portion]
            values = zipped(chosen(self.series, i), chosen(self.series, j), band=band, **self.options)
            self.bounds[i, j] = self.bounds[j, i] = _finite(values)
        self.is_current |= wanted | wanted.T


def _finite(distances: NDArray[Any]) -> NDArray[Any]:
    """Errors: `ValueError` for a distance that is not finite."""
    if not np.isfinite(distances).all():
        raise ValueError("a distance of two series of X is not finite: scale or normalise the data")
    return distances
