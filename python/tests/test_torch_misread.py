"""What might pass for something else in `dtwave.torch`: values that overflowed, and axes in the other order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dtwave
from optional import need

torch = need("torch")

from dtwave.torch import SoftDTW, soft_dtw


def pairs(batch: int, n: int, m: int, dtype: Any = None) -> tuple[Any, Any]:
    """Two batches of noise in two channels that require gradients."""
    generator = torch.Generator().manual_seed(batch + 10 * n + 100 * m)
    x, y = (torch.randn(batch, k, 2, dtype=dtype or torch.float64, generator=generator) for k in (n, m))
    return x.requires_grad_(), y.requires_grad_()


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("dist", ["sqeuclidean", "euclidean"])
@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_are_nan_where_a_value_overflowed(dist: str, normalize: bool, compiled: bool) -> None:
    loss = SoftDTW(gamma=0.5, normalize=normalize, dist=dist)
    run: Any = torch.compile(loss, backend="aot_eager") if compiled else loss
    x, y = pairs(4, 6, 5, dtype=torch.float32)
    expected = torch.autograd.grad(loss(x, y).sum(), (x, y))
    with torch.no_grad():
        x[1:3] *= 1e25 if dist == "sqeuclidean" else 1e38
        x[2], y[2] = x[2].clamp(-3e38, 3e38), -3e38
    values = run(x, y)
    assert values.isfinite().tolist() == [True, False, False, True] or dist == "euclidean"
    for of, found in zip(expected, torch.autograd.grad(values.mean(), (x, y))):
        lost = ~values.isfinite()
        assert lost.any() and found[lost].isnan().all()
        assert torch.allclose(4 * found[[0, 3]], of[[0, 3]])
    # NumPy's face says the same.
    of_numpy = dtwave.gradients(
        x.detach().numpy(),
        y.detach().numpy(),
        measure="soft_dtw_divergence" if normalize else "soft_dtw",
        gamma=0.5,
        cost={"sqeuclidean": "squared_euclidean"}.get(dist, dist),
    )
    for gradient in of_numpy[1:]:
        assert np.array_equal(np.isnan(gradient).all(axis=(1, 2)), ~np.isfinite(of_numpy[0]))
        assert np.isfinite(gradient[[0, 3]]).all()


def test_axes_in_the_other_order() -> None:
    x, y = pairs(3, 8, 8)
    expected = soft_dtw(x, y)
    first = x.detach().mT.contiguous().requires_grad_(), y.detach().mT.contiguous().requires_grad_()
    for loss in (SoftDTW(layout="channels_first"), lambda x, y: soft_dtw(x, y, layout="channels_first")):
        found = loss(*first)
        assert torch.equal(found, expected)
        (gradient,) = torch.autograd.grad(found.sum(), first[:1])
        assert torch.equal(gradient.mT, torch.autograd.grad(expected.sum(), (x,), retain_graph=True)[0])
    for loss in (SoftDTW(), soft_dtw):
        with pytest.warns(dtwave.LayoutWarning, match="x is read as 3 series of 2 points of 8 channels") as told:
            read = loss(*first)
        assert len(told) == 1 and told[0].filename == __file__
    assert torch.equal(read, soft_dtw(*first, layout="channels_last"))
    # Of other lengths there is one reading alone.
    assert soft_dtw(x[:, :1], y).shape == (3,)
    assert "layout='channels_first'" in repr(SoftDTW(layout="channels_first"))
    with pytest.raises(ValueError, match='layout must be "channels_last" or "channels_first", got 1'):
        SoftDTW(layout=1)
    with pytest.raises(ValueError, match="layout must be"):
        soft_dtw(x, y, layout="first")
