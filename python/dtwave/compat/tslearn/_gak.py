"""tslearn's global alignment kernel, and the widths it suggests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _engine
from ._masks import Constraint
from ._series import home, many, padded, pair


def unnormalized_gak(s1: Any, s2: Any, sigma: float = 1.0, be: Any = None) -> Any:
    """The exponential of dtwave's `log_gak`: infinite for series of some hundred points, where `log_gak` is not."""
    x, y = pair(s1, s2)
    with np.errstate(over="ignore"):
        return home(be, s1, s2).returned(np.exp(_engine.distance(x, y, "log_gak", Constraint(), sigma=_width(sigma))))


def gak(s1: Any, s2: Any, sigma: float = 1.0, be: Any = None) -> Any:
    """The kernel divided by the root of the kernels of each series with itself: from 0 to 1."""
    x, y = pair(s1, s2)
    width = _width(sigma)
    both, own_x, own_y = (
        _engine.distance(a, b, "log_gak", Constraint(), sigma=width) for a, b in ((x, y), (x, x), (y, y))
    )
    return home(be, s1, s2).returned(np.exp(both - 0.5 * (own_x + own_y)))


def cdist_gak(
    dataset1: Any,
    dataset2: Any = None,
    sigma: float = 1.0,
    n_jobs: int | None = None,
    verbose: int = 0,
    be: Any = None,
) -> Any:
    """`gak` of all pairs, `[n_1, n_2]`, as `cdist_dtw`."""
    width = _width(sigma)
    x, y = many(dataset1), None if dataset2 is None else many(dataset2)
    found = _engine.matrix(x, y, "log_gak", Constraint(), n_jobs, verbose, sigma=width)
    if y is None:
        rows = columns = np.diag(found).copy()
    else:
        rows, columns = (_engine.zipped(one, one, "log_gak", Constraint(), n_jobs, sigma=width) for one in (x, y))
    found -= 0.5 * rows[:, None] + 0.5 * columns[None, :]
    return home(be, dataset1, dataset2).returned(np.exp(found, out=found))


def sigma_gak(dataset: Any, n_samples: int = 100, random_state: Any = None, be: Any = None) -> Any:
    """A width for `gak`: the median distance of sampled points, times the root of the longest length. In NumPy.

    random_state: None, a seed or a `numpy.random.RandomState`; the same seed samples the same points as tslearn.
    """
    if n_samples < 2:
        raise ValueError(f"n_samples must be at least 2, for a distance of two points; got {n_samples}")
    series = padded(many(dataset))
    values = series.reshape(-1, series.shape[2])
    values = values[np.isfinite(values.sum(axis=1))]
    chosen = values[random(random_state).choice(len(values), size=n_samples, replace=len(values) < n_samples)]
    above = np.triu_indices(n_samples, 1)
    distances = np.linalg.norm(chosen[above[0]] - chosen[above[1]], axis=1)
    return home(be, dataset).returned(np.median(distances) * np.sqrt(series.shape[1]))


def gamma_soft_dtw(dataset: Any, n_samples: int = 100, random_state: Any = None, be: Any = None) -> Any:
    """A gamma for `soft_dtw`: twice the square of `sigma_gak`."""
    return 2.0 * sigma_gak(dataset, n_samples, random_state, be) ** 2


def random(state: Any) -> np.random.RandomState:
    """scikit-learn's choice: NumPy's global state, one with this seed, or the given one.

    Errors: `ValueError` for anything else.
    """
    if state is None or state is np.random:
        return np.random.mtrand._rand
    if isinstance(state, (int, np.integer)):
        return np.random.RandomState(int(state))
    if isinstance(state, np.random.RandomState):
        return state
    raise ValueError(f"random_state must be None, a whole number or a numpy.random.RandomState, got {state!r}")


def _width(sigma: float) -> float:
    if math.isclose(sigma, 0.0):
        raise ZeroDivisionError("Sigma must be non-zero.")
    return float(abs(sigma))
