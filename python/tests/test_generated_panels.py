"""Random panels in wrong layouts, tables and shapes: each is right, refused or warned of, and none is misread in silence.

A panel is drawn first, and its distances are those of a list of its series, `[length, channels]`. Then it is dressed as
something that holds it, or nearly so. What comes out is right if it has these distances. Not drawn is what nobody can
tell from a panel of other series: as many channels as points, and tables turned round without a word on time.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from typing import Any, Callable

import numpy as np
import pytest
from optional import need

import dtwave
from dtwave import _calls, _frames, _missing

PACKAGE = os.path.dirname(dtwave.__file__)
#: Options of the call, and what is called with.
Dressed = tuple[Any, dict[str, Any]]


class Panel:
    """Series `[length, channels]` of small whole numbers, so that every number type holds them."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        count, self.channels = self.random.integers(2, 5), int(self.random.choice([1, 1, 2, 3]))
        self.is_ragged = self.random.random() < 0.3
        longest = int(self.random.integers(self.channels + 2, 9))
        lengths = (
            self.random.integers(self.channels + 1, longest + 1, size=count) if self.is_ragged else [longest] * count
        )
        self.is_ragged = len(set(lengths)) > 1
        self.series = [self.random.integers(0, 9, size=(length, self.channels)).astype(float) for length in lengths]
        self.expected = dtwave.pairwise(self.series, layout="channels_last")

    def choose(self, *items: Any) -> Any:
        return items[self.random.integers(len(items))]

    def flat(self) -> list[Any]:
        """Series of one channel: the first."""
        self.series = [series[:, :1] for series in self.series]
        self.expected = dtwave.pairwise(self.series)
        return [series[:, 0] for series in self.series]

    def equal(self) -> np.ndarray[Any, Any]:
        """Series of one length, `[series, length, channels]`: cut to the shortest."""
        shortest = min(len(series) for series in self.series)
        self.series = [series[:shortest] for series in self.series]
        self.expected = dtwave.pairwise(self.series, layout="channels_last")
        return np.stack(self.series)

    def wide(self) -> Any:
        """A table with a series per row."""
        self.flat()
        return need("pandas").DataFrame(self.equal()[:, :, 0])

    def long(self) -> Any:
        """A table with a point per row, in any order."""
        lengths = [len(series) for series in self.series]
        values = np.concatenate(self.series)
        order = self.random.permutation(len(values)) if self.random.random() < 0.5 else np.arange(len(values))
        days = np.concatenate([np.datetime64("2024-01-01") + np.arange(length) for length in lengths])
        columns = {f"c{k}": values[order, k] for k in range(self.channels)}
        columns |= {"id": np.repeat(np.arange(len(lengths)), lengths)[order], "time": days[order].astype("M8[s]")}
        return need("pandas").DataFrame(columns)


def arrays(panel: Panel) -> Dressed:
    whole = panel.equal()
    whole = whole.astype(panel.choose("f4", "f8", "i4", "u1", ">f8", "f2"))
    order = panel.choose(np.ascontiguousarray, np.asfortranarray, lambda x: np.repeat(x, 2, axis=1)[:, ::2])
    return order(whole), {}


def flat_arrays(panel: Panel) -> Dressed:
    panel.flat()
    flat = panel.equal()[:, :, 0]
    return panel.choose(flat, flat.tolist(), list(flat), np.ma.masked_array(flat), flat.astype(object)), {}


def other_axes(panel: Panel) -> Dressed:
    first = panel.equal().transpose(0, 2, 1)
    return panel.choose(first, list(first), first.tolist(), first.copy()), {}


def other_axes_told(panel: Panel) -> Dressed:
    return panel.equal().transpose(0, 2, 1), {"layout": "channels_first"}


def lists(panel: Panel) -> Dressed:
    rows = panel.series if panel.channels > 1 or panel.random.random() < 0.5 else [row[:, 0] for row in panel.series]
    cells = np.empty(len(rows), dtype=object)
    cells[:] = rows
    return panel.choose(rows, tuple(rows), [row.tolist() for row in rows], cells), {}


def lists_of_other_axes(panel: Panel) -> Dressed:
    return [row.T for row in panel.series], panel.choose({}, {"layout": "channels_first"})


def shapes(panel: Panel) -> Dressed:
    whole = panel.equal()
    return panel.choose(whole[None], whole[0, :, 0], whole[0, 0, 0], whole[:, :0], whole[:, :, :0], [whole]), {}


def containers(panel: Panel) -> Dressed:
    rows = panel.flat()
    named = dict(enumerate(rows))
    return panel.choose(
        named, named.values(), iter(rows), map(list, rows), {1.0, 2.0}, "dtw", None, (r for r in rows)
    ), {}


def gaps(panel: Panel) -> Dressed:
    rows = [row.copy() for row in (panel.series if panel.is_ragged else panel.equal())]
    for _ in range(panel.random.integers(1, 4)):
        row = panel.choose(*rows)
        row[panel.random.integers(len(row)), panel.random.integers(panel.channels)] = np.nan
    holes = rows if panel.is_ragged else panel.choose(rows, np.stack(rows), np.ma.masked_invalid(np.stack(rows)))
    if not panel.is_ragged and panel.random.random() < 0.3:
        holes = np.where(np.isnan(np.stack(rows)), None, np.stack(rows))
    return holes, panel.choose({}, {"missing": "linear"}, {"missing": "previous"}, {"missing": "drop"})


def wide_tables(panel: Panel) -> Dressed:
    table = panel.wide()
    kind = panel.choose("float64", "Int64", "Float64", "Float32", "UInt8", "int16", "object")
    return table.astype(kind).set_axis(panel.choose(range(len(table)), list("abcdefgh")[: len(table)])), {}


def times_in_rows(panel: Panel) -> Dressed:
    pandas, table = need("pandas"), panel.wide().T
    days = pandas.date_range("2024-01-01", periods=len(table))
    index = panel.choose(
        days, days.to_period("D"), days - days[0], pandas.Index(days.date), days.tz_localize("UTC"), days.rename("when")
    )
    table = table.set_axis(index)
    return panel.choose(table, table.T, table[::-1].T), {}


def several_levels(panel: Panel) -> Dressed:
    table = panel.long().set_index(["id", "time"])
    return panel.choose(table, table.iloc[:, 0], table.T), {}


def panels(panel: Panel) -> Dressed:
    table = panel.long()
    table = panel.choose(table, table.astype({"c0": "Int64"}))
    how = panel.choose("long", "levels", "polars", "nested")
    if how == "long":
        found = dtwave.panel(table, id="id", time="time")
    elif how == "levels":
        found = dtwave.panel(table.set_index(["id", "time"]))
    elif how == "polars":
        named = {name: table[name].to_list() for name in table}
        found = dtwave.panel(need("polars").DataFrame(named), id="id", time="time")
    else:
        pandas = need("pandas")
        cells = {str(k): [pandas.Series(row[:, k]) for row in panel.series] for k in range(panel.channels)}
        found = dtwave.panel(pandas.DataFrame(cells))
    return [found[s] for s in np.argsort(found.ids)], {}


def long_tables(panel: Panel) -> Dressed:
    table = panel.long()
    numbers = table.assign(time=range(len(table)))
    polars = need("polars").DataFrame({name: numbers[name].to_list() for name in numbers})
    return panel.choose(table, numbers, numbers.drop(columns="time"), polars, polars.lazy(), table.groupby("id")), {}


def odd_columns(panel: Panel) -> Dressed:
    pandas, table = need("pandas"), panel.wide()
    count = len(table)
    odd = panel.choose(
        ["x"] * count,
        list(pandas.date_range("2024", periods=count)),
        pandas.Categorical(["a"] * count),
        [1j] * count,
        [[1.0]] * count,
        pandas.array([None] + [1] * (count - 1), dtype="Int64"),
        [None] * count,
    )
    table.insert(int(panel.random.integers(table.shape[1] + 1)), "odd", odd)
    if panel.random.random() < 0.3:
        table = table.drop(columns="odd").assign(
            **{panel.choose("id", "time", "label", "Class", "timestamp"): range(count)}
        )
    return table, {}


def polars_tables(panel: Panel) -> Dressed:
    polars, table = need("polars"), panel.wide()
    frame = polars.DataFrame({str(name): table[name].to_list() for name in table})
    lists = polars.Series([row.ravel().tolist() for row in panel.series])
    return panel.choose(frame, lists, frame.lazy(), frame.with_columns(more=polars.lit("x"))), {}


DRESSES: list[Callable[[Panel], Dressed]] = [
    arrays, flat_arrays, other_axes, other_axes_told, lists, lists_of_other_axes, shapes, containers, gaps, wide_tables,
    times_in_rows, several_levels, panels, long_tables, odd_columns, polars_tables,
]  # fmt: skip


def judged(seed: int) -> tuple[str, str]:
    """What happens with a panel in a dress, and which dress it is."""
    panel = Panel(seed)
    dress = DRESSES[seed % len(DRESSES)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        x, options = dress(panel)
        try:
            found = dtwave.pairwise(x, **options)
        except (TypeError, ValueError) as error:
            last = error.__traceback__
            while last is not None and last.tb_next is not None:
                last = last.tb_next
            ours = last is not None and last.tb_frame.f_code.co_filename.startswith(PACKAGE)
            return ("refused" if ours and "\n" not in str(error) else f"{error!r} is not ours"), dress.__name__
    if any(issubclass(one.category, (dtwave.LayoutWarning, dtwave.MissingWarning)) for one in told):
        return "warned", dress.__name__
    same = found.shape == panel.expected.shape and np.allclose(found, panel.expected)
    return ("right" if same else "misread in silence"), dress.__name__


def all_judged(count: int) -> Counter[tuple[str, str]]:
    return Counter(judged(seed) for seed in range(count))


def misread(found: Counter[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(what, dress) for what, dress in found if what not in ("right", "refused", "warned")]


def test_no_panel_is_misread_in_silence() -> None:
    need("pandas"), need("polars")
    found = all_judged(2000)
    assert misread(found) == []
    # What is right is read, and not refused or questioned.
    for dress in (arrays, flat_arrays, other_axes_told, lists, wide_tables, panels):
        outcomes = {what for what, name in found if name == dress.__name__}
        assert outcomes == {"right"}, dress.__name__
    for dress, outcomes in [(other_axes, {"warned"}), (gaps, {"warned", "refused"}), (several_levels, {"refused"})]:
        assert {what for what, name in found if name == dress.__name__} <= outcomes, dress.__name__


def filled_with_0(batch: Any, missing: str) -> None:
    """Fills gaps, whether asked or not, and says nothing."""
    if isinstance(batch.arrays, np.ndarray):
        batch.arrays = np.nan_to_num(batch.arrays.astype(float))


@pytest.mark.parametrize(
    ("module", "name", "instead", "dress"),
    [
        (_calls, "ask", lambda batches: None, "other_axes"),
        (_frames, "_check_rows_are_series", lambda table, name: None, "times_in_rows"),
        (_frames, "_NO_POINTS", frozenset(), "long_tables"),
        (_missing, "treated", filled_with_0, "gaps"),
    ],
)
def test_faults_are_seen(module: Any, name: str, instead: Any, dress: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need("pandas"), need("polars")
    monkeypatch.setattr(module, name, instead)
    assert any(what == "misread in silence" and of == dress for what, of in misread(all_judged(200)))
