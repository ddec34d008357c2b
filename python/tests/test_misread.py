"""What would be read as other numbers than it says: masked values in lists, thresholds of small types, places."""

import warnings

import dtwave
import numpy as np
import pytest

GONE = np.ma.masked
HIDDEN = np.ma.array([1.0, 999.0], mask=[False, True])
NAN = np.nan


def test_what_lists_of_masked_points_hide_is_missing():
    points = [np.ma.array([1.0, 2.0]), HIDDEN]
    table = np.ma.array([[1.0, 2.0], [1.0, 999.0]], mask=[[False, False], [False, True]])
    for x in (points, tuple(points), list(table), [[1.0, 2.0], [1.0, GONE]]):
        with pytest.raises(ValueError, match='series 0 of x has NaN at point 1, channel 1.*missing="linear"'):
            dtwave.distance(x, [[1.0, 2.0]] * 2)
        with pytest.raises(ValueError, match="series 1 of x has NaN at point 1, channel 1"):
            dtwave.pairwise([[[1.0, 2.0]] * 2, x])
        with pytest.warns(dtwave.MissingWarning, match="filled 1 value"):
            assert dtwave.distance(x, [[1.0, 2.0]] * 2, missing="previous") == 0.0
    for x in ([1.0, GONE, 3.0], list(np.ma.array([1.0, 999.0, 3.0], mask=[0, 1, 0]))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match="series 0 of x has NaN at point 1"):
                dtwave.distance(x, [1.0, 2.0])
    objects = np.array([1.0, None, 3.0], dtype=object)
    objects[1] = GONE
    with pytest.raises(ValueError, match="series 0 of x has NaN at point 1"):
        dtwave.distance(objects, [1.0, 2.0])


def test_lists_of_masked_points_are_read_as_others():
    # Nothing is hidden: the type and the values are those of the arrays.
    points = [np.ma.array([1.0, 2.0], dtype=np.float32), np.ma.array([3.0, 4.0], dtype=np.float32)]
    assert dtwave.pairwise([points, points]).dtype == np.float32
    assert dtwave.distance(points, [[1.0, 2.0], [3.0, 5.0]]) == 1.0
    for x, error, text in (
        ([[1.0, GONE], [2.0]], TypeError, "x is no array of numbers: its rows are of several lengths"),
        ([["a", GONE], [2.0, 3.0]], TypeError, "x is an array of strings"),
        ([[1j, GONE], [2.0, 3.0]], TypeError, "x is an array of complex numbers"),
        ([[np.datetime64("2024-01-01"), GONE], [2, 3]], TypeError, "x is no array of numbers: .* no numbers"),
        ([2**53 + 1, GONE], ValueError, "x has whole numbers up to 9007199254740993 beside missing values"),
        ([[1.0, GONE], [None, 3.0]], ValueError, "series 0 of x has NaN at point 0, channel 1"),
        ([GONE, GONE], ValueError, "series 0 of x has NaN at point 0"),
    ):
        with pytest.raises(error, match=text):
            dtwave.distance(x, x)


def test_thresholds_of_any_type_of_numbers():
    query, reference = [0.0, 0.0, 0.0], [20.0] * 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for threshold in (np.uint8(100), np.float16(300), np.int8(100), 100, 1e300):
            found = dtwave.search(query, reference, threshold=threshold, sqrt=True, exclusion=0)
            assert [match.end for match in found] == [0, 1, 2, 3], threshold
            told = dtwave.follow(query, reference, threshold=threshold, sqrt=True, exclusion=0)
            assert list(told) == list(found), threshold
    for call in (dtwave.search, dtwave.search_all, dtwave.follow):
        queries = [query] if call is dtwave.search_all else query
        for sqrt in (False, True):
            for threshold, shown in ((-1, "-1"), (NAN, "NaN"), (np.float32(-2), "-2"), (np.inf, "inf")):
                with pytest.raises(ValueError, match=f"a threshold is a finite cost of at least 0, got {shown}"):
                    call(queries, reference, threshold=threshold, sqrt=sqrt)
            with pytest.raises(ValueError, match="threshold is too large for float64"):
                call(queries, reference, threshold=10**400, sqrt=sqrt)


def test_errors_of_a_search_name_its_series():
    reference = [1.0, 2.0, 3.0]
    for queries, text in (
        ([[1.0, 2.0], [1.0, NAN, 2.0]], "series 1 of queries has NaN at point 1, channel 0"),
        ([[1.0, 2.0], [1.0, 2.0, 3.0], [1.0, np.inf]], "series 2 of queries has inf at point 1, channel 0"),
        (np.array([[1.0, 2.0], [NAN, 2.0]]), "series 1 of queries has NaN at point 0, channel 0"),
        ([[1.0, 2.0], []], "series 1 of queries is empty"),
        ([[[1.0, 2.0]] * 3] * 2, "series of queries have 2 channels, reference has 1 channel: they must be equal"),
    ):
        with pytest.raises(ValueError, match=text):
            dtwave.search_all(queries, reference)
    with pytest.raises(ValueError, match='^query has NaN at point 1, .* missing="linear" or "previous" fills it$'):
        dtwave.search([1.0, NAN], reference)
    with pytest.raises(ValueError, match="^reference has NaN at point 2, channel 0"):
        dtwave.search([1.0, 2.0], [1.0, 2.0, NAN])
    with pytest.warns(dtwave.MissingWarning, match="filled 1 value of series 1 of queries"):
        dtwave.search_all([[1.0, 2.0], [1.0, NAN, 2.0]], reference, missing="linear")
    assert dtwave.search_all([], [[1.0, 2.0]] * 3) == []
