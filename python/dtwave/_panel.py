"""Many series in one table, as a list of series: `panel`."""

from __future__ import annotations

from operator import is_
from typing import Any, Sequence, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _frames
from ._stamps import Stamps, of_column, of_index, stamps, together


class Panel(list[NDArray[Any]]):
    """The series of a table: a list of arrays, `[length]` for one column of values, else `[length, channels]`.

    ids: what the table calls each series, in the same order; a tuple each where several levels of an index name it.

    A slice is a panel, too. A list made of it, such as `list(panel)`, has neither ids nor times. Nor has a panel whose
    series were put in, taken out or moved since: to ask for them is an error.
    """

    _ids: list[Any]
    _stamps: Sequence[Stamps | None] | None
    #: The series that ids and times belong to, in their order; `None` if they belong to none any more.
    _made_of: tuple[NDArray[Any], ...] | None

    def __init__(
        self,
        series: Sequence[NDArray[Any]] = (),
        ids: Sequence[Any] = (),
        stamps: Sequence[Stamps | None] | None = None,
        is_changed: bool = False,
    ) -> None:
        super().__init__(series)
        self._ids = list(ids)
        self._stamps = stamps
        self._made_of = None if is_changed else tuple(self)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        # A copy has arrays of its own, by which it knows whether it was changed.
        return Panel, (list(self), self._ids, self._stamps, self._is_changed)

    @property
    def _is_changed(self) -> bool:
        made_of = self._made_of
        return made_of is None or len(made_of) != len(self) or not all(map(is_, made_of, self))

    def _check(self, name: str, what: str) -> None:
        if self._is_changed:
            which = "this" if name == "panel" else name
            raise ValueError(
                f"{which} is a panel whose series were changed, so that its {what} belong to others: pass list({name}),"
                " which has none, or slice the panel instead of changing it"
            )

    @property
    def ids(self) -> list[Any]:
        """What the table calls each series.

        Errors: `ValueError` if series were put in, taken out or moved since.
        """
        self._check("panel", "ids")
        return self._ids

    @overload
    def __getitem__(self, at: SupportsIndex) -> NDArray[Any]: ...

    @overload
    def __getitem__(self, at: slice) -> Panel: ...

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, slice):
            return super().__getitem__(at)
        own = None if self._stamps is None else self._stamps[at]
        return Panel(super().__getitem__(at), self._ids[at], own, self._is_changed)

    @property
    def times(self) -> list[NDArray[np.float64]] | None:
        """The times of the points of each series: dates in seconds since the first one of the panel, numbers as they
        are; whole numbers beyond 2**53 less the first one of the panel. `None` for a table that has no times.

        Errors: `ValueError` if series were put in, taken out or moved since.
        """
        found = [own for own in self.stamps("panel") or [] if own is not None]
        return together(found) if self._stamps is not None and len(found) == len(self) else None

    def stamps(self, name: str) -> list[Stamps | None] | None:
        """When the points are; `name` is that of an argument.

        Errors: `ValueError` if series were put in, taken out or moved since.
        """
        if self._stamps is None:
            return None
        self._check(name, "times")
        return list(self._stamps)

    def __repr__(self) -> str:
        return f"Panel({len(self)} series)"


def panel(
    table: Any, *, id: str | None = None, time: str | None = None, values: str | Sequence[str] | None = None
) -> Panel:
    """The series of a table that has the points of many: a list that every function and estimator takes.

    A table has one of three forms:

    - long: a row per point. `id` names the column that says which series a row is of.
    - pandas with an index of several levels (sktime's `pd-multiindex`, or a `Series` with such an index): the last level
      is the time, those before it name the series. Without `id`.
    - pandas whose cells are series (sktime's `nested_univ`): a row per series, a column per channel. Without `id`.

    table: of pandas, polars or Arrow.
    id: the column that names the series of a row, of a long table.
    time: the column that orders the points of a series: numbers, dates, durations or times of day (seconds since
        midnight), each once in a series. Unless given, points keep the order of the rows. twed and `resample=` of every
        function look at the times; other calls go by the places of points, and rows that are not there are no gaps.
    values: the column of the values, or a list of columns, one per channel. Unless given, all other columns.

    Returns `Panel`, a list of arrays, `[length]` for one column of values, else `[length, channels]`, with `ids`. Series
    come in the order in which the table first names them. `times` are those of the points, or of cells the labels of
    their index, which all channels of a series share. What is missing is NaN: see `missing` of `dtwave.distance`.

    Time: a sort of the rows. Errors: `TypeError` and `ValueError` for columns that are not there or hold no numbers, and
    for times that are missing, there twice, or none.
    """
    if hasattr(table, "to_frame") and _frames.is_column(table) and getattr(table.index, "nlevels", 1) > 1:
        table = table.to_frame()
    if not _frames.is_table(table):
        _arrays.refuse_others(table, "table")
        raise TypeError(f"table must be a table of pandas, polars or Arrow, got {type(table).__name__}")
    names, columns = _frames.names_of(table), list(_frames.columns_of(table))
    levels = getattr(getattr(table, "index", None), "nlevels", 1)
    if id is not None:
        keys, order = _keys(_column(id, "id", names, columns)), None
    elif levels > 1:
        if time is not None:
            raise ValueError("time is for tables with id=; the last level of the index is the time here")
        levels_of = [table.index.get_level_values(level) for level in range(levels)]
        keys = _keys(levels_of[0]) if levels == 2 else list(zip(*(_keys(level) for level in levels_of[:-1])))
        order = levels_of[-1]
    else:
        return _nested(table, names, columns, values)
    if time is not None:
        order = _column(time, "time", names, columns)
    chosen = _chosen(values, names, (id, time))
    parts = [_frames.numbers(columns[names.index(name)], f"column {name!r} of table") for name in chosen]
    points = _frames.joined(parts, "table")
    return _gathered(points[:, 0] if len(chosen) == 1 else points, keys, order)


def _column(name: Any, what: str, names: list[Any], columns: list[Any]) -> Any:
    if names.count(name) != 1:
        raise ValueError(f"{what}={name!r} must be one column of the table, whose columns are {_listed(names)}")
    return columns[names.index(name)]


def _listed(names: list[Any]) -> str:
    return ", ".join(map(repr, names[:12])) + (", …" if len(names) > 12 else "")


def _chosen(values: Any, names: list[Any], others: tuple[Any, ...]) -> list[Any]:
    if values is None:
        chosen = [name for name in names if name not in others]
    else:
        chosen = list(values) if isinstance(values, (list, tuple)) else [values]
    for name in chosen:
        _column(name, "values", names, names)
        if name in others:
            raise ValueError(f"values must be columns of values, and {name!r} is the id or the time")
    if not chosen:
        raise ValueError(f"the table has no column of values, only {_listed(names)}")
    return chosen


def _keys(column: Any) -> list[Any]:
    """What names the series of each row."""
    keys = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    wrong = next((r for r, key in enumerate(keys) if key is None or key != key or type(key).__name__ == "NAType"), None)
    if wrong is not None:
        raise ValueError(f"row {wrong} of the table has no id")
    return list(keys)


def _gathered(points: NDArray[Any], keys: list[Any], order: Any) -> Panel:
    """The rows of each series, in the order of time."""
    places: dict[Any, int] = {}
    which = np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)
    ids = list(places)
    ranks = np.arange(len(which))
    if order is not None:
        ranks = _ranks(order)
    rows = np.lexsort((ranks, which))
    if order is not None:
        same = np.flatnonzero((np.diff(which[rows]) == 0) & (np.diff(ranks[rows]) == 0))
        if len(same):
            first, second = sorted(int(row) for row in rows[same[0] : same[0] + 2])
            raise ValueError(
                f"series {ids[which[first]]!r} has one time twice, in rows {first} and {second} of the table: which of "
                "both counts?"
            )
    if not ids:
        return Panel()
    ends = np.cumsum(np.bincount(which, minlength=len(ids)))[:-1]
    times = None
    if order is not None:
        found = of_column(order)
        if found is None:
            kind = order.type if hasattr(order, "to_pylist") else order.dtype
            raise TypeError(
                f"the times of the table are of type {kind}: expected numbers, dates, durations or times of day; "
                "convert them to one of these"
            )
        times = [found.at(own) for own in np.split(rows, ends)]
    return Panel(np.split(points[rows], ends), ids, times)


def _ranks(order: Any) -> NDArray[np.int64]:
    """The place of each time among all."""
    try:
        times = np.asarray(order.to_numpy(zero_copy_only=False) if hasattr(order, "to_pylist") else order.to_numpy())
    except (TypeError, ValueError) as error:
        raise TypeError(f"the times of the table cannot be read: {str(error).splitlines()[0]}") from None
    if times.dtype.kind == "O" or times.dtype.kind in "US":
        if any(isinstance(time, (str, bytes)) for time in times.tolist()):
            raise TypeError(
                "the times of the table are text, whose order is that of letters: convert them to numbers or dates"
            )
        if any(time is None or type(time).__name__ in ("NAType", "NaTType") for time in times.tolist()):
            raise ValueError("a time of the table is missing")
    elif (np.isnat(times) if times.dtype.kind in "mM" else times != times).any():
        raise ValueError("a time of the table is missing")
    return np.asarray(np.unique(times, return_inverse=True)[1], dtype=np.int64)


def _nested(table: Any, names: list[Any], columns: list[Any], values: Any) -> Panel:
    """A row per series, with its values in the cells."""
    chosen = _chosen(values, names, ())
    found = [_frames.cells(columns[names.index(name)]) for name in chosen] if len(table) else []
    if not found or any(cells is None for cells in found):
        raise ValueError(
            f"the table has no id: pass id=, the column that says which series a row is of (columns: {_listed(names)}); of "
            "a table whose rows are series, no panel is needed"
        )
    labels = getattr(table, "index", range(len(table)))
    series = []
    rows = [[cells[r] for cells in found if cells] for r in range(len(table))]
    times = _times_of_cells(rows, chosen)
    for r in range(len(table)):
        parts = [_arrays.plain(cell, f"column {name!r} of row {r} of table") for name, cell in zip(chosen, rows[r])]
        if len({part.shape for part in parts}) > 1:
            raise ValueError(f"row {r} of the table has channels of several lengths: {[len(part) for part in parts]}")
        series.append(parts[0] if len(parts) == 1 else np.column_stack(parts))
    return Panel(series, list(labels), times)


def _times_of_cells(rows: list[list[Any]], names: list[Any]) -> list[Stamps | None] | None:
    """The times of the series of each row: those that the labels of all its cells say.

    Errors: `ValueError` for labels that go back, and for channels that have other times.
    """
    times: list[Stamps | None] = []
    for r, cells in enumerate(rows):
        found = [(name, _times_of_cell(cell, name, r)) for name, cell in zip(names, cells)]
        having = [(name, own) for name, own in found if own is not None]
        other = next((name for name, own in having if not own.same(having[0][1])), None)
        if other is not None:
            raise ValueError(
                f"row {r} of the table has columns {having[0][0]!r} and {other!r} of other times, and a point of a "
                "series has one time for all channels: give their cells one index, or pass values= with one column"
            )
        times.append(having[0][1] if having else None)
    return times if any(own is not None for own in times) else None


def _times_of_cell(cell: Any, name: Any, r: int) -> Stamps | None:
    index = getattr(cell, "index", None)
    if not hasattr(cell, "sort_index") or index is None or index.nlevels > 1:
        return None
    if of_index(index) is not None and not index.is_monotonic_increasing:
        raise ValueError(
            f"column {name!r} of row {r} of the table has times that go back, and points go by their places: sort each "
            "cell by .sort_index(), or drop its labels by .reset_index(drop=True)"
        )
    return stamps(index)
