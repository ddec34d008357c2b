"""Soft-DTW as a loss for PyTorch: values, gradients, and what PyTorch may do with the operator."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import dtwave
from optional import need

torch = need("torch")
from torch.autograd import forward_ad

from dtwave.torch import SoftDTW, soft_dtw, soft_dtw_from_costs

#: What differentiates the batches of series that it is called with.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "series": soft_dtw,
    "cosine": SoftDTW(gamma=0.3, dist="cosine"),
    "costs": lambda x, y: soft_dtw_from_costs(x @ y.mT),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def pairs(batch: int, n: int, m: int, channels: int = 2, dtype: Any = None) -> tuple[Any, Any]:
    """Two batches of noise that require gradients."""
    generator = torch.Generator().manual_seed(batch + 10 * n + 100 * m + 1000 * channels)
    shapes = ((batch, n, channels), (batch, m, channels))
    x, y = (torch.randn(shape, dtype=dtype or torch.float64, generator=generator) for shape in shapes)
    return x.requires_grad_(), y.requires_grad_()


def loop(x: Any, y: Any, gamma: float, allowed: Callable[[int, int], bool]) -> Any:
    """Soft-DTW of one pair as its definition has it; PyTorch differentiates the loop."""
    grid = {(0, 0): x.new_zeros(())}
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            arrivals = [grid[cell] for cell in ((i - 1, j - 1), (i - 1, j), (i, j - 1)) if cell in grid]
            if arrivals and allowed(i - 1, j - 1):
                least = -gamma * torch.logsumexp(-torch.stack(arrivals) / gamma, 0)
                grid[i, j] = ((x[i - 1] - y[j - 1]) ** 2).sum() + least
        grid.pop((0, 0), None)
    return grid[len(x), len(y)]


def oracle(x: Any, y: Any, gamma: float, normalize: bool, radius: int | None) -> Any:
    """One value per pair."""

    def one(a: Any, b: Any) -> Any:
        below, above = max(0, len(a) - len(b)), max(0, len(b) - len(a))
        return loop(a, b, gamma, lambda i, j: radius is None or -radius - below <= j - i <= radius + above)

    values = [one(a, b) - (one(a, a) + one(b, b)) / 2 if normalize else one(a, b) for a, b in zip(x, y, strict=True)]
    return torch.stack(values)


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("radius", [None, 2])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 4), (6, 6), (7, 4)])
def test_values_and_gradients_of_a_plain_loop(
    gamma: float, normalize: bool, radius: int | None, n: int, m: int
) -> None:
    x, y = pairs(3, n, m)
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    expected = oracle(x, y, gamma, normalize, radius)
    expected_gradients = torch.autograd.grad(expected, (x, y), weights)
    found = soft_dtw(x, y, gamma=gamma, normalize=normalize, bandwidth=radius, layout="channels_last")
    gradients = torch.autograd.grad(found, (x, y), weights)
    # The loop subtracts three sums, each of the size of gamma times a logarithm.
    size = 1e-12 * (1.0 + gamma)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=100 * size)
    torch.testing.assert_close(gradients, expected_gradients, rtol=1e-8, atol=100 * size)


@pytest.mark.parametrize("gamma", [0.1, 1.0])
def test_single_precision(gamma: float) -> None:
    x, y = pairs(4, 20, 17, 3)
    single = [series.detach().float().requires_grad_() for series in (x, y)]
    found = soft_dtw(*single, gamma=gamma)
    assert found.dtype == torch.float32
    gradients = torch.autograd.grad(found.sum(), single)
    expected = soft_dtw(x, y, gamma=gamma)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    for one, other in zip(gradients, torch.autograd.grad(expected.sum(), (x, y)), strict=True):
        assert one.dtype == torch.float32
        torch.testing.assert_close(one.double(), other, rtol=1e-3, atol=1e-4)


BANDS = [None, 2, dtwave.SakoeChiba(0.5), dtwave.Slanted(1), dtwave.Itakura(3.0)]
PADDED = {"lengths_x": [5, 2, 3], "lengths_y": torch.tensor([1, 6, 4], dtype=torch.int32)}


@pytest.mark.parametrize(("bandwidth", "lengths"), [*((band, {}) for band in BANDS), (None, PADDED)])
@pytest.mark.parametrize("channels", [1, 5])
@pytest.mark.parametrize(
    ("dist", "gamma"),
    [
        *((dist, 0.7) for dist in ("sqeuclidean", "cosine")),
        *((dist, gamma) for dist in ("euclidean", "manhattan") for gamma in (0.01, 1.0, 100.0)),
    ],
)
def test_gradcheck(dist: str, gamma: float, channels: int, bandwidth: dtwave.Band, lengths: dict[str, Any]) -> None:
    for normalize in (False, True):
        loss = SoftDTW(gamma=gamma, normalize=normalize, bandwidth=bandwidth, dist=dist)
        assert torch.autograd.gradcheck(lambda x, y, loss=loss: loss(x, y, **lengths), pairs(3, 5, 6, channels))


@pytest.mark.parametrize("dist", ["sqeuclidean", "euclidean", "cosine"])
@pytest.mark.parametrize("padding", [0.0, float("nan"), float("inf")])
def test_padding_is_not_read_and_gets_no_gradient(padding: float, dist: str) -> None:
    x, y = pairs(3, 5, 6)
    lengths_x, lengths_y = [5, 2, 3], [1, 6, 4]
    with torch.no_grad():
        for s in range(3):
            x[s, lengths_x[s] :] = y[s, lengths_y[s] :] = padding
    found = soft_dtw(x, y, gamma=0.5, dist=dist, lengths_x=lengths_x, lengths_y=lengths_y)
    found.sum().backward()
    for s, (n, m) in enumerate(zip(lengths_x, lengths_y, strict=True)):
        a, b = (series[s : s + 1, :length].detach().requires_grad_() for series, length in ((x, n), (y, m)))
        alone = soft_dtw(a, b, gamma=0.5, dist=dist)
        alone.sum().backward()
        torch.testing.assert_close(found[s], alone[0])
        torch.testing.assert_close(x.grad[s, :n], a.grad[0])
        torch.testing.assert_close(y.grad[s, :m], b.grad[0])
        assert not x.grad[s, n:].any()
        assert not y.grad[s, m:].any()


def test_explicit_ranges_are_a_band() -> None:
    x, y = pairs(2, 3, 3)
    diagonal = soft_dtw(x, y, bandwidth=dtwave.Ranges([[0, 1], [1, 2], [2, 3]]))
    torch.testing.assert_close(diagonal, ((x - y) ** 2).sum((1, 2)))
    torch.testing.assert_close(soft_dtw(x, y, bandwidth=dtwave.SakoeChiba(0)), diagonal)


class Spy:
    """The native function, and what it was given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from dtwave.torch import _operators

        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        native = _operators._native.soft_dtw

        def call(*args: Any, **options: Any) -> Any:
            self.calls.append((args, options))
            return native(*args, **options)

        monkeypatch.setattr(_operators._native, "soft_dtw", call)


def test_contiguous_tensors_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    x, y = pairs(2, 5, 4)
    soft_dtw(x, y)
    ((given_x, given_y, *_), _) = spy.calls[0]
    assert np.shares_memory(given_x, x.detach().numpy())
    assert np.shares_memory(given_y, y.detach().numpy())


def test_strides_do_not_matter() -> None:
    x, y = pairs(2, 5, 4, 3)
    turned = x.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_()
    assert not turned.is_contiguous()
    every_other = torch.repeat_interleave(y.detach(), 2, dim=1)[:, ::2]
    expected, found = soft_dtw(x, y), soft_dtw(turned, every_other)
    assert torch.equal(found, expected)
    expected.sum().backward()
    found.sum().backward()
    assert torch.equal(turned.grad, x.grad)


def test_gradients_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    x, y = pairs(2, 5, 4)
    with torch.no_grad():
        assert not soft_dtw(x, y).requires_grad
    assert not soft_dtw(x.detach(), y.detach()).requires_grad
    with torch.inference_mode():
        soft_dtw(x, y)
    assert [options["gradients"] for _, options in spy.calls] == [False, False, False]
    soft_dtw(x, y.detach()).sum().backward()
    assert x.grad is not None
    assert y.grad is None
    wanted = torch.autograd.grad(soft_dtw(x, y).sum(), y)
    assert len(wanted) == 1


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")
def test_operators_pass_opcheck() -> None:
    x, y = pairs(2, 5, 4)
    costs, lengths = (x @ y.mT).detach().requires_grad_(), torch.tensor([5, 3])
    operators = torch.ops.dtwave
    for operator, call in [
        (operators.soft_dtw, (x, y, None, None, 0.7, "full", 3)),
        (operators.soft_dtw, (x, y, None, None, 0.7, 'divergence ["sakoe_chiba", 2]', 3)),
        (operators.soft_dtw, (x, y.detach(), lengths, None, 0.7, "full", 1)),
        (operators.soft_dtw, (x.detach().float(), y.detach().float(), None, None, 1.0, "full", 0)),
        (operators.soft_dtw_of_costs, (costs, None, None, 0.7, "full", True)),
        (operators.soft_dtw_of_costs, (costs, lengths, None, 0.7, '["sakoe_chiba", 2]', True)),
        (operators.soft_dtw_of_costs, (costs.detach().float(), None, None, 1.0, "full", False)),
        (operators.differentiated_once, (x.detach(), y.detach())),
    ]:
        torch.library.opcheck(operator.default, call)


@pytest.mark.parametrize("normalize", [False, True])
def test_the_operator_and_the_call_without_it_agree(normalize: bool) -> None:
    from dtwave.torch import _operators

    x, y = pairs(3, 6, 5, 2)
    lengths = torch.tensor([6, 4, 1])
    spec = _operators.DIVERGENCE * normalize + "full"
    values, _, _ = torch.ops.dtwave.soft_dtw(x, y, lengths, None, 0.5, spec, 3)
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=x.dtype)
    expected = torch.autograd.grad(values @ weights, (x, y))
    found = soft_dtw(x, y, gamma=0.5, normalize=normalize, lengths_x=lengths)
    assert torch.equal(found, values)
    for one, other in zip(torch.autograd.grad(found @ weights, (x, y)), expected):
        assert torch.equal(one, other)


def test_who_looks_at_operators_sees_one() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Look(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(operator))
            return operator(*args, **(kwargs or {}))

    x, y = pairs(2, 5, 4)
    expected = soft_dtw(x, y)
    with Look():
        assert torch.equal(soft_dtw(x, y), expected)
    assert "dtwave.soft_dtw.default" in seen


def test_operators_without_their_gradients_say_so() -> None:
    x, y = pairs(2, 5, 4)
    for name, values in (
        ("x", torch.ops.dtwave.soft_dtw(x, y, None, None, 0.7, "full", 2)[0]),
        ("costs", torch.ops.dtwave.soft_dtw_of_costs(x @ y.mT, None, None, 1.0, "full", False)[0]),
    ):
        with pytest.raises(RuntimeError, match=f"gradient of {name} was not asked for"):
            values.sum().backward()


# Inductor compiles C++, which takes it seconds; what it does here is the same for every loss.
@pytest.mark.parametrize(("backend", "normalize"), [("aot_eager", False), ("aot_eager", True), ("inductor", False)])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiles_without_a_graph_break(backend: str, normalize: bool) -> None:
    torch.compiler.reset()
    loss = SoftDTW(gamma=0.3, normalize=normalize, bandwidth=3)
    lengths = torch.tensor([5, 2])

    def step(x: Any, y: Any) -> Any:
        banded = soft_dtw(x, y, bandwidth=4) + soft_dtw(x, y, bandwidth=dtwave.SakoeChiba(0.5))
        others = [SoftDTW(dist=dist, normalize=normalize)(x, y) for dist in ("euclidean", "manhattan", "cosine")]
        of_costs = soft_dtw_from_costs(2.0 * x @ y.mT, gamma=0.5, bandwidth=3, lengths_x=lengths)
        padded = soft_dtw(x, y, gamma=0.5, lengths_x=lengths)
        return sum(values.sum() for values in (loss(2.0 * x, y), padded / 2, banded, *others, of_costs))

    compiled = torch.compile(step, fullgraph=True, backend=backend)
    for n in (5, 6):
        x, y = pairs(2, n, 4)
        expected = torch.autograd.grad(step(x, y), (x, y))
        found = torch.autograd.grad(compiled(x, y), (x, y))
        torch.testing.assert_close(compiled(x, y), step(x, y))
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("loss", [SoftDTW(gamma=0.3, bandwidth=2), SoftDTW(gamma=0.3, dist="cosine")])
def test_exports(loss: SoftDTW) -> None:
    x, y = (series.detach() for series in pairs(2, 5, 4))
    exported = torch.export.export(loss, (x, y))
    torch.testing.assert_close(exported.module()(x, y), loss(x, y))


def test_autocast_computes_in_single_precision() -> None:
    x, y = pairs(2, 5, 4, dtype=torch.float32)
    layer = torch.nn.Linear(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        made = layer(x)
        assert made.dtype == torch.bfloat16
        values = soft_dtw(made, y)
    assert values.dtype == torch.float32
    torch.testing.assert_close(values, soft_dtw(made.float(), y))
    values.sum().backward()
    assert layer.weight.grad.dtype == torch.float32
    assert layer.weight.grad.any()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision_in_single_precision_out(name: str) -> None:
    dtype = getattr(torch, name)
    x, y = (series.detach().to(dtype).requires_grad_() for series in pairs(2, 5, 4))
    with torch.no_grad():
        x *= 200.0
    values = soft_dtw(x, y)
    assert values.dtype == torch.float32
    # More than half precision has room for.
    assert values.max() > 1e5
    values.sum().backward()
    assert x.grad.dtype == y.grad.dtype == dtype
    single = [series.detach().float().requires_grad_() for series in (x, y)]
    soft_dtw(*single).sum().backward()
    torch.testing.assert_close(x.grad, single[0].grad.to(dtype))


def test_mixed_types_are_promoted() -> None:
    x, y = pairs(2, 5, 4)
    assert soft_dtw(x, y.float()).dtype == torch.float64
    assert soft_dtw(x.half(), y.float()).dtype == torch.float32


@every_call
def test_second_derivative_is_refused(call: Any) -> None:
    x, y = pairs(2, 5, 4)
    (gradient,) = torch.autograd.grad(call(x, y).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative"):
        gradient.square().sum().backward()
    with pytest.raises(RuntimeError, match="no second derivative"):
        torch.autograd.functional.hessian(lambda x: call(x, y).sum(), x)


def test_gradient_is_linear_in_what_comes_from_above() -> None:
    x, y = pairs(2, 5, 4)
    weights = torch.tensor([1.0, 3.0], dtype=torch.float64, requires_grad=True)
    loss = (weights * soft_dtw(x, y)).sum()
    (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
    (unit,) = torch.autograd.grad(soft_dtw(x, y).sum(), x)
    torch.testing.assert_close(gradient, weights[:, None, None] * unit)
    (by_weight,) = torch.autograd.grad(gradient.sum(), weights)
    torch.testing.assert_close(by_weight, unit.sum((1, 2)))


@every_call
def test_vmap_is_refused(call: Any) -> None:
    x, y = (series.detach() for series in pairs(2, 5, 4))
    with pytest.raises(NotImplementedError, match="takes a batch"):
        torch.vmap(lambda a: call(a, y))(x[None])


@pytest.mark.filterwarnings("ignore:`torch.jit.script:FutureWarning", "ignore:`torch.jit.script:DeprecationWarning")
@every_call
def test_forward_mode_is_refused(call: Any) -> None:
    x, y = (series.detach() for series in pairs(2, 5, 4))
    with forward_ad.dual_level():
        call(x, y)
        with pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
            call(forward_ad.make_dual(x, torch.ones_like(x)), y)
        with pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
            call(x, forward_ad.make_dual(y, torch.ones_like(y)))
    for transform in (torch.func.jacfwd, lambda f: lambda x: torch.func.jvp(f, (x,), (torch.ones_like(x),))[1]):
        with pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
            transform(lambda x: call(x, y))(x)
        by_scale = transform(lambda scale: scale * call(x, y).sum())(torch.ones((), dtype=x.dtype))
        torch.testing.assert_close(by_scale, call(x, y).sum())


@every_call
def test_transforms_of_functions_are_refused(call: Any) -> None:
    x, y = (series.detach() for series in pairs(2, 4, 5))
    of = lambda x: call(x, y).sum()  # noqa: E731
    for transform in (torch.func.grad, torch.func.jacrev):
        with pytest.raises(NotImplementedError, match=r"does not run under torch.func.grad.*: use the backward pass"):
            transform(of)(x)


def test_threads_compute_the_same() -> None:
    loss = SoftDTW(gamma=0.5, normalize=True)

    def gradient(seed: int) -> Any:
        x, y = pairs(1 + seed % 3, 20, 17)
        values = loss(x, y)
        values.sum().backward()
        return values.detach(), x.grad, y.grad

    expected = [gradient(seed) for seed in range(16)]
    with ThreadPoolExecutor(8) as threads:
        for found, wanted in zip(threads.map(gradient, range(16)), expected, strict=True):
            assert all(torch.equal(one, other) for one, other in zip(found, wanted, strict=True))


def test_checkpointed_loss_has_the_same_gradient() -> None:
    from torch.utils.checkpoint import checkpoint

    x, y = pairs(2, 5, 4)
    (expected,) = torch.autograd.grad(soft_dtw(2.0 * x, y).sum(), x)
    values = checkpoint(lambda x: soft_dtw(2.0 * x, y), x, use_reentrant=False)
    assert torch.equal(torch.autograd.grad(values.sum(), x)[0], expected)


def test_options_of_a_module_may_change() -> None:
    x, y = (series.detach() for series in pairs(2, 6, 6))
    loss = SoftDTW(1.0, False, None, "cosine")
    assert repr(loss) == "SoftDTW(gamma=1.0, normalize=False, bandwidth=None, dist='cosine')"
    loss.dist = "sqeuclidean"
    loss.gamma, loss.bandwidth, loss.normalize = 0.25, 2, True
    assert torch.equal(loss(x, y), soft_dtw(x, y, gamma=0.25, bandwidth=2, normalize=True))
    with pytest.raises(ValueError, match="at least 1"):
        loss.bandwidth = 0
    assert loss.bandwidth == 2
    loss.dist = "cityblock"
    assert repr(loss) == "SoftDTW(gamma=0.25, normalize=True, bandwidth=2, dist='cityblock')"
    assert torch.equal(loss(x, y), soft_dtw(x, y, gamma=0.25, bandwidth=2, normalize=True, dist="manhattan"))
    for dist in ("cosine", "euclidean", "sqeuclidean"):
        loss.dist = dist
        assert torch.equal(loss(x, y), soft_dtw(x, y, gamma=0.25, bandwidth=2, normalize=True, dist=dist))
    with pytest.raises(ValueError, match="dist must be"):
        loss.dist = "chebyshev"
    assert loss.dist == "sqeuclidean" and "dist" not in repr(loss)


def test_module_is_copied_and_pickled() -> None:
    x, y = (series.detach() for series in pairs(2, 5, 4))
    loss = SoftDTW(gamma=0.25, bandwidth=dtwave.SakoeChiba(1))
    for other in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert torch.equal(other(x, y), loss(x, y))
    assert not loss.state_dict()
    assert repr(loss) == "SoftDTW(gamma=0.25, normalize=False, bandwidth=SakoeChiba(radius=1))"


@every_call
def test_no_pairs_have_no_values(call: Any) -> None:
    x, y = torch.zeros(0, 5, 2, requires_grad=True), torch.zeros(0, 4, 2)
    values = call(x, y)
    assert values.shape == (0,)
    values.sum().backward()
    assert x.grad.shape == x.shape
    if call is soft_dtw:
        assert call(x, y, lengths_x=[], lengths_y=[]).shape == (0,)


@every_call
def test_meta_tensors_have_shapes(call: Any) -> None:
    values = call(torch.zeros(3, 5, 2, device="meta"), torch.zeros(3, 4, 2, device="meta"))
    assert values.device.type == "meta"
    assert values.shape == (3,)


def test_other_devices_are_refused() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    # A tensor that has a device and no memory: nothing to compute on is needed. PyTorch built for CUDA makes none for
    # an "xpu".
    with FakeTensorMode(allow_non_fake_inputs=True):
        x = torch.empty_strided((2, 5, 3), (15, 3, 1), device="mps")
        with pytest.raises(dtwave.DeviceError, match=r"mps.*x\.cpu\(\)"):
            soft_dtw(x, x)
        with pytest.raises(ValueError, match="move one to the other"):
            soft_dtw(x, torch.zeros(2, 5, 3))
        with pytest.raises(dtwave.DeviceError, match=r"on mps.*pass costs\.cpu\(\)"):
            soft_dtw_from_costs(x)
