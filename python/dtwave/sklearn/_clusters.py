"""Clusters around averages (k-means) and around members (k-medoids)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

from .. import _options
from .._distances import nearest
from .._learning import Optimizer, kmeans, kmedoids
from .._matrices import pairwise
from .._results import KMeans, KMedoids
from ._parameters import Comparing
from ._series import Series, chosen, distances_in_fit, distances_later, seen_in_fit, seen_later


def seed_of(random_state: Any) -> int:
    """The seed of a call: a whole number as it is; else one that is drawn, from NumPy's global state if it is `None`.

    Errors: `ValueError` for what is no random state, as scikit-learn has it.
    """
    try:
        return _options.seed_of(np.random if random_state is None else random_state, "random_state")
    except TypeError as error:
        raise ValueError(str(error)) from None


@dataclass(eq=False, repr=False)
class _Clusters(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Comparing):
    """What both kinds of clusters share."""

    n_clusters: int = 3
    _: KW_ONLY
    random_state: Any = None
    cluster_centers_: Series = field(init=False)

    def _learn(self, X: Any) -> Series:
        """The checked series."""
        _options.whole("n_clusters", self.n_clusters, 1)
        series = distances_in_fit(self, X) if self._is_precomputed else seen_in_fit(self, X)
        if len(series) < self.n_clusters:
            raise ValueError(f"n_samples={len(series)} should be >= n_clusters={self.n_clusters}")
        return series

    def _keep(self, found: KMeans | KMedoids, inertia: float) -> None:
        self.labels_ = found.labels
        self.inertia_ = inertia
        self.n_iter_ = found.iterations
        self.converged_ = found.converged

    @property
    def _n_features_out(self) -> int:
        """Columns of `transform`."""
        return self.n_clusters

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The cluster of the centre that is nearest to each series of `X`, `[n]`; of equally near ones the first."""
        return self._nearest(X)[0]

    def transform(self, X: Any) -> NDArray[Any]:
        """The distance of each series of `X` to each centre, `[n, n_clusters]`."""
        return self._to_centers(X)

    def _to_centers(self, X: Any) -> NDArray[Any]:
        series = seen_later(self, X)
        distances: NDArray[Any] = pairwise(self.cluster_centers_, series, band=self.band, **self._options()).T
        return distances

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of the distances of the series of `X` to their centres; of a similarity the sum itself.

        Scores under different measures, or different gammas, do not compare.
        """
        total = float(self._nearest(X)[1].sum(dtype=np.float64))
        return total if not self._is_precomputed and self._spec().is_similarity else -total

    def _nearest(self, X: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
        if self._is_precomputed:
            distances = self._to_centers(X)
            return distances.argmin(axis=1), distances.min(axis=1)
        series = seen_later(self, X)
        found = nearest(self.cluster_centers_, series, band=self.band, **self._options())
        return found.indices[:, 0], found.distances[:, 0]


@dataclass(eq=False, repr=False)
class TimeSeriesKMeans(_Clusters):
    """Clusters around averages: `dtwave.kmeans`.

    n_clusters: how many, from 1 to the number of series.
    measure, measure_params: as for `KNeighborsTimeSeriesClassifier`, of the measures of `dtwave.barycenter`.
    band: as for `dtwave.distance`.
    n_init: how many starts by k-means++, of which the best is taken.
    max_iter: rounds per start. tol: converged when a round lowers the inertia by no more than this fraction of it.
    max_iter_barycenter: iterations of each average per round.
    optimizer, learning_rate: of the averages, as for `dtwave.barycenter`.
    sample_size: of how many series each start is drawn; all unless given. batch_size: series of a mini-batch; all in
        every round unless given.
    random_state: a seed, a NumPy `RandomState` or `Generator`, or None, which draws other starts each time. A seed gives the clusters
        of `dtwave.kmeans(..., seed=random_state)`.
    layout, missing, resample, device, dtype, threads, memory_limit: as for `dtwave.distance`.

    After `fit`: `cluster_centers_`, an array if they are equally long, else a list; `labels_`; `inertia_`, the sum of
    the distances to the centres; `n_iter_`; `converged_`; for arrays `n_features_in_`, their second
    axis.

    Series: as for `KNeighborsTimeSeriesClassifier`. Time: as `dtwave.kmeans`.

    Errors: `ValueError` and `TypeError`, in `fit`, for bad parameters and series.

    >>> from dtwave.sklearn import TimeSeriesKMeans
    >>> series = [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [5.0, 5.0, 4.0], [5.0, 4.0, 4.0]]
    >>> model = TimeSeriesKMeans(2, random_state=0).fit(series)
    >>> model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    np.True_
    """

    _: KW_ONLY
    n_init: int = 3
    max_iter: int = 50
    tol: float = 1e-6
    max_iter_barycenter: int = 10
    optimizer: Optimizer = "lbfgs"
    learning_rate: float | None = None
    sample_size: int | None = None
    batch_size: int | None = None

    def fit(self, X: Any, y: Any = None) -> TimeSeriesKMeans:
        """Clusters the series `X`; `y` has no effect. Returns the estimator."""
        if self._is_precomputed:
            raise ValueError('averages need series: measure="precomputed" is for TimeSeriesKMedoids')
        series = self._learn(X)
        found = kmeans(
            series,
            self.n_clusters,
            restarts=_options.whole("n_init", self.n_init, 1),
            max_iterations=_options.whole("max_iter", self.max_iter, 1),
            tolerance=self.tol,
            center_iterations=_options.whole("max_iter_barycenter", self.max_iter_barycenter, 1),
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
            sample_size=self.sample_size,
            batch_size=self.batch_size,
            seed=seed_of(self.random_state),
            band=self.band,
            **self._options(),
        )
        same = len({len(center) for center in found.centers}) == 1
        self.cluster_centers_ = np.stack(found.centers) if same else found.centers
        self._keep(found, found.inertia)
        return self


@dataclass(eq=False, repr=False)
class TimeSeriesKMedoids(_Clusters):
    """Clusters around some of the series (medoids), under any measure, by FasterPAM or CLARA: `dtwave.kmedoids`.

    n_clusters: how many, from 1 to the number of series.
    measure, measure_params: as for `KNeighborsTimeSeriesClassifier`, also "precomputed", without `cluster_centers_` then.
    band: as for `dtwave.distance`.
    n_init: how many random starts, of which the best is taken; None for one greedy start (BUILD).
    method, samples, sample_size: as for `dtwave.kmedoids`; "clara" is for very many series.
    max_iter: passes over all candidates per start.
    random_state: as for `TimeSeriesKMeans`; without effect unless `n_init` is given or the method is "clara".
    layout, missing, resample, device, dtype, threads, memory_limit: as for `dtwave.distance`.

    After `fit`: `medoid_indices_`, increasing; `cluster_centers_`, these series; `labels_`; `inertia_`, the sum of the
    distances to the medoids (of a similarity minus the sum); `n_iter_`; `converged_`; for arrays `n_features_in_`.

    Series: as for `KNeighborsTimeSeriesClassifier`. Time and memory: as `dtwave.kmedoids`, which also takes a matrix.

    Errors: `ValueError` and `TypeError`, in `fit`, for bad parameters and series.
    """

    _: KW_ONLY
    n_init: int | None = None
    max_iter: int = 100
    method: Literal["fasterpam", "clara"] = "fasterpam"
    samples: int | None = None
    sample_size: int | None = None

    def fit(self, X: Any, y: Any = None) -> TimeSeriesKMedoids:
        """Clusters the series `X`; `y` has no effect. Returns the estimator."""
        series = self._learn(X)
        how = {"measure": "precomputed"} if self._is_precomputed else {"band": self.band, **self._options()}
        found = kmedoids(
            series,
            self.n_clusters,
            restarts=None if self.n_init is None else _options.whole("n_init", self.n_init, 1),
            max_iterations=_options.whole("max_iter", self.max_iter, 1),
            method=self.method,
            samples=self.samples,
            sample_size=self.sample_size,
            seed=0 if self.n_init is None and self.method != "clara" else seed_of(self.random_state),
            **how,
        )
        self.medoid_indices_ = found.medoids
        if self._is_precomputed:
            self.__dict__.pop("cluster_centers_", None)
        else:
            self.cluster_centers_ = chosen(series, found.medoids)
        self._keep(found, found.loss)
        return self

    def _to_centers(self, X: Any) -> NDArray[Any]:
        if self._is_precomputed:
            found: NDArray[Any] = distances_later(self, X)[:, self.medoid_indices_]
            return found
        return super()._to_centers(X)
