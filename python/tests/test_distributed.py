"""Plans of tiles: they cover a matrix once, travel in few bytes, and give the bytes of the whole."""

from __future__ import annotations

import io
import pickle
import re

import numpy as np
import pytest
from machines import RAGGED, RNG, X, Y, here, same
from optional import need

import dtwave
from dtwave import distributed

__all__ = ["here"]  # a fixture

MEASURES = {
    **{key: {"measure": key} for key in dtwave.MEASURES if key not in ("edr", "log_gak", "lcss")},
    "edr": {"measure": "edr", "epsilon": 0.5},
    "lcss": {"measure": "lcss", "epsilon": 0.5},
    "log_gak": {"measure": "log_gak", "sigma": 2.0},
}


def whole(plan):
    """The matrix of a plan, from its tiles in any order."""
    matrix = np.full(plan.shape, np.nan, dtype=plan.dtype)
    tiles = pickle.loads(pickle.dumps(plan.tiles))
    for k in RNG.permutation(len(tiles)):
        tile = tiles[k]
        part = distributed.run_tile(plan, tile)
        assert part.shape == tile.shape and part.dtype == plan.dtype
        rows, columns = slice(*tile.rows), slice(*tile.columns)
        assert np.isnan(matrix[rows, columns]).all()
        matrix[rows, columns] = part
        if tile.is_mirrored:
            matrix[columns, rows] = part.T
    return matrix


@pytest.mark.parametrize("key", MEASURES)
@pytest.mark.parametrize("y", [None, "y"])
def test_tiles_are_parts_of_the_matrix(key, y):
    x, options = [RNG.normal(size=20) for _ in range(37)], MEASURES[key]
    other = None if y is None else [RNG.normal(size=20) for _ in range(21)]
    plan = distributed.tiles(x, other, tile=(8, 8), **options)
    assert same(whole(plan), dtwave.pairwise(x, other, **options))


@pytest.mark.parametrize(
    "options",
    [
        {"band": 0.2},
        {"band": dtwave.Slanted(0.3), "dtype": "float32"},
        {"normalize": "z", "sqrt": True},
        {"measure": dtwave.Msm(c=0.5), "layout": "channels_last"},
        {"cutoff": 5.0, "sqrt": True},
        {"measure": "twed", "nu": 0.1},
        {"measure": "soft_dtw", "gamma": 0.1, "memory_limit": "1MiB"},
    ],
)
def test_options(options):
    for x, y in ((RAGGED, None), (RAGGED, RAGGED[:7]), (X, None), (X, Y)):
        plan = pickle.loads(pickle.dumps(distributed.tiles(x, y, tile=9, **options)))
        assert same(whole(plan), dtwave.pairwise(x, y, **options))


def test_times_lengths_and_gaps():
    times = [np.sort(RNG.uniform(size=len(series))) for series in RAGGED]
    options = {"measure": "twed", "times": times}
    assert same(whole(distributed.tiles(RAGGED, tile=5, **options)), dtwave.pairwise(RAGGED, **options))
    lengths = RNG.integers(2, 24, size=41)
    assert same(whole(distributed.tiles(X, tile=5, lengths=lengths)), dtwave.pairwise(X, lengths=lengths))
    gaps = np.where(RNG.uniform(size=X.shape) < 0.1, np.nan, X)
    with pytest.warns(dtwave.MissingWarning):
        expected = dtwave.pairwise(gaps, missing="linear")
    with pytest.warns(dtwave.MissingWarning) as heard:
        plan = distributed.tiles(gaps, tile=5, missing="linear")
    assert len(heard) == 1 and same(whole(plan), expected)


def test_tiles_travel_in_few_bytes():
    plan = distributed.tiles(np.zeros((3000, 10)), tile=100)
    assert len(plan.tiles) == len(plan) == 30 * 31 // 2
    assert len(pickle.dumps(plan.tiles[77])) < 300
    # A plan has its series once, and no list of tiles.
    assert len(pickle.dumps(plan)) < 3000 * 10 * 8 + 3000
    assert repr(plan) == "Plan(3000 x 3000 of float64, 465 tiles)"


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, None), (1, 1), (3000, 2), (2, 3000)])
def test_tiles_that_are_chosen_cover_the_matrix(shape):
    rows, columns = shape
    x = np.zeros((rows, 50))
    y = None if columns is None else np.zeros((columns, 50))
    plan = distributed.tiles(x, y)
    assert plan.shape == (rows, rows if columns is None else columns)
    assert sum(tile.shape[0] * tile.shape[1] * (1 + tile.is_mirrored) for tile in plan.tiles) == np.prod(plan.shape)
    assert same(whole(plan), dtwave.pairwise(x, y))


def test_tiles_of_series_of_several_lengths_cost_as_much():
    lengths = [5] * 2000 + [2000] * 50
    plan = distributed.tiles([np.zeros(length) for length in lengths], tile=None)
    assert sum(map(plan.cells, plan.tiles)) == (sum(lengths) ** 2 + sum(length**2 for length in lengths)) // 2
    assert all(0 not in tile.shape for tile in plan.tiles)


def test_estimates():
    plan = distributed.tiles(X, tile=20)
    first, second = plan.tiles[:2]
    assert (first.is_own, second.is_mirrored) == (True, True)
    assert plan.cells(first) == 20 * 21 // 2 * 24 * 24 and plan.cells(second) == 400 * 24 * 24
    assert 0.0 < plan.seconds(first) < plan.seconds(second)
    assert distributed.tiles(X[:0], X, tile=3).tiles == []


@pytest.mark.parametrize("y", [None, "y"])
def test_series_in_files(y, tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    path, other = tmp_path / "x.npy", None if y is None else str(tmp_path / "y.npy")
    for options in ({}, {"normalize": "z", "band": 0.3}, {"dtype": "float32"}):
        plan = pickle.loads(pickle.dumps(distributed.tiles(path, other, tile=13, **options)))
        assert same(whole(plan), dtwave.pairwise(X, None if y is None else Y, **options))
        assert len(pickle.dumps(plan)) < 3000 and plan.seconds(plan.tiles[0]) > 0.0
    some = distributed.Stored(str(path), 5, 30)
    plan = distributed.tiles(some, other, tile=13)
    assert same(whole(plan), dtwave.pairwise(X[5:30], None if y is None else Y))


def test_series_in_zarr_arrays(tmp_path):
    zarr = need("zarr")
    array = zarr.create_array(store=str(tmp_path / "x.zarr"), shape=X.shape, chunks=(7, 24), dtype=X.dtype)
    array[:] = X
    plan = distributed.tiles(tmp_path / "x.zarr", tile=13)
    assert same(whole(plan), dtwave.pairwise(X))


@pytest.fixture
def store():
    """An object store in this process's memory."""
    fsspec = need("fsspec")
    store = fsspec.filesystem("memory")
    yield store
    if store.exists("/bucket"):
        store.rm("/bucket", recursive=True)


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    "series", [X, X.astype(">f4"), X.reshape(41, 12, 2)], ids=["f64", "big-endian f32", "channels"]
)
def test_series_in_an_object_store(store, series):
    store.pipe_file("/bucket/x.npy", saved(series))
    asked, cat_file = [], type(store).cat_file
    plan = pickle.loads(pickle.dumps(distributed.tiles("memory://bucket/x.npy", tile=13)))
    assert same(whole(plan), dtwave.pairwise(series))

    def counted(self, path, start=None, end=None, **more):
        asked.append((start, end - start))
        return cat_file(self, path, start=start, end=end, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(store), "cat_file", counted)
        distributed.run_tile(plan, plan.tiles[0])
    # The header, and the rows of the tile alone.
    assert {count for start, count in asked if start > 0} == {13 * series[0].nbytes}
    zarr = need("zarr")
    array = zarr.create_array(
        store="memory://bucket/x.zarr", shape=series.shape, chunks=series.shape, dtype=series.dtype
    )
    array[:] = series
    part = distributed.Stored("memory://bucket/x.zarr", 5, 30)
    assert same(whole(distributed.tiles(part, tile=13)), dtwave.pairwise(series[5:30]))


def test_what_is_refused_of_an_object_store(store, here):
    rows = saved(X)
    for name, content, text in [
        ("short", rows[:-8], "bytes where its header says"),
        ("long", rows + b"?", "bytes where its header says"),
        ("columns", saved(np.asfortranarray(X)), "lie by columns"),
        ("objects", saved(np.array([[1, "a"]], dtype=object)), "objects of Python"),
        ("text", b"no array", "no whole .npy file"),
        ("empty", b"", "no whole .npy file"),
        ("unended", rows.replace(b"}", b"{"), "no whole .npy file"),
        ("number", saved(np.float64(3.0)), "got one number"),
        ("flat", saved(X[0]), "must hold"),
    ]:
        store.pipe_file(f"/bucket/{name}.npy", content)
        with pytest.raises(ValueError, match=text):
            distributed.tiles(f"memory://bucket/{name}.npy")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ValueError, match="does not tell how many bytes"):
        patch.setattr(type(store), "size", lambda *_: None)
        distributed.tiles("memory://bucket/text.npy")
    with pytest.raises(OSError, match="none.npy"):
        distributed.tiles("memory://bucket/none.npy")
    for out, text in [("memory://bucket/m.npy", "name a .zarr instead"), ("file:///m.zarr", "without file://")]:
        with pytest.raises(ValueError, match=text):
            dtwave.pairwise(X, client=here, out=out)


def test_a_matrix_in_an_object_store(store, here, monkeypatch):
    need("zarr")
    out = "memory://bucket/m.zarr"
    found = dtwave.pairwise(X, client=here, out=out)
    assert same(found[:], dtwave.pairwise(X))
    with pytest.raises(FileExistsError, match="m.zarr is there already"):
        dtwave.pairwise(X, client=here, out=out)
    # A call that fails leaves nothing, and nothing else of the bucket is gone.
    store.pipe_file("/bucket/other", b"kept")

    def failing(*_):
        raise OSError("the disk of a worker is full")

    monkeypatch.setattr(distributed._matrices, "_put", failing)
    with pytest.raises(OSError, match="is full"):
        dtwave.pairwise(X, client=here, out="memory://bucket/n.zarr")
    assert {name.split("/")[2] for name in store.find("/bucket")} == {"m.zarr", "other"}

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(distributed._matrices, "_put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dtwave.pairwise(X, client=here, out="memory://bucket/n.zarr")
    assert not store.exists("/bucket/n.zarr")
    # Another writer makes it after this one has looked: it is an error, and what is there stays.
    looks, exists = [False], type(store).exists
    monkeypatch.setattr(type(store), "exists", lambda *names: looks.pop() if looks else exists(*names))
    with pytest.raises(FileExistsError):
        dtwave.pairwise(Y, client=here, out=out)
    assert same(found[:], dtwave.pairwise(X))


def test_what_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "flat.npy", X[0])
    for call, kind, text in [
        (lambda: distributed.tiles(tmp_path / "x.npy", X), TypeError, "one of x and y is in a file"),
        (lambda: distributed.tiles(X, tmp_path / "x.npy"), TypeError, "one of x and y is in a file"),
        (lambda: distributed.tiles(tmp_path / "no.npy"), OSError, "no.npy"),
        (lambda: distributed.tiles(tmp_path / "flat.npy"), ValueError, r"must hold \[series, length\]"),
        (lambda: distributed.tiles(tmp_path / "x.npy", lengths=[1]), ValueError, "lengths: not for series in a file"),
        (
            lambda: distributed.tiles(distributed.Stored(str(tmp_path / "x.npy"), 3, 99)),
            ValueError,
            "none from 3 to 99",
        ),
        (lambda: distributed.tiles(X, tile=0), ValueError, "tile must be a whole number"),
        (lambda: distributed.tiles(X, progress=True), ValueError, "pass progress=True to dtwave.distributed.compute"),
        (lambda: distributed.tiles(X, threads=0), ValueError, "threads must be a whole number"),
        (lambda: distributed.tiles(X, device="cuda", threads=2), ValueError, "threads is for the CPU"),
        (lambda: distributed.tiles(X, measure="mms"), ValueError, "did you mean 'msm'"),
        (lambda: dtwave.pairwise(X, client=3), TypeError, "client must be a dask.distributed.Client, .* got int"),
        (lambda: dtwave.pairwise(X, client=3, out="a.csv"), ValueError, "out must be a .npy file"),
        (lambda: dtwave.pairwise(X, client=3, out=np.zeros((3, 3))), ValueError, "must have the shape"),
        (lambda: dtwave.pairwise(X, Y, client=3, condensed=True), ValueError, "but y is given"),
        (lambda: dtwave.pairwise(X, client=3, k=41), ValueError, "k must be at most 40"),
        (lambda: dtwave.pairwise(X, client=3, k=4, cutoff=1.0), ValueError, "exclude each other"),
        (lambda: dtwave.nearest(X, Y, client=3, k=42), ValueError, "k must be at most 41"),
        (lambda: distributed.compute(X, 3), TypeError, "plan must be what"),
        (lambda: distributed.compute(distributed.tiles(X, Y), 3, condensed=True), ValueError, "this plan is none"),
        (lambda: distributed.compute(distributed.tiles(X), 3, out=[1]), TypeError, "out must be a .npy file"),
    ]:
        with pytest.raises(kind, match=text):
            call()


def test_votes_are_those_without_a_client(here):
    for k in (2, 3, 4, 9, 41):
        for count in (1, 2, 5, 41):
            labels = RNG.integers(0, count, size=len(X))
            assert same(dtwave.classify(X, labels, Y, k=k, client=here), dtwave.classify(X, labels, Y, k=k))


def test_medoids_are_those_without_a_client(here):
    for options in (
        {},
        {"measure": "soft_dtw", "dtype": "float32"},
        {"measure": "log_gak", "sigma": 2.0, "restarts": 2, "seed": 3},
        {"measure": "msm", "band": 0.2, "max_iterations": 1},
    ):
        assert dtwave.kmedoids(X, 4, client=here, **options) == dtwave.kmedoids(X, 4, **options)
    far = np.where(np.arange(41)[:, np.newaxis] == 3, 1e200, X)
    for call, text in [
        (lambda: dtwave.kmedoids(far, 2, client=here), "series 3 to series 0 is inf"),
        (lambda: dtwave.kmedoids(X, 42, client=here), "clusters"),
        (lambda: dtwave.kmedoids(X, 2, measure="subsequence_dtw", client=here), "needs a symmetric measure"),
        (lambda: dtwave.kmedoids(X, 2, method="clara", client=here), "client is for"),
        (lambda: dtwave.kmedoids(np.zeros((3, 3)), 2, measure="precomputed", client=here), "client has no effect"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    # Before the workers compute anything, in the words of a call without them.
    for wrong, kind in [({"clusters": 42}, ValueError), ({"clusters": 3, "memory_limit": "8KiB"}, MemoryError)]:
        with pytest.raises(kind) as alone:
            dtwave.kmedoids(X, **wrong)
        with pytest.raises(kind, match=re.escape(str(alone.value))), pytest.MonkeyPatch.context() as patch:
            patch.setattr(distributed._matrices, "_run", None)
            dtwave.kmedoids(X, client=here, **wrong)


def test_where_a_matrix_goes(here, tmp_path):
    zarr = need("zarr")
    expected = dtwave.pairwise(X)
    plan = distributed.tiles(X, tile=7)
    assert same(distributed.compute(plan, here), expected)
    assert same(distributed.compute(plan, here, condensed=True), dtwave.pairwise(X, condensed=True))
    found = dtwave.pairwise(X, client=here, out=tmp_path / "m.zarr")
    assert same(found[:], expected) and type(found).__module__.startswith("zarr")
    with pytest.raises(FileExistsError, match="m.zarr is there already"):
        dtwave.pairwise(X, client=here, out=tmp_path / "m.zarr")
    own = zarr.create_array(store=str(tmp_path / "own.zarr"), shape=(41, 41), chunks=(10, 10), dtype="f8")
    assert distributed.compute(plan, here, out=own) is own and same(own[:], expected)
    out = np.empty((41, 41), order="F")
    assert dtwave.pairwise(X, client=here, out=out) is out and np.array_equal(out, expected)
    distributed.compute(plan, here, out=tmp_path / "m.npy", progress=True)
    assert same(np.load(tmp_path / "m.npy"), expected)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.npy", "m.zarr", "own.zarr"]
    with pytest.raises(ValueError, match="must have the shape"):
        dtwave.pairwise(X, client=here, out=zarr.zeros((3, 3)))
    empty = dtwave.pairwise(X[:0], Y, client=here, out=tmp_path / "empty.npy")
    assert empty.shape == (0, 30)


def test_files_that_cannot_be_read_or_written_are_named(tmp_path):
    joblib = need("joblib")
    whole = tmp_path / "whole.npy"
    np.save(whole, np.zeros((40, 50)))
    for cut in (0, 5, 200, 4000):
        damaged = tmp_path / "damaged.npy"
        damaged.write_bytes(whole.read_bytes()[:cut])
        with pytest.raises(ValueError, match=r"damaged\.npy is no whole \.npy file"):
            distributed.tiles(distributed.Stored(str(damaged)))
    with pytest.raises(OSError, match="its folder .*absent does not exist"):
        dtwave.pairwise(np.zeros((4, 5)), out=tmp_path / "absent" / "out.npy", client=joblib.Parallel(n_jobs=2))
