"""Missing values: refused with what helps, or filled or left out as a call asks, and counted."""

import numpy as np
import pytest
from optional import need

import dtwave

NAN = np.nan
GAPPY = np.array([[NAN, 1.0, NAN, NAN, 7.0, NAN], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]])
FILLED = {
    "linear": [[1.0, 1.0, 3.0, 5.0, 7.0, 7.0], GAPPY[1].tolist()],
    "previous": [[1.0, 1.0, 1.0, 1.0, 7.0, 7.0], GAPPY[1].tolist()],
    "drop": [[1.0, 7.0], GAPPY[1].tolist()],
}
TOLD = {
    "linear": 'missing="linear" filled 4 values of series 0 of x, 2 of them before the first or after the last known',
    "previous": 'missing="previous" filled 4 values of series 0 of x, 1 of them before the first known value',
    "drop": 'missing="drop" left out 4 points of series 0 of x',
}


def filled(call, *args, missing, text=None):
    with pytest.warns(dtwave.MissingWarning, match=TOLD[missing] if text is None else text) as told:
        found = call(*args, missing=missing)
    assert len(told) == 1 and told[0].filename == __file__
    return found


FORMS = {
    "array": GAPPY,
    "float32": GAPPY.astype(np.float32),
    "masked": np.ma.masked_invalid(GAPPY),
    "masked whole numbers": np.ma.masked_array(np.nan_to_num(GAPPY).astype(int), np.isnan(GAPPY)),
    "lists with None": [[None if np.isnan(value) else value for value in row] for row in GAPPY],
    "objects": np.array([[None if np.isnan(value) else value for value in row] for row in GAPPY], dtype=object),
    "with channels": GAPPY[:, :, None],
    "list of arrays": [*GAPPY],
}


@pytest.mark.parametrize("missing", FILLED)
@pytest.mark.parametrize("x", FORMS.values(), ids=FORMS)
def test_gaps_are_filled_as_asked_and_counted(x, missing):
    given = GAPPY.copy()
    assert np.array_equal(filled(dtwave.pairwise, x, missing=missing), dtwave.pairwise(FILLED[missing]))
    assert np.array_equal(given, GAPPY, equal_nan=True)
    with pytest.raises(ValueError, match='series 0 of x has NaN at point 0, channel 0.*missing="linear" or "previous"'):
        dtwave.pairwise(x)


def test_tables_with_gaps():
    pandas, polars = need("pandas"), need("polars")
    expected = dtwave.pairwise(FILLED["linear"])
    nullable = pandas.DataFrame(GAPPY).convert_dtypes()
    assert str(nullable.dtypes[0]) == "Int64"
    for table in (pandas.DataFrame(GAPPY), nullable, polars.DataFrame(GAPPY), polars.from_pandas(nullable)):
        assert np.array_equal(filled(dtwave.pairwise, table, missing="linear"), expected)
        with pytest.raises(ValueError, match="series 0 of x has NaN at point 0"):
            dtwave.pairwise(table)
    one = pandas.Series([1, None, 3], dtype="Int64")
    assert filled(dtwave.distance, one, [1.0, 2.0, 3.0], missing="linear", text="1 value of series 0 of x$") == 0.0


def test_channels_are_filled_each_on_its_own_and_dropped_together():
    x = np.array([[[1.0, 5.0], [NAN, 6.0], [3.0, NAN]], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]])
    whole = np.array([[[1.0, 5.0], [2.0, 6.0], [3.0, 6.0]], x[1]])
    assert np.array_equal(filled(dtwave.pairwise, x, missing="linear", text="2 values"), dtwave.pairwise(whole))
    first = np.ascontiguousarray(x.transpose(0, 2, 1))
    with pytest.warns(dtwave.MissingWarning):
        found = dtwave.normalize(first, missing="linear", layout="channels_first")
    assert np.array_equal(found, dtwave.normalize(whole).transpose(0, 2, 1))
    rows = filled(dtwave.pairwise, x, missing="drop", text="2 points")
    assert np.array_equal(rows, dtwave.pairwise([x[0, :1], x[1]]))
    assert [len(row) for row in filled(dtwave.normalize, GAPPY, missing="drop")] == [2, 6]


def test_both_arguments_are_told_of_in_one_warning():
    text = 'filled 1 value of series 0 of x; missing="linear" filled 2 values of 2 series of y'
    x, y = [[1.0, NAN, 3.0]], [[0.0, NAN, 2.0], [1.0, NAN, 1.0]]
    assert filled(dtwave.pairwise, x, y, missing="linear", text=text)[0, 1] == dtwave.distance([1, 2, 3], [1, 1, 1])


def test_padding_is_cut_off_before_gaps_are_filled():
    x = np.array([[0.0, NAN, 2.0, NAN], [1.0, 1.0, 1.0, 1.0]])
    with pytest.warns(dtwave.MissingWarning, match="1 value of series 0"):
        found = dtwave.pairwise(x, missing="linear", padding="nan")
    assert np.array_equal(found, dtwave.pairwise([[0.0, 1.0, 2.0], x[1]]))
    times = np.arange(8.0).reshape(2, 4)
    with pytest.warns(dtwave.MissingWarning, match="2 points of series 0"):
        found = dtwave.pairwise(x, missing="drop", measure="twed", times=times)
    assert np.array_equal(found, dtwave.pairwise([x[0, ::2], x[1]], measure="twed", times=[times[0, ::2], times[1]]))


@pytest.mark.parametrize(
    ("x", "missing", "text"),
    [
        ([[1.0, 2.0], [NAN, NAN]], "linear", "series 1 of x has missing values only: nothing to fill them from"),
        ([[1.0, 2.0], [NAN, NAN]], "drop", "series 1 of x lacks a value in every point"),
        ([[[1.0, NAN], [2.0, NAN]]], "previous", "series 0 of x has missing values only in channel 1"),
        ([[1.0, NAN, np.inf]], "linear", "series 0 of x has inf at point 2, channel 0: expected finite numbers"),
        ([[1.0, 2.0]], "mean", 'missing must be "error", "linear", "previous" or "drop", got \'mean\''),
        (np.ma.masked_array([[2**53 + 1, 0]], [[False, True]]), "linear", "which float64 would round"),
    ],
)
def test_what_cannot_be_filled_is_named(x, missing, text):
    with pytest.raises(ValueError, match=text):
        dtwave.pairwise(x, missing=missing)


def test_places_of_points_stay():
    x = np.array([0.0, NAN, 1.0, 5.0, 5.0])
    calls = (dtwave.align, dtwave.search, dtwave.cost_matrix, dtwave.expected_alignment)
    for call in calls:
        with pytest.raises(ValueError, match='missing="drop" moves points to other places, which this returns'):
            call(x[:3], x, missing="drop")
    with pytest.warns(dtwave.MissingWarning):
        (match,) = dtwave.search([0.0, 0.5, 1.0], x, k=1, missing="linear")
    assert match.distance == 0.0 and match.slice == slice(0, 3)
    with pytest.raises(
        ValueError, match='the reference has NaN at point 1.*missing="linear"|has NaN.*missing="linear"'
    ):
        dtwave.search([0.0, 0.5, 1.0], x)
