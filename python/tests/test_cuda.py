"""On an NVIDIA GPU: PyTorch's tensors in its memory give what arrays of the host give, wherever and however they lie."""

import numpy as np
import pytest
from optional import MANY_CHANNELS, need_gpu

import dtwave

torch = need_gpu()

RNG = np.random.default_rng(43)
GPU = "cuda:0"

# Points of many channels, of which some series have fewer: on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::dtwave.LayoutWarning")
TOLERANCE = {torch.float32: 2e-4, torch.float64: 1e-9}


#: Every measure, as small numbers ask for it.
MEASURES = {
    **{key: key for key in dtwave.MEASURES},
    "edr": dtwave.Edr(epsilon=0.5),
    "log_gak": dtwave.LogGak(sigma=2.0),
    "lcss": dtwave.Lcss(epsilon=0.5, output="length"),
    "soft_dtw, small gamma": dtwave.SoftDtw(gamma=0.001),
    "soft_dtw, euclidean": dtwave.SoftDtw(gamma=0.5, cost="euclidean"),
    "soft_dtw_divergence, manhattan": dtwave.SoftDtwDivergence(gamma=100.0, cost="manhattan"),
    "dtw, manhattan": dtwave.Dtw(cost="manhattan"),
}


def tensor(values, number=torch.float64):
    return torch.as_tensor(np.asarray(values), device=GPU).to(number)


def bits(found):
    return found.detach().cpu().numpy().tobytes()


def close(found, expected, number=torch.float64):
    assert found.is_cuda and found.dtype == number
    assert np.allclose(found.cpu().numpy(), expected, rtol=TOLERANCE[number], atol=TOLERANCE[number])


def series(count, length, channels):
    return RNG.normal(size=(count, length, channels)).cumsum(axis=1) / 4


@pytest.mark.parametrize("number", [torch.float32, torch.float64])
@pytest.mark.parametrize("channels", [1, 3, *MANY_CHANNELS])
@pytest.mark.parametrize("key", list(MEASURES))
def test_every_measure_and_pairing(key, channels, number):
    measure = MEASURES[key]
    kind = str(number).removeprefix("torch.")
    x, y = series(7, 33, channels).astype(kind), series(5, 40, channels).astype(kind)
    on_x, on_y = tensor(x, number), tensor(y, number)
    bands = [None, 0.3, dtwave.Itakura(2.0)] if measure != "subsequence_dtw" else [None, 0.9]
    for band in bands:
        options = {"measure": measure, "band": band}
        close(dtwave.pairwise(on_x, on_y, **options), dtwave.pairwise(x, y, **options), number)
        close(dtwave.pairwise(on_x, **options), dtwave.pairwise(x, **options), number)
        close(dtwave.zipped(on_x[:5], on_y, **options), dtwave.zipped(x[:5], y, **options), number)
        found = dtwave.distance(on_x[2], on_y[3], **options)
        assert found.shape == () and found.is_cuda
        close(found, dtwave.distance(x[2], y[3], **options), number)
        expected = dtwave.nearest(x, y, k=3, **options)
        neighbours = dtwave.nearest(on_x, on_y, k=3, **options)
        close(neighbours.distances, expected.distances, number)
        lengths = (33, 30, 33, 31, 33, 32, 33)
        ragged_x = [one[:n] for one, n in zip(x, lengths)]
        expected = dtwave.pairwise(ragged_x, y, **options)
        close(dtwave.pairwise([tensor(one, number) for one in ragged_x], on_y, **options), expected, number)
        close(dtwave.pairwise(on_x, on_y, lengths=(lengths, None), **options), expected, number)


@pytest.mark.parametrize("number", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("channels", [1, 4])
def test_strides_and_halves_are_read_in_place(number, channels):
    x = tensor(series(6, 50, channels), number)
    wide = torch.float64 if number == torch.float64 else torch.float32
    plain = x.to(wide).contiguous()
    expected = bits(dtwave.pairwise(plain))
    layouts = [
        x,
        x.transpose(0, 1).contiguous().transpose(0, 1),
        x.transpose(1, 2).contiguous().transpose(1, 2),
        torch.repeat_interleave(x, 2, dim=1)[:, ::2],
        torch.cat([x, x], dim=2)[:, :, :channels],
    ]
    torch.cuda.synchronize()
    for each in layouts:
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        found = dtwave.pairwise(each)
        assert found.dtype == wide and bits(found) == expected
        # Prepared series and the result, but no copy of the series besides.
        assert torch.cuda.max_memory_allocated() - before < 64 << 10
        assert bits(dtwave.pairwise(each.transpose(1, 2), layout="channels_first")) == expected


def test_times():
    x, y = series(6, 20, 1), series(6, 24, 1)
    times = RNG.random((6, 20)).cumsum(axis=1), RNG.random((6, 24)).cumsum(axis=1)
    on = tuple(map(tensor, times))
    close(
        dtwave.zipped(tensor(x), tensor(y), measure="twed", times=on), dtwave.zipped(x, y, measure="twed", times=times)
    )
    lengths = [20, 11, 5, 20, 8, 20], None
    expected = dtwave.pairwise(x, y, measure="twed", times=times, lengths=lengths)
    close(dtwave.pairwise(tensor(x), tensor(y), measure="twed", times=on, lengths=lengths), expected)


def test_forms_and_normalisation():
    x = series(9, 30, 2)
    whole = dtwave.pairwise(x)
    close(dtwave.pairwise(tensor(x), condensed=True), whole[np.triu_indices(9, 1)])
    out = torch.zeros(9, 9, dtype=torch.float64, device=GPU)
    assert dtwave.pairwise(tensor(x), out=out) is out
    close(out, whole)
    close(dtwave.normalize(tensor(x)), dtwave.normalize(x))
    close(dtwave.normalize(tensor(x[:, :, 0])), dtwave.normalize(x[:, :, 0]))
    close(dtwave.pairwise(tensor(x), normalize="z"), dtwave.pairwise(x, normalize="z"))
    close(dtwave.pairwise(tensor(x), memory_limit=30_000), whole)
    doubled = np.concatenate([x, x])
    for measure in ("dtw", MEASURES["log_gak"]):
        expected = dtwave.nearest(doubled, k=4, measure=measure)
        for limit in (None, 20_000):
            found = dtwave.nearest(tensor(doubled), k=4, measure=measure, memory_limit=limit)
            close(found.distances, expected.distances)
    ties = np.tile(x[:1], (12, 1, 1))
    found = dtwave.nearest(tensor(ties), tensor(x), k=5)
    assert found.indices.cpu().tolist() == [[0, 1, 2, 3, 4]] * 9


@pytest.mark.parametrize("channels", [2, *MANY_CHANNELS])
def test_paths(channels):
    x, y = series(5, 40, channels), series(5, 50, channels)
    lengths = [40, 31, 38, 40, 33], None
    for measure in ("dtw", "ddtw", "twed", "subsequence_dtw"):
        expected = dtwave.align_pairs(x, y, measure=measure, lengths=lengths)
        found = dtwave.align_pairs(tensor(x), tensor(y), measure=measure, lengths=lengths)
        for one, other in zip(found, expected, strict=True):
            assert np.isclose(one.distance, other.distance) and np.array_equal(one.path, other.path)
            assert np.array_equal(one.x, other.x)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        late = torch.zeros(40, channels, dtype=torch.float64, device=GPU)
        torch.cuda._sleep(50_000_000)
        late.copy_(tensor(x[0]))
        found = dtwave.align(late, tensor(y[0]), band=0.5)
    expected = dtwave.align(x[0], y[0], band=0.5)
    assert np.isclose(found.distance, expected.distance) and np.array_equal(found.path, expected.path)
    with pytest.raises(ValueError, match="no warping path|paths"):
        dtwave.align(tensor(x[0]), tensor(y[0]), measure="soft_dtw")


def test_matches():
    queries, reference = series(4, 20, 1), series(1, 3000, 1)[0]
    on = tensor(queries), tensor(reference)
    wide = torch.stack([on[1], on[1]], dim=1)[:, 0]  # with steps
    for options in (
        {"k": 5, "exclusion": 10},
        {"threshold": 30.0, "exclusion": 50},
        {"k": 3, "normalized_window": 25},
        {"k": 2, "band": 0.99},
    ):
        expected = dtwave.search_all(queries, reference, **options)
        for given in (on[1], wide):
            found = dtwave.search_all(on[0], given, **options)
            for hits, others in zip(found, expected, strict=True):
                assert [(hit.start, hit.end) for hit in hits] == [(hit.start, hit.end) for hit in others]
                assert np.allclose([hit.distance for hit in hits], [hit.distance for hit in others])
        found = dtwave.search(on[0][2], wide, **options)
        assert [(hit.start, hit.end) for hit in found] == [(hit.start, hit.end) for hit in expected[2]]


def test_half_precision_finds_the_matches_of_full_precision():
    draw = np.random.default_rng(5)
    reference = np.cumsum(draw.normal(size=100_000)).astype(np.float32)
    starts = draw.integers(0, 98_000, 512)
    queries = np.stack([reference[start : start + 2000] for start in starts])
    queries += 0.3 * draw.normal(size=queries.shape).astype(np.float32)
    for options in ({"k": 1}, {"k": 3, "threshold": 4000.0}, {"k": 4, "exclusion": 100}):
        for sides in ((queries, reference), (tensor(queries, torch.float32), tensor(reference, torch.float32))):
            expected = dtwave.search_all(*sides, device="cuda", **options)
            found = dtwave.search_all(*sides, device="cuda", precision="half", **options)
            assert found == expected
            # Ten hits are not worth it: each is confirmed.
            assert any(matches.proposed for matches in found) or options["k"] > 1
            assert not any(matches.proposed for matches in expected)
    with pytest.raises(ValueError, match="f32"):
        dtwave.search_all(tensor(queries).double(), tensor(reference).double(), precision="half")


def test_gradients_do_not_flow_and_inputs_stay():
    x = tensor(series(3, 10, 1)).requires_grad_()
    before = x.detach().clone()
    found = dtwave.pairwise(x)
    assert not found.requires_grad and torch.equal(x.detach(), before)


def test_mixed_devices_and_bad_outputs():
    x = tensor(series(3, 10, 1))
    with pytest.raises(TypeError, match="mixed devices: x is on cuda:0, y is on cpu; move them to one"):
        dtwave.pairwise(x, x.cpu())
    with pytest.raises(TypeError, match="out must be an array of float64"):
        dtwave.pairwise(x, out=torch.empty(3, 3, device=GPU))
    with pytest.raises(ValueError, match="an array on cuda:0"):
        dtwave.pairwise(x, out=torch.empty(3, 3))
    with pytest.raises(ValueError, match="device is 'cpu'"):
        dtwave.pairwise(x, device="cpu")
    with pytest.raises(TypeError, match="booleans"):
        dtwave.pairwise(x > 0)
    with pytest.raises(MemoryError, match="raise memory_limit"):
        dtwave.pairwise(x, memory_limit=100)
    # What was refused leaves everything as it was.
    close(dtwave.pairwise(x), dtwave.pairwise(x.cpu().numpy()))
