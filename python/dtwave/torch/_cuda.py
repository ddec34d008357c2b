"""Soft-DTW and its gradients on an NVIDIA GPU: tensors are read and written there, on PyTorch's current stream.

A call waits for nothing, and its scratch comes from PyTorch's caching allocator. So it may be recorded into a CUDA
graph, after one like call that is not recorded. Values are not looked at.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dtwave import _libraries, _native, _options, _resident

__all__ = ["soft_dtw", "soft_dtw_of_costs"]

_NUMBERS: dict[Any, np.dtype[Any]] = {torch.float32: np.dtype(np.float32), torch.float64: np.dtype(np.float64)}


@lru_cache(maxsize=16)
def _limit(ordinal: int) -> int:
    """Bytes of scratch: an eighth of the GPU's memory. It is only taken where the pairs need it."""
    whole: int = torch.cuda.get_device_properties(ordinal).total_memory
    return max(_options.DEFAULT_MEMORY_LIMIT, whole // 8)


def _counted(name: str, lengths: Tensor | None, most: int) -> list[int] | None:
    """Lengths as the native half takes them; those on a GPU come here, which waits for them."""
    counted: list[int] | None = None if lengths is None else lengths.tolist()
    for s, length in enumerate(counted or ()):
        if not 1 <= length <= most:
            raise ValueError(f"the length of series {s} of {name} must be from 1 to {most}, got {length}")
    return counted


def _batch(name: str, series: Tensor, lengths: Tensor | None) -> _resident.Batch:
    view = _libraries.library_of(series, name).view(series, name)
    return _resident.Batch(view, name, _counted(name, lengths, series.shape[1]))


def soft_dtw(
    series: tuple[Tensor, Tensor],
    lengths: tuple[Tensor | None, Tensor | None],
    spec: _native.Spec,
    divergence: _native.Spec | None,
    wants: tuple[bool, bool],
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Values `[batch]` and the gradients that are wanted, in the shapes of the series, 0 at padding.

    `spec` is Soft-DTW; `divergence`, its divergence with the same parameters, if the values are to be of that.
    """
    # Kernels of gradients read packed series; padded ones begin at points, whatever the strides.
    x, y = (each.detach().contiguous() for each in series)
    ordinal = x.get_device()
    library = _libraries.library_of(x, "x")
    gpu = _resident.gpu_of(ordinal, _limit(ordinal))
    a, b = _batch("x", x, lengths[0]), _batch("y", y, lengths[1])

    def call(spec: _native.Spec) -> _resident.Call:
        return _resident.Call(library, ordinal, gpu, spec, _NUMBERS[x.dtype], [a, b])

    values = x.new_empty(x.shape[0])
    if divergence is not None or not any(wants):
        call(divergence or spec).distances([a, b], "zipped", values)
    if not any(wants):
        return values, None, None
    soft = call(spec)
    # Of a divergence, the values are there already.
    found = _gradients(soft, (x, y), (a, b), values if divergence is None else torch.empty_like(values))
    if divergence is None:
        return values, *found
    # Less half of the distance of each series to itself.
    for wanted, gradient, own, side in zip(wants, found, (x, y), (a, b)):
        if wanted:
            left, right = _gradients(soft, (own, own), (side, side), torch.empty_like(values))
            gradient.sub_(left.add_(right), alpha=0.5)
    return values, *found


def _gradients(
    call: _resident.Call, series: tuple[Tensor, Tensor], sides: tuple[_resident.Batch, _resident.Batch], values: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradients of Soft-DTW to both sides; puts its values into `values`."""
    to_x, to_y = (
        torch.empty_like(each) if side.lengths is None else torch.zeros_like(each) for each, side in zip(series, sides)
    )
    call.gpu.gradients(
        *(call.side(side) for side in sides),
        call.spec,
        values.dtype == torch.float64,
        call.library.stream(call.ordinal),
        (values.data_ptr(), to_x.data_ptr(), to_y.data_ptr()),
        call.lend,
    )
    return to_x, to_y


@lru_cache(maxsize=64)
def _keeps_digits(gpu: Any, spec: _native.Spec, sizes: frozenset[tuple[int, int]]) -> bool:
    """Whether values of matrices of these sizes keep their digits in `float32`, however large gamma is."""
    keeps: bool = gpu.costs_keep_digits(spec, sorted(sizes))
    return keeps


def soft_dtw_of_costs(
    costs: Tensor,
    lengths_x: Tensor | None,
    lengths_y: Tensor | None,
    spec: _native.Spec,
    wants: bool,
) -> tuple[Tensor, Tensor | None]:
    """Values `[batch]` and, if it is wanted, the gradient to the costs, 0 where they do not count."""
    count, n, m = costs.shape
    lengths = _counted("x", lengths_x, n), _counted("y", lengths_y, m)
    sizes = {(n, m)} if lengths == (None, None) else zip(lengths[0] or [n] * count, lengths[1] or [m] * count)
    ordinal = costs.get_device()
    gpu = _resident.gpu_of(ordinal, _limit(ordinal))
    if costs.dtype == torch.float32 and not _keeps_digits(gpu, spec, frozenset(sizes)):
        # A pair has so few paths that roundings, of the size of gamma, might show beside its costs.
        values, unit = _of_costs(gpu, costs.detach().double(), lengths, spec, wants)
        return values.float(), None if unit is None else unit.float()
    return _of_costs(gpu, costs.detach(), lengths, spec, wants)


def _of_costs(
    gpu: Any,
    costs: Tensor,
    lengths: tuple[list[int] | None, list[int] | None],
    spec: _native.Spec,
    wants: bool,
) -> tuple[Tensor, Tensor | None]:
    ordinal = costs.get_device()
    library = _libraries.library_of(costs, "costs")
    view = library.view(costs, "costs")
    values = costs.new_empty(costs.shape[0])
    unit = costs.new_empty(costs.shape) if wants else None
    gpu.cost_gradients(
        (view.address, view.shape, view.strides),
        *lengths,
        spec,
        costs.dtype == torch.float64,
        library.stream(ordinal),
        (values.data_ptr(), 0 if unit is None else unit.data_ptr()),
        partial(library.lend, ordinal=ordinal),
    )
    return values, unit
