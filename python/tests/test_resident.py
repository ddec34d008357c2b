"""Arrays in a GPU's memory, on a GPU that is pretended: what is read, where results go, what is refused."""

import sys
from types import SimpleNamespace

import numpy as np
import pretend
import pytest
from pretend import on_gpu

import dtwave
from dtwave import _arrays, _libraries

RNG = np.random.default_rng(41)
X = RNG.normal(size=(6, 9, 2))
Y = RNG.normal(size=(5, 7, 2))


@pytest.fixture
def pretended(monkeypatch):
    return pretend.install(monkeypatch)


def same(found, expected):
    assert isinstance(found, pretend.Array) and found.dtype == np.asarray(expected).dtype
    assert np.array_equal(np.asarray(found), expected)


def test_results_are_where_the_series_are(pretended):
    library, gpus = pretended
    x, y = on_gpu(X, 1), on_gpu(Y, 1)
    for measure in ("dtw", "erp", "subsequence_dtw"):
        same(dtwave.pairwise(x, y, measure=measure), dtwave.pairwise(X, Y, measure=measure))
        same(dtwave.zipped(x[:5], y, measure=measure), dtwave.zipped(X[:5], Y, measure=measure))
    same(dtwave.pairwise(x), dtwave.pairwise(X))
    same(dtwave.pairwise(x, measure="subsequence_dtw"), dtwave.pairwise(X, measure="subsequence_dtw"))
    found = dtwave.distance(x[0], y[0], band=3)
    assert found.shape == () and found == dtwave.distance(X[0], Y[0], band=3)
    assert dtwave.distance(x[0, :, 0], y[0, :, 0]) == dtwave.distance(X[0, :, 0], Y[0, :, 0])
    assert {key[0] for key in gpus} == {1} and len(library.lent) == 10


@pytest.mark.parametrize("number", [np.float16, np.float32, np.float64, np.int64])
def test_formats_and_strides_are_read_in_place(pretended, number):
    whole = RNG.integers(-9, 9, size=(4, 6, 3)).astype(number)
    expected = dtwave.pairwise(whole)
    for array in (
        on_gpu(whole),
        on_gpu(whole.transpose(2, 1, 0).copy()).transpose(2, 1, 0),
        on_gpu(whole[:, ::-1].copy())[:, ::-1],
        on_gpu(np.repeat(whole, 2, axis=1))[:, ::2],
    ):
        same(dtwave.pairwise(array), expected)
        same(dtwave.pairwise(array.transpose(0, 2, 1), layout="channels_first"), expected)
    same(dtwave.pairwise(on_gpu(whole), dtype="float64"), dtwave.pairwise(whole, dtype="float64"))
    one = on_gpu(whole[0].T.copy())
    assert dtwave.distance(one, one[:, ::-1], layout="channels_first") == expected.dtype.type(
        dtwave.distance(whole[0], whole[0, ::-1])
    )


def test_different_lengths(pretended):
    lengths = [9, 4, 7, 9, 2, 5]
    ragged = [series[:n] for series, n in zip(X, lengths)]
    expected = dtwave.pairwise(ragged, Y)
    same(dtwave.pairwise([on_gpu(series) for series in ragged], on_gpu(Y)), expected)
    spoilt = X.copy()
    for series, n in zip(spoilt, lengths):
        series[n:] = np.nan
    for padded in (on_gpu(spoilt), on_gpu(spoilt.transpose(1, 0, 2).copy()).transpose(1, 0, 2)):
        for given in (lengths, np.array(lengths), on_gpu(lengths)):
            same(dtwave.pairwise(padded, on_gpu(Y), lengths=(given, None)), expected)
    same(dtwave.pairwise([on_gpu(series) for series in X]), dtwave.pairwise(X))
    # Of one point: from it to the next there is no step.
    one = on_gpu(X[:, :3, :1]).transpose(0, 2, 1)
    expected = dtwave.pairwise(np.asarray(one), layout="channels_last")
    same(dtwave.pairwise(one, layout="channels_last"), expected)
    same(dtwave.pairwise(one, lengths=[1] * 6, layout="channels_last"), expected)
    same(dtwave.pairwise(on_gpu(spoilt), lengths=lengths), dtwave.pairwise(ragged))


def test_timestamps(pretended):
    x, y = X[:5, :, 0], Y[:, :, 0]
    times = (np.cumsum(RNG.random(x.shape), axis=1), np.cumsum(RNG.random(y.shape), axis=1))
    there = tuple(map(on_gpu, times))
    lengths = ([9, 4, 7, 8, 3], None)
    for options in ({}, {"lengths": lengths}):
        for call in (dtwave.zipped, dtwave.pairwise):
            expected = call(x, y, measure="twed", times=times, **options)
            same(call(on_gpu(x), on_gpu(y), measure="twed", times=there, **options), expected)
    rows = ([on_gpu(row) for row in x], [on_gpu(row) for row in times[0]])
    found = dtwave.pairwise(rows[0], on_gpu(y), measure="twed", times=(rows[1], there[1]))
    same(found, dtwave.pairwise(x, y, measure="twed", times=times))
    same(dtwave.pairwise(on_gpu(x), measure="twed", times="count"), dtwave.pairwise(x, measure="twed"))
    for word in ("index", "elapsed"):
        with pytest.raises(ValueError, match="arrays on cuda:0 have no index to take times of"):
            dtwave.zipped(on_gpu(x), on_gpu(y), measure="twed", times=word)
    with pytest.raises(ValueError, match="times of x must be one per point"):
        dtwave.zipped(on_gpu(x), on_gpu(y), measure="twed", times=(there[1], there[0]))
    with pytest.raises(TypeError, match="x is on cuda:0, its times are on cpu"):
        dtwave.zipped(on_gpu(x), on_gpu(y), measure="twed", times=times)


@pytest.mark.parametrize("limit", [None, 1000])
@pytest.mark.parametrize("measure", ["dtw", dtwave.LogGak(sigma=2.0), "subsequence_dtw"], ids=str)
def test_neighbours(pretended, measure, limit):
    x = np.concatenate([X, X[:2]])  # with ties
    for arguments in ((x, Y), (x,)):
        expected = dtwave.nearest(*arguments, k=3, measure=measure)
        found = dtwave.nearest(*map(on_gpu, arguments), k=3, measure=measure, memory_limit=limit)
        assert np.array_equal(found.indices, expected.indices)
        assert np.array_equal(found.distances, expected.distances)
    lengths = [9, 4, 7, 9, 2, 5, 9, 9]
    expected = dtwave.nearest(Y, x, k=2, lengths=(None, lengths))
    found = dtwave.nearest(on_gpu(Y), on_gpu(x), k=2, lengths=(None, lengths), memory_limit=limit)
    assert np.array_equal(found.indices, expected.indices)
    rows = [on_gpu(series[:n]) for series, n in zip(x, lengths)]
    found = dtwave.nearest(on_gpu(Y), rows, k=2, memory_limit=limit)
    assert np.array_equal(found.indices, expected.indices)


@pytest.mark.parametrize("measure", ["dtw", "lcss", "subsequence_dtw"])
def test_neighbours_of_blocks(pretended, measure):
    x = np.concatenate([RNG.normal(size=(30, 9)).round(1), X[:, :, 0], X[:, :, 0]])  # with ties
    for k in (1, 4, 41):
        expected = dtwave.nearest(x, k=k, measure=measure)
        # Blocks of 6, 14, 21 series where k is a quarter of that at most; columns elsewhere.
        for limit in (1, 2_000, 10_000, 25_000, 100_000):
            found = dtwave.nearest(on_gpu(x), k=k, measure=measure, memory_limit=limit)
            assert np.array_equal(found.indices, expected.indices), (k, limit)
            assert np.array_equal(found.distances, expected.distances), (k, limit)


def test_neighbours_of_blocks_of_unequal_series(pretended):
    x, lengths = RNG.normal(size=(40, 9, 2)), RNG.integers(3, 10, size=40)
    times = np.cumsum(RNG.random((40, 9)) + 0.1, axis=1)
    rows = [on_gpu(series[:n]) for series, n in zip(x, lengths)]
    twed = {"measure": "twed"}
    for options, there in [({}, {}), ({"times": times, **twed}, {"times": on_gpu(times), **twed})]:
        expected = dtwave.nearest(x, k=3, lengths=lengths, **options)
        for limit in (2_000, 10_000):
            found = [dtwave.nearest(on_gpu(x), k=3, lengths=lengths, memory_limit=limit, **there)]
            if not there:
                found.append(dtwave.nearest(rows, k=3, memory_limit=limit))
            for one in found:
                assert np.array_equal(one.indices, expected.indices)
                assert np.array_equal(one.distances, expected.distances)


def test_forms_of_a_matrix(pretended):
    x = on_gpu(X)
    same(dtwave.pairwise(x, condensed=True), dtwave.pairwise(X, condensed=True))
    out = on_gpu(np.zeros((6, 5)))
    assert dtwave.pairwise(x, on_gpu(Y), out=out) is out
    same(out, dtwave.pairwise(X, Y))
    assert pretended[0].changed is out
    square = on_gpu(np.zeros((6, 6)))
    with pytest.raises(ValueError, match="out shares memory with x, which is read meanwhile"):
        dtwave.pairwise(square[:, ::2], out=square)
    refused = [
        ({"out": np.empty((6, 6))}, ValueError, "out must be an array on cuda:0"),
        ({"out": "matrix.npy"}, ValueError, r"out must be an array on cuda:0.* pass x.cpu\(\)"),
        ({"out": on_gpu(np.empty((6, 6)), 1)}, TypeError, "x is on cuda:0, out is on cuda:1"),
        ({"out": on_gpu(np.empty((6, 5)))}, ValueError, r"the shape \[6, 6\], got \[6, 5\]"),
        ({"out": on_gpu(np.empty((6, 6), np.float32))}, TypeError, "an array of float64"),
        ({"out": on_gpu(np.empty((6, 6), np.int64))}, TypeError, "an array of float64"),
        ({"out": on_gpu(np.empty((6, 6))).T}, ValueError, "contiguous"),
        ({"k": 2}, ValueError, "use dtwave.nearest"),
        ({"condensed": True, "measure": "subsequence_dtw"}, ValueError, "not symmetric"),
        ({"padding": "nan"}, ValueError, "pass lengths instead"),
        ({"threads": 2}, ValueError, "threads is for the CPU"),
        ({"device": "cpu"}, ValueError, "x is on cuda:0, and device is 'cpu'"),
        ({"device": "cuda:1"}, ValueError, "x is on cuda:0, and device is 'cuda:1'"),
        ({"lengths": [1, 2]}, ValueError, "lengths of x must be 6 whole numbers"),
        ({"lengths": [0, 2, 3, 4, 5, 6]}, ValueError, "series 0 has length 0"),
        ({"layout": "rows"}, ValueError, "layout must be"),
        ({"dtype": "int8"}, ValueError, "dtype must be float32 or float64"),
    ]
    for options, error, text in refused:
        with pytest.raises(error, match=text):
            dtwave.pairwise(x, **options)
    same(dtwave.pairwise(x, device="cuda"), dtwave.pairwise(X))
    same(dtwave.pairwise(x, device="cuda:0"), dtwave.pairwise(X))


def test_bad_series(pretended):
    x = on_gpu(X)
    refused = [
        ((x, on_gpu(Y, 1)), TypeError, "mixed devices: x is on cuda:0, y is on cuda:1; move them to one"),
        ((x, Y), TypeError, "mixed devices: x is on cuda:0, y is on cpu; move them to one"),
        (([x[0], X[0]],), TypeError, r"different devices \(cpu, cuda:0\)"),
        ((x[0, 0],), ValueError, r"\[series, length\] .* write x\[None\]"),
        ((x[None],), ValueError, r"got shape \[1, 6, 9, 2\]"),
        (([x[0], x[1, :, :1]],), ValueError, "series 0 of x has 2 channels, series 1 has 1 channel"),
        ((on_gpu(X > 0),), TypeError, "x is an array of booleans: expected real numbers"),
        ((on_gpu(X + 1j),), TypeError, "x is an array of complex numbers"),
    ]
    for arguments, error, text in refused:
        with pytest.raises(error, match=text):
            dtwave.pairwise(*arguments)
    with pytest.raises(ValueError, match="they must be equal; a series of two axes is .* pass layout="):
        dtwave.distance(x[0], x[0, :, :1])
    with pytest.raises(ValueError, match="x must be one series"):
        dtwave.distance(x, x)
    with pytest.raises(ValueError, match="k must be at most 5, the number of other series"):
        dtwave.nearest(x, k=6)


def test_paths(pretended):
    x, y = on_gpu(X), on_gpu(Y)
    found, expected = dtwave.align(x[0], y[0], band=3), dtwave.align(X[0], Y[0], band=3)
    assert found.distance == expected.distance and np.array_equal(found.path, expected.path)
    assert np.array_equal(found.x, X[0]) and np.array_equal(found.y, Y[0])
    lengths = ([9, 4, 7, 9, 2], None)
    rows = [on_gpu(series[:n]) for series, n in zip(X, lengths[0])]
    expected = dtwave.align_pairs(X[:5], Y, lengths=lengths)
    for pairs in (dtwave.align_pairs(x[:5], y, lengths=lengths), dtwave.align_pairs(rows, y)):
        for one, other in zip(pairs, expected, strict=True):
            assert one.distance == other.distance and np.array_equal(one.path, other.path)
            assert np.array_equal(one.x, other.x) and np.array_equal(one.y, other.y)
    with pytest.raises(ValueError, match="many series are for dtwave.align_pairs"):
        dtwave.align(x[0], y[0, :, :1])


def test_matches(pretended):
    queries, reference = X[:, :5], RNG.normal(size=(60, 2))
    for options in ({"k": 3, "exclusion": 2}, {"threshold": 20.0}, {"k": 2, "normalized_window": 6}):
        expected = dtwave.search_all(queries, reference, **options)
        assert dtwave.search_all(on_gpu(queries), on_gpu(reference), **options) == expected
        assert dtwave.search(on_gpu(queries[1]), on_gpu(reference), **options) == expected[1]
        first = on_gpu(reference.T.copy())
        found = dtwave.search_all(on_gpu(queries.transpose(0, 2, 1)), first, layout="channels_first", **options)
        assert found == expected
    lengths = [5, 3, 4, 5, 2, 5]
    expected = dtwave.search_all(queries, reference, lengths=lengths)
    assert dtwave.search_all(on_gpu(queries), on_gpu(reference), lengths=lengths) == expected
    with pytest.raises(ValueError, match="reference must be one series"):
        dtwave.search_all(on_gpu(queries), on_gpu(queries))
    with pytest.raises(TypeError, match="query is on cuda:0, reference is on cpu"):
        dtwave.search(on_gpu(queries[0]), reference)


def test_series_are_normalised_on_the_way(pretended):
    for options in ({}, {"measure": "erp", "dtype": "float32"}):
        for x, y in ((X, Y), (X[:, :, 0], Y[:, :, 0])):
            there = on_gpu(x), on_gpu(y)
            same(dtwave.pairwise(*there, normalize="z", **options), dtwave.pairwise(x, y, normalize="z", **options))
    first = X.transpose(0, 2, 1).copy()
    options = {"normalize": "z", "layout": "channels_first"}
    same(dtwave.pairwise(on_gpu(first), **options), dtwave.pairwise(first, **options))
    assert dtwave.distance(on_gpu(X[0]), on_gpu(Y[0]), normalize="z") == dtwave.distance(X[0], Y[0], normalize="z")
    found, expected = (dtwave.nearest(of, to, k=2, normalize="z") for of, to in ((on_gpu(X), on_gpu(Y)), (X, Y)))
    assert np.array_equal(found.indices, expected.indices)
    # The caller's own series stay as they were.
    mine = on_gpu(X)
    dtwave.pairwise(mine, normalize="z")
    assert np.array_equal(np.asarray(mine), X)
    with pytest.raises(ValueError, match="series of different lengths are not normalised"):
        dtwave.pairwise(on_gpu(X), lengths=[1, 2, 3, 4, 5, 6], normalize="z")
    with pytest.raises(ValueError, match="has one point"):
        dtwave.pairwise(on_gpu(X[:, :1]), normalize="z", layout="channels_last")


def test_normalized_series(pretended):
    same(dtwave.normalize(on_gpu(X)), dtwave.normalize(X))
    same(dtwave.normalize(on_gpu(X[:, :, 0])), dtwave.normalize(X[:, :, 0]))
    first = X.transpose(0, 2, 1)
    same(dtwave.normalize(on_gpu(first), layout="channels_first"), dtwave.normalize(first, layout="channels_first"))
    with pytest.raises(ValueError, match=r"pass x.cpu\(\)"):
        dtwave.normalize(on_gpu(X), lengths=[1, 2, 3, 4, 5, 6])


def test_functions_that_take_arrays_of_the_host_say_so(pretended):
    x = on_gpu(X)
    for call in (
        lambda: dtwave.barycenter(x),
        lambda: dtwave.kmeans(x, 2),
        lambda: dtwave.kmedoids(x, 2),
        lambda: dtwave.gradients(x, x),
        lambda: dtwave.expected_alignment(x[0], x[1]),
    ):
        with pytest.raises(dtwave.DeviceError, match=r"x is on cuda:0, .* pass x.cpu\(\) .*, with device=\"cuda\""):
            call()


class Foreign:
    """An array on a GPU of a library that dtwave does not know."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **options):
        raise AssertionError("nothing is read")


class Metal(Foreign):
    def __dlpack_device__(self):
        return (8, 0)


def test_arrays_of_other_libraries_are_named(pretended):
    with pytest.raises(dtwave.DeviceError, match=r"x is a .*Foreign on a GPU.* torch.from_dlpack\(x\)"):
        dtwave.pairwise(Foreign())
    with pytest.raises(dtwave.DeviceError, match="y is a .*Foreign"):
        dtwave.distance(pretend.on_gpu(X[0]), Foreign())
    with pytest.raises(dtwave.DeviceError, match="x is on metal:0, and this function takes arrays in the host"):
        dtwave.pairwise(Metal())


class OfTorch(Foreign):
    """As a tensor of PyTorch's: on AMD GPUs, too, `is_cuda` is true."""

    is_cuda = True

    def get_device(self):
        return 0


def test_tensors_on_amd_gpus_are_refused_with_advice(pretended, monkeypatch):
    rocm = SimpleNamespace(version=SimpleNamespace(hip="6.4.43482", cuda=None))
    monkeypatch.setitem(sys.modules, "torch", rocm)
    monkeypatch.setattr(_arrays, "_of_torch", _arrays._of_torch.__wrapped__)
    with pytest.raises(dtwave.DeviceError, match=r'x is on rocm:0, .* pass x.cpu\(\) .* with device="hip" to compute'):
        dtwave.pairwise(OfTorch())
    with pytest.raises(dtwave.DeviceError, match=r'on an AMD GPU.* pass x.cpu\(\); device="hip" computes'):
        _libraries.Torch(rocm)


def test_axes_in_the_other_order_and_missing_values(pretended):
    first = on_gpu(X.transpose(0, 2, 1).copy())
    with pytest.warns(dtwave.LayoutWarning, match="x is read as 6 series of 2 points of 9 channels"):
        dtwave.pairwise(first)
    same(dtwave.pairwise(first, layout="channels_first"), dtwave.pairwise(X))
    with pytest.warns(dtwave.LayoutWarning, match="if the first axis of each holds channels"):
        dtwave.nearest([on_gpu(row.T.copy()) for row in X])
    with pytest.raises(ValueError, match="missing values are found by looking at the values, which are on cuda:0"):
        dtwave.pairwise(on_gpu(X), missing="linear")
    with pytest.raises(ValueError, match="series 0 of x has one point"):
        dtwave.normalize(on_gpu(X[:, :1, 0]))
