"""On an NVIDIA GPU: the losses of `dtwave.torch` give the values and gradients of the CPU, and wait for nothing."""

import warnings
from itertools import product

import pytest
from optional import MANY_CHANNELS, need_gpu, waiting_is_an_error

import dtwave

torch = need_gpu()

from dtwave.torch import SoftDTW, soft_dtw, soft_dtw_from_costs  # noqa: E402

GPU = "cuda:0"

# Points of many channels, of which some series have fewer: on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::dtwave.LayoutWarning")


def pairs(number=torch.float64, batch=6, n=70, m=90, channels=3):
    made = torch.Generator().manual_seed(5)
    shapes = (batch, n, channels), (batch, m, channels)
    return [torch.randn(shape, generator=made, dtype=torch.float64).cumsum(1).to(number) / 4 for shape in shapes]


def matrices(number=torch.float64, batch=5, n=130, m=150):
    """Costs of both signs."""
    made = torch.Generator().manual_seed(6)
    return torch.randn(batch, n, m, generator=made, dtype=torch.float64).to(number)


def differentiated(loss, *inputs, device=GPU, **options):
    """Values, and the gradients by the inputs."""
    inputs = [each.detach().to(device).requires_grad_() for each in inputs]
    values = loss(*inputs, **options)
    weights = torch.linspace(-0.6, 2.0, len(values), device=device, dtype=values.dtype)
    (values * weights).sum().backward()
    return values.detach(), *(each.grad for each in inputs)


def as_on_the_cpu(loss, *inputs, tolerance, **options):
    """Values and gradients of the GPU, which are nearly those of the CPU; and these."""
    expected, found = (differentiated(loss, *inputs, device=device, **options) for device in ("cpu", GPU))
    for one, other in zip(found, expected, strict=True):
        assert one.is_cuda and one.dtype == inputs[0].dtype
        assert torch.allclose(one.cpu(), other, rtol=tolerance, atol=float(tolerance * other.abs().max()))
    with torch.no_grad():
        values = loss(*(each.to(GPU) for each in inputs), **options)
    assert torch.allclose(values.cpu(), expected[0], rtol=tolerance, atol=float(tolerance * expected[0].abs().max()))
    return found, expected


@pytest.mark.parametrize("number", [torch.float32, torch.float64])
@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("bandwidth", [None, 30, dtwave.Itakura(3.0)])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(
    ("dist", "channels"), [("euclidean", 1), *product(("sqeuclidean", "euclidean", "manhattan"), (3, *MANY_CHANNELS))]
)
def test_of_series(dist, channels, gamma, normalize, bandwidth, lengths, number):
    given = {"lengths_x": [70, 66, 64, 70, 69, 65], "lengths_y": [90, 88, 70, 80, 90, 71]} if lengths else {}
    loss = SoftDTW(gamma=gamma, normalize=normalize, bandwidth=bandwidth, dist=dist)
    as_on_the_cpu(loss, *pairs(number, channels=channels), tolerance=1e-8 if number == torch.float64 else 2e-3, **given)


@pytest.mark.parametrize("number", [torch.float32, torch.float64])
@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("bandwidth", [None, 40, dtwave.Itakura(3.0), dtwave.Slanted(0.1)])
@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
def test_of_matrices_of_costs(gamma, bandwidth, lengths, number):
    costs = matrices(number)
    given = {"lengths_x": [130, 64, 65, 129, 100], "lengths_y": [150, 70, 64, 150, 80]} if lengths else {}
    given |= {"gamma": gamma, "bandwidth": bandwidth}
    tolerance = 1e-9 if number == torch.float64 else 2e-3
    found, expected = as_on_the_cpu(soft_dtw_from_costs, costs, tolerance=tolerance, **given)
    # Outside of the band, and behind the lengths.
    assert (found[1].cpu()[expected[1] == 0].abs() < 1e-30).all()
    with torch.no_grad():
        assert torch.equal(soft_dtw_from_costs(costs.to(GPU), **given), found[0])


@pytest.mark.parametrize("number", [torch.float32, torch.float64])
def test_few_paths_keep_their_digits(number):
    costs = matrices(number, n=1, m=200).abs()
    found, gradient = differentiated(soft_dtw_from_costs, costs, gamma=1e5)
    assert torch.allclose(found.cpu(), costs.sum((1, 2)), rtol=1e-5 if number == torch.float32 else 1e-8)
    assert gradient.dtype == found.dtype == number


def test_strides_halves_and_one_gradient():
    x, y = (series.to(GPU) for series in pairs(torch.float32))
    turned = x.transpose(0, 1).contiguous().transpose(0, 1)
    for one, other in zip(differentiated(soft_dtw, turned, y), differentiated(soft_dtw, x, y)):
        assert torch.equal(one, other)
    for half in (torch.float16, torch.bfloat16):
        values, grad_x, grad_y = differentiated(soft_dtw, x.to(half), y)
        assert values.dtype == grad_y.dtype == torch.float32 and grad_x.dtype == half
    x.requires_grad_()
    soft_dtw(x, y).sum().backward()
    assert x.grad is not None and y.grad is None
    with torch.autocast("cuda", dtype=torch.float16):
        features = torch.nn.functional.linear(x, torch.eye(3, device=GPU))
        assert features.dtype == torch.float16 and soft_dtw(features, y).dtype == torch.float32


def test_strides_halves_and_what_is_not_read_of_costs():
    costs = matrices(torch.float32).to(GPU)

    def of_costs(costs, **lengths):
        return differentiated(soft_dtw_from_costs, costs, gamma=0.5, **lengths)

    expected = of_costs(costs)
    wide = torch.full((5, 130, 300), torch.nan, device=GPU)
    wide[:, :, 1::2] = costs
    turned = costs.transpose(1, 2).contiguous().transpose(1, 2)
    for other in (turned, wide[:, :, 1::2], costs.flip(0).flip(0)):
        for one, wanted in zip(of_costs(other), expected, strict=True):
            assert torch.equal(one, wanted)
    shared = costs[:1].expand(5, -1, -1)
    assert torch.equal(soft_dtw_from_costs(shared), soft_dtw_from_costs(shared.contiguous()))
    for half in (torch.float16, torch.bfloat16):
        values, gradient = of_costs(costs.to(half))
        assert values.dtype == torch.float32 and gradient.dtype == half
        assert torch.equal(values, of_costs(costs.to(half).float())[0])
    padded = torch.full((5, 200, 170), torch.nan, device=GPU)
    padded[:, :130, :150] = costs
    values, gradient = of_costs(padded, lengths_x=[130] * 5, lengths_y=[150] * 5)
    assert torch.equal(values, expected[0]) and torch.equal(gradient[:, :130, :150], expected[1])
    assert gradient[:, 130:].count_nonzero() == gradient[:, :, 150:].count_nonzero() == 0


def test_squared_costs_are_soft_dtw():
    made = torch.Generator().manual_seed(2)
    x, y = (torch.randn(4, k, 3, dtype=torch.float64, generator=made).to(GPU).requires_grad_() for k in (90, 200))
    of_series = soft_dtw(x, y, gamma=0.3)
    of_costs = soft_dtw_from_costs((x[:, :, None] - y[:, None]).square().sum(3), gamma=0.3)
    torch.testing.assert_close(of_costs, of_series, rtol=1e-9, atol=1e-9)
    wanted, found = (torch.autograd.grad(values.sum(), (x, y)) for values in (of_series, of_costs))
    torch.testing.assert_close(found, wanted, rtol=1e-7, atol=1e-9)


def test_gradcheck():
    costs = matrices(batch=2, n=5, m=4).to(GPU).requires_grad_()
    assert torch.autograd.gradcheck(lambda costs: soft_dtw_from_costs(costs, gamma=0.5), (costs,))


def test_one_long_pair():
    costs = torch.rand(1, 4096, 4096, device=GPU)
    found, expected = (differentiated(soft_dtw_from_costs, costs, device=device, gamma=0.1) for device in (GPU, "cpu"))
    assert torch.allclose(found[0].cpu(), expected[0], rtol=1e-4)
    assert (found[1].cpu() - expected[1]).abs().max() < 1e-2 * expected[1].abs().max()
    assert torch.equal(found[1], differentiated(soft_dtw_from_costs, costs, gamma=0.1)[1])


def test_refusals():
    x, y = (series.to(GPU) for series in pairs())
    costs = matrices().to(GPU)
    with pytest.raises(ValueError, match="move one to the other"):
        soft_dtw(x, y.cpu())
    with pytest.raises(ValueError, match="the length of series 1 of x must be from 1 to 70, got 71"):
        soft_dtw(x, y, lengths_x=[70, 71, 70, 70, 70, 70])
    with pytest.raises(ValueError, match="the length of series 1 of x must be from 1 to 130, got 131"):
        soft_dtw_from_costs(costs, lengths_x=[130, 131, 130, 130, 130])
    with pytest.raises(ValueError, match="use_cuda=False, and x is on cuda:0"):
        SoftDTW(False)(x, y)
    assert SoftDTW(True)(x, y).is_cuda
    for call, leaf in ((lambda x: soft_dtw(x, y), x), (soft_dtw_from_costs, costs)):
        (gradient,) = torch.autograd.grad(call(leaf.requires_grad_()).sum(), leaf, create_graph=True)
        with pytest.raises(RuntimeError, match="no second derivative"):
            gradient.sum().backward()


def leaf_and_loss(kind, with_lengths=False):
    """A tensor that requires a gradient, and a loss of it."""
    if kind == "costs":
        given = {"lengths_x": [130, 64, 65, 129, 100]} if with_lengths else {}
        return matrices(torch.float32).to(GPU).requires_grad_(), lambda x: soft_dtw_from_costs(x, gamma=0.1, **given)
    x, y = (series.to(GPU) for series in pairs(torch.float32, m=70, channels=33 if kind == "channels" else 3))
    lengths = torch.tensor([70, 66, 64, 70, 69, 65]), [70, 70, 61, 62, 70, 69]
    given = dict(zip(("lengths_x", "lengths_y"), lengths)) if with_lengths else {}
    loss = SoftDTW(gamma=0.1, normalize=kind == "divergence")
    return x.requires_grad_(), lambda x: loss(x, y, **given)


def step(loss, leaf):
    leaf.grad = None
    values = loss(leaf)
    values.sum().backward()
    return values


KINDS = ["series", "channels", "divergence", "costs"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [False, True])
def test_a_loop_waits_for_nothing(kind, lengths):
    leaf, loss = leaf_and_loss(kind, lengths)
    for _ in range(3):
        step(loss, leaf)
    torch.cuda.synchronize()
    stats, free = torch.cuda.memory_stats(), torch.cuda.mem_get_info()[0]
    with waiting_is_an_error(torch):
        for _ in range(300):
            step(loss, leaf)
    torch.cuda.synchronize()
    assert torch.cuda.memory_stats()["num_device_alloc"] == stats["num_device_alloc"]
    assert torch.cuda.mem_get_info()[0] == free
    torch.cuda._sleep(2_000_000_000)
    began = torch.cuda.Event()
    began.record()
    for _ in range(10):
        step(loss, leaf)
    assert not began.query(), "a call waited for the stream"
    torch.cuda.synchronize()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [False, True])
def test_both_passes_are_recorded_and_played(kind, lengths):
    leaf, loss = leaf_and_loss(kind, lengths)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step(loss, leaf)
        expected, gradient = step(loss, leaf).detach().clone(), leaf.grad.clone()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    leaf.grad = None
    with torch.cuda.graph(graph, stream=stream):
        values = step(loss, leaf)
    for _ in range(3):
        leaf.grad.fill_(torch.nan)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(values.detach(), expected) and torch.equal(leaf.grad, gradient)


@pytest.mark.parametrize("kind", KINDS)
def test_compiled(kind):
    leaf, loss = leaf_and_loss(kind)

    def both(x):
        return loss(torch.sin(x)).mean()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the compiler's, about itself
        compiled = torch.compile(both, backend="aot_eager", fullgraph=True)
        (found,) = torch.autograd.grad(compiled(leaf), leaf)
    (expected,) = torch.autograd.grad(both(leaf), leaf)
    assert torch.allclose(found, expected, rtol=1e-5)


def test_long_series_have_room():
    x, y = (torch.randn(4, 30_000, 2, device=GPU) for _ in range(2))
    x.requires_grad_()
    soft_dtw(x, y, gamma=1.0).sum().backward()
    assert torch.isfinite(x.grad).all()


def test_it_learns():
    x, y = (series.to(GPU) for series in pairs(torch.float32, n=40, m=40))
    learnt = torch.zeros_like(x, requires_grad=True)
    optimizer = torch.optim.Adam([learnt], lr=0.1)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = soft_dtw(learnt, y, gamma=0.1, normalize=True).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    assert losses[-1] < losses[0] / 10


@pytest.mark.parametrize("number", [torch.float32, torch.float64])
@pytest.mark.parametrize("normalize", [False, True])
def test_gradients_are_nan_where_a_value_overflowed(normalize, number):
    x, y = (series.detach().to(GPU) for series in pairs(number))
    expected = torch.autograd.grad(SoftDTW(normalize=normalize)(x.requires_grad_(), y).sum(), (x,))[0]
    with torch.no_grad():
        x[1] *= 1e25 if number == torch.float32 else 1e200
    values = SoftDTW(normalize=normalize)(x, y.requires_grad_())
    lost = ~values.isfinite()
    assert lost.tolist() == [False, True, False, False, False, False]
    for found in torch.autograd.grad(values.sum(), (x, y)):
        assert found[lost].isnan().all() and found[~lost].isfinite().all()
    found = torch.autograd.grad(SoftDTW(normalize=normalize)(x, y).sum(), (x,))[0]
    assert torch.equal(found[~lost], expected[~lost])


def test_gradients_of_costs_are_nan_where_a_value_overflowed():
    costs = torch.ones(2, 3, 4, device=GPU)
    costs[1] = 3e38
    values = soft_dtw_from_costs(costs.requires_grad_())
    values.sum().backward()
    assert values.isfinite().tolist() == [True, False]
    assert costs.grad[0].isfinite().all() and costs.grad[1].isnan().all()
