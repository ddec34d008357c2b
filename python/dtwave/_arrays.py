"""One array of real numbers of whatever holds them, in place where its memory allows; and where it is.

What is no array, or none yet, is refused with what to call: a lazy frame is collected, a dictionary has values.
"""

from __future__ import annotations

import sys
from collections.abc import ItemsView, Iterator, KeysView, Mapping, Set, ValuesView
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._native import DeviceError

#: DLPack's numbers of devices whose memory this process reads: the CPU, and host memory pinned for a GPU.
_HOST = (1, 3, 11)

#: Whole numbers beyond this are rounded by float64.
MOST_EXACT = 1 << 53


def plain(value: Any, name: str) -> NDArray[Any]:
    """One array of real numbers, in place where its memory allows.

    Errors: `TypeError` for what holds no real numbers, `dtwave.DeviceError` for what is not in the host's memory.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: fill it, or leave out what is masked")
    gone = None
    if isinstance(value, np.ndarray):
        array = np.asarray(value)
    elif hasattr(value, "__dlpack__"):
        array = _of_dlpack(value, name)
    else:
        refuse_others(value, name)
        try:
            if isinstance(value, (list, tuple)) and _hides(value):
                array, gone = _unmasked(value)
            else:
                array = value.to_numpy() if hasattr(value, "to_numpy") else np.asarray(value)
        except (ValueError, TypeError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            if any(word in reason for word in ("inhomogeneous", "sequence", "promoted")):
                reason = "its rows are of several lengths, or its entries are no numbers"
            raise TypeError(f"{name} is no array of numbers: {reason}") from None
    numbers = _real(array, name)
    return numbers if gone is None else with_gaps(numbers, gone.ravel(), name).reshape(gone.shape)


def _hides(value: Any) -> bool:
    """Whether a list has masked arrays, or masked values, among its items or in lists among them."""
    kinds = set(map(type, value))
    if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        return True
    nested = any(issubclass(kind, (list, tuple)) for kind in kinds)
    return nested and any(isinstance(item, (list, tuple)) and _hides(item) for item in value)


def _unmasked(value: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """What a list with masked arrays among its items does not hide, flat, and where of the whole it hides something.

    Errors: `ValueError` for items of several shapes.
    """
    parts: list[NDArray[Any]] = []
    masks: list[NDArray[np.bool_]] = []

    def shape_of(item: Any) -> tuple[int, ...]:
        if isinstance(item, (list, tuple)):
            shapes = [shape_of(each) for each in item]
            if len(set(shapes)) > 1:
                raise ValueError("inhomogeneous")
            return (len(item), *shapes[0]) if shapes else (0,)
        array = np.asarray(item)
        mask = np.broadcast_to(item.mask if isinstance(item, np.ma.MaskedArray) else False, array.shape).ravel()
        masks.append(mask)
        parts.append(array.ravel()[~mask])
        return array.shape

    shape = shape_of(value)
    # What is wholly masked has no say in the type of the others.
    there = [part for part in parts if part.size]
    return np.concatenate(there) if there else np.empty(0), np.concatenate(masks).reshape(shape)


def root_of(value: Any) -> str:
    """The package that a value's class is of, as in `"pandas"`."""
    return type(value).__module__.split(".")[0]


def refuse_others(value: Any, name: str) -> None:
    """Errors: `TypeError`, with what to call, for what holds numbers in another way than an array or a table does."""
    kind = type(value).__name__
    if value is None:
        raise TypeError(f"{name} is None: expected an array of real numbers")
    if isinstance(value, (str, bytes)):
        hint = f"; a measure is a keyword: measure={value!r}" if _is_measure(value) else ""
        raise TypeError(f"{name} is text, {value!r:.40}, and no array: expected real numbers, not strings{hint}")
    if hasattr(value, "_parameters") and hasattr(value, "key") and not isinstance(value, type):
        raise TypeError(f"{name} is a measure, {value!r}: expected real numbers; pass measure={value!r}")
    if callable(value) and not hasattr(value, "__array__"):
        raise TypeError(f"{name} is a function or a class ({value!r:.60}): expected real numbers")
    advice = None
    if root_of(value) == "scipy" and hasattr(value, "toarray"):
        advice = f"pass {name}.toarray()"
    elif isinstance(value, Mapping):
        advice = f"pass list({name}.values()), whose order is that of the keys"
    elif isinstance(value, (Set, KeysView)) and not isinstance(value, ValuesView):
        advice = "a set has no order: pass a list of series"
    elif isinstance(value, (Iterator, ValuesView, ItemsView)):
        advice = f"pass list({name})"
    elif root_of(value) == "polars" and hasattr(value, "collect"):
        advice = f"pass {name}.collect()"
    elif root_of(value).startswith("dask") and hasattr(value, "compute"):
        advice = f"pass {name}.compute()"
    elif hasattr(value, "toPandas"):
        advice = f"pass {name}.toPandas()"
    elif root_of(value) in ("pandas", "polars") and "GroupBy" in kind:
        advice = f"pass [part.to_numpy() for _, part in {name}], with the columns that you mean"
    if advice is not None:
        raise TypeError(f"{name} is a {kind}, no array or list of series: {advice}")


def _is_measure(value: str | bytes) -> bool:
    """Whether text is the key of a measure."""
    try:
        _native.Spec(str(value).replace("-", "_").lower(), {})
    except ValueError:
        return False
    return True


def of_objects(array: NDArray[Any], name: str) -> NDArray[Any] | None:
    """An array of objects that are numbers or missing (None, NaN, pandas' NA, what is masked) as numbers, what is
    missing as NaN; `None` for other objects.
    """
    flat = array.ravel().tolist()
    gone = np.array([each is None or type(each).__name__ in ("NAType", "MaskedConstant") for each in flat], dtype=bool)
    there = [each for each, is_gone in zip(flat, gone) if not is_gone]
    if not all(isinstance(each, (int, float, np.integer, np.floating)) for each in there):
        return None
    found = np.array(there) if there else np.empty(0)
    if found.dtype.kind not in "fiub":
        return None
    return with_gaps(found, gone, name).reshape(array.shape)


def with_gaps(there: NDArray[Any], gone: NDArray[np.bool_], name: str) -> NDArray[Any]:
    """Flat values with NaN where they are gone; `there` are those that are not. Without gaps their type stays.

    Errors: `ValueError` for whole numbers that would be rounded for the sake of NaN.
    """
    if there.dtype.kind == "b":
        there = there.astype(np.float64)
    if not gone.any():
        return there
    if there.dtype.kind in "iu" and there.size and max(abs(int(there.max())), abs(int(there.min()))) > MOST_EXACT:
        raise ValueError(
            f"{name} has whole numbers up to {there.max()} beside missing values, which float64 would round"
        )
    whole = np.full(gone.shape, np.nan, dtype=there.dtype if there.dtype.kind == "f" else np.float64)
    whole[~gone] = there
    return whole


#: How far a matrix of distances may be from symmetric, 0 on its diagonal and at least 0 elsewhere: a share of its
#: largest entry. Sums of squares of other orders differ by as much.
TOLERANCE = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-8}


def square(value: Any, name: str) -> NDArray[Any]:
    """A contiguous square matrix of distances, float32 or float64: finite, symmetric, not negative, 0 on its diagonal.

    Errors: `TypeError` for what holds no real numbers, `ValueError` for another shape, and for an entry that is none of
    a distance, which it names.
    """
    expected = f"{name} must be a square matrix of distances, as pairwise returns it"
    if isinstance(value, (list, tuple)) and len({np.shape(row) for row in value}) > 1:
        raise ValueError(f"{expected}, got rows of several lengths")
    matrix = plain(value, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{expected}, got {shape_text(matrix)}")
    small = matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 4
    found = np.require(matrix, np.float32 if small else np.float64, ["C", "A"])
    reach = check_entries(found, name)
    own = np.flatnonzero(np.abs(found.diagonal()) > reach)
    if len(own):
        at = int(own[0])
        raise ValueError(
            f"entry [{at}, {at}] of {name} is {found[at, at]}, where the distance of a series to itself is 0: {name} must be "
            "a matrix of distances; of a similarity s pass, for example, s.max() - s with a diagonal of 0"
        )
    # In stretches of rows: no copy of the matrix is made.
    for start in range(0, len(found), step := max(1, (1 << 20) // max(len(found), 1))):
        rows = found[start : start + step]
        apart = np.argwhere(np.abs(rows - found[:, start : start + step].T) > reach)
        if len(apart):
            i, j = int(apart[0][0]) + start, int(apart[0][1])
            raise ValueError(
                f"entries [{i}, {j}] and [{j}, {i}] of {name} are {found[i, j]} and {found[j, i]}, where distances are the "
                f"same both ways: pass a symmetric matrix, such as ({name} + {name}.T) / 2"
            )
    return found


def check_entries(matrix: NDArray[Any], name: str) -> float:
    """What counts as 0 among the entries, of float32 or float64.

    Errors: `ValueError` for one that is negative or not finite, which it names.
    """
    wrong = np.argwhere(~np.isfinite(matrix))
    if len(wrong):
        i, j = (int(index) for index in wrong[0])
        raise ValueError(f"entry [{i}, {j}] of {name} is {matrix[i, j]}: distances must be finite")
    reach = TOLERANCE[matrix.dtype] * float(np.abs(matrix).max(initial=0.0))
    wrong = np.argwhere(matrix < -reach)
    if len(wrong):
        i, j = (int(index) for index in wrong[0])
        raise ValueError(
            f"entry [{i}, {j}] of {name} is {matrix[i, j]}: distances must be 0 or more, so {name} is no matrix of distances; "
            "for a measure that may be negative, pass the series and the measure"
        )
    return reach


def _real(array: NDArray[Any], name: str) -> NDArray[Any]:
    kind = array.dtype.kind
    if kind in "fiu":
        return array
    if kind == "O" and array.ndim and array.size:
        numbers = of_objects(array, name)
        if numbers is not None:
            return numbers
    ragged = '; pass a list of arrays for series of different lengths, and NaN with padding="nan" for missing ends'
    what, advice = {
        "O": ("objects", ragged),
        "U": ("strings", ""),
        "S": ("strings", ""),
        "c": ("complex numbers", ""),
        "b": ("booleans", "; convert them with .astype(float)"),
        "M": ("dates", ""),
        "m": ("durations", ""),
    }.get(kind, (f"type {array.dtype}", ""))
    raise TypeError(f"{name} is an array of {what}: expected real numbers{advice}")


def is_rocm() -> bool:
    """Whether the PyTorch of this process is for AMD GPUs, which it calls `cuda` as well."""
    version = getattr(sys.modules.get("torch"), "version", None)
    return getattr(version, "hip", None) is not None


@lru_cache(maxsize=64)
def _of_torch(ordinal: int) -> str:
    return f"rocm:{ordinal}" if is_rocm() else f"cuda:{ordinal}"


def device_of(value: Any) -> str | None:
    """Where an array of another framework is, as in `"cuda:0"`; `None` for the host's memory."""
    if type(value) is np.ndarray or not hasattr(value, "__dlpack_device__"):
        return None
    if getattr(value, "is_cuda", False) is True:
        # PyTorch says it sooner than through DLPack.
        return _of_torch(value.get_device())
    try:
        kind, ordinal = value.__dlpack_device__()
    except ValueError as error:
        raise TypeError(f"a {type(value).__name__} has no values that can be read: {error}") from None
    if int(kind) in _HOST:
        return None
    name = {2: "cuda", 13: "cuda", 8: "metal", 10: "rocm", 14: "oneapi"}.get(int(kind), f"device {int(kind)}")
    return f"{name}:{int(ordinal)}"


def place(**values: Any) -> str | None:
    """Where all inputs are, as `device_of` says.

    Errors: `TypeError` for inputs on different devices.
    """
    places: dict[str, str | None] = {}
    for name, value in values.items():
        if value is None:
            continue
        if not isinstance(value, (list, tuple)):
            places[name] = device_of(value)
            continue
        found = {device_of(item) for item in value}
        if len(found) > 1:
            shown = ", ".join(sorted(place or "cpu" for place in found))
            raise TypeError(f"{name} holds series on different devices ({shown}): move them to one")
        places[name] = found.pop() if found else None
    if len(set(places.values())) > 1:
        shown = ", ".join(f"{name} is on {place or 'cpu'}" for name, place in places.items())
        raise TypeError(f"mixed devices: {shown}; move them to one")
    return next(iter(places.values()), None)


def same_device(**values: Any) -> None:
    """Refuses inputs that are not all in the host's memory.

    Errors: `TypeError` for inputs on different devices, `dtwave.DeviceError` for those on a GPU, which this function
    does not take.
    """
    found = place(**values)
    if found is not None:
        name = next(name for name, value in values.items() if value is not None)
        kind = found.split(":")[0]
        device = "hip" if kind == "rocm" else kind
        raise DeviceError(
            f"{name} is on {found}, and this function takes arrays in the host's memory only: pass {name}.cpu() (of CuPy "
            f'{name}.get()), with device="{device}" to compute there'
        )


def _of_dlpack(value: Any, name: str) -> NDArray[Any]:
    place = device_of(value)
    if place is not None:
        same_device(**{name: value})
    if getattr(value, "requires_grad", False):
        value = value.detach()
    if hasattr(value, "resolve_neg"):
        # PyTorch negates some views only when they are read, and exports the memory without a word.
        value = value.resolve_neg()
    if str(getattr(value, "dtype", None)) == "torch.bfloat16":
        # NumPy has no such numbers; float32 has all their values.
        value = value.float()
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(f"{name} ({type(value).__name__}) is no array that NumPy can read: {error}") from None


def shape_text(array: Any) -> str:
    """What an array is, for errors."""
    if isinstance(array, (list, tuple)):
        return "a list"
    return f"shape {list(array.shape)}" if array.shape else "a single number"
