"""What tslearn takes as series, as float64 arrays; and results as arrays or PyTorch's tensors, as it returns them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._numbers import Floats, Many, floats, stacked


@dataclass(frozen=True)
class Home:
    """Where results belong: NumPy's arrays, or PyTorch's tensors in main memory."""

    is_torch: bool = False

    def returned(self, value: Any) -> Any:
        """An array or a number of float64 as this library's."""
        if not self.is_torch:
            return value if isinstance(value, (np.ndarray, np.generic)) else np.float64(value)
        import torch

        return torch.from_numpy(np.asarray(value))


def is_tensor(value: object) -> bool:
    """Whether a value is PyTorch's, without importing it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def home(be: Any, *values: Any) -> Home:
    """tslearn's choice: `be` ("numpy", "pytorch" or its object), else the first array or tensor among the values.

    Errors: `ValueError` for another `be`.
    """
    if be is not None:
        if hasattr(be, "is_numpy"):
            return Home(not be.is_numpy)
        if be in ("numpy", "pytorch", "torch"):
            return Home(be != "numpy")
        raise ValueError(f'be must be None, "numpy", "pytorch" or a backend of tslearn, got {be!r}')
    for value in values:
        if isinstance(value, (np.ndarray, np.generic)):
            return Home()
        if is_tensor(value):
            return Home(True)
    return Home()


def array(value: Any) -> Floats:
    """Anything as an array of float64.

    Errors: `NotImplementedError` for tensors on a GPU or with a gradient, `TypeError` for masked arrays.
    """
    if is_tensor(value):
        if value.requires_grad:
            raise NotImplementedError(
                "no gradient flows through this function: pass x.detach(), or use dtwave.torch.soft_dtw, which has one"
            )
        if value.device.type != "cpu":
            raise NotImplementedError(
                f"tensors on {value.device} are not taken: pass x.cpu(), or use dtwave.pairwise, which computes there"
            )
        value = value.numpy()
    elif isinstance(value, (list, tuple)):
        value = [array(item) if is_tensor(item) else item for item in value]
    return floats(value)


def trimmed(series: Floats) -> Floats:
    """`[length, channels]` without the points at the end that are NaN in every channel."""
    if not len(series) or not np.isnan(series[-1]).all():
        return series
    there = np.flatnonzero(~np.isnan(series).all(axis=1))
    return series[: there[-1] + 1] if len(there) else series[:0]


def one(value: Any) -> Floats:
    """One series as `[length, channels]`, without NaN at its end.

    Errors: `ValueError` for an empty one and for more axes.
    """
    series = array(value)
    if series.ndim <= 1:
        series = series.reshape(-1, 1)
    if series.ndim != 2:
        raise ValueError(f"a time series is [length] or [length, channels], got shape {list(series.shape)}")
    series = trimmed(series)
    if not len(series):
        raise ValueError("One of the input time series contains only nans or has zero length.")
    return series


def pair(s1: Any, s2: Any) -> tuple[Floats, Floats]:
    """Two series of as many channels.

    Errors: `ValueError` as `one`, and for other channels.
    """
    x, y = one(s1), one(s2)
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"All input time series must have the same feature size: {x.shape[1]} and {y.shape[1]}.")
    return x, y


def many(dataset: Any) -> Many:
    """Series of a data set: one array if they are of one length, else a list. NaN at the end of a series is padding.

    Errors: `ValueError` for an empty series and other channels.
    """
    if hasattr(dataset, "to_numpy") and not isinstance(dataset, np.ndarray):
        dataset = dataset.to_numpy()
    if isinstance(dataset, np.ndarray) or is_tensor(dataset):
        whole = array(dataset)
        if whole.ndim == 1:
            whole = whole[None]
        if whole.ndim == 2:
            whole = whole[:, :, None]
        if whole.ndim != 3:
            raise ValueError(f"time series are [series, length, channels], got shape {list(whole.shape)}")
        if not np.isnan(whole[:, -1:]).any():
            return whole
        rows = [one(series) for series in whole]
    else:
        if len(dataset) and np.ndim(array(dataset[0])) == 0:
            dataset = [dataset]
        rows = [one(series) for series in dataset]
    if not rows:
        return np.empty((0, 0, 1))
    channels = {series.shape[1] for series in rows}
    if len(channels) > 1:
        raise ValueError(f"All input time series must have the same feature size, got {sorted(channels)}.")
    return stacked(rows)


def padded(dataset: Many) -> Floats:
    """`[series, length, channels]` with NaN at the end of the shorter ones."""
    if isinstance(dataset, np.ndarray):
        return dataset
    found = np.full((len(dataset), max(map(len, dataset)), dataset[0].shape[1]), np.nan)
    for row, series in zip(found, dataset):
        row[: len(series)] = series
    return found


def points(path: NDArray[np.int64]) -> list[tuple[int, int]]:
    """A path `[steps, 2]` as tslearn returns it."""
    return [(i, j) for i, j in path.tolist()]
