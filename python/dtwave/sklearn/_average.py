"""The average of series under Soft-DTW."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight

from .. import _options
from .._bands import Band
from .._learning import Optimizer, barycenter
from .._matrices import pairwise
from ._clusters import seed_of
from ._series import TakesSeries, seen_in_fit, seen_later


@dataclass(eq=False, repr=False)
class SoftDTWBarycenter(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TakesSeries):
    """The average of series under Soft-DTW or its divergence: `dtwave.barycenter`.

    gamma: smoothing, in units of squared values, > 0.
    divergence: True for the Soft-DTW divergence.
    band: as for `dtwave.distance`.
    init: "medoid", "mean" or a series, as `start` of `dtwave.barycenter`. The average is as long as it.
    sample_size, random_state: size and seed of the sample whose medoid is "medoid", where there are more series: as
        `sample_size` and `seed` of `dtwave.barycenter`.
    optimizer, learning_rate: as for `dtwave.barycenter`.
    max_iter: iterations. tol: converged when an iteration lowers the cost by no more than this fraction of it.
    layout, missing, resample, device, dtype, threads, memory_limit: as for `dtwave.distance`.

    After `fit`: `barycenter_`, `[length]` or `[length, channels]`; `costs_`, of the start and after each iteration;
    `n_iter_`; `converged_`; for arrays `n_features_in_`, their second axis.

    Series: as for `KNeighborsTimeSeriesClassifier`. Time: as `dtwave.barycenter`.

    Errors: `ValueError` and `TypeError`, in `fit`, for bad parameters and series. Cuturi & Blondel 2017, arXiv
    1703.01541; Blondel, Mensch & Vert 2021, arXiv 2010.08354.

    >>> from dtwave.sklearn import SoftDTWBarycenter
    >>> SoftDTWBarycenter(gamma=0.1).fit([[0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]]).barycenter_.shape
    (4,)
    """

    gamma: float = 1.0
    _: KW_ONLY
    divergence: bool = False
    band: Band = None
    init: Union[Literal["medoid", "mean"], Any] = "medoid"
    optimizer: Optimizer = "lbfgs"
    learning_rate: float | None = None
    max_iter: int = 100
    tol: float = 1e-6
    sample_size: int = 256
    random_state: Any = 0

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SoftDTWBarycenter:
        """Averages the series `X`; `y` has no effect.

        sample_weight: one per series, at least 0, not all 0; all count the same unless given.

        Returns the estimator.
        """
        series = seen_in_fit(self, X)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, series, ensure_non_negative=True)
        found = barycenter(
            series,
            measure="soft_dtw_divergence" if self.divergence else "soft_dtw",
            gamma=self.gamma,
            weights=weights,
            start=self.init,
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
            max_iterations=_options.whole("max_iter", self.max_iter, 1),
            tolerance=self.tol,
            sample_size=self.sample_size,
            seed=seed_of(self.random_state),
            band=self.band,
            **self._where(),
        )
        self.barycenter_ = found.center
        self.costs_ = found.costs
        self.n_iter_ = found.iterations
        self.converged_ = found.converged
        return self

    @property
    def _n_features_out(self) -> int:
        """Columns of `transform`."""
        return 1

    def transform(self, X: Any) -> NDArray[Any]:
        """The distance, of dtw, of each series of `X` to the average, `[n, 1]`."""
        series = seen_later(self, X)
        distances: NDArray[Any] = pairwise(series, [self.barycenter_], band=self.band, **self._where())
        return distances

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean distance, of dtw, of the series of `X` to the average; more is better.

        The distance is that of dtw, so that averages under different gammas compare: a search over `gamma` finds the
        average that is nearest to series it was not made of.
        """
        return -float(self.transform(X).mean(dtype=np.float64))
