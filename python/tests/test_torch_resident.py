"""Soft-DTW of tensors on a GPU that is pretended: the operators for GPUs give what those for the CPU give."""

import pretend
import pytest
from optional import need

from dtwave import _libraries, _resident

torch = need("torch")
_cuda = need("dtwave.torch._cuda")
_operators = need("dtwave.torch._operators")
_costs = need("dtwave.torch._costs")
_bands = need("dtwave.torch._bands")


class OnHost(_libraries.Torch):
    """PyTorch, whose pool is the host's memory."""

    def stream(self, ordinal):
        return 0

    def empty(self, shape, number, ordinal):
        return torch.empty(shape, dtype=self.dtypes[number])

    def lend(self, size, ordinal):
        block = torch.empty(size, dtype=torch.uint8)
        return block.data_ptr(), block


@pytest.fixture(autouse=True)
def pretended(monkeypatch):
    library, gpu = OnHost(torch), pretend.Gpu(0, 1 << 30)
    monkeypatch.setattr(_libraries, "library_of", lambda value, name: library)
    monkeypatch.setattr(_cuda, "_limit", lambda ordinal: 1 << 30)
    monkeypatch.setattr(_resident, "gpu_of", lambda ordinal, memory_limit: gpu)


def pairs(number=torch.float64):
    torch.manual_seed(3)
    return torch.randn(4, 9, 2, dtype=number), torch.randn(4, 7, 2, dtype=number)


@pytest.mark.parametrize("number", [torch.float32, torch.float64])
@pytest.mark.parametrize("band", ["full", '["sakoe_chiba", 3]'])
@pytest.mark.parametrize("cost", ["", "euclidean ", "manhattan "])
@pytest.mark.parametrize("divergence", [False, True])
@pytest.mark.parametrize("lengths", [(None, None), ([9, 3, 5, 8], None), ([9, 3, 5, 8], [7, 4, 3, 6])])
def test_values_and_gradients_are_those_of_the_cpu(lengths, divergence, cost, band, number):
    x, y = pairs(number)
    lengths_x, lengths_y = (None if given is None else torch.tensor(given) for given in lengths)
    spec = (_operators.DIVERGENCE if divergence else "") + cost + band
    for wants in range(4):
        given = x, y, lengths_x, lengths_y, 0.7, spec, wants
        expected = torch.ops.dtwave.soft_dtw(*given)
        found = _operators._on_cuda(*given)
        for one, other in zip(found, expected, strict=True):
            assert one.shape == other.shape and one.dtype == other.dtype
            assert torch.allclose(one, other, rtol=1e-4 if number == torch.float32 else 1e-10)
    # Padding is not read.
    if lengths_x is not None:
        for s, length in enumerate(lengths[0]):
            x[s, length:] = torch.nan
        found = _operators._on_cuda(x, y, lengths_x, lengths_y, 0.7, spec, 3)
        assert all(torch.allclose(one, other, rtol=1e-4) for one, other in zip(found, expected))


def test_strides_and_no_pairs():
    x, y = pairs()
    turned = x.transpose(0, 1).contiguous().transpose(0, 1)
    given = y, None, None, 0.7, "full", 3
    for one, other in zip(_operators._on_cuda(turned, *given), _operators._on_cuda(x, *given)):
        assert torch.equal(one, other)
    values, unit_x, unit_y = _operators._on_cuda(x[:0], y[:0], None, None, 0.7, "full", 3)
    assert values.shape == (0,) and unit_x.shape == (0, 9, 2) and unit_y.shape == (0, 7, 2)


def test_lengths_that_do_not_fit():
    x, y = pairs()
    for lengths in ([9, 3, 5, 10], [0, 3, 5, 9]):
        with pytest.raises(ValueError, match=r"the length of series . of x must be from 1 to 9, got"):
            _operators._on_cuda(x, y, torch.tensor(lengths), None, 0.7, "full", 3)


class Spec:
    """A measure that the pretended GPU can look into."""

    def __init__(self, gamma, text):
        self.gamma, self.band = gamma, _bands.from_text(text)


@pytest.fixture
def seen(monkeypatch):
    """Strides of the matrices that calls have passed, and whether as doubles."""
    calls = []
    plain = pretend.Gpu.cost_gradients

    def watched(self, costs, rows, columns, spec, is_double, *rest):
        calls.append((costs[2], is_double))
        return plain(self, costs, rows, columns, spec, is_double, *rest)

    monkeypatch.setattr(_operators, "spec_of", Spec)
    monkeypatch.setattr(pretend.Gpu, "cost_gradients", watched)
    return calls


@pytest.mark.parametrize("number", [torch.float32, torch.float64])
@pytest.mark.parametrize("band", ["full", '["sakoe_chiba", 3]'])
@pytest.mark.parametrize("lengths", [(None, None), ([9, 3, 5, 8], None), ([9, 3, 5, 8], [7, 4, 3, 6])])
def test_matrices_of_costs_are_read_where_they_are(lengths, band, number, seen):
    torch.manual_seed(4)
    packed = torch.randn(4, 9, 7, dtype=number)
    turned = packed.transpose(1, 2).contiguous().transpose(1, 2)
    wide = torch.full((4, 9, 15), torch.nan, dtype=number)
    wide[:, :, 1::2] = packed
    lengths_x, lengths_y = (None if given is None else torch.tensor(given) for given in lengths)
    given = lengths_x, lengths_y, 0.7, band
    for wants in (True, False):
        expected = torch.ops.dtwave.soft_dtw_of_costs(packed, *given, wants)
        for costs in (packed, turned, wide[:, :, 1::2]):
            found = _costs._on_cuda(costs, *given, wants)
            assert seen.pop() == (costs.stride(), number == torch.float64)
            for one, other in zip(found, expected, strict=True):
                assert one.shape == other.shape and one.dtype == other.dtype and torch.equal(one, other)


def test_few_paths_are_computed_in_doubles(seen):
    costs = torch.randn(2, 5, 4)
    for lengths, is_double in (([5, 2], False), ([5, 1], True)):
        values, unit = _costs._on_cuda(costs, torch.tensor(lengths), None, 1e6, "full", True)
        assert seen.pop()[1] == is_double
        assert values.dtype == unit.dtype == torch.float32
    assert torch.allclose(values[1], costs[1, 0].sum(), rtol=1e-4)


def test_matrices_that_do_not_fit(seen):
    costs = torch.randn(2, 5, 4)
    with pytest.raises(ValueError, match="the length of series 1 of y must be from 1 to 4, got 5"):
        _costs._on_cuda(costs, None, torch.tensor([4, 5]), 0.7, "full", True)
    values, unit = _costs._on_cuda(costs[:0], None, None, 0.7, "full", True)
    assert values.shape == (0,) and unit.shape == (0, 5, 4) and not seen


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("number", [torch.float32, torch.float64])
def test_the_best_of_each_column_are_the_first_of_a_stable_sort(monkeypatch, number, largest):
    library = _libraries.Torch(torch)
    generator = torch.Generator().manual_seed(3)
    for few, count, k, levels in [(64, 40, 3, 9), (1, 60, 12, 2), (1, 500, 7, 1), (1, 300, 9, 10**6)]:
        monkeypatch.setattr(library, "few", few)
        matrix = torch.randint(levels, (count, 70), generator=generator).to(number)
        matrix.diagonal().fill_(float("-inf" if largest else "inf"))
        matrix[:, 5] = float("inf")
        matrix[:, 7], matrix[3:5, 9], matrix[2:, 11] = float("nan"), float("nan"), float("nan")
        sorted = torch.sort(matrix, dim=0, descending=largest, stable=True)
        indices, values = library.smallest(matrix, k, largest)
        assert torch.equal(indices, sorted.indices[:k].T)
        assert torch.equal(values.nan_to_num(-9), sorted.values[:k].T.nan_to_num(-9))
        assert indices.is_contiguous() and values.is_contiguous() and indices.dtype == torch.int64
