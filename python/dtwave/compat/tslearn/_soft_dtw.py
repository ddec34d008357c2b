"""tslearn's Soft-DTW: values, its divergence, expected alignments, and the same of matrices of local costs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import _alignment, _native
from .. import _grids
from . import _engine
from ._dtw import dtw, dtw_path
from ._masks import Constraint, constraint
from ._series import Floats, Many, array, home, many, one, pair


def soft_dtw(
    s1: Any,
    s2: Any,
    gamma: float = 1.0,
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    be: Any = None,
) -> Any:
    """dtwave's `soft_dtw` of two series; with `gamma=0` the square of `dtw`.

    No gradient flows through it: `dtwave.torch.soft_dtw` has one.
    """
    x, y = pair(s1, s2)
    limits = global_constraint, sakoe_chiba_radius, itakura_max_slope
    if math.isclose(gamma, 0.0):
        return dtw(s1, s2, *limits, be=be) ** 2
    found = _engine.distance(x, y, "soft_dtw", constraint(*limits), gamma=float(gamma))
    return home(be, s1, s2).returned(found)


def soft_dtw_normalized(
    s1: Any,
    s2: Any,
    gamma: float = 1.0,
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    be: Any = None,
) -> Any:
    """dtwave's `soft_dtw_divergence` of two series; with `gamma=0` the square of `dtw`."""
    x, y = pair(s1, s2)
    limits = global_constraint, sakoe_chiba_radius, itakura_max_slope
    if math.isclose(gamma, 0.0):
        return dtw(s1, s2, *limits, be=be) ** 2
    limit = constraint(*limits)
    if limit.is_itakura:
        # A parallelogram is a mask of two lengths, so each of the three grids has its own.
        own = [_engine.distance(a, a, "soft_dtw", limit, gamma=float(gamma)) for a in (x, y)]
        found = _engine.distance(x, y, "soft_dtw", limit, gamma=float(gamma)) - 0.5 * sum(own)
    else:
        found = _engine.distance(x, y, "soft_dtw_divergence", limit, gamma=float(gamma))
    return home(be, s1, s2).returned(found)


def soft_dtw_alignment(
    s1: Any,
    s2: Any,
    gamma: float = 1.0,
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    be: Any = None,
) -> tuple[Any, Any]:
    """The expected alignment `[n, m]`, and `soft_dtw`; with `gamma=0` the path of `dtw`, and its square."""
    x, y = pair(s1, s2)
    limits = global_constraint, sakoe_chiba_radius, itakura_max_slope
    to = home(be, s1, s2)
    if math.isclose(gamma, 0.0):
        path, found = dtw_path(s1, s2, *limits, be=be)
        alignment = np.zeros((len(x), len(y)))
        alignment[tuple(np.transpose(path))] = 1.0
        return to.returned(alignment), found**2
    limit = constraint(*limits)
    band = limit.band(len(x), len(y))
    alignment = _alignment.expected_alignment(x, y, gamma=float(gamma), band=band, threads=1)
    return to.returned(alignment), to.returned(_engine.distance(x, y, "soft_dtw", limit, gamma=float(gamma)))


def cdist_soft_dtw(
    dataset1: Any,
    dataset2: Any = None,
    gamma: float = 1.0,
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    be: Any = None,
) -> Any:
    """`soft_dtw` of all pairs, as `cdist_dtw`. With `gamma=0` it is `cdist_dtw`, roots and all, as tslearn has it."""
    limit = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope)
    found = _matrix(_both(dataset1, dataset2), gamma, limit, n_jobs, verbose)
    return home(be, dataset1, dataset2).returned(found)


def cdist_soft_dtw_normalized(
    dataset1: Any,
    dataset2: Any = None,
    gamma: float = 1.0,
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    be: Any = None,
) -> Any:
    """`soft_dtw_normalized` of all pairs, as `cdist_dtw`. With `gamma=0` it is `cdist_dtw`, as tslearn has it."""
    limit = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope)
    both = _both(dataset1, dataset2)
    if math.isclose(gamma, 0.0):
        found = _matrix(both, gamma, limit, n_jobs, verbose)
    elif limit.is_itakura:
        found = _matrix(both, gamma, limit, n_jobs, verbose)
        sets = [series for series in both if series is not None]
        own = [_engine.zipped(series, series, "soft_dtw", limit, n_jobs, gamma=float(gamma)) for series in sets]
        found = found - 0.5 * (own[0][:, None] + own[-1][None, :])
    else:
        found = _engine.matrix(*both, "soft_dtw_divergence", limit, n_jobs, verbose, gamma=float(gamma))
    return home(be, dataset1, dataset2).returned(found)


def _both(dataset1: Any, dataset2: Any) -> tuple[Many, Many | None]:
    return many(dataset1), None if dataset2 is None else many(dataset2)


def _matrix(
    both: tuple[Many, Many | None], gamma: float, limit: Constraint, n_jobs: int | None, verbose: int
) -> Floats:
    if math.isclose(gamma, 0.0):
        found = _engine.matrix(*both, "dtw", limit, n_jobs, verbose)
        return np.sqrt(found, out=found)
    return _engine.matrix(*both, "soft_dtw", limit, n_jobs, verbose, gamma=float(gamma))


class SquaredEuclidean:
    """Squared Euclidean costs of the points of two series, for `SoftDTW`. In NumPy."""

    def __init__(self, X: Any, Y: Any, be: Any = None, compute_with_backend: bool = False) -> None:
        self._home = home(be, X, Y)
        self.X, self.Y = one(X), one(Y)

    def compute(self) -> Any:
        """The costs, `[n, m]`."""
        return self._home.returned(_grids.squared(self.X, self.Y))

    def jacobian_product(self, E: Any) -> Any:
        """The gradient by the points of X, `[n, channels]`, from that by the costs, `E`: `[n, m]`."""
        weights = array(E)
        found = 2.0 * (weights.sum(axis=1)[:, None] * self.X - weights @ self.Y)
        return self._home.returned(found)


class SoftDTW:
    """Soft-DTW of a matrix of local costs, with its derivative: `O(n·m)` memory.

    D: costs `[n, m]`, or an object whose `compute()` returns them. For the squared Euclidean cost of two series,
    `soft_dtw` and `soft_dtw_alignment` are faster.
    """

    def __init__(self, D: Any, gamma: float = 1.0, be: Any = None, compute_with_backend: bool = False) -> None:
        costs = D.compute() if hasattr(D, "compute") else D
        self._home = home(be, costs)
        self.D = array(costs)
        self.gamma = float(gamma)
        self.computed = False
        self._slope = np.empty((0, 0))

    def compute(self) -> Any:
        """The value."""
        costs = np.ascontiguousarray(self.D)[None]
        values, slopes = _native.soft_dtw_of_costs(costs, gamma=self.gamma, threads=1)
        assert slopes is not None
        self._slope = slopes[0]
        self.computed = True
        return self._home.returned(values[0])

    def grad(self) -> Any:
        """The derivative by each cost, `[n, m]`: the expected alignment.

        Errors: `ValueError` before `compute`.
        """
        if not self.computed:
            raise ValueError("Needs to call compute() first.")
        return self._home.returned(self._slope)
