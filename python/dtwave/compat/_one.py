"""The distance of one pair, by the shortest way to the engine: users of other libraries call it in loops. And all pairs
under a band that belongs to two lengths.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from .. import _distances
from .._inputs import Layout
from ._numbers import Floats, Many, taken

#: How series lie when they come here, whatever the order of the library they are for: it has no question to ask.
LAYOUT: Layout = "channels_last"


def distance(x: Floats, y: Floats, measure: str, band: Any, **parameters: Any) -> float:
    """dtwave's distance of two series `[length, channels]`."""
    if x.shape[1] == 1 and y.shape[1] == 1:
        x, y = x[:, 0], y[:, 0]
    else:
        parameters["layout"] = LAYOUT
    if measure == "dtw" and parameters.get("cost") == "squared_euclidean":
        parameters = {}
    if band is not None:
        parameters["band"] = band
    found: float = _distances.distance(x, y, measure=measure, **parameters)
    return found


def by_lengths(rows: Many, columns: Many | None, compute: Callable[[Any, Any], Floats]) -> Floats:
    """Distances of all pairs, `[n_rows, n_columns]`: `compute` is called for each two lengths, with the series of these
    lengths as arrays. Without `columns`, of all pairs of `rows`: the upper half counts, because the band of lengths
    (n, m) is not that of (m, n).
    """
    others = rows if columns is None else columns
    found = np.empty((len(rows), len(others)))
    for a in _alike(rows):
        for b in _alike(others):
            found[np.ix_(a, b)] = compute(np.array(taken(rows, a)), np.array(taken(others, b)))
    if columns is None:
        lower = np.tril_indices(len(rows), -1)
        found[lower] = found.T[lower]
    return found


def _alike(series: Many) -> list[NDArray[np.int64]]:
    """Indices of the series of each length."""
    lengths = np.array([len(one) for one in series])
    return [np.flatnonzero(lengths == n) for n in np.unique(lengths)]
