"""Times of an index or of a panel under twed: which are taken, and where two meanings are possible."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from optional import need

import dtwave

pandas = need("pandas")

START = pandas.Timestamp("2024-02-28 23:59:57")
#: Seconds of unequal steps, and values at them.
A, B = np.array([0.0, 1.0, 2.5, 7.0, 8.0]), np.array([0.0, 2.0, 2.25, 6.0])
X, Y = np.array([0.0, 1.0, 4.0, 9.0, 4.0]), np.array([0.0, 3.0, 8.0, 5.0])
TWED = {"measure": "twed", "nu": 0.5}


def dated(values, seconds, start=START, zone=None):
    index = pandas.DatetimeIndex(start + pandas.to_timedelta(seconds, unit="s"))
    return pandas.Series(values, index=index if zone is None else index.tz_localize(zone))


def numbered(values, numbers):
    return pandas.Series(values, index=numbers)


def silent(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*arguments, **options)


def twed(x, y, times=None):
    return silent(dtwave.distance, x, y, **TWED, times=times)


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("times", ["index", "elapsed"])
def test_dates_are_seconds(zone, times):
    x, y = dated(X, A, zone=zone), dated(Y, B, zone=zone)
    assert twed(x, y, times) == twed(X, Y, (A, B)) != twed(X, Y)
    assert twed(x, y, "count") == twed(X, Y)


def test_index_is_when_and_elapsed_is_since_the_first_point():
    later = START + pandas.Timedelta(hours=1)
    x, y = dated(X, A), dated(Y, B, start=later)
    assert twed(x, y, "index") == twed(X, Y, (A, B + 3600)) > twed(x, y, "elapsed") == twed(X, Y, (A, B))
    # Nanoseconds are kept, whatever the year.
    near = START + pandas.Timedelta(nanoseconds=200)
    moved = twed(dated(X, A), dated(Y, B, start=near), "index")
    assert moved == twed(X, Y, (A, B + 2e-7)) != twed(X, Y, (A, B))
    numbers = twed(numbered(X, A), numbered(Y, B + 3), "index")
    assert numbers == twed(X, Y, (A, B + 3)) != twed(numbered(X, A), numbered(Y, B + 3), "elapsed")


def test_durations_periods_and_plain_dates_are_times():
    durations = [pandas.Series(v, index=pandas.to_timedelta(t, unit="s")) for v, t in ((X, A), (Y, B))]
    assert twed(*durations, "index") == twed(X, Y, (A, B))
    months = [pandas.Series(v, index=pandas.period_range("2024-01", periods=len(v), freq="M")) for v in (X, Y)]
    days = np.cumsum([0, 31, 29, 31, 30]) * 86400.0
    assert twed(*months, "index") == twed(X, Y, (days, days[:4]))
    stamps = pandas.date_range("2024-01-01", periods=5, freq="D")
    plain = [pandas.Series(v, index=pandas.Index(stamps[: len(v)].date)) for v in (X, Y)]
    even = 86400.0 * np.arange(5)
    assert twed(*plain, "index") == twed(X, Y, (even, even[:4]))


def test_unequal_steps_from_one_start_are_taken_and_told():
    with pytest.warns(dtwave.TimesWarning, match="points of x are not equally spaced.*nu is per second"):
        assert dtwave.distance(dated(X, A), dated(Y, B), **TWED) == twed(X, Y, (A, B))
    with pytest.warns(dtwave.TimesWarning, match='nu is per unit of the index; times="index" says so'):
        assert dtwave.distance(numbered(X, A), numbered(Y, B), **TWED) == twed(X, Y, (A, B))
    # Each of equal steps, but not of the same.
    with pytest.warns(dtwave.TimesWarning, match="series have points at other steps"):
        found = dtwave.distance(dated(X, np.arange(5.0)), dated(Y, 2.0 * np.arange(4)), **TWED)
    assert found == twed(X, Y, (np.arange(5.0), 2.0 * np.arange(4)))


def test_unequal_steps_from_other_starts_are_refused_with_each_meaning():
    later = dated(Y, B, start=START + pandas.Timedelta(seconds=1))
    message = 'x are not equally spaced, and series start at different times.*"index".*"elapsed".*"count"'
    with pytest.raises(ValueError, match=message):
        dtwave.distance(dated(X, A), later, **TWED)
    with pytest.raises(ValueError, match=message):
        dtwave.pairwise([dated(X, A), later], **TWED)


def test_equal_steps_count_points():
    minutes = pandas.date_range("2023-10-29 01:00", periods=5, freq="17min", tz="Europe/Berlin")
    later = minutes[:4] + pandas.Timedelta(days=3)
    assert twed(pandas.Series(X, index=minutes), pandas.Series(Y, index=later)) == twed(X, Y)
    tenths = 1.7e9 + np.arange(5) * 0.1
    assert twed(numbered(X, tenths), numbered(Y, tenths[:4])) == twed(X, Y)
    assert twed(numbered(X, tenths), Y) == twed(X, Y)
    assert twed(pandas.Series(X), pandas.Series(Y)) == twed(X, Y)
    assert twed(pandas.Series(X, index=list("abcde")), Y) == twed(X, Y)
    # Said in a word, the index counts.
    spaced = dated(X, 2.0 * np.arange(5)), dated(Y, 2.0 * np.arange(4))
    assert twed(*spaced, "index") == twed(X, Y, (2.0 * np.arange(5), 2.0 * np.arange(4))) != twed(*spaced)


def test_whole_numbers_of_an_index_are_labels_unless_said():
    x, y = numbered(X, [0, 1, 5, 6, 7]), numbered(Y, [2, 3, 4, 8])
    with pytest.warns(dtwave.TimesWarning, match='takes for labels of rows: pass times="index".*times="count"'):
        assert dtwave.distance(x, y, **TWED) == twed(X, Y)
    assert twed(x, y, "index") == twed(X, Y, ([0.0, 1, 5, 6, 7], [2.0, 3, 4, 8]))
    assert twed(x, y, "count") == twed(X, Y)


def test_every_function_with_times_takes_words():
    x, y = [dated(X, A), dated(X + 1, A)], [dated(Y, B), dated(Y - 2, B)]
    rows, times = ([X, X + 1], [Y, Y - 2]), ([A, A], [B, B])
    for function in (
        lambda *sides, **how: dtwave.pairwise(*sides, **how),
        lambda *sides, **how: dtwave.zipped(*sides, **how),
        lambda *sides, **how: dtwave.nearest(*sides, **how).distances,
        lambda *sides, **how: dtwave.align_pairs(*sides, **how)[1].path,
    ):
        found, expected = silent(function, x, y, **TWED, times="index"), function(*rows, **TWED, times=times)
        assert np.array_equal(found, expected)
    alone = silent(dtwave.pairwise, x, **TWED, times="elapsed")
    assert np.array_equal(alone, dtwave.pairwise(rows[0], **TWED, times=times[0]))
    costs = silent(dtwave.cost_matrix, x[0], y[0], **TWED, times="index")
    assert np.array_equal(costs, dtwave.cost_matrix(X, Y, **TWED, times=(A, B)))
    assert silent(dtwave.align, x[0], y[0], **TWED, times="index").distance == twed(X, Y, (A, B))
    assert silent(dtwave.explain, x, y, **TWED, times="index").cells


def test_columns_of_a_table_are_times():
    values = np.random.default_rng(2).normal(size=(3, 5))
    frame = pandas.DataFrame(values, columns=dated(X, A).index)
    found = silent(dtwave.pairwise, frame, **TWED, times="index")
    assert np.array_equal(found, dtwave.pairwise(values, **TWED, times=[A] * 3))
    padded = values.copy()
    padded[0, 3:] = np.nan
    found = silent(dtwave.pairwise, frame * padded / values, **TWED, times="index", padding="nan")
    expected = dtwave.pairwise(values, **TWED, times=[A] * 3, lengths=[3, 5, 5])
    assert np.allclose(found, expected, rtol=1e-12, atol=0)


def test_functions_without_times_say_that_points_count():
    series = [dated(X, A), dated(X + 1, A), dated(X - 3, A)]
    plain = [X, X + 1, X - 3]
    with pytest.warns(dtwave.TimesWarning, match="without an option times= twed counts.*resample="):
        assert dtwave.kmedoids(series, 2, **TWED).loss == dtwave.kmedoids(plain, 2, **TWED).loss
    with pytest.warns(dtwave.TimesWarning):
        dtwave.classify(series, [0, 1, 0], series, **TWED)
    with pytest.warns(dtwave.TimesWarning):
        dtwave.barycenter(series, **TWED)


def test_other_measures_do_not_look_at_times():
    x, y = dated(X, A), dated(Y, B, start=START + pandas.Timedelta(hours=1))
    needed = {"edr": {"epsilon": 1.0}, "lcss": {"epsilon": 1.0}, "log_gak": {"sigma": 1.0}}
    for measure in dtwave.MEASURES:
        if measure not in ("twed", "subsequence_dtw"):
            how = {"measure": measure, **needed.get(measure, {})}
            assert silent(dtwave.distance, x, y, **how) == dtwave.distance(X, Y, **how)
    assert silent(dtwave.distance, x, y, times="count") == dtwave.distance(X, Y)
    with pytest.raises(ValueError, match='times="index" is for twed: dtw goes by the places'):
        dtwave.distance(x, y, times="index")


def test_resampled_points_have_times_if_a_word_asks():
    x, y = dated(X, A), dated(Y, B)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtwave.MissingWarning)
        even = dtwave.align(x, y, resample=2)
        steps = 2.0 * np.arange(len(even.x)), 2.0 * np.arange(len(even.y))
        found = dtwave.distance(x, y, **TWED, resample=2, times="index")
        counted = dtwave.distance(x, y, **TWED, resample=2)
        assert found == twed(even.x, even.y, steps) != counted == twed(even.x, even.y)
        assert dtwave.distance(x, y, resample=2, times="index") == even.distance


def test_dropped_points_take_their_times_with_them():
    gappy = X.copy()
    gappy[2] = np.nan
    with pytest.warns(dtwave.MissingWarning):
        found = dtwave.distance(dated(gappy, A), dated(Y, B), **TWED, times="index", missing="drop")
    assert found == twed(np.delete(X, 2), Y, (np.delete(A, 2), B))


def test_what_has_no_times_or_others_is_told():
    x, y = dated(X, A), dated(Y, B)
    for sides, times, message in [
        ((x, Y), None, 'points of x are not equally spaced, and other series.*times="count"'),
        ((x, Y), "index", "series 0 of y has none"),
        ((X, Y), "elapsed", "series 0 of x has none"),
        ((x, numbered(Y, B)), None, 'are of several kinds: pass times="index"'),
        ((x, numbered(Y, B)), "elapsed", "of one kind, got dates and numbers"),
        ((x, dated(Y, B, zone="UTC")), "index", "dates and dates with a time zone"),
        ((x, y), "indices", "times must be timestamps.*got 'indices'"),
        ((numbered(X, A[::-1]), numbered(Y, A[::-1][:4])), "index", "go back"),
    ]:
        with pytest.raises(ValueError, match=message):
            twed(*sides, times)


def test_dates_are_no_timestamps():
    x, y = dated(X, A), dated(Y, B)
    for times in ((x.index, y.index), ("index", "index")):
        with pytest.raises(TypeError, match='times of x is .*of dates pass seconds, or times="index"'):
            twed(x, y, times)
    with pytest.raises(TypeError, match='times of x is an array of dates.*times="index"'):
        dtwave.pairwise([x, x], **TWED, times=[x.index, x.index])


def long(library):
    """Two series in one table, their rows in no order."""
    order = np.random.default_rng(7).permutation(len(X) + len(Y))
    names, values = np.array(["a"] * len(X) + ["b"] * len(Y)), np.concatenate([X, Y])
    stamps = np.concatenate([dated(X, A).index, dated(Y, B).index.as_unit("ns")]).astype("datetime64[ns]")
    return need(library).DataFrame({"id": names[order], "when": stamps[order], "value": values[order]})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_panels_have_times(library):
    table = long(library)
    panel = dtwave.panel(table, id="id", time="when", values="value")
    at = panel.ids.index("a"), panel.ids.index("b")
    assert panel.times[at[0]].tolist() == A.tolist() and panel.times[at[1]].tolist() == B.tolist()
    with pytest.warns(dtwave.TimesWarning):
        found = dtwave.pairwise(panel, **TWED)
    assert found[0, 1] == twed(X, Y, (A, B)) == silent(dtwave.pairwise, panel, **TWED, times="index")[0, 1]
    assert silent(dtwave.pairwise, panel, **TWED, times=panel.times)[0, 1] == found[0, 1]
    assert silent(dtwave.pairwise, panel) is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtwave.MissingWarning)
        own = dtwave.pairwise([dated(X, A), dated(Y, B)], resample=1)
        assert dtwave.pairwise(panel, resample=1)[0, 1] == own[0, 1]


def test_times_stay_with_a_panel():
    panel = dtwave.panel(long("pandas"), id="id", time="when", values="value")
    expected = silent(dtwave.pairwise, panel, **TWED, times="index")
    for same in (panel[:], copy.deepcopy(panel), pickle.loads(pickle.dumps(panel))):
        assert same.ids == panel.ids
        assert np.array_equal(silent(dtwave.pairwise, same, **TWED, times="index"), expected)
    assert panel[1:].ids == panel.ids[1:] and len(panel[1:].times) == 1 and isinstance(panel[0], np.ndarray)
    assert silent(dtwave.pairwise, list(panel), **TWED)[0, 1] == twed(X, Y)
    panel.append(np.zeros(3))
    with pytest.raises(ValueError, match="x is a panel whose series were changed"):
        dtwave.pairwise(panel, **TWED, times="index")


def test_a_level_of_an_index_is_time():
    index = pandas.MultiIndex.from_tuples([("a", t) for t in (0, 1, 5)] + [("b", t) for t in (0, 2, 3)])
    panel = dtwave.panel(pandas.Series(np.arange(6.0) ** 2, index=index))
    assert [own.tolist() for own in panel.times] == [[0, 1, 5], [0, 2, 3]]
    # A level of time has no labels of rows.
    with pytest.warns(dtwave.TimesWarning, match="takes the times"):
        found = dtwave.pairwise(panel, **TWED)[0, 1]
    assert found == twed(*panel, tuple(panel.times))
    without = dtwave.panel(pandas.DataFrame({"id": [1, 1], "value": [0.0, 1.0]}), id="id")
    assert (
        without.times is None and dtwave.panel(long("pandas")[:0], id="id", time="when", values="value").times is None
    )
