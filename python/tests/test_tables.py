"""Tables of pandas, polars and Arrow are read as what they are, or refused with what they may be."""

import numpy as np
import pytest
from optional import need

pandas = need("pandas")

import dtwave

RNG = np.random.default_rng(12)
X = RNG.normal(size=(4, 7))
EXPECTED = dtwave.pairwise(X)
DAYS = pandas.date_range("2024-02-27", periods=7)
#: A column per series, a row per day.
WIDE = pandas.DataFrame(X.T, index=DAYS, columns=list("abcd"))
#: A row per point, in no order.
LONG = pandas.DataFrame({"id": np.repeat(list("abcd"), 7), "time": np.tile(DAYS, 4), "value": X.ravel()})
MIXED = LONG.sample(frac=1.0, random_state=3)


def test_rows_that_are_times_are_no_series():
    for index in (
        DAYS,
        DAYS.to_period("D"),
        DAYS - DAYS[0],
        pandas.Index(DAYS.date),
        pandas.Index(range(7), name="Time"),
    ):
        with pytest.raises(
            ValueError, match=r"the rows of x are times .* 4 points: pass x.T .*panel.*groupby.*to_numpy"
        ):
            dtwave.pairwise(WIDE.set_axis(index))
    assert np.array_equal(dtwave.pairwise(WIDE.T), EXPECTED)
    assert np.array_equal(dtwave.pairwise(WIDE.to_numpy()), dtwave.pairwise(X.T))
    # One series has a point per row, and a channel per column.
    assert dtwave.distance(WIDE[["a", "b"]], WIDE[["c", "d"]]) == dtwave.distance(X[:2].T, X[2:].T)
    assert dtwave.distance(WIDE["a"], WIDE["b"]) == EXPECTED[0, 1]
    with pytest.raises(ValueError, match="the columns of x are times, and would each be a channel: pass x.T"):
        dtwave.distance(WIDE.T, WIDE.T)
    with pytest.raises(ValueError, match=r"the times of x go back, .*: pass x.sort_index\(\)"):
        dtwave.distance(WIDE["a"][::-1], WIDE["b"])
    with pytest.raises(ValueError, match=r"the times of x go back, .* x.sort_index\(axis=1\)"):
        dtwave.pairwise(WIDE.T.iloc[:, ::-1])
    with pytest.raises(ValueError, match="x and y have the same columns in other orders"):
        dtwave.distance(WIDE[["a", "b"]], WIDE[["b", "a"]])
    with pytest.raises(ValueError, match="series of x have the same columns in other orders"):
        dtwave.pairwise([WIDE[["a", "b"]], WIDE[["b", "a"]]])


def test_rows_of_several_series_are_no_series():
    panel = LONG.set_index(["id", "time"])
    with pytest.raises(
        ValueError, match=r"index of several levels \(id, time\).* pass dtwave.panel\(x\), or x.to_numpy"
    ):
        dtwave.pairwise(panel)
    with pytest.raises(ValueError, match="an index of several levels"):
        dtwave.distance(panel, panel)
    for call in (dtwave.distance, dtwave.pairwise):
        with pytest.raises(ValueError, match="an index of several levels"):
            call(panel["value"], panel["value"])
    backwards = MIXED.set_index("time", drop=False).rename_axis(None)
    assert np.array_equal(np.sort(dtwave.panel(backwards, id="id", time="time").ids), list("abcd"))
    found = dtwave.panel(panel)
    assert found.ids == list("abcd") and np.array_equal(dtwave.pairwise(found), EXPECTED)
    assert np.array_equal(
        dtwave.pairwise(dtwave.panel(MIXED.set_index(["id", "time"])["value"].sort_index())), EXPECTED
    )
    with pytest.raises(ValueError, match="column 'id' of x would count among the values"):
        dtwave.pairwise(LONG.assign(id=1, time=range(28)))
    with pytest.raises(TypeError, match="column 'who' of x holds text: expected real numbers; leave it out"):
        dtwave.pairwise(LONG.rename(columns={"id": "who"})[["value", "who"]])
    with pytest.raises(TypeError, match="column 'day' of x holds dates or times: expected real numbers"):
        dtwave.pairwise(LONG.rename(columns={"time": "day"})[["value", "day"]])
    three = pandas.concat({"north": panel, "south": panel * 2}, names=["where"])
    found = dtwave.panel(three)
    assert found.ids[0] == ("north", "a") and np.array_equal(dtwave.pairwise(found[4:]), dtwave.pairwise(2 * X))


def libraries():
    yield MIXED
    polars = need("polars")
    yield polars.from_dict({name: MIXED[name].to_list() for name in MIXED})


def test_long_tables():
    for table in libraries():
        found = dtwave.panel(table, id="id", time="time", values="value")
        assert sorted(found.ids) == list("abcd")
        order = np.argsort(found.ids)
        assert np.array_equal(dtwave.pairwise([found[s] for s in order]), EXPECTED)
        assert np.array_equal(dtwave.pairwise(dtwave.panel(table, id="id", time="time")), dtwave.pairwise(found))
    two = MIXED.assign(more=MIXED["value"] * 2)
    found = dtwave.panel(two, id="id", time="time", values=["more", "value"])
    assert np.array_equal(found[0][:, 0], 2 * found[0][:, 1]) and repr(found) == "Panel(4 series)"
    assert np.array_equal(dtwave.panel(LONG, id="id", values="value")[1], X[1])


def test_arrow():
    arrow = need("pyarrow")
    table = arrow.table({"id": MIXED["id"].tolist(), "time": MIXED["time"].tolist(), "value": MIXED["value"].tolist()})
    found = dtwave.panel(table, id="id", time="time")
    assert np.array_equal(dtwave.pairwise([found[s] for s in np.argsort(found.ids)]), EXPECTED)
    assert np.array_equal(dtwave.pairwise(arrow.table({str(i): column for i, column in enumerate(X.T)})), EXPECTED)
    assert np.array_equal(dtwave.pairwise(arrow.array(X.tolist())), EXPECTED)
    assert dtwave.distance(arrow.array(X[0]), arrow.chunked_array([X[1][:3], X[1][3:]])) == EXPECTED[0, 1]
    with pytest.raises(TypeError, match="column 'b' of x holds text"):
        dtwave.pairwise(arrow.table({"a": [1.0], "b": ["x"]}))
    with pytest.raises(ValueError, match="series 0 of x has NaN at point 1"):
        dtwave.pairwise(arrow.table({"a": [1], "b": arrow.array([None], arrow.int64())}))


def test_nested_tables():
    nested = pandas.DataFrame({"one": [pandas.Series(row) for row in X], "two": [pandas.Series(2 * row) for row in X]})
    with pytest.raises(TypeError, match=r"column 'one' of x holds series in its cells.*pass dtwave.panel\(x\)"):
        dtwave.pairwise(nested)
    assert np.array_equal(dtwave.pairwise(dtwave.panel(nested)), dtwave.pairwise(np.stack([X, 2 * X], axis=2)))
    assert np.array_equal(dtwave.pairwise(dtwave.panel(nested, values="one")), EXPECTED)


@pytest.mark.parametrize(
    ("change", "options", "error", "text"),
    [
        (
            {},
            {"id": "who"},
            ValueError,
            "id='who' must be one column of the table, whose columns are 'id', 'time', 'value'",
        ),
        ({}, {}, ValueError, "the table has no id: pass id="),
        ({}, {"id": "id", "values": "time"}, TypeError, "column 'time' of table holds dates or times"),
        ({}, {"id": "id", "time": "time", "values": "time"}, ValueError, "'time' is the id or the time"),
        (
            {"time": list(map(str, range(28)))},
            {"id": "id", "time": "time"},
            TypeError,
            "are text, whose order is that of l",
        ),
        (
            {"time": [None, *DAYS[1:], *[DAYS[0]] * 21]},
            {"id": "id", "time": "time"},
            ValueError,
            "a time .* is missing",
        ),
        (
            {"time": DAYS[[0, 0, *range(2, 7)] * 4]},
            {"id": "id", "time": "time"},
            ValueError,
            "'a' has one time twice, in rows 0",
        ),
        ({"id": [None] * 28}, {"id": "id", "time": "time"}, ValueError, "row 0 of the table has no id"),
    ],
)
def test_long_tables_that_say_too_little(change, options, error, text):
    with pytest.raises(error, match=text):
        dtwave.panel(LONG.assign(**change), **options)


def test_nullable_numbers():
    whole = pandas.DataFrame(RNG.integers(0, 5, size=(3, 4)))
    expected = dtwave.pairwise(whole.to_numpy())
    for kind in ("Int64", "UInt8", "Float64", "Float32", "Int64[pyarrow]", "object"):
        if "pyarrow" in kind:
            need("pyarrow")
        table = whole.astype(kind.replace("Int64[", "int64["))
        assert np.allclose(dtwave.pairwise(table), expected), kind
        assert np.allclose(dtwave.pairwise(table.assign(extra=[1.5, 2.5, 3.5])).diagonal(), 0.0), kind
        assert np.isclose(dtwave.distance(table.loc[0], table.loc[1]), expected[0, 1]), kind
    mixed = whole.astype({0: "Int64", 1: "Float64"})
    assert np.array_equal(dtwave.pairwise(mixed), expected) and np.array_equal(dtwave.pairwise(mixed.T.T), expected)
    flags = pandas.DataFrame([[True, False, True], [False, False, True]], dtype="boolean")
    assert dtwave.pairwise(flags)[0, 1] == 1.0
    with pytest.raises(ValueError, match="whole numbers up to 9007199254740993 beside"):
        dtwave.pairwise(pandas.DataFrame({"a": [2**53 + 1], "b": [0.5]}))


def test_what_is_no_table_yet():
    polars = need("polars")
    with pytest.raises(TypeError, match=r"x is a LazyFrame, .* pass x.collect\(\)"):
        dtwave.pairwise(polars.LazyFrame(X))
    with pytest.raises(TypeError, match=r"x is a DataFrameGroupBy, .* pass \[part.to_numpy\(\) for _, part in x\]"):
        dtwave.pairwise(LONG.groupby("id"))
    with pytest.raises(TypeError, match=r"pass list\(x.values\(\)\)"):
        dtwave.pairwise({"a": X[0], "b": X[1]})
    with pytest.raises(TypeError, match="table must be a table of pandas, polars or Arrow, got ndarray"):
        dtwave.panel(X)
    with pytest.raises(TypeError, match="table is a dict"):
        dtwave.panel({})
