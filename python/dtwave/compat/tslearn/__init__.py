"""`tslearn.metrics` and `tslearn.barycenters` on dtwave's engine: the same names, arguments and numbers.

    from tslearn.metrics import cdist_dtw            # before
    from dtwave.compat.tslearn import cdist_dtw      # after

Series are `[length]` or `[length, channels]`, data sets `[series, length, channels]` or lists; NaN at the end of a
series is padding. Calls compute in float64. Arrays in give arrays out, PyTorch's tensors in main memory give
tensors, without gradients. docs/compat.md lists every function, and where numbers differ from those of tslearn 0.10.

Errors are those of dtwave where tslearn would return NaN: NaN between the points of a series, and infinity, raise
`ValueError`.
"""

from __future__ import annotations

from typing import Any

from . import barycenters, metrics
from .barycenters import *  # noqa: F403
from .metrics import *  # noqa: F403

__all__ = [*metrics.__all__, *barycenters.__all__, "barycenters", "metrics"]


def __getattr__(name: str) -> Any:
    return getattr(metrics, name)
