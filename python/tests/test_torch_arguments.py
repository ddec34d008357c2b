"""What `dtwave.torch` is called with: other packages' orders of arguments, and mistakes, each a line that helps."""

from __future__ import annotations

from typing import Any

import pytest

import dtwave
from optional import need

torch = need("torch")
from dtwave.torch import SoftDTW, soft_dtw, soft_dtw_from_costs

BAND = dtwave.SakoeChiba(4)


def pair_sum(x: Any, y: Any) -> Any:
    """A cost function, as other packages take one."""
    return x.sum() + y.sum()


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (SoftDTW(), (1.0, False, None, None)),
        (SoftDTW(0.5, True, 4), (0.5, True, 4, None)),
        (SoftDTW(0.5, True, 4, "sqeuclidean", False), (0.5, True, 4, None)),
        (SoftDTW(gamma=0.5, bandwidth=BAND, dist="squared_euclidean", fused=True), (0.5, False, BAND, None)),
        (SoftDTW(2, fused=None, dist_func=None), (2.0, False, None, None)),
        # use_cuda, gamma, normalize, bandwidth
        (SoftDTW(False, 0.5), (0.5, False, None, False)),
        (SoftDTW(True, gamma=0.5), (0.5, False, None, True)),
        (SoftDTW(True, 0.5, True, 4), (0.5, True, 4, True)),
        (SoftDTW(use_cuda=False, gamma=0.5, normalize=True), (0.5, True, None, False)),
        # gamma, dist_func, use_cuda, bandwidth, normalize
        (SoftDTW(0.5, None), (0.5, False, None, None)),
        (SoftDTW(0.5, None, False, 4, True), (0.5, True, 4, False)),
        (SoftDTW(gamma=0.5, dist_func=None, use_cuda=True, bandwidth=4), (0.5, False, 4, True)),
        # gamma, normalize, and no function for the cost
        (SoftDTW(0.5, True, None), (0.5, True, None, None)),
    ],
    ids=repr,
)
def test_orders_of_arguments(loss: SoftDTW, expected: tuple[object, ...]) -> None:
    assert (loss.gamma, loss.normalize, loss.bandwidth, loss.use_cuda) == expected


@pytest.mark.parametrize(
    ("args", "options", "error", "text"),
    [
        ((0.0,), {}, ValueError, "gamma must be above 0"),
        ((float("nan"),), {}, ValueError, "gamma must be above 0"),
        (("1",), {}, TypeError, "gamma must be a number"),
        ((1.0, pair_sum), {}, ValueError, "dist_func must be None"),
        ((1.0, False, pair_sum), {}, TypeError, "bandwidth must be None"),
        ((), {"dist_func": pair_sum}, ValueError, "dist_func must be None"),
        ((), {"dist": "minkowski"}, ValueError, "'manhattan' or 'cosine', not 'minkowski'.*from_costs"),
        ((), {"dist": None}, ValueError, "'manhattan' or 'cosine', not None"),
        ((), {"dist": ["cosine"]}, ValueError, r"'manhattan' or 'cosine', not \['cosine'\]"),
        ((), {"normalize": 1.0}, TypeError, "normalize must be True or False"),
        ((), {"fused": "yes"}, TypeError, "fused must be None"),
        ((), {"bandwidth": 0}, ValueError, r"at least 1, not 0: None is no band, dtwave.SakoeChiba\(0\)"),
        ((), {"bandwidth": -1}, ValueError, "at least 1"),
        ((), {"bandwidth": 0.1}, ValueError, r"dtwave.SakoeChiba\(0.1\)"),
        ((), {"bandwidth": float("nan")}, ValueError, "whole number"),
        ((), {"bandwidth": float("inf")}, ValueError, "whole number"),
        ((), {"bandwidth": True}, TypeError, "bandwidth must be None"),
        ((), {"bandwidth": "5%"}, TypeError, "bandwidth must be None"),
        ((), {"width": 3}, TypeError, "no argument 'width'"),
        ((True, 0.5), {"gamma": 0.5}, TypeError, "'gamma' twice"),
        ((1.0, False, None, "sqeuclidean", None, True), {}, TypeError, "5 positional arguments"),
    ],
)
def test_bad_options(args: tuple[Any, ...], options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as raised:
        SoftDTW(*args, **options)
    assert "\n" not in str(raised.value)


def test_a_whole_float_is_a_bandwidth() -> None:
    x, y = torch.randn(2, 9, 1), torch.randn(2, 9, 1)
    assert torch.equal(soft_dtw(x, y, bandwidth=3.0), soft_dtw(x, y, bandwidth=dtwave.SakoeChiba(3)))


X, COSTS = torch.zeros(2, 5, 3), torch.zeros(2, 5, 4)


@pytest.mark.parametrize(
    ("given", "options", "error", "text"),
    [
        ((X.numpy(), X), {}, TypeError, "x must be a torch tensor, not ndarray"),
        ((X, X.long()), {}, TypeError, r"y must be of floating point, not torch.int64: pass y.float\(\)"),
        ((X, X.to(torch.complex64)), {}, TypeError, "y must be of floating point"),
        ((X[0], X), {}, ValueError, r"x must be \[batch, length, channels\], not of shape \(5, 3\)"),
        ((X, X[:1]), {}, ValueError, "x has 2 series and y has 1"),
        ((X.to_sparse(), X), {}, TypeError, r"x is a torch.sparse_coo tensor: pass x.to_dense\(\)"),
        ((X + 0j, X), {}, TypeError, "x must be of floating point, not torch.complex.*: pass x.real"),
        ((X, X), {"lengths_x": ["a"]}, TypeError, r"lengths_x must be whole numbers, one per series, got \['a'\]"),
        ((X, X), {"lengths_y": [[1], [2, 3]]}, TypeError, "lengths_y must be whole numbers, one per series"),
        ((X, X[:, :, :2]), {}, ValueError, "x has 3 channels and y has 2"),
        ((X[:, :0], X), {}, ValueError, r"x has shape \(2, 0, 3\)"),
        ((X[:, :, :0], X[:, :, :0]), {}, ValueError, "a point and a channel"),
        ((X, X.to("meta")), {}, ValueError, "x is on cpu and y on meta"),
        ((X, X), {"lengths_x": [5]}, ValueError, r"lengths_x must have shape \(2,\)"),
        ((X, X), {"lengths_x": [5, 6]}, ValueError, "series 1 of x.*from 1 to 5.*6"),
        ((X, X), {"lengths_y": [0, 5]}, ValueError, "series 0 of y.*from 1 to 5.*0"),
        ((X, X), {"lengths_y": torch.tensor([1.0, 2.0])}, TypeError, "lengths_y must be whole numbers"),
        ((X, X * torch.nan), {}, ValueError, "(?i)nan"),
        ((X + torch.inf, X), {}, ValueError, "(?i)inf"),
        ((X, X), {"gamma": -1.0}, ValueError, "gamma must be above 0"),
        ((X, X), {"normalize": 2}, TypeError, "normalize must be True or False"),
        ((X, X), {"bandwidth": 0}, ValueError, "at least 1"),
        ((X, X), {"dist": "hamming"}, ValueError, "not 'hamming'"),
        ((X, X), {"dist": "cosine"}, ValueError, "point 0 of series 0 of x is zero"),
        ((COSTS.numpy(),), {}, TypeError, "costs must be a torch tensor, not ndarray"),
        ((COSTS.long(),), {}, TypeError, r"not torch.int64: pass costs.float\(\)"),
        ((COSTS[0],), {}, ValueError, r"costs must be \[batch, n, m\], not of shape \(5, 4\)"),
        ((COSTS[:, :0],), {}, ValueError, r"costs has shape \(2, 0, 4\)"),
        ((COSTS,), {"gamma": 0.0}, ValueError, "gamma must be above 0"),
        ((COSTS,), {"bandwidth": 0}, ValueError, "at least 1"),
        ((COSTS,), {"lengths_x": [5]}, ValueError, r"lengths_x must have shape \(2,\)"),
        ((COSTS,), {"lengths_x": [5, 6]}, ValueError, "length of series 1 of x must be from 1 to 5, got 6"),
        ((COSTS,), {"lengths_y": [-1, 4]}, ValueError, "length of series 0 of y must be from 1 to 4, got -1"),
        ((COSTS * torch.nan,), {}, ValueError, "costs must be finite: that of pair 0, row 0, column 0 is NaN"),
        ((COSTS - torch.inf,), {}, ValueError, "column 0 is -inf; a band forbids cells"),
        ((COSTS + 3e38,), {}, ValueError, "costs of pair 0.* so large that Soft-DTW is inf"),
    ],
)
def test_bad_calls(given: tuple[Any, ...], options: dict[str, Any], error: type[Exception], text: str) -> None:
    call = soft_dtw if len(given) == 2 else soft_dtw_from_costs
    with pytest.raises(error, match=text) as raised:
        call(*given, **options)
    assert "\n" not in str(raised.value)


def test_use_cuda_is_a_promise_about_the_tensors() -> None:
    with pytest.raises(ValueError, match="use_cuda=True, and x is on cpu"):
        SoftDTW(True)(X, X)
    assert SoftDTW(False)(X, X).shape == (2,)
