"""Whatever holds series gives the same distances; whatever does not is refused in one line."""

import array

import numpy as np
import pytest
from optional import need

import dtwave
from dtwave import _inputs

RNG = np.random.default_rng(31)
X = RNG.integers(-4, 5, size=(5, 6)).astype(float)
EXPECTED = dtwave.pairwise(X)


@pytest.mark.parametrize("dtype", ["i1", "u2", ">i4", "i8", "f2", ">f4", "f8", ">f8", "g", "f4"])
def test_every_real_number_type_and_byte_order(dtype):
    # Whole numbers from 0 to 8 are exact in all of them, and so are their distances.
    x = (X + 4.0).astype(dtype)
    found = dtwave.pairwise(x)
    assert np.array_equal(found, EXPECTED)
    assert found.dtype == (np.float32 if np.dtype(dtype).kind == "f" and x.itemsize <= 4 else np.float64)
    assert dtwave.distance(x[0], x[1]) == EXPECTED[0, 1]


LAYOUTS = {
    "fortran": np.asfortranarray(X),
    "steps": np.repeat(X, 3, axis=1)[:, ::3],
    "backwards": X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": np.lib.stride_tricks.as_strided(X, X.shape, X.strides, writeable=False),
    "unaligned": np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float64).reshape(X.shape),
    "channels": X[:, :, None],
    "lists": X.tolist(),
    "tuples": tuple(map(tuple, X.tolist())),
    "arrays": list(X),
    "array": [array.array("d", row) for row in X.tolist()],
    "memoryview": [memoryview(row) for row in X],
}


@pytest.mark.parametrize("x", LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout(x):
    assert np.array_equal(dtwave.pairwise(x), EXPECTED)
    assert dtwave.distance(x[0], x[1]) == EXPECTED[0, 1]


class Tensor:
    """An array of another framework."""

    def __init__(self, values, device=(1, 0)):
        self.values, self.device = values, device

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


def test_dlpack_is_read_in_place():
    batch = _inputs.many(Tensor(X), "x")
    values, _, _ = _inputs.pack(batch, np.dtype(np.float64))
    assert np.shares_memory(values, X)
    assert np.array_equal(dtwave.pairwise(Tensor(X), Tensor(X)), dtwave.pairwise(X, X))
    assert dtwave.distance(Tensor(X[0]), X[1]) == EXPECTED[0, 1]
    assert np.array_equal(dtwave.pairwise([Tensor(row) for row in X]), EXPECTED)


def test_contiguous_arrays_are_not_copied():
    for x in (X, X.astype(np.float32), X[1:4]):
        values, _, _ = _inputs.pack(_inputs.many(x, "x"), x.dtype)
        assert np.shares_memory(values, x)


def test_other_devices_are_named():
    gpu = Tensor(X, (2, 1))
    with pytest.raises(TypeError, match="mixed devices: x is on cuda:1, y is on cpu; move them to one"):
        dtwave.pairwise(gpu, X)
    with pytest.raises(TypeError, match=r"series on different devices \(cpu, cuda:1\)"):
        dtwave.pairwise([Tensor(X[0], (2, 1)), X[1]])
    with pytest.raises(dtwave.DeviceError, match=r"x is on cuda:1, .* pass x.cpu\(\)"):
        dtwave.kmedoids(gpu, 2)
    with pytest.raises(dtwave.DeviceError, match="query is a test_inputs.Tensor on a GPU"):
        dtwave.search(Tensor(X[0], (2, 0)), Tensor(X[1], (2, 0)))


def test_torch_tensors():
    torch = need("torch")
    x = torch.from_numpy(X.copy())
    assert np.array_equal(dtwave.pairwise(x), EXPECTED)
    assert np.array_equal(dtwave.pairwise(x.T.contiguous().T), EXPECTED)
    assert dtwave.distance(x[0].requires_grad_(), x[1]) == EXPECTED[0, 1]
    assert dtwave.pairwise(x.float()).dtype == np.float32
    halves = x.bfloat16()
    assert np.array_equal(dtwave.pairwise(halves), dtwave.pairwise(halves.float()))
    assert dtwave.distance(halves[0], halves[1]) == dtwave.distance(halves[0].float(), halves[1].float())
    assert np.array_equal(dtwave.pairwise(list(halves)), dtwave.pairwise(halves))
    with pytest.raises(TypeError, match="a Tensor has no values that can be read"):
        dtwave.pairwise(x.to("meta"))
    with pytest.raises(TypeError, match=r"got Tensor: pass np.from_dlpack\(out\), which shares its memory"):
        dtwave.pairwise(x, out=torch.empty(5, 5, dtype=torch.float64))
    # A view that PyTorch negates only when it is read.
    negated = torch.complex(x[0].detach(), x[1].detach()).conj().imag
    assert negated.is_neg() and np.array_equal(negated.resolve_neg().numpy(), -X[1])
    assert dtwave.distance(negated, -X[1]) == 0.0
    assert dtwave.pairwise([negated, x[0]])[0, 1] == dtwave.distance(-X[1], X[0])
    with pytest.raises(TypeError, match="requires grad"):
        dtwave.pairwise([[x[0].requires_grad_()]])


class Doubled(np.ndarray):
    """An array that is not what its memory says."""

    def __getitem__(self, key):
        return super().__getitem__(key) * 2


def test_subclasses_of_arrays():
    for options in ({}, {"threads": 1}):
        assert dtwave.distance(X[0].view(Doubled), X[1], **options) == EXPECTED[0, 1]
        with pytest.raises(ValueError, match="series 0 of x has NaN at point"):
            dtwave.distance(np.ma.masked_array(X[0], X[0] > 0), X[1], **options)
        with pytest.raises(ValueError, match="series 0 of y has NaN at point"):
            dtwave.distance(X[0], np.ma.masked_array(X[1], X[1] > 0), **options)
    with pytest.raises(TypeError, match="labels is a masked array"):
        dtwave.classify(X, np.ma.masked_array(range(5), [True] + [False] * 4), X)


def test_columns_of_pandas_and_polars():
    rows = [[0.0, 1.0], [1.0, 1.0, 3.0], [2.0]]
    expected = dtwave.pairwise(rows)
    pandas = need("pandas")
    assert np.array_equal(dtwave.pairwise(pandas.Series(rows)), expected)
    assert np.array_equal(dtwave.pairwise(pandas.DataFrame({"a": rows})["a"]), expected)
    assert np.array_equal(dtwave.pairwise(pandas.DataFrame(X)), EXPECTED)
    assert dtwave.distance(pandas.Series(X[0]), pandas.Series(X[1])) == EXPECTED[0, 1]
    polars = need("polars")
    assert np.array_equal(dtwave.pairwise(polars.Series(rows)), expected)
    assert np.array_equal(dtwave.pairwise(polars.DataFrame(X)), EXPECTED)


def test_channels_first():
    x = RNG.normal(size=(4, 3, 7))
    last = np.ascontiguousarray(x.transpose(0, 2, 1))
    expected = dtwave.pairwise(last)
    assert np.array_equal(dtwave.pairwise(x, layout="channels_first"), expected)
    assert np.array_equal(dtwave.pairwise(list(x), layout="channels_first"), expected)
    assert dtwave.distance(x[0], x[1], layout="channels_first") == dtwave.distance(last[0], last[1])
    center = dtwave.barycenter(x, layout="channels_first").center
    assert np.array_equal(center, dtwave.barycenter(last).center.T)


def test_padded_batches():
    rows = [[0.0, 1.0, 5.0], [1.0], [2.0, 2.0]]
    expected = dtwave.pairwise(rows)
    padded = np.array([[0.0, 1.0, 5.0], [1.0, 9.0, 9.0], [2.0, 2.0, 9.0]])
    assert np.array_equal(dtwave.pairwise(padded, lengths=[3, 1, 2]), expected)
    tails = np.where(padded == 9.0, np.nan, padded)
    assert np.array_equal(dtwave.pairwise(tails, padding="nan"), expected)
    assert np.array_equal(dtwave.pairwise([row.tolist() for row in tails], padding="nan"), expected)
    cross = dtwave.pairwise(padded, tails[:2], lengths=([3, 1, 2], [3, 1]))
    assert np.array_equal(cross, dtwave.pairwise(rows, rows[:2]))
    inside = np.array([[0.0, np.nan, 5.0]])
    with pytest.raises(ValueError, match="series 0 of x has NaN at point 1, channel 0"):
        dtwave.pairwise(inside, padding="nan")
    with pytest.raises(ValueError, match="series 0 of x is empty"):
        dtwave.pairwise(np.full((1, 3), np.nan), padding="nan")


def test_times_of_batches():
    x, y = RNG.normal(size=(3, 5)), RNG.normal(size=(2, 4))
    times = RNG.uniform(size=(3, 5)).cumsum(axis=1), RNG.uniform(size=(2, 4)).cumsum(axis=1)
    matrix = dtwave.pairwise(x, y, measure="twed", times=times)
    for i in range(3):
        for j in range(2):
            own = times[0][i], times[1][j]
            assert matrix[i, j] == dtwave.distance(x[i], y[j], measure="twed", times=own)
    ragged = dtwave.pairwise([x[0], x[1][:3]], measure="twed", times=[times[0][0], times[0][1][:3]])
    own = times[0][0], times[0][1][:3]
    assert ragged[0, 1] == dtwave.distance(x[0], x[1][:3], measure="twed", times=own)
    lengths = dtwave.pairwise(x, measure="twed", times=times[0], lengths=[5, 3, 1])
    assert lengths[0, 1] == ragged[0, 1]
    listed = dtwave.pairwise(x, measure="twed", times=times[0].tolist(), lengths=[5, 3, 1])
    assert np.array_equal(listed, lengths)
    with pytest.raises(ValueError, match="times of x must be one per point: series 0"):
        dtwave.pairwise(x, measure="twed", times=times[0][0], lengths=[5, 3, 1])
    with pytest.raises(ValueError, match=r"one per point: series 1 has 5 points, and times of shape \[3\]"):
        dtwave.pairwise(x[:2], measure="twed", times=[times[0][0], times[0][1][:3]])


def test_times_are_not_rounded():
    x, y = RNG.normal(size=(2, 6)).astype(np.float32)
    times = 1.7e9 + np.arange(6.0)
    found = dtwave.distance(x, y, measure="twed", times=(times, times))
    assert found == dtwave.distance(x.astype(float), y.astype(float), measure="twed", times=(times, times))
    small = np.arange(6, dtype=np.float32)
    assert dtwave.zipped(x[None], y[None], measure="twed", times=(small[None], small[None])).dtype == np.float32
    nanoseconds = np.arange(6) + (2**60 + 1)
    with pytest.raises(ValueError, match="times of x has .* which float64 would round"):
        dtwave.distance(x, y, measure="twed", times=(nanoseconds, nanoseconds))


def test_rounding_is_for_those_who_ask():
    x = np.array([[0, 2**53 + 1], [0, 2**53]])
    assert dtwave.pairwise(x, dtype="float64")[0, 1] == 0.0


def test_no_series_have_no_distances():
    assert dtwave.pairwise([]).shape == (0, 0)
    assert dtwave.pairwise(np.empty((0, 5)), X).shape == (0, 5)
    assert dtwave.zipped([], []).shape == (0,)
    assert dtwave.pairwise(np.empty((0, 5)), lengths=[]).shape == (0, 0)
    assert dtwave.normalize(np.empty((0, 5)), padding="nan").shape == (0, 5)


@pytest.mark.parametrize(
    ("x", "exception", "text"),
    [
        (np.array([[1, {}], [3, 2]], dtype=object), TypeError, "objects: expected real numbers; pass a list of arrays"),
        (np.array([["a", "b"]]), TypeError, "x is an array of strings: expected real numbers"),
        ("text", TypeError, "x is text, 'text', and no array: expected real numbers, not strings$"),
        ([["a"]], TypeError, "series 0 of x is an array of strings"),
        (np.array([[1j, 2.0]]), TypeError, "complex numbers"),
        (np.array([[True, False]]), TypeError, r"booleans: expected real numbers; convert them with .astype\(float\)"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), TypeError, "dates"),
        (np.ma.masked_array(X, X > 0), ValueError, 'has NaN at point .*, missing="drop" leaves its point out'),
        (None, TypeError, "x is None: expected an array of real numbers"),
        ({}, TypeError, r"x is a dict, no array or list of series: pass list\(x.values\(\)\)"),
        (iter(X), TypeError, r"pass list\(x\)"),
        (map(list, X), TypeError, r"pass list\(x\)"),
        ({1.0, 2.0}, TypeError, "a set has no order: pass a list of series"),
        (np.float64(3.0), ValueError, "got a single number"),
        (np.array(3.0), ValueError, "got a single number"),
        (max, TypeError, "x is a function or a class"),
        (dtwave.Msm(), TypeError, r"x is a measure, .* pass measure=dtwave.Msm\(c=1.0\)"),
        (3.0, ValueError, "got a single number"),
        (X[0], ValueError, r"got shape \[6\]; for one series write x\[None\]"),
        (X[0].tolist(), ValueError, r"a list of numbers: expected a list of series; for one series write \[x\]"),
        (X[None, None], ValueError, r"\[series, length\] or \[series, length, channels\], got shape \[1, 1, 5, 6\]"),
        ([X[0], X], ValueError, "series 0 of x has 1 channel, series 1 has 6 channels"),
        ([X[0], X[None]], ValueError, r"series 1 of x must be one series, .* got shape \[1, 5, 6\]"),
        ([X[0], []], ValueError, "series 1 of x is empty"),
        (np.empty((2, 0)), ValueError, "series 0 of x is empty"),
        (np.empty((2, 3, 0)), ValueError, "at least one channel"),
        ([[1.0, np.nan]], ValueError, "series 0 of x has NaN at point 1, channel 0"),
        ([[1.0, 2.0], [np.inf, 2.0]], ValueError, "series 1 of x has inf at point 0, channel 0"),
    ],
)
def test_bad_series_are_one_line(x, exception, text):
    with pytest.raises(exception, match=text) as caught:
        dtwave.pairwise(x)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "exception", "text"),
    [
        ({"y": RNG.normal(size=(2, 4, 2))}, ValueError, "x has 1 channels, y has 2"),
        ({"lengths": [6, 6, 6, 6]}, ValueError, "lengths of x must be 5 whole numbers"),
        ({"lengths": [6, 6, 6, 6, 7]}, ValueError, "series 4 has length 7, expected 1 to 6"),
        ({"lengths": [0, 6, 6, 6, 6]}, ValueError, "series 0 has length 0, expected 1 to 6"),
        ({"lengths": [1.0] * 5}, ValueError, "whole numbers, got float64"),
        ({"lengths": [6] * 5, "padding": "nan"}, ValueError, "lengths or padding, not both"),
        ({"padding": "zeros"}, ValueError, 'padding must be None or "nan"'),
        ({"y": X, "lengths": [6] * 5}, TypeError, "lengths must be a tuple of two"),
        ({"y": np.array([[1, 2**53 + 1]])}, ValueError, "y has 9007199254740993, which float64 would round"),
        ({"y": np.array([[1, 2**64 - 1]], "u8")}, ValueError, "y has 18446744073709551615, which float64 would"),
        ({"y": np.array([[1, "0.1"]], "g")}, ValueError, "y has 0.1, which float64 would round"),
        ({"band": -3}, ValueError, "a band radius is a whole number of points >= 0"),
        ({"y": X * 1e300, "dtype": "float32"}, ValueError, r"y has .*e\+300.* too large for float32"),
    ],
)
def test_options_that_do_not_fit_are_one_line(options, exception, text):
    with pytest.raises(exception, match=text) as caught:
        dtwave.pairwise(X, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "exception", "text"),
    [
        (lambda: dtwave.Slanted(-1), ValueError, "cannot be negative"),
        (lambda: dtwave.SakoeChiba(1.5), ValueError, "whole points are an int"),
        (lambda: dtwave.SakoeChiba("3"), TypeError, "whole points"),
        (lambda: dtwave.Itakura(0.5), ValueError, "max_slope >= 1"),
        (lambda: dtwave.Itakura("steep"), TypeError, "must be a number"),
        (lambda: dtwave.Ranges([1, 2]), ValueError, r"of shape \[rows, 2\]"),
        (lambda: dtwave.Ranges([[0.0, 2.0]]), ValueError, "whole numbers"),
        (lambda: dtwave.Ranges([[0, 2], [-1, 2]]), ValueError, "got -1 in row 1"),
        (lambda: dtwave.distance(X[0], X[1], band=dtwave.Ranges([[0, 6]] * 5)), ValueError, "ranges for 5 rows"),
        (lambda: dtwave.distance(X[0], X[1], band=dtwave.Ranges([[0, 9]] * 6)), ValueError, "y has 6 points"),
        (lambda: dtwave.Msm(c=float("nan")), ValueError, "msm needs c >= 0, got NaN"),
        (lambda: dtwave.zipped(X, X[:2]), ValueError, "equally many: x has 5, y has 2"),
        (lambda: dtwave.distance(X, X[None]), ValueError, "y must be one series"),
        (lambda: dtwave.distance(X, X[:, :4]), ValueError, "x has 6 channels, y has 4 channels.* dtwave.pairwise"),
        (lambda: dtwave.align(X[0], X), ValueError, "x has 1 channel, y has 6 channels.* dtwave.align_pairs"),
        (lambda: dtwave.search(X, X[0]), ValueError, "query has 6 channels, .* dtwave.search_all"),
        (lambda: dtwave.classify(X[:2], [0, 1], X, k=3), ValueError, "at most 2, the number of series of train, got 3"),
        (
            lambda: dtwave.distance(X[0], [1.0, [2.0]]),
            TypeError,
            "y is no array of numbers: its rows are of several le",
        ),
        (lambda: dtwave.pairwise(X, "dtw"), TypeError, "y is text, 'dtw', .*; a measure is a keyword: measure='dtw'"),
        (
            lambda: dtwave.pairwise(X, dtwave.Msm(c=0.5)),
            TypeError,
            r"y is a measure, .*; pass measure=dtwave.Msm\(c=0.5\)",
        ),
        (lambda: dtwave.distance(X[0], X[1], measure="msm", sqrt=True), ValueError, "sqrt is no option of msm"),
        (lambda: dtwave.pairwise(X, normalize=True), ValueError, 'normalize must be "none" or "z"'),
        (lambda: dtwave.pairwise(X, measure="precomputed"), ValueError, "a matrix of distances is for kmedoids"),
        (lambda: dtwave.barycenter(X, tolerance="small"), TypeError, "tolerance must be a number, got 'small'"),
        (lambda: dtwave.kmeans(X, 2, tolerance=None), TypeError, "tolerance must be a number, got None"),
        (lambda: dtwave.classify(X, ["a", 1.0, None, 2, 3], X), ValueError, "series 2 of train has no label"),
        (lambda: dtwave.classify(X, [0.0, 1.0, np.nan, 2.0, 3.0], X), ValueError, "series 2 of train has no label"),
        (
            lambda: dtwave.classify(X, [[0], [1, 2], 3, 4, 5], X),
            ValueError,
            "one per series of train .5., got rows of sev",
        ),
        (lambda: dtwave.Ranges([[0, 2], [1]]), ValueError, r"shape \[rows, 2\], got rows of several lengths"),
    ],
)
def test_other_mistakes_are_one_line(make, exception, text):
    with pytest.raises(exception, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)
