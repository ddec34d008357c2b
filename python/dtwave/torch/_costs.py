"""Soft-DTW of matrices of costs: `soft_dtw_from_costs`, and the operator `dtwave::soft_dtw_of_costs` behind it.

    soft_dtw_of_costs(costs, lengths_x, lengths_y, gamma, band, wants) -> values [batch], unit

`costs` is `[batch, n, m]`, `band` a band's text (`_bands.py`). `unit` is the gradient of the values, in the shape of
`costs`, or empty if it is not wanted; as in `_operators.py`, the backward pass is one multiplication by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from dtwave import Band, DeviceError, _native

from . import _cuda, _operators
from ._bands import from_text, to_text
from ._checks import check_no_tangent, check_numbers, checked_gamma, whole_lengths

__all__ = ["soft_dtw_from_costs"]

torch.library.define(
    "dtwave::soft_dtw_of_costs",
    "(Tensor costs, Tensor? lengths_x, Tensor? lengths_y, float gamma, str band, bool wants) -> (Tensor, Tensor)",
    tags=(torch.Tag.pt2_compliant_tag,),
)


def soft_dtw_from_costs(
    costs: Tensor,
    *,
    gamma: float = 1.0,
    bandwidth: Band = None,
    lengths_x: Tensor | Sequence[int] | None = None,
    lengths_y: Tensor | Sequence[int] | None = None,
) -> Tensor:
    """Soft-DTW of pairs whose costs you have computed yourself, differentiable by the costs.

    costs: `[batch, n, m]`, on the CPU or on an NVIDIA GPU, of any strides: what it costs to match point `i` of the
        first series with point `j` of the second, of any sign. Such as `torch.cdist(x, y, p=1)`.
    gamma: how smooth the minimum is, above 0, in units of the costs.
    bandwidth: as for `soft_dtw`. Costs outside of the band are not read, and their gradient is 0.
    lengths_x, lengths_y: how many rows and columns of each matrix count, `[batch]` of whole numbers from 1 to `n` or
        `m`. Other costs are not read, and their gradient is 0. For costs on a GPU, lengths on the CPU are better, as
        for `soft_dtw`.

    Returns `[batch]`, of the type of `costs`, or `float32` for half precision. The gradient is the expected alignment:
    how much of all paths' weight passes through each cell; where a value is not finite, it is NaN. There is no second
    derivative.

    Time: `O(batch * n * m)`, on the CPU on `torch.get_num_threads()` threads. The gradient is computed together with
    the values, and takes as much memory as the costs; on a GPU also scratch of some `n * m / 16` numbers for each pair
    under way. `soft_dtw` needs neither matrix: prefer it where its costs will do.

    Streams and graphs of a GPU, and errors: as `soft_dtw`. Cuturi & Blondel 2017, arXiv 1703.01541.
    """
    check_numbers("costs", costs)
    if costs.ndim != 3:
        raise ValueError(
            f"costs must be [batch, n, m], not of shape {tuple(costs.shape)}: costs[None] is a batch of one pair"
        )
    if costs.shape[1] == 0 or costs.shape[2] == 0:
        raise ValueError(f"costs has shape {tuple(costs.shape)}: a pair needs a row and a column")
    if costs.device.type not in ("cpu", "cuda", "meta"):
        raise DeviceError(
            f"soft_dtw_from_costs computes on the CPU and on NVIDIA GPUs, and costs is on {costs.device}: pass"
            " costs.cpu() (the gradient flows back through the copy)"
        )
    check_no_tangent(costs)
    values, _ = torch.ops.dtwave.soft_dtw_of_costs(
        costs.to(torch.promote_types(costs.dtype, torch.float32)),
        None if lengths_x is None else whole_lengths("lengths_x", lengths_x, costs),
        None if lengths_y is None else whole_lengths("lengths_y", lengths_y, costs),
        checked_gamma(gamma),
        to_text(bandwidth),
        torch.is_grad_enabled() and costs.requires_grad,
    )
    result: Tensor = values
    return result


def _on_cpu(*inputs: Any) -> tuple[Tensor, Tensor]:
    costs, lengths_x, lengths_y, gamma, band, wants = inputs
    if costs.shape[0] == 0:
        return _fake(*inputs)
    values, unit = _native.soft_dtw_of_costs(
        costs.detach().contiguous().numpy(),
        gamma=gamma,
        band=from_text(band),
        lengths_x=_operators.numbers(lengths_x),
        lengths_y=_operators.numbers(lengths_y),
        threads=torch.get_num_threads(),
        gradients=wants,
    )
    return torch.from_numpy(values), costs.new_empty(0) if unit is None else torch.from_numpy(unit)


def _on_cuda(*inputs: Any) -> tuple[Tensor, Tensor]:
    costs, lengths_x, lengths_y, gamma, band, wants = inputs
    if costs.shape[0] == 0:
        return _fake(*inputs)
    values, unit = _cuda.soft_dtw_of_costs(costs, lengths_x, lengths_y, _operators.spec_of(gamma, band), wants)
    return values, costs.new_empty(0) if unit is None else unit


def _fake(*inputs: Any) -> tuple[Tensor, Tensor]:
    costs, *_, wants = inputs
    return costs.new_empty(costs.shape[0]), costs.new_empty(costs.shape if wants else (0,))


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    costs, *_, wants = inputs
    values, unit = output
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(unit)
    ctx.save_for_backward(*((values, unit, costs) if wants else (None, None, None)))


def _backward(ctx: Any, upstream: Tensor | None, *_: object) -> tuple[Tensor | None, ...]:
    values, unit, costs = ctx.saved_tensors
    if upstream is None:
        return (None,) * 6
    if unit is None:
        raise RuntimeError(
            "the gradient of costs was not asked for: call dtwave.torch.soft_dtw_from_costs, which asks for it if costs"
            " requires one"
        )
    if torch.is_grad_enabled():
        # The backward pass is itself recorded, so this gradient may be differentiated by `upstream`.
        unit = torch.ops.dtwave.differentiated_once(unit, costs)
    return (_operators.not_silent(upstream, values)[:, None, None] * unit, None, None, None, None, None)


_operators.register("soft_dtw_of_costs", _on_cpu, _on_cuda, _fake, _backward, _remember, "[batch, n, m]")
