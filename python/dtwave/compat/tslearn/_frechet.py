"""tslearn's discrete Fréchet distance."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .. import _grids
from . import _engine
from ._dtw import local_costs, path_of_costs
from ._limited import limited
from ._masks import Constraint
from ._series import Home, home, pair


@limited
def frechet(s1: Any, s2: Any, *, limit: Constraint) -> Any:
    """dtwave's `frechet` of two series. Errors: as `dtw`."""
    return _engine.distance(*pair(s1, s2), "frechet", limit)


@limited
def frechet_path(s1: Any, s2: Any, *, limit: Constraint) -> tuple[list[tuple[int, int]], Any]:
    """The path of two series and their distance."""
    return _engine.aligned(*pair(s1, s2), "frechet", limit)


@limited
def cdist_frechet(
    dataset1: Any, dataset2: Any = None, *, limit: Constraint, n_jobs: int | None = None, verbose: int = 0
) -> Any:
    """`frechet` of all pairs, as `cdist_dtw`."""
    return _engine.cdist(dataset1, dataset2, "frechet", limit, n_jobs, verbose)


@limited
def frechet_path_from_metric(
    s1: Any,
    s2: Any = None,
    metric: str | Callable[[Any, Any], Any] = "precomputed",
    *,
    limit: Constraint,
    to: Home,
    **kwds: Any,
) -> tuple[list[tuple[int, int]], Any]:
    """The path and the distance for a local cost of your choice, as `dtw_path_from_metric`.

    "euclidean" runs on dtwave's engine; other costs keep a grid.
    """
    if isinstance(metric, str) and metric in ("euclidean", "l2") and not kwds:
        return _engine.aligned(*pair(s1, s2), "frechet", limit)
    return path_of_costs(local_costs(s1, s2, metric, kwds, to), "frechet", limit)


def frechet_accumulated_matrix(s1: Any, s2: Any, mask: Any, be: Any = None) -> Any:
    """Squared Fréchet distances of all prefixes, `[n, m]`; infinite outside the mask. A grid."""
    x, y = pair(s1, s2)
    grid = _grids.accumulated(_grids.squared(x, y), "frechet", np.asarray(mask, dtype=bool))
    return home(be, s1, s2).returned(grid)
