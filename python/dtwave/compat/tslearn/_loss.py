"""tslearn's Soft-DTW loss for PyTorch, on `dtwave.torch`. Imported when it is used, because it needs PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from ... import torch as dtwave_torch
from .. import _refuse
from .._one import LAYOUT
from ._masks import constraint


class SoftDTWLossPyTorch(torch.nn.Module):
    """`dtwave.torch.SoftDTW` with tslearn's arguments: `[batch, n, channels]` and `[batch, m, channels]` to `[batch]`.

    normalize: True is the divergence. dist_func: None alone, the squared Euclidean cost. itakura_max_slope is not
    offered; `sakoe_chiba_radius` is.

    Errors: `NotImplementedError` for another `dist_func` and Itakura's parallelogram.
    """

    def __init__(
        self,
        gamma: float = 1.0,
        normalize: bool = False,
        dist_func: Any = None,
        global_constraint: str | None = None,
        sakoe_chiba_radius: int | None = None,
        itakura_max_slope: float | None = None,
    ) -> None:
        super().__init__()
        if dist_func is not None:
            raise _refuse.argument(
                "SoftDTWLossPyTorch", "dist_func", dist_func, "the squared Euclidean cost (None) is the only one"
            )
        limit = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope)
        if limit.is_itakura:
            raise _refuse.argument(
                "SoftDTWLossPyTorch",
                "itakura_max_slope",
                limit.slope,
                "dtwave.torch.SoftDTW takes bandwidth=dtwave.Itakura(slope), the same for series of one length",
            )
        self.gamma = gamma
        self.normalize = normalize
        self._loss = dtwave_torch.SoftDTW(gamma=gamma, normalize=normalize, bandwidth=limit.band(0, 0), layout=LAYOUT)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The loss of each pair, `[batch]`."""
        found: torch.Tensor = self._loss(x, y)
        return found
