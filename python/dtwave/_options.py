"""Options that all functions have: where to compute, in how much memory, in which number type."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Union

import numpy as np

from . import _native

#: Scratch memory of a call, in bytes, unless told otherwise.
DEFAULT_MEMORY_LIMIT = 1 << 30

#: Names of devices: `"cpu"`, `"cuda"` (the first NVIDIA GPU), `"cuda:1"`, `"hip"` (the first AMD GPU), `"hip:1"`,
#: `"wgpu"` (any GPU, in float32), `"wgpu:1"`; or an object whose text is one of them.
DeviceLike = Union[None, str, Any]


def engine(device: DeviceLike, threads: int | None, memory_limit: int | None) -> _native.Engine:
    """Where a call runs.

    Errors: `ValueError` and `TypeError` for values that make no sense, `dtwave.DeviceError` if there is no such device.
    """
    name = "cpu" if device is None else str(device)
    workers = 0 if threads is None else whole("threads", threads, 1, most=1 << 16, hint="; leave it out for all cores")
    limit = DEFAULT_MEMORY_LIMIT if memory_limit is None else whole("memory_limit", memory_limit, 1, "bytes")
    return _engine(name, workers, limit)


@lru_cache(maxsize=8)
def _engine(name: str, threads: int, memory_limit: int) -> _native.Engine:
    return _native.Engine(name, threads, memory_limit)


def default_engine() -> _native.Engine:
    """That of a call without options."""
    return _engine("cpu", 0, DEFAULT_MEMORY_LIMIT)


def whole(name: str, value: Any, least: int, unit: str = "", most: int = 1 << 62, hint: str = "") -> int:
    """`value` as a whole number from `least` to `most`; `hint` says what to do about another one.

    Errors: `TypeError` for what is no whole number, `ValueError` for one out of range.
    """
    of = f" of {unit}" if unit else ""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number{of}, got {value!r}")
    if not least <= value <= most:
        bounds = f"of at least {least}" if value < least else f"of at most {most}"
        raise ValueError(f"{name} must be a whole number{of} {bounds}, got {value}{hint}")
    return int(value)


_DTYPES: dict[str, np.dtype[Any]] = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
}


def number_type(dtype: Any) -> np.dtype[Any] | None:
    """The number type that was asked for: float32, float64, or none in particular.

    Errors: `ValueError` for another one.
    """
    if dtype is None:
        return None
    # PyTorch's are objects whose text is `torch.float32`.
    name = dtype if isinstance(dtype, (str, type, np.dtype)) else str(dtype).removeprefix("torch.")
    if isinstance(name, str) and name in _DTYPES:
        return _DTYPES[name]
    try:
        known: Any = np.dtype(name)
    except TypeError:
        known = None
    for number in _DTYPES.values():
        if known is not None and known == number:
            return number
    raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
