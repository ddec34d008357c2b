"""The operators that PyTorch knows: `dtwave::soft_dtw`, and `dtwave::differentiated_once` for its backward pass.

    soft_dtw(x, y, lengths_x, lengths_y, gamma, spec, wants) -> values [batch], unit_x, unit_y

Series are `[batch, length, channels]`, contiguous or not. `spec` is the text of a band (`_bands.py`), after
`"divergence "` where that is what is wanted, and then after the local cost and a space, where it is not the squared
Euclidean one. `wants` is `WANTS_X`, `WANTS_Y`, their sum or 0. `unit_x` and `unit_y` are
the gradients of the values, computed with the values while the series are at hand; those not wanted are empty. The
value of a pair depends on its own series alone, so the backward pass is one multiplication: the gradient of a loss is
`upstream[pair] * unit[pair]`, or NaN for a pair whose value is not finite.

The operators are defined with `torch.library.define` and not with `torch.library.custom_op`: both work under
`torch.compile`, and a call of the first takes less time (benchmarks/python/overhead.py). Where a gradient is recorded,
PyTorch walks over the arguments in Python, in a time that grows with the square of their number: 9 of them, with three
booleans, took 6 us longer than these 7. What people call is in `_loss.py`, which also checks the arguments.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from dtwave import DeviceError, _native, _options

from . import _cuda
from ._bands import from_text

__all__ = [
    "COSTS",
    "not_silent",
    "DIVERGENCE",
    "WANTS_X",
    "WANTS_Y",
    "Given",
    "is_watched",
    "no_device",
    "numbers",
    "soft_dtw",
]

#: What comes before the band in the spec of a divergence.
DIVERGENCE = "divergence "

#: What comes before the band in the spec of another local cost than the squared Euclidean one.
COSTS = {"squared_euclidean": "", "euclidean": "euclidean ", "manhattan": "manhattan "}

#: Bits of what a gradient is wanted of.
WANTS_X, WANTS_Y = 1, 2

torch.library.define(
    "dtwave::soft_dtw",
    "(Tensor x, Tensor y, Tensor? lengths_x, Tensor? lengths_y, float gamma, str spec, int wants)"
    " -> (Tensor, Tensor, Tensor)",
    tags=(torch.Tag.pt2_compliant_tag,),
)
# A copy of `unit`, which depends on `series` in a way that cannot be differentiated.
torch.library.define(
    "dtwave::differentiated_once",
    "(Tensor unit, Tensor series) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)


class Given(NamedTuple):
    """The arguments of `soft_dtw`."""

    x: Tensor
    y: Tensor
    lengths_x: Tensor | None
    lengths_y: Tensor | None
    gamma: float
    spec: str
    wants: int


@lru_cache(maxsize=64)
def spec_of(gamma: float, text: str) -> _native.Spec:
    """The measure that an operator's `spec` describes, as the library takes it."""
    key = "soft_dtw_divergence" if text.startswith(DIVERGENCE) else "soft_dtw"
    text = text.removeprefix(DIVERGENCE)
    cost = next((cost for cost, prefix in COSTS.items() if prefix and text.startswith(prefix)), "squared_euclidean")
    return _native.Spec(key, {"gamma": gamma, "cost": cost}, from_text(text.removeprefix(COSTS[cost])))


def no_device(device: torch.device) -> DeviceError:
    """The error for tensors on a device that Soft-DTW does not compute on."""
    return DeviceError(
        f"dtwave.torch computes Soft-DTW and its gradients on the CPU and on NVIDIA GPUs, and the tensors are on {device}:"
        " pass x.cpu() and y.cpu() (the gradients flow back through these copies)"
    )


def numbers(lengths: Tensor | None) -> Any:
    """Lengths as the library takes them."""
    return None if lengths is None else lengths.contiguous().numpy()


def soft_dtw(given: Given) -> Tensor:
    """Values, whose backward pass gives the gradients that are wanted.

    The operator is for those who look at operators: compilers, and modes that change what a call does. Its dispatch in
    Python takes several times as long as the rest of a short call, so where nobody looks the work is done without it.
    """
    if is_watched(given.x, given.y):
        values: Tensor = torch.ops.dtwave.soft_dtw(*given)[0]
        return values
    if given.wants == 0:
        return _computed(*given)[0]
    values = _SoftDTW.apply(*given)
    return values


def is_watched(*series: Tensor) -> bool:
    """Whether anybody would miss the operator: a compiler, a transform, a mode, a kind of tensor of its own."""
    return (
        any(type(each) not in (Tensor, torch.nn.Parameter) or not (each.is_cuda or each.is_cpu) for each in series)
        or torch.compiler.is_compiling()
        or torch._C._get_tracing_state() is not None
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._functorch.peek_interpreter_stack() is not None
    )


class _SoftDTW(torch.autograd.Function):
    """The operator's work and its backward pass, without the operator."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        output = _computed(*inputs)
        _remember(ctx, inputs, output)
        return output[0]

    @staticmethod
    def backward(ctx: Any, upstream: Tensor | None) -> tuple[Tensor | None, ...]:
        return _backward(ctx, upstream)


def _computed(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    return _on_cuda(*inputs) if inputs[0].is_cuda else _on_cpu(*inputs)


def _on_cpu(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    x, y, lengths_x, lengths_y, gamma, spec, wants = Given(*inputs)
    if x.shape[0] == 0:
        return _fake(*inputs)
    # A contiguous tensor is not copied here, and its memory is what the library reads.
    values, unit_x, unit_y = _native.soft_dtw(
        x.detach().contiguous().numpy(),
        y.detach().contiguous().numpy(),
        spec_of(gamma, spec),
        _options.engine(_options.Given(threads=torch.get_num_threads())),
        lengths_x=numbers(lengths_x),
        lengths_y=numbers(lengths_y),
        gradients=wants != 0,
    )
    return (
        torch.from_numpy(values),
        torch.from_numpy(unit_x) if wants & WANTS_X else x.new_empty(0),
        torch.from_numpy(unit_y) if wants & WANTS_Y else y.new_empty(0),
    )


def _on_cuda(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    x, y, lengths_x, lengths_y, gamma, spec, wants = Given(*inputs)
    if x.shape[0] == 0:
        return _fake(*inputs)
    plain = spec_of(gamma, spec.removeprefix(DIVERGENCE))
    divergence = spec_of(gamma, spec) if spec.startswith(DIVERGENCE) else None
    wanted = bool(wants & WANTS_X), bool(wants & WANTS_Y)
    values, unit_x, unit_y = _cuda.soft_dtw((x, y), (lengths_x, lengths_y), plain, divergence, wanted)
    return (
        values,
        unit_x if unit_x is not None and wants & WANTS_X else x.new_empty(0),
        unit_y if unit_y is not None and wants & WANTS_Y else y.new_empty(0),
    )


def _fake(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    x, y, *_, wants = inputs
    return (
        x.new_empty(x.shape[0]),
        x.new_empty(x.shape if wants & WANTS_X else (0,)),
        y.new_empty(y.shape if wants & WANTS_Y else (0,)),
    )


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    x, y, *_, wants = inputs
    values, unit_x, unit_y = output
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(
        values, *((unit_x, x) if wants & WANTS_X else (None, None)), *((unit_y, y) if wants & WANTS_Y else (None, None))
    )


def _backward(ctx: Any, upstream: Tensor | None, *_: object) -> tuple[Tensor | None, ...]:
    values, unit_x, x, unit_y, y = ctx.saved_tensors
    gradients: list[Tensor | None] = [None, None]
    if upstream is not None:
        upstream = not_silent(upstream, values)
    for place, (unit, series) in enumerate(((unit_x, x), (unit_y, y))):
        if upstream is None or not ctx.needs_input_grad[place]:
            continue
        if unit is None:
            raise RuntimeError(
                f"the gradient of {'xy'[place]} was not asked for: call dtwave.torch.soft_dtw, which asks for those of"
                " the tensors that require one"
            )
        if torch.is_grad_enabled():
            # The backward pass is itself recorded, so this gradient may be differentiated by `upstream`.
            unit = torch.ops.dtwave.differentiated_once(unit, series)
        gradients[place] = upstream.reshape(-1, 1, 1) * unit
    return (*gradients, None, None, None, None, None)


def not_silent(upstream: Tensor, values: Tensor) -> Tensor:
    """What comes from above, `[batch]`, with NaN for pairs whose value is not finite: where a cost overflowed, paths have
    no weights, and a gradient of 0 would end a training without a word.
    """
    return torch.where(torch.isfinite(values.detach()), upstream, math.nan)


def _copy(unit: Tensor, series: Tensor) -> Tensor:
    return unit.clone()


def _refuse_second_derivative(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    raise RuntimeError(
        "Soft-DTW has no second derivative in dtwave.torch: leave create_graph=True out, or detach() the gradients"
        " of the loss that something else is computed from"
    )


def _remember_all(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    ctx.mark_non_differentiable(*output[1:])
    _remember(ctx, inputs, output)


def register(name: str, on_cpu: Any, on_cuda: Any, fake: Any, backward: Any, remember: Any, takes: str) -> None:
    """Tells PyTorch what the operator of a function of ours does; `takes` are the axes that the function takes."""

    def refuse_vmap(*_: object) -> Any:
        function = {"soft_dtw_of_costs": "soft_dtw_from_costs"}.get(name, name)
        raise NotImplementedError(
            f"dtwave.torch.{function} takes a batch, and does not run under torch.vmap: pass {takes}"
        )

    operator = f"dtwave::{name}"
    torch.library.impl(operator, "cpu")(on_cpu)
    torch.library.impl(operator, "cuda")(on_cuda)
    torch.library.register_fake(operator)(fake)
    torch.library.register_autograd(operator, backward, setup_context=remember)
    torch.library.register_vmap(operator, refuse_vmap)


register("soft_dtw", _on_cpu, _on_cuda, _fake, _backward, _remember_all, "[batch, length, channels]")
torch.library.impl("dtwave::differentiated_once", "CompositeExplicitAutograd")(_copy)
torch.library.register_autograd("dtwave::differentiated_once", _refuse_second_derivative)
