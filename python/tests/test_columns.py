"""Columns and labels of tables that say which point or channel a value is, or which type it has."""

import numpy as np
import pytest
from optional import need

pandas = need("pandas")

import dtwave
from dtwave import _frames

A = pandas.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "b"])
B = pandas.DataFrame([[2.0, 1.0], [4.0, 3.0]], columns=["b", "a"])
X = [[1.0, 2.0], [1.0, 3.0]]
RECORDS = [{"lat": 1.0, "lon": 2.0}, {"lat": 3.0, "lon": 4.0}]


def test_columns_in_other_orders_are_no_channels_of_a_search():
    with pytest.raises(ValueError, match="query and reference have the same columns in other orders"):
        dtwave.search(A, B, k=1)
    with pytest.raises(ValueError, match="queries and reference have the same columns in other orders"):
        dtwave.search_all([A, A], B, k=1)
    assert dtwave.search(A, B[["a", "b"]], k=1)[0].distance == dtwave.search_all([A], A, k=1)[0][0].distance == 0.0
    with pytest.raises(ValueError, match="query and points have the same columns in other orders"):
        list(dtwave.follow(A, [B], threshold=1))
    assert list(dtwave.follow(A, [A], threshold=0)) == [dtwave.Match(0.0, 0, 1)]


def test_every_table_of_a_list_has_the_order_of_its_columns():
    c = A.rename(columns={"a": "c"})
    with pytest.raises(ValueError, match=r"series of x have the same columns in other orders \(\['c', 'b'\] and"):
        dtwave.pairwise([A, c, c[["b", "c"]]])


def test_columns_of_two_arguments():
    for x, y, part in ((A, B, "points"), ([A], (B,), "channels"), ([[[1.0, 2.0]], A], [A, B], "channels")):
        with pytest.raises(ValueError, match=f"x and y have the same columns in other orders .* {part} go by their pl"):
            _frames.check_both(x, y, "x and y")
    for x, y in ((A, A), ([A], [A]), ([A], A.rename(columns={"a": "c"})), ([A], None), (B, [A]), ([], [[1.0]])):
        _frames.check_both(x, y, "x and y")


def test_numbers_of_an_index_that_go_back():
    forth = pandas.Series([0.0, 1.0, 5.0], [0.0, 1.0, 2.0])
    back = forth.set_axis([2.0, 1.0, 0.0])
    text = r"the numeric labels of x go back, .* pass x.sort_index\(\), or x.to_numpy\(\) if the points are in order"
    with pytest.raises(ValueError, match=text):
        dtwave.distance(back, forth)
    with pytest.raises(ValueError, match=text):
        dtwave.distance(back.to_frame("a"), forth.to_frame("a"))
    with pytest.raises(ValueError, match=r"the numeric labels of x go back, .* x.sort_index\(axis=1\)"):
        dtwave.pairwise(A.set_axis([0.5, 0.0], axis=1))
    # Whole numbers may be labels of rows, and rows that are series have no order.
    assert dtwave.distance(back.set_axis([2, 1, 0]), forth) == dtwave.distance(back.to_numpy(), forth) == 0.0
    assert dtwave.pairwise(A.set_axis([0.5, 0.0]))[0, 1] == 8.0


def test_a_time_that_is_missing():
    days = pandas.to_datetime(["2024-01-01", None, "2024-01-03"])
    series = pandas.Series([0.0, 1.0, 5.0], days)
    for index in (days, days.to_period("D"), days - days[0]):
        with pytest.raises(ValueError, match=r"a time of x is missing, that of point 1: .* x.to_numpy\(\)"):
            dtwave.distance(series.set_axis(index), [1.0, 2.0])
    with pytest.raises(ValueError, match="a numeric label of x is missing, that of point 2"):
        dtwave.distance(series.set_axis([0.0, 1.0, np.nan]), [1.0, 2.0])


def lists():
    polars, arrow = need("polars"), need("pyarrow")
    yield polars.Series(X, dtype=polars.List(polars.Float32))
    yield polars.Series(X, dtype=polars.Array(polars.Float32, 2))
    yield arrow.array(X, arrow.list_(arrow.float32()))
    yield arrow.chunked_array([arrow.array(X, arrow.large_list(arrow.float32()))])
    yield arrow.array(X, arrow.list_(arrow.float32(), 2))
    yield pandas.Series(X, dtype=pandas.ArrowDtype(arrow.list_(arrow.float32())))


def test_lists_of_a_column_keep_their_type():
    for column in lists():
        found = dtwave.pairwise(column)
        assert found.dtype == np.float32 and found[0, 1] == 1.0, column
    polars = need("polars")
    assert dtwave.pairwise(polars.Series(X)).dtype == np.float64
    deep = polars.Series([[row] for row in X], dtype=polars.List(polars.List(polars.Float32)))
    assert dtwave.pairwise(deep, layout="channels_last").dtype == np.float32
    gaps = polars.Series([[1.0, None, 2.0], [1.0, 2.0]], dtype=polars.List(polars.Float32))
    with pytest.warns(dtwave.MissingWarning):
        assert dtwave.pairwise(gaps, missing="linear").dtype == np.float32
    ragged = polars.Series([[[1.0, 2.0], [1.0]]], dtype=polars.List(polars.List(polars.Float32)))
    with pytest.raises(TypeError, match="series 0 of x is no array of numbers: its rows are of several lengths"):
        dtwave.pairwise(ragged)


def records():
    polars, arrow = need("polars"), need("pyarrow")
    yield polars.Series(RECORDS)
    yield arrow.array(RECORDS)
    yield arrow.chunked_array([RECORDS])
    yield pandas.Series(RECORDS, dtype=pandas.ArrowDtype(arrow.array(RECORDS).type))
    yield pandas.Series(RECORDS)


def test_records_are_no_channels():
    for column in records():
        for call in (dtwave.distance, dtwave.pairwise):
            with pytest.raises(TypeError, match="x holds records with the fields 'lat', 'lon': expected real numbers"):
                call(column, column)
    polars = need("polars")
    with pytest.raises(TypeError, match="column 'place' of x holds records with the fields 'lat', 'lon'"):
        dtwave.pairwise(polars.DataFrame({"place": RECORDS}))


def test_columns_in_other_orders_across_arguments():
    for call in (dtwave.pairwise, dtwave.zipped, dtwave.nearest):
        for x, y in (([A, A], [B, B]), (A, B)):
            with pytest.raises(ValueError, match="x and y have the same columns in other orders"):
                call(x, y)
    with pytest.raises(ValueError, match="train and test have the same columns in other orders"):
        dtwave.classify([A, A], [0, 1], [B])
