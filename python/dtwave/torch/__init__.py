"""Soft-DTW as a loss for PyTorch: `soft_dtw`, and `SoftDTW`, a module that stands in for other packages' classes.

Values and gradients are computed on the CPU, on the tensors' memory. `import dtwave` does not import this.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("dtwave.torch needs PyTorch: pip install torch (2.5 or newer)") from error

from ._loss import SoftDTW, soft_dtw

__all__ = ["SoftDTW", "soft_dtw"]
