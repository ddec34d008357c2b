"""What estimators take as `X`: an array by scikit-learn's rules, or a list of series of any lengths."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Callable, Union

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse  # type: ignore[import-untyped,import-not-found,unused-ignore]
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .. import _arrays, _calls, _frames, _inputs, _missing, _notes, _resampling, _times
from .._inputs import Batch, Layout
from .._missing import Missing
from .._panel import Panel
from .._resampling import Resample

#: Series that were checked: `[series, length]`, `[series, length, channels]`, or a list of arrays. With
#: `layout="channels_first"` the last two axes are the other way round.
Series = Union[NDArray[Any], list[NDArray[Any]]]


@dataclass(eq=False, repr=False)
class TakesSeries(BaseEstimator):
    """An estimator of series, with one channel or several."""

    _: KW_ONLY
    layout: Layout = None
    missing: Missing = "error"
    resample: Resample = "none"
    device: Any = None
    dtype: Any = None
    threads: int | None = None
    memory_limit: int | None = None

    def _where(self) -> dict[str, Any]:
        """Options that say where a call computes, in which number type, and how the series lie that were checked."""
        names = ("device", "dtype", "threads", "memory_limit")
        # What was read without a layout was warned of as it was read.
        return {**{name: getattr(self, name) for name in names}, "layout": self.layout or "channels_last"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


def _listed(value: Any) -> list[Any] | None:
    """The series of a list of arrays, or of a list of lists of different lengths; `None` for what is one array.

    A column of pandas or polars whose cells are lists is such a list, and so is an array of objects that are arrays.
    """
    value = _inputs.rows_of(value)
    if not value:
        return None
    if not all(_frames.is_table(one) or (hasattr(one, "ndim") and one.ndim in (1, 2)) for one in value):
        try:
            lengths = {len(one) for one in value}
        except TypeError:  # Numbers: one series, which scikit-learn refuses.
            return None
        if len(lengths) == 1:
            return None
    return list(value)


def _read(estimator: Any, X: Any, check: Callable[..., Any], is_fit: bool) -> Series:
    """The series, resampled and with what is missing treated; `check` is scikit-learn's check of an array.

    Errors: `TypeError` and `ValueError` for series that are not numbers, not finite, or of different channels.
    """
    _inputs.check_layout(estimator.layout)
    _missing.check(estimator.missing)
    rows, own = _listed(X), None
    if rows is None:
        if not issparse(X):  # scikit-learn says what it says of them everywhere.
            _arrays.refuse_others(X, "X")
        if _frames.is_table(X):
            _frames.rows(X, "X")
            own = _frames.times_of_columns(X)
        elif isinstance(X, np.ma.MaskedArray):
            X = _inputs.values_of(X, "X")
        # Values are looked at below, where series and points have names.
        array = check(X, dtype="numeric", allow_nd=True, ensure_all_finite=False)
        _three_axes(array, estimator.layout)
        rows = array
    batch = _inputs.many(X if isinstance(X, Panel) and len(X) else rows, "X", estimator.layout)
    if own is not None:
        batch.index = [own] * len(batch)
    for s, length in enumerate(batch.lengths):
        if not length:
            raise ValueError(f"series {s} of X has no points")
    _calls.ask([batch])
    told = _prepared(estimator, batch, is_fit)
    if told:
        _notes.warn("; ".join(told), _notes.MissingWarning)
    _check_finite(batch)
    if isinstance(batch.arrays, np.ndarray) and isinstance(rows, np.ndarray):
        whole: NDArray[Any] = batch.like(batch.arrays)
        return whole
    return [batch.shaped(part) for part in batch.arrays]


def _prepared(estimator: Any, batch: Batch, is_fit: bool) -> list[str]:
    """Treats what is missing and makes points equally spaced, if that was asked for; says what was done."""
    measure = _calls.key_of(getattr(estimator, "measure", ""))
    if isinstance(estimator.resample, str) and estimator.resample == "none":
        # Points are left out before it is asked whether those that stay are equally spaced.
        told = _calls.filled([batch], estimator.missing)
        _times.settle([batch], None, measure, False, False)
        return told
    _times.settle([batch], None, measure, True, False)
    return _resampled(estimator, batch, is_fit) + _calls.filled([batch], estimator.missing)


def _resampled(estimator: Any, batch: Batch, is_fit: bool) -> list[str]:
    """Makes points equally spaced, at the spacing of the series of fit; says what lies in gaps.

    Errors: `ValueError` for times of another kind than those of fit.
    """
    kind = _resampling.kind_of([batch])
    if is_fit:
        estimator.resample_step_ = _resampling.chosen_step([batch], estimator.resample)
        estimator.resample_kind_ = kind
    elif kind is not None and getattr(estimator, "resample_kind_", None) not in (None, kind):
        raise ValueError(
            f"the times of X are {kind}, and {type(estimator).__name__} was fitted on series whose times are "
            f"{estimator.resample_kind_}: convert them"
        )
    return _resampling.treated([batch], estimator.resample_step_, estimator.missing)


def _check_finite(batch: Batch) -> None:
    for first, part in zip((None,) if isinstance(batch.arrays, np.ndarray) else range(len(batch)), batch.parts):
        if part.dtype.kind == "f" and not np.isfinite(part).all():
            at = [int(index) for index in np.argwhere(~np.isfinite(part))[0]]
            value = part[tuple(at)]
            s, point = (at[0], at[1]) if first is None else (first, at[0])
            advice = _missing.ADVICE if np.isnan(value) else ""
            shown = "NaN" if np.isnan(value) else value
            raise ValueError(f"X has {shown} in series {s}, point {point}: values must be finite{advice}")


def channels_of(series: Series, layout: Layout) -> int:
    """The channels of series; 0 for those without an axis of channels."""
    first = series[0]
    return 0 if first.ndim == 1 else int(first.shape[0 if layout == "channels_first" else 1])


def seen_in_fit(estimator: Any, X: Any) -> Series:
    """The series that an estimator learns from; remembers what later ones must agree with.

    Errors: `ValueError` and `TypeError` as scikit-learn has them.
    """
    checked = False

    def check(array: Any, **options: Any) -> Any:
        nonlocal checked
        checked = True
        return validate_data(estimator, array, **options)

    series = _read(estimator, X, check, is_fit=True)
    if not checked:
        # Lists are not columns: what an earlier fit of an array left is no longer true.
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                delattr(estimator, name)
    estimator._channels = channels_of(series, estimator.layout)
    return series


def seen_later(estimator: Any, X: Any) -> Series:
    """Series for an estimator that was fitted: an array has as many points as in fit, a list has series of any lengths.

    Errors: `NotFittedError`; `ValueError` and `TypeError` as scikit-learn has them.
    """
    check_is_fitted(estimator)

    def check(array: Any, **options: Any) -> Any:
        # Where fit saw a list there are no columns to compare.
        if hasattr(estimator, "n_features_in_"):
            return validate_data(estimator, array, reset=False, **options)
        return check_array(array, estimator=estimator, input_name="X", **options)

    series = _read(estimator, X, check, is_fit=False)
    found = max(channels_of(series, estimator.layout), 1)
    expected = max(estimator._channels, 1)
    if found != expected:
        many, name = "s" * (found > 1), type(estimator).__name__
        raise ValueError(f"X has {found} channel{many}, but {name} was fitted on series of {expected}")
    return series


def _three_axes(series: NDArray[Any], layout: Layout) -> None:
    if series.ndim > 3:
        axes = "[series, channels, length]" if layout == "channels_first" else "[series, length, channels]"
        raise ValueError(f"Found array with dim {series.ndim}: X must be [series, length] or {axes}")
    if series.dtype.kind == "b":
        raise TypeError("X is an array of booleans: expected real numbers; convert them with .astype(float)")
    if 0 in series.shape[1:]:
        raise ValueError(f"X has series without points or channels (shape {list(series.shape)}) while one is required")


def chosen(series: Series, indices: NDArray[np.int64]) -> Series:
    """The series of these indices."""
    return series[indices] if isinstance(series, np.ndarray) else [series[s] for s in indices.tolist()]


def distances_in_fit(estimator: Any, X: Any) -> NDArray[Any]:
    """The matrix of the distances of the training series, `[n, n]`, of `measure="precomputed"`.

    Errors: `ValueError` and `TypeError` for what is no such matrix.
    """
    matrix = validate_data(estimator, X, dtype=[np.float64, np.float32], ensure_all_finite=False)
    estimator._channels = 0
    return _arrays.square(matrix, "X")


def distances_later(estimator: Any, X: Any) -> NDArray[Any]:
    """The distances of other series to those of fit, `[n, n_fit]`.

    Errors: `NotFittedError`; `ValueError` and `TypeError` for what are no such distances.
    """
    check_is_fitted(estimator)
    matrix: NDArray[Any] = validate_data(
        estimator, X, dtype=[np.float64, np.float32], ensure_all_finite=False, reset=False
    )
    _arrays.check_entries(matrix, "X")
    return matrix
