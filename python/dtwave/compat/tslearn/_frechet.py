"""tslearn's discrete Fréchet distance."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .. import _grids
from . import _engine
from ._dtw import local_costs
from ._masks import constraint
from ._series import home, many, pair


def frechet(
    s1: Any,
    s2: Any,
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    be: Any = None,
) -> Any:
    """dtwave's `frechet` of two series. Errors: as `dtw`."""
    x, y = pair(s1, s2)
    limit = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope)
    return home(be, s1, s2).returned(_engine.distance(x, y, "frechet", limit))


def frechet_path(
    s1: Any,
    s2: Any,
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    be: Any = None,
) -> tuple[list[tuple[int, int]], Any]:
    """The path of two series and their distance."""
    x, y = pair(s1, s2)
    limit = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope)
    path, found = _engine.aligned(x, y, "frechet", limit)
    return path, home(be, s1, s2).returned(found)


def cdist_frechet(
    dataset1: Any,
    dataset2: Any = None,
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    be: Any = None,
) -> Any:
    """`frechet` of all pairs, as `cdist_dtw`."""
    limit = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope)
    second = None if dataset2 is None else many(dataset2)
    found = _engine.matrix(many(dataset1), second, "frechet", limit, n_jobs, verbose)
    return home(be, dataset1, dataset2).returned(found)


def frechet_path_from_metric(
    s1: Any,
    s2: Any = None,
    metric: str | Callable[[Any, Any], Any] = "precomputed",
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    be: Any = None,
    **kwds: Any,
) -> tuple[list[tuple[int, int]], Any]:
    """The path and the distance for a local cost of your choice, as `dtw_path_from_metric`.

    "euclidean" runs on dtwave's engine; other costs keep a grid.
    """
    limit = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope)
    if isinstance(metric, str) and metric in ("euclidean", "l2") and not kwds:
        x, y = pair(s1, s2)
        path, found = _engine.aligned(x, y, "frechet", limit)
        return path, home(be, s1, s2).returned(found)
    to = home(be, s1, s2)
    costs = local_costs(s1, s2, metric, kwds, to)
    grid = _grids.accumulated(costs, "frechet", limit.mask(*costs.shape))
    return _grids.path(grid), to.returned(grid[-1, -1])


def frechet_accumulated_matrix(s1: Any, s2: Any, mask: Any, be: Any = None) -> Any:
    """Squared Fréchet distances of all prefixes, `[n, m]`; infinite outside the mask. A grid."""
    x, y = pair(s1, s2)
    grid = _grids.accumulated(_grids.squared(x, y), "frechet", np.asarray(mask, dtype=bool))
    return home(be, s1, s2).returned(grid)
