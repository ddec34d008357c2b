"""On an NVIDIA GPU: Soft-DTW of matrices of costs gives the values and gradients of the CPU, and waits for nothing."""

import warnings

import pytest
from optional import need_gpu

import dtwave

torch = need_gpu()

from dtwave.torch import soft_dtw, soft_dtw_from_costs  # noqa: E402

GPU = "cuda:0"


def matrices(number=torch.float64, batch=5, n=130, m=150):
    """Costs of both signs."""
    made = torch.Generator().manual_seed(6)
    return torch.randn(batch, n, m, generator=made, dtype=torch.float64).to(number)


def differentiated(costs, device, **options):
    costs = costs.detach().to(device).requires_grad_()
    values = soft_dtw_from_costs(costs, **options)
    weights = torch.linspace(-0.5, 2.0, len(values), device=device, dtype=values.dtype)
    (values * weights).sum().backward()
    return values.detach(), costs.grad


@pytest.mark.parametrize("number", [torch.float32, torch.float64])
@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("bandwidth", [None, 40, dtwave.Itakura(3.0), dtwave.Slanted(0.1)])
@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
def test_values_and_gradients_are_those_of_the_cpu(gamma, bandwidth, lengths, number):
    costs = matrices(number)
    given = {"lengths_x": [130, 64, 65, 129, 100], "lengths_y": [150, 70, 64, 150, 80]} if lengths else {}
    given |= {"gamma": gamma, "bandwidth": bandwidth}
    expected, found = (differentiated(costs, device, **given) for device in ("cpu", GPU))
    tolerance = 1e-9 if number == torch.float64 else 2e-3
    for one, other in zip(found, expected, strict=True):
        assert one.is_cuda and one.dtype == number
        assert torch.allclose(one.cpu(), other, rtol=tolerance, atol=float(tolerance * other.abs().max()))
    # Outside of the band, and behind the lengths.
    assert (found[1].cpu()[expected[1] == 0].abs() < 1e-30).all()
    with torch.no_grad():
        assert torch.equal(soft_dtw_from_costs(costs.to(GPU), **given), found[0])


@pytest.mark.parametrize("number", [torch.float32, torch.float64])
def test_few_paths_keep_their_digits(number):
    costs = matrices(number, n=1, m=200).abs()
    found, gradient = differentiated(costs.to(GPU), GPU, gamma=1e5)
    assert torch.allclose(found.cpu(), costs.sum((1, 2)), rtol=1e-5 if number == torch.float32 else 1e-8)
    assert gradient.dtype == found.dtype == number


def test_strides_halves_and_what_is_not_read():
    costs = matrices(torch.float32).to(GPU)
    expected = differentiated(costs, GPU, gamma=0.5)
    wide = torch.full((5, 130, 300), torch.nan, device=GPU)
    wide[:, :, 1::2] = costs
    turned = costs.transpose(1, 2).contiguous().transpose(1, 2)
    for other in (turned, wide[:, :, 1::2], costs.flip(0).flip(0)):
        for one, wanted in zip(differentiated(other, GPU, gamma=0.5), expected, strict=True):
            assert torch.equal(one, wanted)
    shared = costs[:1].expand(5, -1, -1)
    assert torch.equal(soft_dtw_from_costs(shared), soft_dtw_from_costs(shared.contiguous()))
    for half in (torch.float16, torch.bfloat16):
        values, gradient = differentiated(costs.to(half), GPU, gamma=0.5)
        assert values.dtype == torch.float32 and gradient.dtype == half
        assert torch.equal(values, differentiated(costs.to(half).float(), GPU, gamma=0.5)[0])
    padded = torch.full((5, 200, 170), torch.nan, device=GPU)
    padded[:, :130, :150] = costs
    values, gradient = differentiated(padded, GPU, gamma=0.5, lengths_x=[130] * 5, lengths_y=[150] * 5)
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
    found = differentiated(costs, GPU, gamma=0.1)
    expected = differentiated(costs.cpu(), "cpu", gamma=0.1)
    assert torch.allclose(found[0].cpu(), expected[0], rtol=1e-4)
    assert (found[1].cpu() - expected[1]).abs().max() < 1e-2 * expected[1].abs().max()
    assert torch.equal(found[1], differentiated(costs, GPU, gamma=0.1)[1])


def test_what_is_refused():
    costs = matrices().to(GPU)
    with pytest.raises(ValueError, match="the length of series 1 of x must be from 1 to 130, got 131"):
        soft_dtw_from_costs(costs, lengths_x=[130, 131, 130, 130, 130])
    (gradient,) = torch.autograd.grad(
        soft_dtw_from_costs(costs.requires_grad_()).sum(), costs, create_graph=True
    )
    with pytest.raises(RuntimeError, match="no second derivative"):
        gradient.sum().backward()


def step(costs, **given):
    costs.grad = None
    values = soft_dtw_from_costs(costs, gamma=0.1, **given)
    values.sum().backward()
    return values


@pytest.mark.parametrize("lengths", [False, True])
def test_a_loop_waits_for_nothing_and_is_recorded(lengths):
    costs = matrices(torch.float32).to(GPU).requires_grad_()
    given = {"lengths_x": [130, 64, 65, 129, 100]} if lengths else {}
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step(costs, **given)
        expected, gradient = step(costs, **given).detach().clone(), costs.grad.clone()
        torch.cuda.synchronize()
        blocks = torch.cuda.memory_stats()["num_device_alloc"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is a prototype
            torch.cuda.set_sync_debug_mode("error")
        try:
            for _ in range(100):
                step(costs, **given)
        finally:
            torch.cuda.set_sync_debug_mode("default")
        assert torch.cuda.memory_stats()["num_device_alloc"] == blocks
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    costs.grad = None
    with torch.cuda.graph(graph, stream=stream):
        values = soft_dtw_from_costs(costs, gamma=0.1, **given)
        values.sum().backward()
    for _ in range(3):
        costs.grad.fill_(torch.nan)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(values.detach(), expected) and torch.equal(costs.grad, gradient)


def test_compiled():
    costs = matrices(torch.float32).to(GPU)

    def both(costs):
        return soft_dtw_from_costs(torch.sin(costs), gamma=0.5, bandwidth=40).mean()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the compiler's, about itself
        compiled = torch.compile(both, backend="aot_eager", fullgraph=True)
        found = costs.clone().requires_grad_()
        compiled(found).backward()
    expected = costs.clone().requires_grad_()
    both(expected).backward()
    assert torch.equal(found.grad, expected.grad)
