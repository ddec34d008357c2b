"""Soft-DTW's values and gradients beside those of other packages for PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from optional import need

torch = need("torch")
from dtwave.torch import SoftDTW


def pairs(n: int, m: int, channels: int) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(n + 100 * m + 1000 * channels)
    x, y = (torch.randn(4, length, channels, generator=generator).double().cumsum(1) for length in (n, m))
    return x, y


def value_and_gradients(loss: Any, x: Any, y: Any) -> tuple[Any, ...]:
    x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = loss(x, y).flatten()
        values.backward(torch.tensor([1.0, -2.0, 0.5, 3.0]).to(values.dtype))
    return values.detach().double(), x.grad, y.grad


@pytest.mark.parametrize("gamma", [0.1, 1.0])
@pytest.mark.parametrize(("n", "m"), [(8, 8), (8, 13)])
def test_tslearn(gamma: float, n: int, m: int) -> None:
    theirs = need("tslearn.metrics").SoftDTWLossPyTorch(gamma=gamma)
    x, y = pairs(n, m, 2)
    expected = value_and_gradients(theirs, x, y)
    # Theirs rounds its grid to single precision on the way, whatever the tensors are.
    torch.testing.assert_close(value_and_gradients(SoftDTW(gamma), x, y), expected, rtol=2e-4, atol=2e-3)


@pytest.mark.parametrize("gamma", [0.1, 1.0])
# For series of different lengths, its bands follow the line from corner to corner.
@pytest.mark.parametrize(("n", "m", "bandwidth"), [(8, 8, None), (8, 13, None), (8, 8, 3)])
def test_pysdtw(gamma: float, n: int, m: int, bandwidth: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    # pysdtw 0.0.5 calls what NumPy 2 no longer has.
    monkeypatch.setattr(np, "row_stack", np.vstack, raising=False)
    theirs = need("pysdtw").SoftDTW
    x, y = pairs(n, m, 2)
    arguments = (gamma, None, False, bandwidth)
    expected = value_and_gradients(theirs(*arguments), x, y)
    # Theirs rounds its grid to single precision too.
    found = value_and_gradients(SoftDTW(*arguments), x, y)
    torch.testing.assert_close(found, expected, rtol=2e-4, atol=2e-3)
