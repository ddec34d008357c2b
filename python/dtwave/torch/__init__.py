"""Soft-DTW as a loss for PyTorch: the function `soft_dtw`, and `SoftDTW`, a module with its arguments.

>>> import torch
>>> from dtwave.torch import SoftDTW
>>> loss = SoftDTW(gamma=0.1, normalize=True)
>>> loss(torch.zeros(8, 100, 3), torch.ones(8, 120, 3)).shape
torch.Size([8])

Values and gradients are computed where the tensors are, on the CPU or on an NVIDIA GPU, without a copy of contiguous
tensors. `SoftDTW` also takes the arguments of other packages' classes. `soft_dtw_from_costs` takes matrices of costs
that you have computed. `import dtwave` does not import this.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("dtwave.torch needs PyTorch: pip install torch (2.5 or newer)") from error

from ._costs import soft_dtw_from_costs
from ._loss import SoftDTW, soft_dtw

__all__ = ["SoftDTW", "soft_dtw", "soft_dtw_from_costs"]
