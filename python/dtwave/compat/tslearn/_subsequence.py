"""tslearn's subsequence DTW, and its lower bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _alignment
from .. import _grids
from .._numbers import Floats, check_finite
from .._one import LAYOUT
from . import _engine
from ._masks import Constraint
from ._series import array, home, one, pair


def dtw_subsequence_path(subseq: Any, longseq: Any, be: Any = None) -> tuple[list[tuple[int, int]], Any]:
    """The best match of a short series in a long one: its path, and the root of its cost. Runs on dtwave's engine."""
    x, y = pair(subseq, longseq)
    path, found = _engine.aligned(x, y, "subsequence_dtw", Constraint())
    return path, home(be, subseq, longseq).returned(np.sqrt(found))


def subsequence_cost_matrix(subseq: Any, longseq: Any, be: Any = None) -> Any:
    """Accumulated costs of all matches, `[n, m]`: entry `(i, j)` is that of the points up to i, ending at j. A grid."""
    x, y = pair(subseq, longseq)
    return home(be, subseq, longseq).returned(_alignment.cost_matrix(x, y, measure="subsequence_dtw", layout=LAYOUT))


def subsequence_path(acc_cost_mat: Any, idx_path_end: int, be: Any = None) -> list[tuple[int, int]]:
    """The path that ends at a point of the long series, walked back through `subsequence_cost_matrix`."""
    grid = array(acc_cost_mat)
    return _grids.path(grid, (len(grid) - 1, int(idx_path_end)), to_row=True)


def lb_envelope(ts: Any, radius: int = 1, be: Any = None) -> tuple[Any, Any]:
    """The least and the largest value within `radius` points, `[length, channels]` each. In NumPy."""
    series = one(ts)
    check_finite(series)
    if radius < 0:
        raise ValueError(f"radius must be at least 0, got {radius}")
    windows = np.lib.stride_tricks.sliding_window_view
    low = np.pad(series, ((radius, radius), (0, 0)), constant_values=np.inf)
    high = np.pad(series, ((radius, radius), (0, 0)), constant_values=-np.inf)
    to = home(be, ts)
    width = 2 * radius + 1
    return to.returned(windows(low, width, axis=0).min(axis=-1)), to.returned(windows(high, width, axis=0).max(axis=-1))


def lb_keogh(
    ts_query: Any, ts_candidate: Any = None, radius: int = 1, envelope_candidate: tuple[Any, Any] | None = None
) -> np.float64:
    """Keogh's lower bound of `dtw` with a Sakoe-Chiba band, of two series of one channel and length. In NumPy.

    envelope_candidate: what `lb_envelope` returns, in place of `ts_candidate`.
    """
    query = one(ts_query)
    if ts_candidate is not None:
        low, high = lb_envelope(one(ts_candidate), radius)
    elif envelope_candidate is not None:
        low, high = (array(side) for side in envelope_candidate)
    else:
        raise ValueError("lb_keogh needs ts_candidate or envelope_candidate")
    for series in (query, low):
        if series.shape[1] != 1:
            raise ValueError(f"LB_Keogh is available only for univariate time series, got {series.shape[1]} channels")
    if len(query) != len(low):
        raise ValueError(f"LB_Keogh needs series of one length, got {len(query)} and {len(low)}")
    check_finite(query)
    outside: Floats = np.maximum(np.maximum(query - high, low - query), 0.0)
    return np.float64(np.sqrt(np.square(outside).sum()))
