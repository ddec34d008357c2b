"""The libraries whose arrays may be in a GPU's memory: what a call asks of PyTorch and of CuPy.

Neither is imported here. An array can only have come from a library that is imported already.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Sequence, Union

import numpy as np

from ._arrays import is_rocm
from ._native import DeviceError

#: The number types that kernels read, by the name that libraries give them.
_FORMATS = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}

#: Whole numbers, which become float64 first.
_WHOLE = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}


@dataclass
class View:
    """An array on a GPU: where it is and how it lies. Strides are counted in numbers."""

    array: Any
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    format: str


def _format(name: str, what: str) -> str:
    if name in _FORMATS:
        return _FORMATS[name]
    kinds = {"bool": "booleans", "complex64": "complex numbers", "complex128": "complex numbers"}
    raise TypeError(f"{what} is an array of {kinds.get(name, 'type ' + name)}: expected real numbers")


class Torch:
    """PyTorch's tensors: what a call asks of them. Everything happens on the library's current stream of the GPU."""

    name = "PyTorch"

    def __init__(self, torch: Any) -> None:
        if is_rocm():
            raise DeviceError(
                'the tensors are on an AMD GPU, where dtwave reads none: pass x.cpu(); device="hip" computes there on '
                "arrays in the host's memory"
            )
        self.torch = torch
        self.dtypes = {np.dtype(np.float32): torch.float32, np.dtype(np.float64): torch.float64}
        self.formats = {getattr(torch, name): short for name, short in _FORMATS.items()}
        self.strided, self.bytes = torch.strided, torch.uint8
        # Of fewer numbers the best are found by sorting all.
        self.few = 64
        self.devices = [torch.device("cuda", ordinal) for ordinal in range(torch.cuda.device_count())]
        # What current_stream asks, without the object around it.
        self.raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def view(self, array: Any, name: str) -> View:
        """The array, in place; whole numbers as float64.

        Errors: `TypeError` for what holds no real numbers.
        """
        if array.layout is not self.strided:
            raise TypeError(f"{name} is a {array.layout} tensor: pass {name}.to_dense()")
        if array.is_neg():
            # Negated only when it is read.
            array = array.resolve_neg()
        format = self.formats.get(array.dtype)
        if format is None:
            known = str(array.dtype).removeprefix("torch.")
            if known not in _WHOLE:
                _format(known, name)
            array, format = array.to(self.torch.float64), "f64"
        return View(array, array.data_ptr(), tuple(array.shape), array.stride(), format)

    def address(self, array: Any) -> int:
        """Where an array of the library's own is."""
        return int(array.data_ptr())

    def stream(self, ordinal: int) -> int:
        """The driver's handle of the current stream."""
        if self.raw_stream is not None:
            return int(self.raw_stream(ordinal))
        return int(self.torch.cuda.current_stream(ordinal).cuda_stream)

    def empty(self, shape: tuple[int, ...], number: np.dtype[Any], ordinal: int) -> Any:
        """An array for results."""
        return self.torch.empty(shape, dtype=self.dtypes[number], device=self.devices[ordinal])

    def lend(self, size: int, ordinal: int) -> tuple[int, Any]:
        """Memory of so many bytes from the library's pool: its address, and what keeps it."""
        block = self.torch.empty(size, dtype=self.bytes, device=self.devices[ordinal])
        return block.data_ptr(), block

    def packed(self, array: Any, number: np.dtype[Any]) -> Any:
        """The array in C order and of this number type: a copy unless it is so already."""
        return array.detach().to(self.dtypes[number]).contiguous()

    def joined(self, arrays: Sequence[Any]) -> Any:
        """The arrays, one after the other along the first axis."""
        return self.torch.cat([array.detach() for array in arrays])

    def smallest(self, matrix: Any, k: int, largest: bool) -> tuple[Any, Any]:
        """Indices and values of the k smallest (or largest) of each column, `[columns, k]`, equal ones in order."""
        torch, count = self.torch, matrix.shape[0]
        # A column in a row, which is read in one go.
        rows = matrix.T.contiguous()
        if count < max(self.few, 4 * k):
            found = torch.sort(rows, dim=1, descending=largest, stable=True)
            return found.indices[:, :k].contiguous(), found.values[:, :k].contiguous()
        # topk takes a third of the memory that sorting takes. It may choose any of the values that equal the last, so
        # the first of those are found by their indices. NaN equals NaN here, as in a sort. Nothing waits for the GPU.
        values, indices = torch.topk(rows, k, dim=1, largest=largest)
        last = values[:, -1:].clone()
        indices, order = torch.sort(indices, dim=1)
        values, order = torch.sort(values.gather(1, order), dim=1, descending=largest, stable=True)
        indices = indices.gather(1, order)
        numbers = torch.arange(count, dtype=torch.int32, device=rows.device)
        equal = torch.where((rows == last) | (rows.isnan() & last.isnan()), numbers, count)
        equal = torch.topk(equal, k, dim=1, largest=False).values.to(torch.int64)
        # Of each place, how many places before it are better than the last.
        is_better = (values > last if largest else values < last) | (values.isnan() != last.isnan())
        better = is_better.sum(dim=1, keepdim=True)
        places = torch.arange(k, device=rows.device)[None] - better
        return torch.where(places < 0, indices, equal.gather(1, places.clamp(min=0))), values

    def chosen(self, array: Any, places: Any) -> Any:
        """Of each row what is in these places of it."""
        return array.gather(1, places)

    def without_diagonal(self, matrix: Any, first_column: int, largest: bool) -> Any:
        """The matrix with what no neighbour is in places (i, i - first_column), changed in place."""
        self.torch.diagonal(matrix, -first_column).fill_(float("-inf" if largest else "inf"))
        return matrix

    def upper(self, matrix: Any) -> Any:
        """The upper triangle of a square matrix without its diagonal, row by row."""
        rows, columns = self.torch.triu_indices(*matrix.shape, 1, device=matrix.device)
        return matrix[rows, columns]

    def written(self, array: Any) -> None:
        """Says that an array of the caller's was written: a backward pass that has kept it then says so."""
        self.torch.autograd.graph.increment_version(array)

    def to_numpy(self, array: Any) -> Any:
        """A copy in the host's memory; waits for it."""
        array = array.detach().cpu()
        return (array.float() if array.dtype == self.torch.bfloat16 else array).numpy()


class CuPy:
    """CuPy's arrays, in the same words."""

    name = "CuPy"

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy

    def view(self, array: Any, name: str) -> View:
        known = str(array.dtype)
        if known in _WHOLE:
            with array.device:
                array, known = array.astype("float64"), "float64"
        format = _format(known, name)
        strides = tuple(stride // array.itemsize for stride in array.strides)
        return View(array, array.data.ptr, tuple(array.shape), strides, format)

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    def stream(self, ordinal: int) -> int:
        with self.cupy.cuda.Device(ordinal):
            return int(self.cupy.cuda.get_current_stream().ptr)

    def empty(self, shape: tuple[int, ...], number: np.dtype[Any], ordinal: int) -> Any:
        with self.cupy.cuda.Device(ordinal):
            return self.cupy.empty(shape, dtype=number)

    def lend(self, size: int, ordinal: int) -> tuple[int, Any]:
        with self.cupy.cuda.Device(ordinal):
            block = self.cupy.cuda.alloc(size)
        return block.ptr, block

    def packed(self, array: Any, number: np.dtype[Any]) -> Any:
        with array.device:
            return self.cupy.ascontiguousarray(array, dtype=number)

    def joined(self, arrays: Sequence[Any]) -> Any:
        with arrays[0].device:
            return self.cupy.concatenate(arrays)

    def smallest(self, matrix: Any, k: int, largest: bool) -> tuple[Any, Any]:
        cupy = self.cupy
        with matrix.device:
            # CuPy's sort keeps the order of equal values.
            order = cupy.argsort(-matrix if largest else matrix, axis=0)[:k]
            values = cupy.take_along_axis(matrix, order, axis=0)
            return cupy.ascontiguousarray(order.T), cupy.ascontiguousarray(values.T)

    def chosen(self, array: Any, places: Any) -> Any:
        with array.device:
            return self.cupy.take_along_axis(array, places, axis=1)

    def without_diagonal(self, matrix: Any, first_column: int, largest: bool) -> Any:
        with matrix.device:
            columns = self.cupy.arange(matrix.shape[1])
            matrix[columns + first_column, columns] = float("-inf" if largest else "inf")
        return matrix

    def upper(self, matrix: Any) -> Any:
        with matrix.device:
            rows, columns = self.cupy.triu_indices(matrix.shape[0], 1)
            return matrix[rows, columns]

    def written(self, array: Any) -> None:
        pass

    def to_numpy(self, array: Any) -> Any:
        with array.device:
            return self.cupy.asnumpy(array)


Library = Union[Torch, CuPy]

#: By name, and by the type of an array.
_MADE: dict[str, Library] = {}
_OF_TYPE: dict[type, Library] = {}


def library_of(value: Any, name: str) -> Library:
    """The library of an array on a GPU.

    Errors: `dtwave.DeviceError` for one that dtwave does not know, with what to do.
    """
    known = _OF_TYPE.get(type(value))
    if known is not None:
        return known
    # A subclass is of the library of its class: torch.nn.Parameter is a tensor.
    roots = {base.__module__.split(".")[0] for base in type(value).__mro__}
    for root, make in (("torch", Torch), ("cupy", CuPy)):
        if root in roots and root in sys.modules:
            if root not in _MADE:
                _MADE[root] = make(sys.modules[root])
            _OF_TYPE[type(value)] = _MADE[root]
            return _MADE[root]
    raise DeviceError(
        f"{name} is a {type(value).__module__}.{type(value).__qualname__} on a GPU, where dtwave takes PyTorch's tensors and "
        f"CuPy's arrays: pass torch.from_dlpack({name}) or cupy.from_dlpack({name}), which copy nothing"
    )
