"""Matrices of every form: whole, condensed, sparse, into arrays and files, continued after an interruption."""

import os

import numpy as np
import pytest

import dtwave

RNG = np.random.default_rng(11)
X = RNG.normal(size=(23, 12))
Y = RNG.normal(size=(9, 14))
#: So little memory that a tile has 32 rows and columns at most.
TILED = {"memory_limit": 2 * 8 * 49}


@pytest.mark.parametrize("options", [{}, TILED])
def test_condensed_is_the_upper_triangle(options):
    whole = dtwave.pairwise(X)
    condensed = dtwave.pairwise(X, condensed=True, **options)
    assert np.array_equal(condensed, whole[np.triu_indices(len(X), 1)])
    assert dtwave.pairwise(X[:1], condensed=True).shape == (0,)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("y", [None, Y])
def test_into_an_array(order, y):
    expected = dtwave.pairwise(X, y)
    out = np.empty(expected.shape, order=order)
    assert dtwave.pairwise(X, y, out=out, **TILED) is out
    assert np.array_equal(out, expected)


def test_out_is_nothing_else():
    both = RNG.normal(size=(6, 6))
    with pytest.raises(ValueError, match="out shares memory with x"):
        dtwave.pairwise(both, out=both)
    with pytest.raises(ValueError, match="out shares memory with y"):
        dtwave.pairwise(X[:6], both, out=both[::-1])
    for strides in ((0, 0), (8, 8), (0, 8), (48, 0)):
        once = np.lib.stride_tricks.as_strided(np.zeros(36), (6, 6), strides)
        with pytest.raises(ValueError, match="at one place in memory"):
            dtwave.pairwise(X[:6], out=once)
    with pytest.raises(TypeError, match="out is a masked array"):
        dtwave.pairwise(X[:6], out=np.ma.zeros((6, 6)))
    turned = np.zeros((12, 12))[::-2, ::-2]
    assert np.array_equal(dtwave.pairwise(X[:6], out=turned), dtwave.pairwise(X[:6]))
    assert dtwave.pairwise(X[:1], out=np.lib.stride_tricks.as_strided(np.ones(1), (1, 1), (0, 0))) == 0.0


@pytest.mark.parametrize("shape", [(1 << 23, 1), (1 << 40, 0)])
def test_too_large_a_matrix_is_an_exception(shape):
    for form in ({}, {"condensed": True}):
        with pytest.raises(MemoryError, match="matrix needs .* bytes.*out=PATH"):
            dtwave.pairwise(np.zeros(shape), **form)


def test_into_a_memory_map(tmp_path):
    out = np.lib.format.open_memmap(tmp_path / "m.npy", mode="w+", dtype=np.float64, shape=(23, 23))
    dtwave.pairwise(X, out=out)
    out.flush()
    assert np.array_equal(np.load(tmp_path / "m.npy"), dtwave.pairwise(X))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("y", [None, Y])
def test_a_file_is_what_numpy_saves(tmp_path, dtype, y):
    path = tmp_path / "distances.npy"
    found = dtwave.pairwise(X, y, out=path, dtype=dtype, **TILED)
    expected = dtwave.pairwise(X, y, dtype=dtype)
    assert isinstance(found, np.memmap) and np.array_equal(found, expected)
    np.save(tmp_path / "numpy.npy", expected)
    assert path.read_bytes() == (tmp_path / "numpy.npy").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["distances.npy", "numpy.npy"]


class Stop(Exception):
    pass


def interrupted(path, x, after):
    """Starts a matrix that is stopped as Ctrl-C stops it, when `after` tiles are in its file."""
    import threading

    started = threading.Event()

    def look(_):
        if os.path.exists(f"{path}.progress"):
            with open(f"{path}.progress", "rb") as file:
                if len(file.read().splitlines()) > after:
                    started.set()
                    raise Stop

    from dtwave import _calls, _native, _options

    given = _options.Given(threads=1, memory_limit=10 * 8 * 32 * 32)
    call = _calls.prepared(_calls.many(x, None, given), given)
    with pytest.raises(Stop):
        _native.pairwise_to_file(call.first, None, call.spec, call.engine, str(path), False, False, look)
    assert started.is_set()


def test_an_interrupted_file_is_continued(tmp_path):
    path = tmp_path / "distances.npy"
    x = RNG.normal(size=(400, 256))
    interrupted(path, x, 3)
    assert not path.exists() and (tmp_path / "distances.npy.partial").exists()
    with pytest.raises(OSError, match="pass resume=True to continue it"):
        dtwave.pairwise(x, out=path, memory_limit=10 * 8 * 32 * 32)
    with pytest.raises(OSError, match="the content of x was"):
        dtwave.pairwise(x + 1.0, out=path, resume=True, memory_limit=10 * 8 * 32 * 32)
    with pytest.raises(OSError, match="resume: dtype was f64 and is now f32; repeat the first call"):
        dtwave.pairwise(x.astype(np.float32), out=path, resume=True, memory_limit=10 * 8 * 32 * 32)
    with pytest.raises(OSError, match="measure was dtw and is now msm"):
        dtwave.pairwise(x, measure="msm", out=path, resume=True, memory_limit=10 * 8 * 32 * 32)
    with pytest.warns(UserWarning, match=r"[1-9]\d* of 91 tiles were done already"):
        found = dtwave.pairwise(x, out=path, resume=True, memory_limit=10 * 8 * 32 * 32)
    assert np.array_equal(found, dtwave.pairwise(x))
    assert os.listdir(tmp_path) == ["distances.npy"]


def test_a_finished_file_is_judged_by_a_sample(tmp_path):
    path = tmp_path / "distances.npy"
    expected = np.array(dtwave.pairwise(X, out=path))
    with pytest.warns(UserWarning, match="a sample of 36 computed again"):
        assert np.array_equal(dtwave.pairwise(X, out=path, resume=True), expected)
    with pytest.raises(OSError, match="a result of another job"):
        dtwave.pairwise(X + X[::-1], out=path, resume=True)
    with pytest.raises(OSError, match="is no 9 × 9 result of float64"):
        dtwave.pairwise(Y, out=path, resume=True)
    assert np.array_equal(np.load(path), expected)


def test_roots_go_into_files(tmp_path):
    path = tmp_path / "roots.npy"
    for dtype in ("float64", "float32"):
        found = dtwave.pairwise(X, out=path, sqrt=True, dtype=dtype, **TILED)
        assert np.array_equal(found, dtwave.pairwise(X, sqrt=True, dtype=dtype))
    x = np.array([[0.0, 2.0], [0.0, 0.0]])
    assert dtwave.pairwise(x, out=path, sqrt=True).tolist() == [[0.0, 2.0], [2.0, 0.0]]


def test_samples_of_finished_files_are_prepared_as_their_series_are(tmp_path):
    path = tmp_path / "distances.npy"
    for options in ({"sqrt": True}, {"normalize": "z"}):
        dtwave.pairwise(X, out=path, **options)
        with pytest.warns(UserWarning, match="a sample of 36 computed again"):
            dtwave.pairwise(X, out=path, resume=True, **options)
        with pytest.raises(OSError, match="a result of another job"):
            dtwave.pairwise(X, out=path, resume=True)


@pytest.mark.parametrize(("number", "near", "far"), [(np.float64, 1e-10, 1e-6), (np.float32, 1e-5, 1e-2)])
def test_a_finished_file_may_be_rounded_otherwise(tmp_path, number, near, far):
    path = tmp_path / "distances.npy"
    x = X.astype(number)
    expected = np.array(dtwave.pairwise(x, out=path))
    np.save(path, (expected * (1 + near)).astype(number))
    with pytest.warns(UserWarning, match="is finished already"):
        dtwave.pairwise(x, out=path, resume=True)
    np.save(path, (expected * (1 + far)).astype(number))
    with pytest.raises(OSError, match="a result of another job"):
        dtwave.pairwise(x, out=path, resume=True)


def test_the_nearest_of_each_row():
    whole = dtwave.pairwise(X)
    np.fill_diagonal(whole, np.inf)
    graph = dtwave.pairwise(X, k=3)
    assert graph.shape == (23, 23) and np.array_equal(graph.indptr, np.arange(24) * 3)
    expected = np.argsort(whole, axis=1, kind="stable")[:, :3]
    assert np.array_equal(graph.indices.reshape(23, 3), expected)
    assert np.array_equal(graph.data.reshape(23, 3), np.take_along_axis(whole, expected, axis=1))
    cross = dtwave.pairwise(X, Y, k=2)
    assert cross.shape == (23, 9)
    expected = np.argsort(dtwave.pairwise(X, Y), axis=1, kind="stable")[:, :2]
    assert np.array_equal(cross.indices.reshape(23, 2), expected)
    assert repr(graph) == "Graph(23 x 23, 69 entries of float64)"


def test_a_series_among_equal_ones_is_not_its_own_neighbour():
    equal = np.zeros((6, 4))
    indices, distances = dtwave.nearest(equal, k=2)
    assert not (indices == np.arange(6)[:, None]).any() and not distances.any()
    # Soft-DTW is negative: the nearest of a small series may be a larger one, not itself.
    for k in (1, 5):
        indices, _ = dtwave.nearest(RNG.normal(size=(6, 4)), k=k, measure="soft_dtw", gamma=10.0)
        assert indices.shape == (6, k) and not (indices == np.arange(6)[:, None]).any()


def test_nearest_of_others_and_of_similarities():
    found = dtwave.nearest(X, Y, k=4)
    columns = dtwave.pairwise(X, Y).T
    assert np.array_equal(found.indices, np.argsort(columns, axis=1, kind="stable")[:, :4])
    assert repr(found) == "Neighbors(k=4, of 9 series)"
    alike = dtwave.nearest(X, k=1, measure="log_gak", sigma=1.0).indices[:, 0]
    whole = dtwave.pairwise(X, measure="log_gak", sigma=1.0)
    np.fill_diagonal(whole, -np.inf)
    assert np.array_equal(alike, whole.argmax(axis=1))


def read_only(shape):
    out = np.empty(shape)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize(
    ("options", "exception", "text"),
    [
        ({"out": np.empty((23, 22))}, ValueError, r"the shape \[23, 23\], got \[23, 22\]"),
        ({"out": np.empty((23, 23), np.float32)}, TypeError, "an array of float64, as the series are"),
        ({"out": np.empty((23, 23), ">f8")}, TypeError, "an array of float64"),
        ({"out": read_only((23, 23))}, ValueError, "read-only"),
        ({"out": "distances.csv"}, ValueError, "a .npy file"),
        ({"out": "no-such-folder/distances.npy"}, OSError, "does not exist"),
        ({"out": 3}, TypeError, "a .npy file or a NumPy array, got int"),
        ({"resume": True}, ValueError, "pass out=PATH"),
        ({"condensed": True, "k": 1}, ValueError, "k and condensed exclude each other"),
        ({"condensed": True, "y": Y}, ValueError, "but y is given"),
        ({"condensed": True, "measure": "subsequence_dtw"}, ValueError, "not symmetric"),
        ({"k": 23}, ValueError, "at most 22, the number of other series, got 23"),
        ({"k": 0}, ValueError, "k must be a whole number of at least 1"),
        ({"k": 1, "measure": "subsequence_dtw"}, ValueError, "use dtwave.nearest"),
        ({"memory_limit": 1}, MemoryError, "raise memory_limit"),
    ],
)
def test_bad_forms_are_one_line(options, exception, text):
    options = {"out": np.empty((23, 23)), **options} if "memory_limit" in options else options
    with pytest.raises(exception, match=text) as caught:
        dtwave.pairwise(X, **options)
    assert "\n" not in str(caught.value)


def test_too_many_neighbours_are_an_exception():
    x = np.zeros((4_000_000, 1))
    with pytest.raises(MemoryError, match="the list of neighbours needs .* bytes"):
        dtwave.pairwise(x, k=3_999_999)
    with pytest.raises(MemoryError, match="the list of neighbours needs .* bytes"):
        dtwave.nearest(x, k=3_000_000)
