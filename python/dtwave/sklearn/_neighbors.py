"""Classes and values by the nearest series."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Callable, Literal, Union

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from .. import _options, _workers
from .._bands import plain
from .._distances import nearest
from .._spec import spec
from . import _window
from ._parameters import Comparing
from ._series import distances_in_fit, distances_later, seen_in_fit, seen_later
from ._window import LeaveOneOutBand

#: How much a neighbour counts: all the same, by the inverse of its distance, or what a function makes of `[n, k]`.
Weights = Union[Literal["uniform", "distance"], Callable[[NDArray[Any]], Any]]


@dataclass(eq=False, repr=False)
class _Neighbors(Comparing):
    """What the classifier and the regressor share."""

    n_neighbors: int = 1
    _: KW_ONLY
    weights: Weights = "uniform"
    bands: Any = None
    leave_one_out_: LeaveOneOutBand = field(init=False)
    classes_: NDArray[Any] = field(init=False)
    _y: NDArray[Any] = field(init=False)

    def _check(self, client: Any) -> None:
        """Errors: `ValueError`, `TypeError` for bad parameters; `dtwave.DeviceError` for a device that is not there,
        which it need not be where a client computes."""
        _options.whole("n_neighbors", self.n_neighbors, 1)
        where = _options.Given(**self._where())
        _options.engine(where if client is None else _workers.local(where))
        _options.number_type(self.dtype)
        if not (callable(self.weights) or self.weights in ("uniform", "distance")):
            raise ValueError(f'weights must be "uniform", "distance" or a function, got {self.weights!r}')
        if self._is_precomputed:
            if self.bands is not None:
                raise ValueError("bands has no effect on distances that are precomputed: leave it out")
            return
        if self._spec().is_similarity and self.weights == "distance":
            raise ValueError(f'weights="distance" needs a distance, and {self._spec().key} is a similarity')
        if not self._is_band_sought:
            try:
                band = plain(self.band)
            except ValueError as error:
                if isinstance(self.band, str):
                    raise ValueError(f'band must be a band or "leave_one_out", got {self.band!r} ({error})') from None
                raise
            spec(self.measure, band, self.measure_params or {})
            if self.bands is not None:
                raise ValueError('bands are the candidates of band="leave_one_out", and have no effect without it')

    @property
    def _is_band_sought(self) -> bool:
        return isinstance(self.band, str) and self.band.replace("-", "_") == "leave_one_out"

    def _learn(self, X: Any, y: Any, client: Any) -> NDArray[Any]:
        """Keeps the series; returns the checked targets."""
        self._check(client)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: give one per series"
            )
        series = distances_in_fit(self, X) if self._is_precomputed else seen_in_fit(self, X)
        targets = self._targets(y)
        check_consistent_length(series, targets)
        if self.n_neighbors > len(series):
            raise ValueError(f"n_neighbors={self.n_neighbors} is more than there are series: n_samples={len(series)}")
        self._series = series
        self.n_samples_fit_ = len(series)
        return targets

    def _keep(self, X: Any, y: Any, client: Any = None) -> None:
        """Keeps the series and their targets, which are checked."""
        raise NotImplementedError

    def _targets(self, y: Any) -> NDArray[Any]:
        raise NotImplementedError

    def _predicted(self, indices: NDArray[np.int64], distances: NDArray[Any]) -> NDArray[Any]:
        """Targets (numbers of classes, or values) by neighbours, both `[n, k]`."""
        raise NotImplementedError

    def _score(self, predicted: NDArray[Any]) -> float:
        """How well the training targets were predicted; more is better."""
        raise NotImplementedError

    def _choose(self) -> None:
        """Sets the band that predictions use."""
        if hasattr(self, "leave_one_out_"):
            del self.leave_one_out_
        self.band_ = self.band
        if self._is_band_sought:
            self.leave_one_out_ = self._leave_one_out()
            self.band_ = self.leave_one_out_.band

    def _leave_one_out(self, client: Any = None) -> LeaveOneOutBand:
        return _window.search(
            self._series,
            _window.candidates(self.bands, self._series, self.layout),
            self.n_neighbors,
            self._options(),
            _window.shrinks(self._spec()),
            lambda indices, distances: self._score(self._predicted(indices, distances)),
            client,
        )

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest training series of each series of `X`, nearest first; of equal distances the smaller index first.

        X: series; without them, the training series, each of which is then not its own neighbour.
        n_neighbors: how many, in place of the parameter.

        Returns `distances, indices`, `[n, n_neighbors]` each, or without `return_distance` the indices alone.

        Time: one sweep per pair. Errors: `ValueError` for more neighbours than there are.
        """
        check_is_fitted(self)
        precomputed = self._is_precomputed
        queries = None if X is None else (distances_later if precomputed else seen_later)(self, X)
        many = _options.whole("n_neighbors", self.n_neighbors if n_neighbors is None else n_neighbors, 1)
        most = self.n_samples_fit_ - (queries is None)
        if many > most:
            raise ValueError(
                f"n_neighbors={many} is more than there are: the model was fitted on {self.n_samples_fit_} series"
                + (", and none is its own neighbour" if queries is None else "")
            )
        if precomputed:
            return self._of_distances(queries, many, return_distance)
        found = nearest(self._series, queries, k=many, band=self.band_, **self._options())
        return (found.distances, found.indices) if return_distance else found.indices

    def _of_distances(self, distances: Any, many: int, return_distance: bool) -> Any:
        """The nearest by distances `[n, n_fit]`, or by those of fit, where none is its own neighbour."""
        if distances is None:
            distances = self._series.copy()
            np.fill_diagonal(distances, np.inf)
        indices = np.argsort(distances, axis=1, kind="stable")[:, :many]
        return (np.take_along_axis(distances, indices, axis=1), indices) if return_distance else indices

    def _weighted(self, distances: NDArray[Any]) -> NDArray[np.float64]:
        """The weight of each neighbour, `[n, k]`.

        Errors: `ValueError` for weights that make no sense.
        """
        if isinstance(self.weights, str) and self.weights == "uniform":
            return np.ones(distances.shape)
        if callable(self.weights):
            weights = np.asarray(self.weights(distances), dtype=np.float64)
            if weights.shape != distances.shape:
                raise ValueError(
                    f"the function weights must return the shape of its argument, {list(distances.shape)}, "
                    f"got {list(weights.shape)}"
                )
            if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights.sum(axis=1) > 0).all()):
                raise ValueError("the function weights must return finite weights of at least 0, not all 0 in a row")
            return weights
        # Of those that are precomputed, what rounding leaves below 0 has been accepted.
        if not self._is_precomputed and (distances < 0).any():
            what = self._spec().key
            raise ValueError(f'weights="distance" needs distances of at least 0, and {what} gave {distances.min()}')
        # Where a neighbour is equal, it and its like are all that counts. Relative to the nearest, nothing overflows.
        distances = np.maximum(distances, 0)
        first = distances[:, :1].astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            relative: np.ndarray[Any, np.dtype[np.float64]] = np.where(first == 0, distances == 0, first / distances)
        return relative


class KNeighborsTimeSeriesClassifier(ClassifierMixin, _Neighbors):
    """The most frequent class among the nearest training series. Cover & Hart 1967, 10.1109/TIT.1967.1053964.

    n_neighbors: how many neighbours vote.
    weights: "uniform", "distance" (votes count by the inverse of the distance) or a function of the distances, [n, k].
        Of equally frequent classes the one with the nearest series is predicted, as by `dtwave.classify`.
    measure: a key such as "dtw", or an object such as `dtwave.Msm(c=0.5)`. Or "precomputed": `X` of `fit` is then the matrix
        of distances `[n, n]` that `dtwave.pairwise` returns, checked as by `dtwave.kmedoids`, and `X` of `predict` has the
        distances of each series to those of `fit`, `[n_queries, n]`. Options that say how to compute are then errors.
    measure_params: the parameters of a measure that is a key. In `set_params` and searches each is `measure__NAME`.
    band: as for `dtwave.distance`, or "leave_one_out" for the best of `bands` by `leave_one_out_band`.
    bands: candidates of band="leave_one_out"; unless given 0% to 100% of the length, in steps of 1%.
    layout, missing, resample, device, dtype, threads, memory_limit: as for `dtwave.distance`.

    After `fit`: `classes_`; `band_`, the band that is used; with band="leave_one_out" `leave_one_out_`, a
    `LeaveOneOutBand`; `n_samples_fit_`; for arrays `n_features_in_`, their second axis: the length, but for layout="channels_first".

    Series are an array, `[series, length]` or `[series, length, channels]`, or a list of arrays of any lengths,
    `[length]` or `[length, channels]`. An array has to have the length of the one in `fit`.

    Time: `fit` keeps the series, and searches if the band is "leave_one_out"; `predict` takes one sweep per pair.

    Errors: `ValueError` and `TypeError`, in `fit`, for bad parameters and series.

    >>> from dtwave.sklearn import KNeighborsTimeSeriesClassifier
    >>> model = KNeighborsTimeSeriesClassifier().fit([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], ["peak", "dip"])
    >>> model.predict([[0.1, 0.9, 0.1]])
    array(['peak'], dtype='<U4')
    """

    def fit(self, X: Any, y: Any) -> KNeighborsTimeSeriesClassifier:
        """Keeps the series `X` and their classes `y`, one per series, and chooses the band.

        Returns the estimator.
        """
        self._keep(X, y)
        self._choose()
        return self

    def _keep(self, X: Any, y: Any, client: Any = None) -> None:
        targets = self._learn(X, y, client)
        check_classification_targets(targets)
        self.classes_, self._y = np.unique(targets, return_inverse=True)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each series of `X`, `[n]`."""
        distances, indices = self.kneighbors(X)
        predicted: NDArray[Any] = self.classes_[self._predicted(indices, distances)]
        return predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of the votes that each class has, `[n, classes]`, in the order of `classes_`."""
        distances, indices = self.kneighbors(X)
        votes = self._votes(indices, distances)
        shares: NDArray[np.float64] = votes / votes.sum(axis=1, keepdims=True)
        return shares

    def _votes(self, indices: NDArray[np.int64], distances: NDArray[Any]) -> NDArray[np.float64]:
        votes = np.zeros((len(indices), len(self.classes_)))
        np.add.at(votes, (np.arange(len(indices))[:, None], self._y[indices]), self._weighted(distances))
        return votes

    def _predicted(self, indices: NDArray[np.int64], distances: NDArray[Any]) -> NDArray[Any]:
        votes = self._votes(indices, distances)
        neighbors = self._y[indices]
        of_neighbors = np.take_along_axis(votes, neighbors, axis=1)
        # Nearest first, so the first one whose class has the most votes wins its ties.
        first = (of_neighbors == votes.max(axis=1, keepdims=True)).argmax(axis=1)
        return np.take_along_axis(neighbors, first[:, None], axis=1)[:, 0]

    def _score(self, predicted: NDArray[Any]) -> float:
        return float((predicted == self._y).mean())

    def _targets(self, y: Any) -> NDArray[Any]:
        targets = np.asarray(_unmasked(y))
        assert_all_finite(targets, input_name="y")
        if targets.dtype.kind in "mM" and np.isnat(targets).any():
            raise ValueError("y contains NaT: every series needs a class")
        return targets


class KNeighborsTimeSeriesRegressor(RegressorMixin, _Neighbors):
    """The mean of the values of the nearest training series.

    weights: "uniform", "distance" (a weighted mean, by the inverse of the distance) or a function of the distances.
    band: "leave_one_out" chooses the band with the least squared error.
    Other parameters, series and attributes: as for `KNeighborsTimeSeriesClassifier`, without `classes_`.

    >>> from dtwave.sklearn import KNeighborsTimeSeriesRegressor
    >>> model = KNeighborsTimeSeriesRegressor(n_neighbors=2).fit([[0.0, 1.0], [0.0, 2.0], [9.0, 9.0]], [1.0, 2.0, 9.0])
    >>> model.predict([[0.0, 1.5]])
    array([1.5])
    """

    def fit(self, X: Any, y: Any) -> KNeighborsTimeSeriesRegressor:
        """Keeps the series `X` and their values `y`, one per series, and chooses the band.

        Returns the estimator.
        """
        self._keep(X, y)
        self._choose()
        return self

    def _keep(self, X: Any, y: Any, client: Any = None) -> None:
        self._y = self._learn(X, y, client)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The value of each series of `X`, `[n]`."""
        distances, indices = self.kneighbors(X)
        return self._predicted(indices, distances)

    def _predicted(self, indices: NDArray[np.int64], distances: NDArray[Any]) -> NDArray[Any]:
        mean: NDArray[np.float64] = np.average(self._y[indices], axis=1, weights=self._weighted(distances))
        return mean

    def _score(self, predicted: NDArray[Any]) -> float:
        return -float(((predicted - self._y) ** 2).mean())

    def _targets(self, y: Any) -> NDArray[Any]:
        targets = _unmasked(y)
        if np.asarray(targets).dtype.kind in "mM":
            raise ValueError("y must be numbers, got dates or times")
        try:
            values = np.asarray(targets, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"y must be numbers, got an array of {np.asarray(targets).dtype}") from None
        assert_all_finite(values, input_name="y")
        return values


def _unmasked(y: Any) -> Any:
    """The targets, `[n]`.

    Errors: `ValueError` for masked ones, of which NumPy would take what the mask hides.
    """
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        raise ValueError(f"y[{int(np.flatnonzero(y.mask)[0])}] is masked: every series needs a value")
    return column_or_1d(y, warn=True)


def leave_one_out_band(
    estimator: KNeighborsTimeSeriesClassifier | KNeighborsTimeSeriesRegressor,
    X: Any,
    y: Any,
    *,
    bands: Any = None,
    client: Any = None,
) -> LeaveOneOutBand:
    """The band in which the neighbours of each training series, without itself, predict it best.

    estimator: says how to predict: measure, neighbours, weights. It is not changed, and its band has no effect.
    X, y: the training series and their classes or values, as for `fit`.
    bands: candidates; unless given 0% to 100% of the length in steps of 1%, of which those with the same number of
        points count once. Of equally good ones the first is chosen, so the narrowest if they ascend.
    client: workers that compute, as for `dtwave.pairwise`: a task is a band and some of the series. The result is the
        same.

    Returns `LeaveOneOutBand`. This is the window of the UCR archive's tables: Dau et al. 2019,
    10.1109/JAS.2019.1911747.

    Time: all pairs in the widest Sakoe-Chiba band, then in each narrower one only those that may be nearest (after Tan
    et al. 2018, 10.1137/1.9781611975321.26). All pairs in each band where that cannot be said beforehand: for other
    bands, for Soft-DTW and for similarities. Memory: the matrix of distances, and half as much. With a client: the
    neighbours of each series in each band, as `dtwave.nearest` finds them; memory: the neighbours in a few bands.

    Errors: as `fit`; `ValueError` if there are not more series than neighbours.

    >>> from dtwave.sklearn import KNeighborsTimeSeriesClassifier, leave_one_out_band
    >>> X = [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0]]
    >>> leave_one_out_band(KNeighborsTimeSeriesClassifier(), X, ["peak", "peak", "dip", "dip"], bands=[0, 1])
    LeaveOneOutBand(band=1, score=1, of 2 bands)
    """
    if not isinstance(estimator, _Neighbors):
        raise TypeError(
            f"estimator must be a KNeighborsTimeSeriesClassifier or -Regressor, got {type(estimator).__name__}"
        )
    searched = clone(estimator).set_params(band="leave_one_out", bands=bands)
    searched._keep(X, y, client)
    found: LeaveOneOutBand = searched._leave_one_out(client)
    return found
