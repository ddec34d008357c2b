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
        raise TypeError(f"{name} must be of floating point, not {values.dtype}: pass {name}.float()")


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
    given = torch.as_tensor(lengths)
    if given.numel() == 0 and not isinstance(lengths, Tensor):
        given = given.long()
    if given.dtype.is_floating_point or given.dtype.is_complex or given.dtype == torch.bool:
        raise TypeError(f"{name} must be whole numbers, not {given.dtype}")
    if tuple(given.shape) != (series.shape[0],):
        raise ValueError(f"{name} must have shape ({series.shape[0]},), one per series, not {tuple(given.shape)}")
    # A GPU's kernels are told of lengths by the host: those that are there stay there.
    return given.to(torch.int64) if series.is_cuda else given.to(series.device, torch.int64)


def check_no_tangent(*series: Tensor) -> None:
    """Refuses forward-mode derivatives, which PyTorch would take for 0."""
    # A level is open only within `dual_level`, `torch.func.jvp` and the like. Compilers do not look for one.
    if torch.compiler.is_compiling() or forward_ad._current_level < 0:
        return
    unpack: Any = forward_ad.unpack_dual
    if any(unpack(each).tangent is not None for each in series):
        raise NotImplementedError(
            "dtwave.torch has no forward-mode derivatives, such as those of torch.func.jvp: use the backward pass"
            " (torch.autograd.grad), or detach() what is not to be differentiated"
        )
