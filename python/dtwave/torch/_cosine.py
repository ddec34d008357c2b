"""The cosine cost as a squared Euclidean one: `1 - cos(a, b) = |a/|a| - b/|b||^2 / 2`, at no more than the cost of that.

So the points are divided by their length and by the root of 2. PyTorch differentiates the division. What two points of
nearly the same direction cost is computed without cancellation.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from . import _operators

__all__ = ["halved_directions"]


def halved_directions(series: Tensor, lengths: Tensor | None, name: str) -> Tensor:
    """Points `[batch, length, channels]` of length `1/sqrt(2)` and the same directions; padding is 0 and gets no
    gradient. `lengths`, `[batch]`, says how many points count.

    A point that is zero becomes NaN. On the CPU it is a `ValueError`; where values cannot be looked at, as under
    `torch.compile`, the operator refuses the NaN.
    """
    if lengths is not None:
        counts = torch.arange(series.shape[1], device=series.device) < lengths.to(series.device)[:, None]
        series = torch.where(counts[..., None], series, 0.0)
    # A direction does not depend on the size, so neither does its derivative; squares of sizes may overflow.
    size = series.detach().abs().amax(2, keepdim=True)
    if lengths is not None:
        size = torch.where(counts[..., None], size, 1.0)
    if series.is_cpu and not _operators.is_watched(series) and not size.all():
        s, point, _ = (size == 0).nonzero()[0].tolist()
        raise ValueError(f"point {point} of series {s} of {name} is zero, and dist='cosine' needs its direction")
    scaled = series / size
    norm = torch.linalg.vector_norm(scaled, dim=2, keepdim=True)
    if lengths is not None:
        norm = torch.where(counts[..., None], norm, 1.0)
    halved: Tensor = scaled / (norm * math.sqrt(2.0))
    return halved
