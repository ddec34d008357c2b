"""The cosine cost of the Soft-DTW loss, beside its definition and beside its matrix of costs."""

from __future__ import annotations

from typing import Any

import pytest

import dtwave
from optional import need

torch = need("torch")
from dtwave.torch import SoftDTW, soft_dtw, soft_dtw_from_costs


def pairs(batch: int, n: int, m: int, channels: int = 3) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(n + 10 * m + 100 * channels)
    x, y = (torch.randn(batch, length, channels, dtype=torch.float64, generator=generator) for length in (n, m))
    return x.requires_grad_(), y.requires_grad_()


def cosine_costs(x: Any, y: Any) -> Any:
    """`[batch, n, m]`, as PyTorch defines it."""
    return 1.0 - torch.nn.functional.cosine_similarity(x[:, :, None], y[:, None], dim=3, eps=1e-300)


@pytest.mark.parametrize("gamma", [0.01, 1.0])
@pytest.mark.parametrize("bandwidth", [None, 2])
@pytest.mark.parametrize("channels", [1, 2, 5])
def test_it_is_1_less_the_cosine(gamma: float, bandwidth: int | None, channels: int) -> None:
    x, y = pairs(3, 7, 5, channels)
    found = soft_dtw(x, y, gamma=gamma, bandwidth=bandwidth, dist="cosine")
    expected = soft_dtw_from_costs(cosine_costs(x, y), gamma=gamma, bandwidth=bandwidth)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    gradients, wanted = (torch.autograd.grad(values, (x, y), weights) for values in (found, expected))
    torch.testing.assert_close(gradients, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("padding", [0.0, float("nan"), float("inf")])
def test_padding_is_not_read_and_gets_no_gradient(padding: float) -> None:
    x, y = pairs(2, 5, 4)
    with torch.no_grad():
        x[0, 3:], y[1, 2:] = padding, padding
    found = soft_dtw(x, y, dist="cosine", lengths_x=[3, 5], lengths_y=[4, 2])
    found.sum().backward()
    alone = torch.cat([soft_dtw(x[:1, :3], y[:1], dist="cosine"), soft_dtw(x[1:], y[1:, :2], dist="cosine")])
    wanted = torch.autograd.grad(alone.sum(), (x, y))
    torch.testing.assert_close(found, alone)
    torch.testing.assert_close((x.grad, y.grad), wanted)
    assert not x.grad[0, 3:].any()
    assert not y.grad[1, 2:].any()


@pytest.mark.parametrize("size", [1e-42, 1e-30, 1e30])
def test_the_size_of_a_point_does_not_matter(size: float) -> None:
    x, y = (series.detach().float() for series in pairs(2, 5, 4))
    expected = soft_dtw(x, y, dist="cosine")
    # Below the least normal number, a few digits are left.
    close = {"rtol": 5e-2, "atol": 5e-2} if size < 1e-38 else {"rtol": 1e-5, "atol": 1e-5}
    torch.testing.assert_close(soft_dtw(size * x, y / 1e3, dist="cosine"), expected, **close)


def test_like_directions_keep_their_digits() -> None:
    # An angle of 1e-4 costs 5e-9, which is less than single precision can tell from 1.
    x, y = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[1.0, 1e-4]]])
    assert soft_dtw(x, y, dist="cosine").item() == pytest.approx(5e-9, rel=1e-3)
    assert soft_dtw(x, 3.0 * x, dist="cosine").item() == pytest.approx(0.0, abs=1e-14)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_point_without_direction_is_an_error() -> None:
    x, y = (series.detach() for series in pairs(2, 5, 4))
    y[1, 2] = 0.0
    with pytest.raises(ValueError, match="point 2 of series 1 of y is zero"):
        soft_dtw(x, y, dist="cosine")
    soft_dtw(x, y, dist="cosine", lengths_y=[4, 2])
    torch.compiler.reset()
    compiled = torch.compile(SoftDTW(dist="cosine"), fullgraph=True, backend="aot_eager")
    with pytest.raises(ValueError, match="(?i)nan"):
        compiled(x, y)
    y[1, 2] = 1.0
    torch.testing.assert_close(compiled(x, y), soft_dtw(x, y, dist="cosine"))


def test_half_precision_and_bands() -> None:
    x, y = (series.detach() for series in pairs(2, 5, 4))
    half = soft_dtw(x.half(), y.half(), dist="cosine", bandwidth=dtwave.SakoeChiba(0.5))
    assert half.dtype == torch.float32
    expected = soft_dtw(x, y, dist="cosine", bandwidth=dtwave.SakoeChiba(0.5))
    torch.testing.assert_close(half.double(), expected, rtol=1e-2, atol=1e-2)
