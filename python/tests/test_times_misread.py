"""Times that could be read as others: rounded, wrapped, of other points, of another kind, or not at all."""

from __future__ import annotations

import copy
import datetime
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pytest
from optional import need

import dtwave

pandas = need("pandas")

S, NAN = pandas.Series, np.nan
TWED = {"measure": "twed", "nu": 1.0}
#: Nanoseconds since 1970, beyond what a float has.
NS = 1_700_000_000_000_000_000


def silent(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*arguments, **options)


def twed(x, y, times=None, nu=1.0, **options):
    return silent(dtwave.distance, x, y, measure="twed", nu=nu, times=times, **options)


@pytest.mark.parametrize("measure", ["twed", "TWED", "Twed", dtwave.Twed(nu=1.0)])
def test_resampled_points_keep_their_times_however_twed_is_written(measure):
    x, y = S([0.0, 1, 2], [0.0, 1, 2]), S([0.0, 1, 2], [10.0, 11, 12])
    parameters = {"nu": 1.0} if isinstance(measure, str) else {}
    assert silent(dtwave.distance, x, y, measure=measure, **parameters, times="index", resample=1.0) == 22.0


def long():
    rows = [(name, at, float(value)) for name, n in (("a", 4), ("b", 4), ("c", 4)) for at, value in enumerate(range(n))]
    frame = pandas.DataFrame(rows, columns=["id", "at", "value"])
    frame["at"] += np.repeat([0.0, 10.0, 20.0], 4) + 0.5 * (frame["at"] == 3)
    return dtwave.panel(frame, id="id", time="at")


@pytest.mark.parametrize(
    "change",
    [
        lambda panel: panel.reverse(),
        lambda panel: panel.sort(key=lambda series: -series[0]) or panel.insert(0, panel.pop()),
        lambda panel: panel.__setitem__(0, panel[1]),
        lambda panel: panel.__setitem__(0, panel[0] + 1),
        lambda panel: panel.append(panel[0]),
        lambda panel: panel.pop(),
    ],
)
def test_a_panel_that_was_changed_has_neither_times_nor_ids(change):
    panel = long()
    change(panel)
    for same in (panel, panel[:], copy.copy(panel), copy.deepcopy(panel), pickle.loads(pickle.dumps(panel))):
        with pytest.raises(ValueError, match=r"x is a panel whose series were changed.*times.*pass list\(x\).*slice"):
            dtwave.pairwise(same, **TWED, times="index")
        with pytest.raises(ValueError, match=r"this is a panel whose series were changed.*times.*list\(panel\)"):
            same.times
        with pytest.raises(ValueError, match=r"this is a panel whose series were changed.*ids"):
            same.ids
    assert silent(dtwave.pairwise, list(panel)).shape == (len(panel), len(panel))


def test_slices_and_copies_of_a_panel_are_panels_of_their_own():
    panel = long()
    copies = (panel[:], copy.copy(panel), copy.deepcopy(panel), pickle.loads(pickle.dumps(panel)))
    backwards = panel[::-1]
    panel.reverse()
    for same in copies:
        assert same.ids == ["a", "b", "c"] and [own[0] for own in same.times] == [0.0, 10.0, 20.0]
    assert backwards.ids == ["c", "b", "a"] and [own[0] for own in backwards.times] == [20.0, 10.0, 0.0]
    assert backwards[1:][:1].ids == ["b"]
    # Put back in order, it is the same as before.
    panel.reverse()
    assert panel.ids == ["a", "b", "c"]


def test_points_are_left_out_before_times_are_settled():
    a, b = S([0.0, NAN, 3, 2], [0.0, 1, 2, 3]), S([0.0, 1, 3, 1], [0.0, 1, 2, 3])
    with pytest.warns(dtwave.TimesWarning):
        expected = dtwave.distance(a.dropna(), b, **TWED)
    with (
        pytest.warns(dtwave.TimesWarning, match="points of x are not equally spaced"),
        pytest.warns(dtwave.MissingWarning),
    ):
        assert dtwave.distance(a, b, **TWED, missing="drop") == expected == 6.0
    # The first point is left out, and the other series begins where the second one is.
    date = pandas.Timestamp("2024-05-01")
    x = S([NAN, 1.0, 2, 5], date + pandas.to_timedelta([0, 1, 2, 4], unit="s"))
    y = S([1.0, 2, 4], date + pandas.to_timedelta([1, 2, 4], unit="s"))
    with pytest.warns(dtwave.TimesWarning, match="takes the times"), pytest.warns(dtwave.MissingWarning):
        found = dtwave.distance(x, y, **TWED, missing="drop")
    assert found == twed(x.dropna(), y, "index")
    # Of padded rows of a table, too.
    table = pandas.DataFrame([[0.0, NAN, 3, 2, NAN], [0.0, 1, 3, 1, 2]], columns=np.arange(5.0))
    with pytest.warns(dtwave.TimesWarning), pytest.warns(dtwave.MissingWarning):
        found = dtwave.pairwise(table, **TWED, missing="drop", padding="nan")
    assert found[0, 1] == twed(a.dropna(), table.loc[1], "index")


def test_estimators_leave_points_out_before_they_look_at_times():
    need("sklearn")
    from dtwave.sklearn import TimeSeriesKMedoids

    x = [S([0.0, NAN, 3, 2], [0.0, 1, 2, 3]), S([0.0, 1, 3, 1], [0.0, 1, 2, 3])]
    with pytest.warns(dtwave.TimesWarning, match="of X are not equally spaced"), pytest.warns(dtwave.MissingWarning):
        TimeSeriesKMedoids(1, measure="twed", missing="drop").fit(x)


def test_resampled_times_are_of_one_kind():
    values = [0.0, 1, 2, 3]
    dates, numbers = S(values, pandas.date_range("2024", periods=4, freq="h")), S(values, [0.0, 1, 2, 3])
    for resample in ("median", 1.0):
        with pytest.raises(ValueError, match="must be of one kind, got dates and numbers: convert"):
            dtwave.distance(dates, numbers, resample=resample)
    with pytest.raises(ValueError, match="must be of one kind"):
        dtwave.search(dates, numbers, resample="median")
    assert silent(dtwave.distance, numbers, S(values, [0, 1, 2, 3]), resample="median") == 0.0


def test_estimators_keep_the_kind_of_times():
    need("sklearn")
    from dtwave.sklearn import KNeighborsTimeSeriesClassifier

    values = [0.0, 1, 2, 3]
    dates, numbers = S(values, pandas.date_range("2024", periods=4, freq="s")), S(values, [0.0, 1, 2, 3])
    model = KNeighborsTimeSeriesClassifier(1, resample="median").fit([dates, dates + 1], [0, 1])
    assert model.resample_kind_ == "dates" and silent(model.predict, [dates])[0] == 0
    with pytest.raises(ValueError, match="times of X are numbers, and KNeighbors.* was fitted on .* times are dates"):
        model.predict([numbers])
    with pytest.raises(ValueError, match="must be of one kind"):
        model.fit([dates, numbers], [0, 1])


@pytest.mark.parametrize("years", [(1500, 1501), (1677, 1678), (2261, 2263), (1400, 2600), (1700, 2200), (9000, 9998)])
def test_dates_of_every_year_are_times(years):
    days = [(datetime.date(years[1], 1, 1) - datetime.date(years[0], 1, 1)).days * 86400.0, 86400.0]
    times = np.array([0.0, days[0], days[0] + 2 * days[1]])
    texts = [f"{years[0]:04}-01-01", f"{years[1]:04}-01-01", f"{years[1]:04}-01-03"]
    dates = np.array(texts, dtype="datetime64[s]")
    values, other = np.array([1.0, 2, 4]), np.array([1.0, 3, 3])
    nu = 1e-9
    expected = twed(values, other, (times, times - 0.0), nu)
    plain = [datetime.date.fromisoformat(text) for text in texts]
    noon = [datetime.datetime.fromisoformat(text) for text in texts]
    for index in (pandas.DatetimeIndex(dates), pandas.Index(plain, dtype=object), pandas.Index(noon, dtype=object)):
        x, y = S(values, index), S(other, index)
        assert twed(x, y, "index", nu) == twed(x, y, "elapsed", nu) == expected
    frame = {"id": ["a"] * 3 + ["b"] * 3, "at": plain * 2, "value": [*values, *other]}
    for table in (pandas.DataFrame(frame), need("polars").DataFrame(frame)):
        assert dtwave.panel(table, id="id", time="at").times[0].tolist() == times.tolist()


def test_long_durations_are_times():
    seconds = np.array([0, 10**10, 3 * 10**10])
    x = S([1.0, 2, 4], pandas.TimedeltaIndex(seconds.astype("timedelta64[s]")))
    y = S([1.0, 2, 5], x.index)
    assert twed(x, y, "index", 1e-10) == twed(x.to_numpy(), y.to_numpy(), (seconds, seconds), 1e-10)


@pytest.mark.parametrize("kind", ["int64", "uint64", "object"])
def test_large_whole_numbers_are_not_rounded(kind):
    x = S([1.0, 2, 3], pandas.Index([NS, NS + 100, NS + 200], dtype=kind))
    y = S([1.0, 2, 3], pandas.Index([NS, NS + 100, NS + 900], dtype=kind))
    later = S([1.0, 2, 3], y.index + 7)
    assert twed(x, y, "index", 0.01) == twed(x, y, "elapsed", 0.01) == 7.0
    moved = np.array([7.0, 107, 907])
    assert twed(x, later, "index", 0.01) == twed(x.to_numpy(), y.to_numpy(), ([0.0, 100, 200], moved), 0.01)
    with pytest.warns(dtwave.TimesWarning, match="points of y are not equally spaced"):
        dtwave.distance(x, y, **TWED)
    with pytest.raises(ValueError, match=r"beyond 2\*\*53 beside others.*subtract the first"):
        twed(x, S([1.0, 2, 3], [0.5, 1, 2]), "index")
    with pytest.raises(ValueError, match=r"more than 2\*\*53 apart"):
        twed(x, S([1.0, 2, 3], [0, 1, 2]), "index")
    rows = pandas.DataFrame({"id": list("aaabbb"), "at": [*x.index, *later.index], "value": [1.0, 2, 3] * 2})
    panel = dtwave.panel(rows, id="id", time="at")
    assert [own.tolist() for own in panel.times] == [[0, 100, 200], [7, 107, 907]]
    with pytest.warns(dtwave.MissingWarning, match="step of 100 made 7 points in gaps"):
        assert dtwave.distance(x, y, resample="median") == 0.6875
    ints = [np.array([NS, NS + 100, NS + 200])] * 2
    with pytest.raises(ValueError, match="times of x has 17.* subtract the first time"):
        dtwave.distance([1.0, 2, 3], [1.0, 2, 3], times=tuple(ints), resample="median")


def test_times_are_not_rounded_to_one_another():
    first, values = 1.7e9, [1.0, 2, 3]
    times = [np.array([0.0, 1, 9]), np.array([0.0, 1, 2])]
    far = tuple(own + first for own in times)
    assert twed(values, values, far) == twed(values, values, tuple(times), dtype="float32") == 7.0
    for given in (far, tuple(own.astype(np.int64) for own in far)):
        with pytest.raises(
            ValueError, match="times of x would be rounded in float32: points 0 and 1 of .*subtract the f"
        ):
            dtwave.distance(values, values, **TWED, times=given, dtype="float32")
    # Of one series of several alone, whatever the steps of the others are.
    several = [np.arange(3.0) + 0.1, np.arange(3.0), np.arange(3.0) * 1e-9 + 1]
    assert dtwave.pairwise([values] * 2, **TWED, times=several[:2], dtype="float32").shape == (2, 2)
    with pytest.raises(ValueError, match="points 0 and 1 of series 2 are 1e-09 apart, and would be 0"):
        dtwave.pairwise([values] * 3, **TWED, times=several, dtype="float32")
    # Steps that stay are not enough: others must not become longer or shorter.
    with pytest.raises(ValueError, match="points 1 and 2 of series 0 are 100.4 apart, and would be"):
        dtwave.distance(values, values, **TWED, times=([0, 2e7, 2e7 + 100.4],) * 2, dtype="float32")
    assert twed(values, values, (np.arange(3) * 0.1,) * 2, dtype="float32") == 0.0
    ints = [np.arange(3), NS + np.arange(3)]
    with pytest.raises(ValueError, match="would be rounded in float64: points 0 and 1 of series 1 are 1 apart"):
        dtwave.pairwise([values] * 2, **TWED, times=ints, dtype="float64")
    with pytest.raises(ValueError, match="would be rounded in float64"):
        dtwave.distance(values, values, **TWED, times=([NS, NS + 1, NS + 2],) * 2, dtype="float64")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        ([datetime.time(0, 0, 9), datetime.time(1), datetime.time(0, 1, 0, 500000)], [0.0, 51.5, 3591.0]),
        ([Decimal("0.5"), Decimal("9"), Decimal("1.25")], [0.5, 1.25, 9.0]),
    ],
)
def test_times_of_day_and_decimals_are_times(library, times, seconds):
    tables = need(library)
    make = tables.table if library == "pyarrow" else tables.DataFrame
    panel = dtwave.panel(make({"id": [1] * 3, "at": times, "value": [1.0, 2, 3]}), id="id", time="at")
    assert panel[0].tolist() == [1, 3, 2] and panel.times[0].tolist() == seconds


def test_what_is_no_time_is_refused_in_a_panel():
    table = pandas.DataFrame({"id": [1] * 3, "value": [1.0, 2, 3]})
    for times in (pandas.Categorical([3, 1, 2]), np.array([True, False, True]), [1j, 2j, 3j]):
        with pytest.raises(TypeError, match="the times of the table are of type .*expected numbers, dates"):
            dtwave.panel(table.assign(at=times, id=[1, 1, 2]), id="id", time="at")


def test_cells_of_a_panel_have_times():
    cells = [S([1.0, 2, 3], [0.0, 1, 9]), S([1.0, 2, 3], [0.0, 1, 2])]
    panel = dtwave.panel(pandas.DataFrame({"c": cells, "d": [cell + 1 for cell in cells]}))
    assert [own.tolist() for own in panel.times] == [[0, 1, 9], [0, 1, 2]] and panel[0].shape == (3, 2)
    one = dtwave.panel(pandas.DataFrame({"c": cells}))
    assert silent(dtwave.pairwise, one, **TWED, times="index")[0, 1] == twed(*cells, "index") > 0
    with pytest.raises(ValueError, match="row 0 of the table has columns 'c' and 'd' of other times"):
        dtwave.panel(pandas.DataFrame({"c": cells, "d": cells[::-1]}))
    dates = pandas.date_range("2024", periods=3)
    for labels in (dates[::-1], [2.0, 1, 0], [2, 1, 0]):
        with pytest.raises(ValueError, match="column 'c' of row 1 of the table has times that go back.*sort_index"):
            dtwave.panel(pandas.DataFrame({"c": [cells[0], S([1.0, 2, 3], labels)]}))
    assert dtwave.panel(pandas.DataFrame({"c": [S([1.0, 2]), S([1.0])], "d": [[1, 2], [3]]})).times is None


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("", "resample must be .*got ''"),
        (" ", "resample must be .*got ' '"),
        (np.timedelta64(5), "resample must be .*which has no unit: pass seconds"),
        (np.timedelta64(1, "M"), "resample must be .*which is not always as long"),
        (np.timedelta64("NaT", "s"), "resample must be .*got"),
        (10**400, "resample must be .*too large"),
    ],
)
def test_steps_that_say_nothing_are_refused(step, message):
    x = S([0.0, 1, 2], [0.0, 1, 2])
    with pytest.raises(ValueError, match=message):
        dtwave.distance(x, x, resample=step)


def test_objects_with_a_time_zone_are_dates_without_a_warning():
    index = pandas.date_range("2024-03-31", periods=3, freq="h", tz="Europe/Berlin")
    objects = [S([1.0, 2, 4], index.astype(object)), S([1.0, 3, 4], index.astype(object))]
    zoned = [S([1.0, 2, 4], index), S([1.0, 3, 4], index)]
    assert twed(*objects, "index") == twed(*zoned, "index") == twed(objects[0], zoned[1], "index")
