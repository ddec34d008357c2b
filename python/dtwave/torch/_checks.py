"""Arguments that several functions take: checked, and as the operators take them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

__all__ = ["check_no_tangent", "check_normalize", "check_numbers", "checked_gamma", "whole_lengths"]


def check_numbers(name: str, values: object) -> None:
    """Errors: `TypeError` for what is no tensor, or not of floating point."""
    if not isinstance(values, Tensor):
        raise TypeError(f"{name} must be a torch tensor, not {type(values).__name__}")
    if not values.is_floating_point():
        instead = f"{name}.real" if values.is_complex() else f"{name}.float()"
        raise TypeError(f"{name} must be of floating point, not {values.dtype}: pass {instead}")
    if values.is_nested:
        raise TypeError(f"{name} is a nested tensor: pass {name}.to_padded_tensor(0.0) and the lengths")
    if values.layout is not torch.strided:
        raise TypeError(f"{name} is a {values.layout} tensor: pass {name}.to_dense()")


def checked_gamma(gamma: float) -> float:
    if isinstance(gamma, bool) or not isinstance(gamma, (int, float, np.integer, np.floating)):
        raise TypeError(f"gamma must be a number, not {type(gamma).__name__}")
    if not 0 < gamma < math.inf:
        raise ValueError(f"gamma must be above 0 and finite, not {gamma}")
    return float(gamma)


def check_normalize(normalize: bool) -> None:
    if not isinstance(normalize, bool):
        raise TypeError(f"normalize must be True or False, not {normalize!r}")


def whole_lengths(name: str, lengths: Tensor | Sequence[int], series: Tensor) -> Tensor:
    """Lengths as the operator takes them: whole numbers, one per series. Their range is checked with the series."""
    try:
        given = torch.as_tensor(lengths)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be whole numbers, one per series, got {lengths!r:.80}") from None
    if given.numel() == 0 and not isinstance(lengths, Tensor):
        given = given.long()
    if given.dtype.is_floating_point or given.dtype.is_complex or given.dtype == torch.bool:
        raise TypeError(f"{name} must be whole numbers, not {given.dtype}")
    if tuple(given.shape) != (series.shape[0],):
        raise ValueError(f"{name} must have shape ({series.shape[0]},), one per series, not {tuple(given.shape)}")
    # A GPU's kernels are told of lengths by the host: those that are there stay there.
    return given.to(torch.int64) if series.is_cuda else given.to(series.device, torch.int64)


def check_no_tangent(*series: Tensor) -> None:
    """Refuses derivatives by `torch.func`, which take another way than the backward pass, and those of forward mode,
    which PyTorch would take for 0.
    """
    # Compilers do not look for either.
    if torch.compiler.is_compiling():
        return
    transform = torch._C._functorch.peek_interpreter_stack()
    if transform is not None and transform.key() == torch._C._functorch.TransformType.Grad:
        raise NotImplementedError(
            "dtwave.torch does not run under torch.func.grad, vjp, jacrev and hessian: use the backward pass"
            " (loss.backward(), torch.autograd.grad)"
        )
    # A level is open only within `dual_level`, `torch.func.jvp` and the like.
    if forward_ad._current_level < 0:
        return
    unpack: Any = forward_ad.unpack_dual
    if any(unpack(each).tangent is not None for each in series):
        raise NotImplementedError(
            "dtwave.torch has no forward-mode derivatives, such as those of torch.func.jvp: use the backward pass"
            " (torch.autograd.grad), or detach() what is not to be differentiated"
        )
