"""tslearn's Soft-DTW: values, its divergence, expected alignments, and the same of matrices of local costs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import _alignment, _native
from .. import _grids
from .._one import LAYOUT
from . import _engine
from ._limited import limited
from ._masks import Constraint
from ._series import array, home, many, one, pair


@limited
def soft_dtw(s1: Any, s2: Any, gamma: float = 1.0, *, limit: Constraint) -> Any:
    """dtwave's `soft_dtw` of two series; with `gamma=0` the square of `dtw`.

    No gradient flows through it: `dtwave.torch.soft_dtw` has one.
    """
    measure, parameters = _measure(gamma)
    return _engine.distance(*pair(s1, s2), measure, limit, **parameters)


@limited
def soft_dtw_normalized(s1: Any, s2: Any, gamma: float = 1.0, *, limit: Constraint) -> Any:
    """dtwave's `soft_dtw_divergence` of two series; with `gamma=0` the square of `dtw`."""
    x, y = pair(s1, s2)
    measure, parameters = _measure(gamma)
    if measure == "soft_dtw" and not limit.is_itakura:
        return _engine.distance(x, y, "soft_dtw_divergence", limit, **parameters)
    found = _engine.distance(x, y, measure, limit, **parameters)
    # A parallelogram is a mask of two lengths, so each of the three grids has its own. Of dtw there is one.
    own = [_engine.distance(a, a, measure, limit, **parameters) for a in (x, y) if parameters]
    return found - 0.5 * np.sum(own)


@limited
def soft_dtw_alignment(s1: Any, s2: Any, gamma: float = 1.0, *, limit: Constraint) -> tuple[Any, Any]:
    """The expected alignment `[n, m]`, and `soft_dtw`; with `gamma=0` the path of `dtw`, and its square."""
    x, y = pair(s1, s2)
    measure, parameters = _measure(gamma)
    if measure == "dtw":
        path, found = _engine.aligned(x, y, "dtw", limit)
        alignment = np.zeros((len(x), len(y)))
        alignment[tuple(np.transpose(path))] = 1.0
        return alignment, found
    band = limit.band(len(x), len(y))
    alignment = _alignment.expected_alignment(x, y, band=band, threads=1, layout=LAYOUT, **parameters)
    return alignment, _engine.distance(x, y, measure, limit, **parameters)


@limited
def cdist_soft_dtw(
    dataset1: Any,
    dataset2: Any = None,
    gamma: float = 1.0,
    *,
    limit: Constraint,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Any:
    """`soft_dtw` of all pairs, as `cdist_dtw`. With `gamma=0` it is `cdist_dtw`, roots and all, as tslearn has it."""
    measure, parameters = _measure(gamma)
    found = _engine.cdist(dataset1, dataset2, measure, limit, n_jobs, verbose, **parameters)
    return found if parameters else np.sqrt(found, out=found)


@limited
def cdist_soft_dtw_normalized(
    dataset1: Any,
    dataset2: Any = None,
    gamma: float = 1.0,
    *,
    limit: Constraint,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Any:
    """`soft_dtw_normalized` of all pairs, as `cdist_dtw`. With `gamma=0` it is `cdist_dtw`, as tslearn has it."""
    measure, parameters = _measure(gamma)
    if measure == "soft_dtw" and not limit.is_itakura:
        return _engine.cdist(dataset1, dataset2, "soft_dtw_divergence", limit, n_jobs, verbose, **parameters)
    found = _engine.cdist(dataset1, dataset2, measure, limit, n_jobs, verbose, **parameters)
    if not parameters:
        return np.sqrt(found, out=found)
    sets = [many(series) for series in (dataset1, dataset2) if series is not None]
    own = [_engine.zipped(series, series, measure, limit, n_jobs, **parameters) for series in sets]
    return found - 0.5 * (own[0][:, None] + own[-1][None, :])


def _measure(gamma: float) -> tuple[str, dict[str, Any]]:
    """dtwave's measure and its parameters: with `gamma=0` the smooth minimum is the minimum."""
    return ("dtw", {}) if math.isclose(gamma, 0.0) else ("soft_dtw", {"gamma": float(gamma)})


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
