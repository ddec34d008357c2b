"""Pairs within a threshold: the entries of the matrix, bit for bit, in every form and by workers."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from optional import need

import dtwave

rng = np.random.default_rng(5)
X = rng.normal(size=(23, 30)).cumsum(axis=1)
Y = rng.normal(size=(11, 30)).cumsum(axis=1)


def brute(matrix, threshold, is_own, is_similarity=False):
    """Row starts, columns and values of what a threshold leaves: nearest first, of equal ones the smaller column."""
    inside = matrix >= threshold if is_similarity else matrix <= threshold
    if is_own:
        np.fill_diagonal(inside, False)
    starts, columns, values = [0], [], []
    for row, kept in zip(matrix, inside):
        own = np.flatnonzero(kept)
        own = own[np.argsort(-row[own] if is_similarity else row[own], kind="stable")]
        columns.extend(own)
        values.extend(row[own])
        starts.append(len(columns))
    return starts, columns, np.array(values, dtype=matrix.dtype)


def check(graph, matrix, threshold, is_own, is_similarity=False):
    starts, columns, values = brute(matrix, threshold, is_own, is_similarity)
    assert isinstance(graph, dtwave.Graph) and graph.shape == matrix.shape
    assert (graph.indptr.dtype, graph.indices.dtype, graph.data.dtype) == (np.int64, np.int64, matrix.dtype)
    np.testing.assert_array_equal(graph.indptr, starts)
    np.testing.assert_array_equal(graph.indices, columns)
    np.testing.assert_array_equal(graph.data, values)


def thresholds(matrix):
    values = np.sort(matrix, axis=None)
    some = [values[0], values[len(values) // 3], values[-1]]
    beside = [np.nextafter(value, side) for value in some for side in (-np.inf, np.inf)]
    return [float(value) for value in [*some, *beside]] + [np.inf, -np.inf, -1.0, 0.0, 1e300]


@pytest.mark.parametrize("number", [np.float32, np.float64])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"band": 0.2, "sqrt": True},
        {"measure": "msm"},
        {"measure": "soft_dtw", "gamma": 1.0},
        {"measure": "log_gak", "sigma": 2.0},
        {"measure": "subsequence_dtw"},
        {"normalize": "z", "sqrt": True},
    ],
    ids=str,
)
def test_edges_are_the_entries_of_the_matrix(options, number):
    is_similarity = options.get("measure") == "log_gak"
    x, y = X.astype(number), Y.astype(number)
    for sides in [(x,), (x, y), (x, x), (x[:1],)]:
        matrix = dtwave.pairwise(*sides, **options)
        assert np.isfinite(matrix).all()
        for threshold in thresholds(matrix):
            if number == np.float32 and threshold == 1e300:
                threshold = np.inf
            graph = dtwave.pairwise(*sides, threshold=threshold, **options)
            check(graph, matrix, number(threshold), len(sides) == 1, is_similarity)


def test_lists_of_any_lengths_and_equal_series():
    ragged = [series[: 5 + k % 7] for k, series in enumerate(X)]
    matrix = dtwave.pairwise(ragged)
    check(dtwave.pairwise(ragged, threshold=float(np.median(matrix))), matrix, np.median(matrix), True)
    # Series that are equal are neighbours; a distance of 0 is an entry.
    plateaus = np.repeat(np.arange(3.0), 4)[:, None] * np.ones((1, 6))
    graph = dtwave.pairwise(plateaus, threshold=0)
    check(graph, dtwave.pairwise(plateaus), 0.0, True)
    assert len(graph.data) == 3 * 4 * 3 and not graph.data.any()


def test_files_hold_the_graph(tmp_path):
    matrix = dtwave.pairwise(X, sqrt=True)
    for threshold in (float(np.median(matrix)), -1.0):
        for name in ("edges.npz", "edges.parquet"):
            if name.endswith("parquet"):
                parquet = need("pyarrow.parquet")
            path = tmp_path / name
            graph = dtwave.pairwise(X, threshold=threshold, sqrt=True, out=path)
            check(graph, matrix, threshold, True)
            rows = np.repeat(np.arange(len(X)), np.diff(graph.indptr))
            if name.endswith("npz"):
                sparse = need("scipy.sparse")
                read = sparse.load_npz(path).tocsr()
                assert read.shape == graph.shape
                np.testing.assert_array_equal(read.indices, graph.indices)
                np.testing.assert_array_equal(read.data, graph.data)
            else:
                table = parquet.read_table(path)
                assert table.column_names == ["row", "column", "distance"]
                for name, expected in zip(table.column_names, (rows, graph.indices, graph.data)):
                    found = table[name].to_numpy()
                    assert found.dtype == expected.dtype
                    np.testing.assert_array_equal(found, expected)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["edges.npz", "edges.parquet"]


def test_large_tables_are_written_in_parts(tmp_path, monkeypatch):
    parquet = need("pyarrow.parquet")
    from dtwave import _edges

    monkeypatch.setattr(_edges, "AT_ONCE", 7)
    graph = dtwave.pairwise(X, threshold=np.inf, out=tmp_path / "e.parquet")
    table = parquet.read_table(tmp_path / "e.parquet")
    np.testing.assert_array_equal(table["row"].to_numpy(), np.repeat(np.arange(23), 22))
    np.testing.assert_array_equal(table["distance"].to_numpy(), graph.data)


def test_workers_find_the_same_edges(tmp_path):
    joblib = need("joblib")
    long = rng.normal(size=(150, 200)).cumsum(axis=1)
    with joblib.parallel_config("threading", n_jobs=2):
        for sides, options in [
            ((long,), {"sqrt": True}),
            ((long, X), {"band": 0.2}),
            ((long,), {"measure": "subsequence_dtw"}),
            ((X,), {"measure": "log_gak", "sigma": 2.0}),
        ]:
            matrix = dtwave.pairwise(*sides, **options)
            for threshold in (float(np.median(matrix)), np.inf, -np.inf):
                alone = dtwave.pairwise(*sides, threshold=threshold, **options)
                check(alone, matrix, threshold, len(sides) == 1, "sigma" in options)
                assert dtwave.pairwise(*sides, threshold=threshold, client=joblib, **options) == alone
        out = tmp_path / "e.npz"
        graph = dtwave.pairwise(long, threshold=1e3, client=joblib, out=out)
        assert out.exists() and graph == dtwave.pairwise(long, threshold=1e3)
        with pytest.raises(MemoryError, match=r"edges found so far, among \d+ pairs, .* raise memory_limit"):
            dtwave.pairwise(long, threshold=np.inf, client=joblib, memory_limit="128KiB")


def test_what_has_no_meaning_is_refused(tmp_path, monkeypatch):
    for more, kind, text in [
        ({"threshold": np.nan}, ValueError, "threshold must be a number, got NaN"),
        ({"threshold": "near"}, TypeError, "threshold must be a number, got 'near'"),
        ({"k": 3}, ValueError, "threshold and k exclude each other"),
        ({"condensed": True, "cutoff": 1.0}, ValueError, "threshold and condensed and cutoff exclude"),
        ({"resume": True}, ValueError, "threshold and resume exclude each other"),
        ({"out": tmp_path / "e.npy"}, ValueError, r"out must be a \.parquet or \.npz file, as threshold is given"),
        ({"out": np.empty((23, 23))}, TypeError, "there is no matrix; got ndarray"),
        ({"out": tmp_path / "none" / "e.npz"}, FileNotFoundError, "its folder .* does not exist"),
        ({"threshold": np.inf, "memory_limit": 4096}, MemoryError, r"\d+ edges found so far"),
    ]:
        with pytest.raises(kind, match=text):
            dtwave.pairwise(X, **{"threshold": 1.0, **more})
    with pytest.raises(ValueError, match="NaN"):
        dtwave.pairwise(np.where(X > 2, np.nan, X), threshold=1.0)
    huge = np.array([[1e200], [-1e200], [1e200]])
    assert dtwave.pairwise(huge, threshold=1.0).indices.tolist() == [2, 0]
    with pytest.raises(ValueError, match="is inf: scale or normalise"):
        dtwave.pairwise(huge, threshold=np.inf)
    assert not list(tmp_path.iterdir())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ModuleNotFoundError, match="needs pyarrow: pip install pyarrow"):
        dtwave.pairwise(X, threshold=1.0, out=tmp_path / "e.parquet")


def test_calls_may_come_from_many_threads(capsys):
    with ThreadPoolExecutor(4) as pool:
        graphs = list(pool.map(lambda _: dtwave.pairwise(X, threshold=50.0), range(8)))
    assert all(graph == graphs[0] for graph in graphs)
    assert dtwave.pairwise(X, threshold=50.0, progress=True) == graphs[0]
