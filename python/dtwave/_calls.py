"""What every function does before its own work: options and series become what the native half takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _inputs, _native, _options
from ._bands import Band
from ._inputs import Batch, Layout, Packed, Padding
from ._measure import Measure
from ._options import DeviceLike
from ._spec import spec


@dataclass
class Call:
    """What to compute, where, and of what."""

    spec: _native.Spec
    engine: _native.Engine
    number: np.dtype[Any]
    packed: list[Packed]

    def empty(self, what: str, *shape: int) -> NDArray[Any]:
        """An array for results.

        Errors: `MemoryError` if the machine cannot give as much.
        """
        try:
            return np.empty(shape, dtype=self.number)
        except (MemoryError, ValueError):
            size = prod(shape) * self.number.itemsize
            raise MemoryError(
                f"out of memory: {what} needs {size} bytes, more than there is; pairwise with out=PATH writes it to a file"
            ) from None


def afford(size: int, what: str) -> None:
    """Errors: `MemoryError` if the machine cannot give as many bytes."""
    try:
        np.empty(size, dtype=np.uint8)
    except (MemoryError, ValueError):
        raise MemoryError(f"out of memory: {what} needs {size} bytes, more than there is") from None


def prepared(
    batches: list[Batch],
    measure: str | Measure,
    band: Band,
    device: DeviceLike,
    dtype: Any,
    threads: int | None,
    memory_limit: int | None,
    parameters: dict[str, Any],
    options: tuple[str, ...] = (),
) -> Call:
    """What a call computes; `options` are those that the other functions do not have.

    Errors: those of bad options, and of values that a number type cannot hold."""
    what = spec(measure, band, parameters, options)
    engine = _options.engine(device, threads, memory_limit)
    number = _inputs.number_type(batches, _options.number_type(dtype))
    return Call(what, engine, number, [_inputs.pack(batch, number) for batch in batches])


def one(x: Any, layout: Layout, lengths: Any, padding: Padding, times: Any = None) -> Batch:
    """The batch of a call of one argument."""
    _inputs.same_device(x=x)
    return _inputs.many(x, "x", layout, lengths, padding, times)


def two(
    x: Any, y: Any, layout: Layout, lengths: Any, padding: Padding, times: Any = None
) -> tuple[Batch, Batch]:
    """The batches of a call of two; lengths and times are tuples of those of x and those of y."""
    _inputs.same_device(x=x, y=y)
    lengths_x, lengths_y = each("lengths", lengths)
    times_x, times_y = each("times", times)
    return (
        _inputs.many(x, "x", layout, lengths_x, padding, times_x),
        _inputs.many(y, "y", layout, lengths_y, padding, times_y),
    )


def both(x: Any, y: Any, lengths: Any, times: Any) -> list[tuple[str, Any, Any, Any]]:
    """The arguments of a call of two or, without `y`, of one, each with its name, its lengths and its times."""
    if y is None:
        return [("x", x, lengths, times)]
    lengths_x, lengths_y = each("lengths", lengths)
    times_x, times_y = each("times", times)
    return [("x", x, lengths_x, times_x), ("y", y, lengths_y, times_y)]


def each(name: str, values: Any) -> tuple[Any, Any]:
    """An option of both arguments.

    Errors: `TypeError` if it is no tuple of two.
    """
    if values is None:
        return None, None
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        raise TypeError(f"{name} must be a tuple of two: the {name} of x and those of y")
    return values[0], values[1]
