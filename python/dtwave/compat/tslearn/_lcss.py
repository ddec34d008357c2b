"""tslearn's longest common subsequence, a similarity from 0 to 1."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .. import _grids
from . import _engine
from ._dtw import local_costs
from ._masks import Constraint, constraint
from ._series import Floats, home, pair


def lcss(
    s1: Any,
    s2: Any,
    eps: float = 1.0,
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    be: Any = None,
) -> float:
    """The length of the longest common subsequence, divided by the length of the shorter series.

    A constraint restricts matches only, as in `docs/measures.md`. tslearn also forgets earlier matches outside it, so
    with `sakoe_chiba_radius=0` and Itakura's parallelogram its similarity may be smaller.
    """
    x, y = pair(s1, s2)
    limit = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope)
    length = _engine.distance(x, y, "lcss", limit, epsilon=float(eps), output="length")
    return float(length) / min(len(x), len(y))


def lcss_path(
    s1: Any,
    s2: Any,
    eps: float = 1,
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    be: Any = None,
) -> tuple[list[tuple[int, int]], float]:
    """The points that match, and the similarity. A grid, whose ties are tslearn's: `O(n·m)` memory."""
    x, y = pair(s1, s2)
    limit = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope)
    return _path(np.sqrt(_grids.squared(x, y)), eps, limit)


def lcss_path_from_metric(
    s1: Any,
    s2: Any = None,
    eps: float = 1,
    metric: str | Callable[[Any, Any], Any] = "euclidean",
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    be: Any = None,
    **kwds: Any,
) -> tuple[list[tuple[int, int]], float]:
    """As `lcss_path`, where points match whose cost of your choice is at most `eps`. A grid."""
    limit = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope)
    return _path(local_costs(s1, s2, metric, kwds, home(be, s1, s2)), eps, limit)


def _path(costs: Floats, eps: float, limit: Constraint) -> tuple[list[tuple[int, int]], float]:
    close = (costs <= eps) & limit.mask(*costs.shape)
    grid = _grids.common(close)
    return _grids.common_path(grid, close), float(grid[-1, -1]) / min(costs.shape)
