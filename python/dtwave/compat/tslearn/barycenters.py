"""`tslearn.barycenters` on dtwave's engine."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ... import _alignment, _gradients
from .._numbers import Floats, Many
from .._one import LAYOUT
from .._refuse import workers
from ._gak import random
from ._masks import Constraint, constraint
from ._series import array, many, one, padded

__all__ = [
    "dtw_barycenter_averaging",
    "dtw_barycenter_averaging_petitjean",
    "dtw_barycenter_averaging_subgradient",
    "euclidean_barycenter",
    "softdtw_barycenter",
]


def euclidean_barycenter(X: Any, weights: Any = None) -> Floats:
    """The mean of series of one length, point by point: `[length, channels]`. In NumPy."""
    series = many(X)
    if not isinstance(series, np.ndarray):
        raise ValueError("a mean point by point needs series of one length: dtw_barycenter_averaging takes others")
    found: Floats = np.average(series, axis=0, weights=_weights(weights, len(series)))
    return found


def dtw_barycenter_averaging(
    X: Any,
    barycenter_size: int | None = None,
    init_barycenter: Any = None,
    max_iter: int = 30,
    tol: float = 1e-5,
    weights: Any = None,
    metric_params: dict[str, Any] | None = None,
    verbose: bool = False,
    n_init: int = 1,
    n_jobs: int | None = None,
) -> Floats:
    """DTW barycenter averaging (DBA), by the steps of tslearn: `[length, channels]`.

    X: series as for `cdist_dtw`. init_barycenter: the start; unless given, the mean, resampled to `barycenter_size`.
    tol: stops where the mean cost changes by less. metric_params: `global_constraint`, `sakoe_chiba_radius`,
    `itakura_max_slope`. n_init: every start is the same, so more than one only repeats it. verbose: prints the cost.

    Each round is one call of dtwave's engine for all paths. `dtwave.barycenter` does all rounds in one call, with a
    rule of its own for stopping. Petitjean et al. 2011, 10.1016/j.patcog.2010.09.013.
    """
    if n_init < 1:
        raise ValueError(f"n_init must be at least 1, got {n_init}")
    series = many(X)
    center = _start(series, barycenter_size, init_barycenter)
    shares = _weights(weights, len(series))
    limit = _constraint(metric_params)
    before = np.inf
    for round_ in range(max_iter):
        sums, counts, cost = _assigned(center, series, shares, limit, n_jobs)
        if verbose:
            print(f"[DBA] epoch {round_ + 1}, cost: {cost:.3f}")
        center = sums / counts[:, None]
        if abs(before - cost) < tol:
            break
        if before < cost:
            warnings.warn("DBA's cost grew, by rounding or because of the constraint: stopped here", stacklevel=2)
            break
        before = cost
    return center


def dtw_barycenter_averaging_petitjean(
    X: Any,
    barycenter_size: int | None = None,
    init_barycenter: Any = None,
    max_iter: int = 30,
    tol: float = 1e-5,
    weights: Any = None,
    metric_params: dict[str, Any] | None = None,
    verbose: bool = False,
    n_jobs: int | None = None,
) -> Floats:
    """The same as `dtw_barycenter_averaging`, which in tslearn is another formulation of the same steps."""
    return dtw_barycenter_averaging(
        X, barycenter_size, init_barycenter, max_iter, tol, weights, metric_params, verbose, 1, n_jobs
    )


def dtw_barycenter_averaging_subgradient(
    X: Any,
    barycenter_size: int | None = None,
    init_barycenter: Any = None,
    max_iter: int = 30,
    initial_step_size: float = 0.05,
    final_step_size: float = 0.005,
    tol: float = 1e-5,
    random_state: Any = None,
    weights: Any = None,
    metric_params: dict[str, Any] | None = None,
    verbose: bool = False,
) -> Floats:
    """DBA by stochastic subgradient steps, one series after the other: `[length, channels]`. Schultz & Jain 2018.

    random_state: as for `sigma_gak`; the same seed takes the series in the order of tslearn.
    """
    generator = random(random_state)
    series = many(X)
    center = _start(series, barycenter_size, init_barycenter)
    shares = _weights(weights, len(series))
    limit = _constraint(metric_params)
    step = initial_step_size
    mean_share = shares.sum() / len(shares)
    best, least = center, np.inf
    for round_ in range(max_iter):
        for s in generator.permutation(len(series)):
            if shares[s] == 0:
                continue
            sums, counts, _ = _assigned(center, [series[s]], shares[s : s + 1], limit, None)
            center = center - 2.0 * step / mean_share * (counts[:, None] * center - sums)
            if round_ == 0:
                step -= (initial_step_size - final_step_size) * shares[s] / shares.sum()
        cost = _assigned(center, series, shares, limit, None)[2]
        if verbose:
            print(f"[DBA] epoch {round_ + 1}, cost: {cost:.3f}")
        if cost < least:
            best = center
        if abs(least - cost) < tol:
            break
        least = min(cost, least)
    return best


def softdtw_barycenter(
    X: Any,
    gamma: float = 1.0,
    weights: Any = None,
    tol: float = 1e-3,
    max_iter: int = 50,
    init: Any = None,
    n_jobs: int | None = None,
    *,
    global_constraint: str | None = None,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
) -> Floats:
    """The Soft-DTW barycenter, by SciPy's L-BFGS-B, as in tslearn: `[length, channels]`.

    The gradients are dtwave's. `dtwave.barycenter(measure="soft_dtw")` needs no SciPy, and has a rule of its own for
    stopping. Cuturi & Blondel 2017, arXiv 1703.01541.

    Errors: `NotImplementedError` without SciPy, if `max_iter` is above 0.
    """
    series = many(X)
    shares = _weights(weights, len(series))
    limit = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope)
    if init is None:
        length = max(map(len, series))
        resampled = [row if len(row) == length else _resampled(row, length) for row in series]
        center: Floats = np.average(np.stack(resampled), axis=0, weights=shares)
    else:
        center = array(init)
    if max_iter <= 0:
        return center
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise NotImplementedError(
            'softdtw_barycenter needs SciPy: install it, or use dtwave.barycenter(X, measure="soft_dtw")'
        ) from None
    threads = workers(n_jobs)
    rows = list(series)

    def cost(flat: Floats) -> tuple[float, Floats]:
        here = flat.reshape(-1, rows[0].shape[1])
        total, slope = 0.0, np.zeros_like(here)
        for group in _groups(rows, limit):
            values, slopes, _ = _gradients.gradients(
                np.repeat(here[None], len(group), axis=0),
                [rows[s] for s in group],
                upstream=shares[group],
                gamma=float(gamma),
                band=limit.band(len(here), len(rows[group[0]])),
                threads=threads,
                layout=LAYOUT,
            )
            total += float(values @ shares[group])
            slope += slopes.sum(axis=0)
        return total, slope.ravel()

    found = minimize(cost, center.ravel(), method="L-BFGS-B", tol=tol, jac=True, options={"maxiter": max_iter})
    best: Floats = found.x.reshape(center.shape)
    return best


def _weights(weights: Any, count: int) -> Floats:
    """One per series.

    Errors: `ValueError` for another number of them, and for negative ones or only zeros.
    """
    if weights is None:
        return np.ones(count)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (count,):
        raise ValueError(f"weights must be one per series ({count}), got shape {list(given.shape)}")
    if not ((given >= 0).all() and given.sum() > 0):
        raise ValueError("weights must be at least 0, and not all 0")
    return given


def _constraint(metric_params: dict[str, Any] | None) -> Constraint:
    given = dict(metric_params or {})
    kind, radius, slope = (
        given.pop(name, None) for name in ("global_constraint", "sakoe_chiba_radius", "itakura_max_slope")
    )
    if given:
        raise TypeError(
            f"metric_params has {', '.join(given)}: expected global_constraint, sakoe_chiba_radius, itakura_max_slope"
        )
    return constraint(kind, radius, slope)


def _start(series: Many, size: int | None, init: Any) -> Floats:
    if init is not None:
        return one(init)
    mean: Floats = np.nanmean(padded(series), axis=0)
    return mean if size is None or size == len(mean) else _resampled(mean, size)


def _resampled(series: Floats, length: int) -> Floats:
    """Linear interpolation to `length` points, from the first to the last."""
    if length == 1:
        mean: Floats = series.mean(axis=0, keepdims=True)
        return mean
    old, new = np.linspace(0, 1, len(series)), np.linspace(0, 1, length)
    return np.stack([np.interp(new, old, channel) for channel in series.T], axis=1)


def _groups(series: list[Floats], limit: Constraint) -> list[list[int]]:
    """Series that one call takes: all of them, or, where a mask belongs to a length, those of one length."""
    if not limit.is_itakura:
        return [list(range(len(series)))]
    lengths = [len(one_series) for one_series in series]
    return [[s for s, found in enumerate(lengths) if found == length] for length in sorted(set(lengths))]


def _assigned(
    center: Floats, series: Many, shares: Floats, limit: Constraint, n_jobs: int | None
) -> tuple[Floats, Floats, float]:
    """For each point of the centre the weighted sum and number of points that match it; and the mean cost."""
    sums, counts, cost = np.zeros_like(center), np.zeros(len(center)), 0.0
    rows = list(series)
    for group in _groups(rows, limit):
        found = _alignment.align_pairs(
            np.repeat(center[None], len(group), axis=0),
            [rows[s] for s in group],
            band=limit.band(len(center), len(rows[group[0]])),
            threads=workers(n_jobs),
            layout=LAYOUT,
        )
        for s, alignment in zip(group, found):
            i, j = alignment.path.T
            np.add.at(sums, i, shares[s] * rows[s][j])
            np.add.at(counts, i, shares[s])
            cost += shares[s] * float(alignment.distance)
    return sums, counts, cost / float(shares.sum())
