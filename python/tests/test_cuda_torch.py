"""On an NVIDIA GPU: the loss of `dtwave.torch` gives the values and gradients of the CPU, and waits for nothing."""

import warnings

import pytest
from optional import need_gpu

import dtwave

torch = need_gpu()

from dtwave.torch import SoftDTW, soft_dtw  # noqa: E402

GPU = "cuda:0"


def pairs(number=torch.float64, batch=6, n=70, m=90, channels=3):
    made = torch.Generator().manual_seed(5)
    shapes = (batch, n, channels), (batch, m, channels)
    return [torch.randn(shape, generator=made, dtype=torch.float64).cumsum(1).to(number) / 4 for shape in shapes]


def differentiated(loss, x, y, device, **lengths):
    x, y = (series.detach().to(device).requires_grad_() for series in (x, y))
    values = loss(x, y, **lengths)
    weights = torch.linspace(0.5, 2.0, len(values), device=device, dtype=values.dtype)
    (values * weights).sum().backward()
    return values.detach(), x.grad, y.grad


@pytest.mark.parametrize("number", [torch.float32, torch.float64])
@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("bandwidth", [None, 30, dtwave.Itakura(3.0)])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(
    ("dist", "channels"), [("sqeuclidean", 3), ("euclidean", 3), ("manhattan", 3), ("euclidean", 1)]
)
def test_values_and_gradients_are_those_of_the_cpu(dist, channels, gamma, normalize, bandwidth, lengths, number):
    x, y = pairs(number, channels=channels)
    given = {"lengths_x": [70, 66, 64, 70, 69, 65], "lengths_y": [90, 88, 70, 80, 90, 71]} if lengths else {}
    loss = SoftDTW(gamma=gamma, normalize=normalize, bandwidth=bandwidth, dist=dist)
    expected = differentiated(loss, x, y, "cpu", **given)
    found = differentiated(loss, x, y, GPU, **given)
    tolerance = 1e-8 if number == torch.float64 else 2e-3
    for one, other in zip(found, expected, strict=True):
        assert one.is_cuda and one.dtype == number
        scale = other.abs().max()
        assert torch.allclose(one.cpu(), other, rtol=tolerance, atol=float(tolerance * scale))
    with torch.no_grad():
        values = loss(x.to(GPU), y.to(GPU), **given)
    assert torch.allclose(values.cpu(), expected[0], rtol=tolerance, atol=float(tolerance * expected[0].abs().max()))


def test_strides_halves_and_one_gradient():
    x, y = (series.to(GPU) for series in pairs(torch.float32))
    turned = x.transpose(0, 1).contiguous().transpose(0, 1)
    for one, other in zip(differentiated(soft_dtw, turned, y, GPU), differentiated(soft_dtw, x, y, GPU)):
        assert torch.equal(one, other)
    for half in (torch.float16, torch.bfloat16):
        values, grad_x, grad_y = differentiated(soft_dtw, x.to(half), y, GPU)
        assert values.dtype == grad_y.dtype == torch.float32 and grad_x.dtype == half
    x.requires_grad_()
    soft_dtw(x, y).sum().backward()
    assert x.grad is not None and y.grad is None
    with torch.autocast("cuda", dtype=torch.float16):
        features = torch.nn.functional.linear(x, torch.eye(3, device=GPU))
        assert features.dtype == torch.float16 and soft_dtw(features, y).dtype == torch.float32


def test_refusals():
    x, y = (series.to(GPU) for series in pairs())
    with pytest.raises(ValueError, match="move one to the other"):
        soft_dtw(x, y.cpu())
    with pytest.raises(ValueError, match="the length of series 1 of x must be from 1 to 70, got 71"):
        soft_dtw(x, y, lengths_x=[70, 71, 70, 70, 70, 70])
    with pytest.raises(ValueError, match="use_cuda=False, and x is on cuda:0"):
        SoftDTW(False)(x, y)
    assert SoftDTW(True)(x, y).is_cuda
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(soft_dtw(x, y).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative"):
        gradient.sum().backward()


def step(loss, x, y, **lengths):
    x.grad = None
    values = loss(x, y, **lengths)
    values.sum().backward()
    return values


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("lengths", [False, True])
def test_a_loop_waits_for_nothing(normalize, lengths):
    x, y = (series.to(GPU) for series in pairs(torch.float32))
    x.requires_grad_()
    given = {"lengths_x": torch.tensor([70, 66, 64, 70, 69, 65])} if lengths else {}
    loss = SoftDTW(gamma=0.1, normalize=normalize)
    for _ in range(3):
        step(loss, x, y, **given)
    torch.cuda.synchronize()
    stats, free = torch.cuda.memory_stats(), torch.cuda.mem_get_info()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is a prototype
        torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(300):
            step(loss, x, y, **given)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    torch.cuda.synchronize()
    assert torch.cuda.memory_stats()["num_device_alloc"] == stats["num_device_alloc"]
    assert torch.cuda.mem_get_info()[0] == free
    torch.cuda._sleep(2_000_000_000)
    began = torch.cuda.Event()
    began.record()
    for _ in range(10):
        step(loss, x, y, **given)
    assert not began.query(), "a call waited for the stream"
    torch.cuda.synchronize()


@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_both_passes_are_recorded_and_played(normalize, lengths):
    x, y = (series.to(GPU) for series in pairs(torch.float32, m=70))
    x.requires_grad_()
    given = {"lengths_x": [70, 66, 64, 70, 69, 65], "lengths_y": [70, 70, 61, 62, 70, 69]} if lengths else {}
    loss = SoftDTW(gamma=0.1, normalize=normalize)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step(loss, x, y, **given)
        expected, gradient = step(loss, x, y, **given).detach().clone(), x.grad.clone()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    x.grad = None
    with torch.cuda.graph(graph, stream=stream):
        values = loss(x, y, **given)
        values.sum().backward()
    for _ in range(3):
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(values.detach(), expected) and torch.equal(x.grad, gradient)


def test_compiled():
    x, y = (series.to(GPU) for series in pairs(torch.float32))
    loss = SoftDTW(gamma=0.1, normalize=True)

    def both(x, y):
        return loss(torch.sin(x), y).mean()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the compiler's, about itself
        compiled = torch.compile(both, backend="aot_eager", fullgraph=True)
        found = x.clone().requires_grad_()
        compiled(found, y).backward()
    expected = x.clone().requires_grad_()
    both(expected, y).backward()
    assert torch.allclose(found.grad, expected.grad, rtol=1e-5)


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
