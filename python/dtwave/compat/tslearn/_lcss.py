"""tslearn's longest common subsequence, a similarity from 0 to 1."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .. import _grids
from .._numbers import Floats
from . import _engine
from ._dtw import local_costs
from ._limited import limited
from ._masks import Constraint
from ._series import Home, pair


@limited
def lcss(s1: Any, s2: Any, eps: float = 1.0, *, limit: Constraint) -> float:
    """The length of the longest common subsequence, divided by the length of the shorter series.

    A constraint restricts matches only, as in `docs/measures.md`. tslearn also forgets earlier matches outside it, so
    with `sakoe_chiba_radius=0` and Itakura's parallelogram its similarity may be smaller.
    """
    x, y = pair(s1, s2)
    length = _engine.distance(x, y, "lcss", limit, epsilon=float(eps), output="length")
    return float(length) / min(len(x), len(y))


@limited
def lcss_path(s1: Any, s2: Any, eps: float = 1, *, limit: Constraint) -> tuple[list[tuple[int, int]], float]:
    """The points that match, and the similarity. A grid, whose ties are tslearn's: `O(n·m)` memory."""
    return _path(np.sqrt(_grids.squared(*pair(s1, s2))), eps, limit)


@limited
def lcss_path_from_metric(
    s1: Any,
    s2: Any = None,
    eps: float = 1,
    metric: str | Callable[[Any, Any], Any] = "euclidean",
    *,
    limit: Constraint,
    to: Home,
    **kwds: Any,
) -> tuple[list[tuple[int, int]], float]:
    """As `lcss_path`, where points match whose cost of your choice is at most `eps`. A grid."""
    return _path(local_costs(s1, s2, metric, kwds, to), eps, limit)


def _path(costs: Floats, eps: float, limit: Constraint) -> tuple[list[tuple[int, int]], float]:
    close = (costs <= eps) & limit.mask(*costs.shape)
    grid = _grids.common(close)
    return _grids.common_path(grid, close), float(grid[-1, -1]) / min(costs.shape)
