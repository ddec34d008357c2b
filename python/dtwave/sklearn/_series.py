"""What estimators take as `X`: an array by scikit-learn's rules, or a list of series of any lengths."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .. import _inputs

#: Series that were checked: `[series, length]`, `[series, length, channels]`, or a list of arrays.
Series = Union[NDArray[Any], list[NDArray[Any]]]


@dataclass(eq=False, repr=False)
class TakesSeries(BaseEstimator):
    """An estimator of series, with one channel or several."""

    _: KW_ONLY
    device: Any = None
    dtype: Any = None
    threads: int | None = None
    memory_limit: int | None = None

    def _where(self) -> dict[str, Any]:
        """Options that say where a call computes, and in which number type."""
        names = ("device", "dtype", "threads", "memory_limit")
        return {name: getattr(self, name) for name in names}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def listed(value: Any) -> list[NDArray[Any]] | None:
    """The series of a list of arrays, or of a list of lists of different lengths; `None` for what is one array.

    A column of pandas or polars whose cells are lists is such a list, and so is an array of objects that are arrays.

    Errors: `TypeError` and `ValueError` for series that are not numbers, not finite, or of different channels.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("X is a masked array: fill it, or pass a list of arrays without what is masked")
    if isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1:
        value = list(value)
    value = _inputs._rows(value, "X")
    if not value:
        return None
    if not all(hasattr(one, "ndim") and one.ndim in (1, 2) for one in value):
        try:
            lengths = {len(one) for one in value}
        except TypeError:  # Numbers: one series, which scikit-learn refuses.
            return None
        if len(lengths) == 1:
            return None
    batch = _inputs.many(value, "X")
    series = [batch.shaped(part) for part in (batch.arrays if isinstance(batch.arrays, list) else list(batch.arrays))]
    for s, one in enumerate(series):
        if not len(one):
            raise ValueError(f"series {s} of X has no points")
        if one.dtype.kind == "f" and not np.isfinite(one).all():
            at = np.argwhere(~np.isfinite(one))[0]
            raise ValueError(f"X has {one[tuple(at)]} in series {s}, point {at[0]}: values must be finite")
    return series


def _channels(series: Series) -> int:
    """The channels of series; 0 for those without an axis of channels."""
    first = series[0]
    return 0 if first.ndim == 1 else int(first.shape[1])


def seen_in_fit(estimator: Any, X: Any, **checks: Any) -> Series:
    """The series that an estimator learns from; remembers what later ones must agree with.

    Errors: `ValueError` and `TypeError` as scikit-learn has them.
    """
    series = listed(X)
    if series is None:
        series = validate_data(estimator, X, dtype="numeric", allow_nd=True, **checks)
        _three_axes(series)
    else:
        # Lists are not columns: what an earlier fit of an array left is no longer true.
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                delattr(estimator, name)
        fewest = checks.get("ensure_min_samples", 1)
        if len(series) < fewest:
            raise ValueError(f"Found {len(series)} series, while a minimum of {fewest} is required.")
    estimator._channels = _channels(series)
    return series


def seen_later(estimator: Any, X: Any) -> Series:
    """Series for an estimator that was fitted: an array has as many points as in fit, a list has series of any lengths.

    Errors: `NotFittedError`; `ValueError` and `TypeError` as scikit-learn has them.
    """
    check_is_fitted(estimator)
    series = listed(X)
    if series is None:
        # Where fit saw a list there are no columns to compare.
        if hasattr(estimator, "n_features_in_"):
            series = validate_data(estimator, X, dtype="numeric", allow_nd=True, reset=False)
        else:
            series = check_array(X, dtype="numeric", allow_nd=True, estimator=estimator, input_name="X")
        _three_axes(series)
    found = max(_channels(series), 1)
    expected = max(estimator._channels, 1)
    if found != expected:
        many, name = "s" * (found > 1), type(estimator).__name__
        raise ValueError(f"X has {found} channel{many}, but {name} was fitted on series of {expected}")
    return series


def _three_axes(series: NDArray[Any]) -> None:
    if series.ndim > 3:
        raise ValueError(
            f"Found array with dim {series.ndim}: X must be [series, length] or [series, length, channels]"
        )
    if series.dtype.kind == "b":
        raise TypeError("X is an array of booleans: expected real numbers; convert them with .astype(float)")
    if 0 in series.shape[1:]:
        raise ValueError(f"X has series without points or channels (shape {list(series.shape)}) while one is required")


def chosen(series: Series, indices: NDArray[np.int64]) -> Series:
    """The series of these indices."""
    return series[indices] if isinstance(series, np.ndarray) else [series[s] for s in indices.tolist()]
