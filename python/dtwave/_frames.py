"""Tables of pandas, polars and Arrow: what their rows and columns are.

A table as many series is a series per row. A table as one series is a point per row and a channel per column. What says
that a table is something else is refused, with what it may be: rows that are times, rows of several series, columns
that hold identifiers, times or classes. `_panel.py` reads panels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _arrays
from ._stamps import Stamps, stamps

#: Names of columns that hold no points: they say whose points, when, or of which class.
_NO_POINTS = frozenset(
    ["id", "instance", "instances", "series_id", "unique_id", "case", "case_id", "time", "timepoints", "timestamp"]
    + ["timestamps", "date", "datetime", "ds", "label", "labels", "class", "target"]
)

#: Kinds of the labels of a pandas index that are times.
_TIMES = ("datetime64", "datetime", "date", "period", "timedelta", "timedelta64", "time")


def is_table(value: Any) -> bool:
    """Whether the value is a table of pandas, polars or Arrow, or a subclass of theirs."""
    return library_of(value) is not None


def library_of(value: Any) -> str | None:
    """`"pandas"`, `"polars"` or `"pyarrow"`, of a table."""
    kind: Any = type(value)
    known: tuple[str | None, bool] = _of_type(kind)
    return known[0]


def is_column(value: Any) -> bool:
    """Whether the value is one column of pandas, polars or Arrow."""
    kind: Any = type(value)
    known: tuple[str | None, bool] = _of_type(kind)
    return known[1]


@lru_cache(maxsize=256)
def _of_type(kind: type) -> tuple[str | None, bool]:
    """The library of a class of tables, and whether it is one of columns."""
    library, columns = None, False
    for base in kind.__mro__:
        root, name = base.__module__.split(".")[0], base.__name__
        tables = {"pandas": ("DataFrame",), "polars": ("DataFrame",), "pyarrow": ("Table", "RecordBatch")}.get(root, ())
        if name in tables and library is None:
            library = root
        columns |= name in {"pyarrow": ("Array", "ChunkedArray")}.get(root, ("Series", "Index") if tables else ())
    return library, columns


def names_of(table: Any) -> list[Any]:
    """The labels of the columns."""
    return list(table.column_names if library_of(table) == "pyarrow" else table.columns)


def columns_of(table: Any) -> Iterator[Any]:
    """The columns, in the order of their labels."""
    library = library_of(table)
    for place in range(len(names_of(table))):
        if library == "pandas":
            yield table.iloc[:, place]
        else:
            yield table.column(place) if library == "pyarrow" else table.to_series(place)


def cells(column: Any) -> list[Any] | None:
    """The cells of a column whose cells are series; `None` for a column of numbers, of records or of nothing."""
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    first = next((value for value in values if value is not None), None)
    if not hasattr(first, "__len__") or isinstance(first, (str, bytes, Mapping)):
        return None
    number = _small(column)
    return list(values) if number is None else [_smaller(value, number) for value in values]


#: Names of numbers in polars and Arrow that are smaller than those of Python.
_SMALL = {"Float32": np.float32, "float": np.float32, "Float16": np.float16, "halffloat": np.float16}


def _small(column: Any) -> Any:
    """The type of the numbers in the lists of a column, if numbers of Python are larger: float32 or float16."""
    kind = column.type if hasattr(column, "type") else getattr(column, "dtype", None)
    kind = getattr(kind, "pyarrow_dtype", kind)
    while (inner := getattr(kind, "inner", getattr(kind, "value_type", None))) is not None:
        kind = inner
    return _SMALL.get(str(kind))


def _smaller(value: Any, number: Any) -> Any:
    """A list as an array of the type; what is none, such as rows of several lengths, stays as it is."""
    try:
        return None if value is None else np.asarray(value, dtype=number)
    except (TypeError, ValueError):
        return value


def numbers(column: Any, what: str) -> NDArray[Any]:
    """A column as an array of real numbers; what is missing is NaN.

    Errors: `TypeError` for text, dates and objects.
    """
    if hasattr(column, "dtype") and isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiu":
        return np.asarray(column.to_numpy())
    kind = str(column.type if hasattr(column, "type") else column.dtype)
    fields = _fields(column)
    if fields:
        raise TypeError(
            f"{what} holds records with the fields {', '.join(map(repr, fields))}: expected real numbers; "
            "pass a table with a column for each field, or an array with a channel for each"
        )
    if hasattr(column, "isna"):
        values, gone = _of_pandas(column)
    elif hasattr(column, "is_null") and hasattr(column, "drop_nulls"):
        gone = np.asarray(column.is_null().to_numpy(), dtype=bool)
        values = np.asarray(column.drop_nulls().to_numpy())
    else:
        gone = np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=bool)
        values = np.asarray(column.drop_null().to_numpy(zero_copy_only=False))
    if values.dtype.kind == "O" and values.size and "decimal" not in kind.lower():
        found = _arrays.of_objects(values, what)
        values = values if found is None else found
    if not values.size and gone.all() and values.dtype.kind not in "Mm":
        values = np.empty(0)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"{what} holds {_said(kind, values)}: expected real numbers")
    return _arrays.with_gaps(values, gone, what)


def _fields(column: Any) -> list[Any]:
    """The names of the fields of a column of records: structs of polars and Arrow, dictionaries of pandas."""
    kind = column.type if hasattr(column, "type") else column.dtype
    kind = getattr(kind, "pyarrow_dtype", kind)
    if str(kind).lower().startswith("struct"):
        return [field.name for field in (kind.fields if hasattr(kind, "fields") else kind)]
    if getattr(kind, "kind", None) == "O" and len(column):
        first = next((value for value in column if value is not None), None)
        return list(first) if isinstance(first, Mapping) else []
    return []


def _of_pandas(column: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The values that are there, and which are not."""
    gone = np.asarray(column.isna(), dtype=bool)
    there = column[~gone] if gone.any() else column
    number = getattr(column.dtype, "numpy_dtype", None)
    if isinstance(number, np.dtype) and number.kind in "fiub":
        return np.asarray(there.to_numpy(dtype=number)), gone
    if str(column.dtype).startswith("Sparse"):
        return np.asarray(there), gone
    return np.asarray(there.to_numpy()), gone


def _said(kind: str, values: NDArray[Any]) -> str:
    """What a column holds that are no numbers."""
    first = values.flat[0] if values.dtype.kind == "O" and values.size else None
    lower = kind.lower()
    if (
        isinstance(first, (str, bytes))
        or lower.startswith(("str", "utf8", "large_string"))
        or values.dtype.kind in "US"
    ):
        return "text"
    if "date" in lower or "time" in lower or "period" in lower or values.dtype.kind in "Mm":
        return "dates or times"
    if hasattr(first, "__len__") or "list" in lower:
        return "series in its cells"
    return kind


def series(column: Any, name: str) -> NDArray[Any]:
    """A column that is one series.

    Errors: `ValueError` for one of several series, or whose times go back; `TypeError` for text, dates and objects.
    """
    if hasattr(column, "sort_index"):
        if column.index.nlevels > 1:
            raise ValueError(
                f"{name} has an index of several levels, as points of many series have: pass one series, or "
                f"dtwave.panel({name}) to a function of many; {name}.to_numpy() if it is one"
            )
        check_forward(column.index, name, f"{name}.sort_index()")
    return numbers(column, name)


def rows(table: Any, name: str) -> NDArray[Any]:
    """A table in which each row is a series: `[series, length]`.

    Errors: `ValueError` and `TypeError` for a table that says that it is something else.
    """
    if library_of(table) == "pandas":
        _check_rows_are_series(table, name)
    return _stacked(
        table, name, f"; of a table of many series, dtwave.panel({name}, id=…, time=…) makes a list of them"
    )


def _check_rows_are_series(table: Any, name: str) -> None:
    each_row = f"{name}.to_numpy() if each row is a series"
    if table.index.nlevels > 1:
        levels = ", ".join(str(level) for level in table.index.names)
        raise ValueError(
            f"the rows of {name} have an index of several levels ({levels}), as points of many series have: pass "
            f"dtwave.panel({name}), or {each_row}"
        )
    if _is_times(table.index):
        raise ValueError(
            f"the rows of {name} are times ({type(table.index).__name__}), and would each be a series of "
            f"{table.shape[1]} points: pass {name}.T if each column is a series; if a column says which series a row is of, "
            f"dtwave.panel({name}, id=…), or a list made with {name}.groupby(…); {each_row}"
        )
    if table.columns.nlevels > 1:
        raise ValueError(
            f"the columns of {name} have several levels: pass a table of one level, or {each_row} of one channel"
        )
    check_forward(table.columns, name, f"{name}.sort_index(axis=1)")


def _is_times(index: Any) -> bool:
    return index.inferred_type in _TIMES or str(index.name).lower() in ("time", "timestamp", "date", "datetime", "ds")


def times_of(value: Any) -> Stamps | None:
    """When the points of one pandas series or table are, by its index; `None` if the index does not say."""
    return stamps(value.index) if hasattr(value, "sort_index") and hasattr(value, "index") else None


def times_of_columns(table: Any) -> Stamps | None:
    """When the points of a pandas table of a series per row are, by its columns; `None` if they do not say."""
    return stamps(table.columns) if library_of(table) == "pandas" else None


def check_forward(index: Any, what: str, advice: str) -> None:
    """Errors: `ValueError` for labels of pandas that are times or fractional numbers and go back, or of which one is
    missing: places say which point comes first. Whole numbers may be labels of rows.
    """
    if index.nlevels > 1 or index.inferred_type not in (*_TIMES, "floating") or index.is_monotonic_increasing:
        return
    one = "time" if index.inferred_type in _TIMES else "numeric label"
    gone = np.flatnonzero(np.asarray(index.isna()))
    if len(gone):
        raise ValueError(
            f"a {one} of {what} is missing, that of point {gone[0]}: leave this point out, "
            f"or pass {what}.to_numpy() if the points are in order"
        )
    raise ValueError(
        f"the {one}s of {what} go back, and points go by their places: pass {advice}, "
        f"or {what}.to_numpy() if the points are in order"
    )


def is_in_time(value: Any) -> bool:
    """Whether the value is a table whose rows are times, so that its columns can only be channels."""
    return library_of(value) == "pandas" and value.index.nlevels == 1 and _is_times(value.index)


def check_same_order(tables: Sequence[Any], what: str, part: str = "channels") -> None:
    """Errors: `ValueError` for tables with the same columns, each of them a `part` of a series, in other orders."""
    orders: dict[frozenset[str], list[Any]] = {}
    last: list[Any] | None = None
    for table in tables:
        if not is_table(table) or (names := names_of(table)) == last:
            continue
        last, known = names, orders.setdefault(frozenset(map(str, names)), names)
        if names != known:
            raise ValueError(
                f"{what} have the same columns in other orders ({known} and {names}), and {part} go by their places: "
                "select the columns in one order"
            )


def tables_in(value: Any) -> list[Any]:
    """The tables in a list of series."""
    is_objects = isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1
    return [each for each in value if is_table(each)] if is_objects or isinstance(value, (list, tuple)) else []


def check_both(x: Any, y: Any, what: str) -> None:
    """Errors: as `check_same_order`, of the series of two arguments: lists of tables, or tables of a series per row."""
    if is_table(x) and is_table(y):
        check_same_order([x, y], what, "points")
    else:
        check_same_order([*tables_in(x), *tables_in(y)], what)


def points(table: Any, name: str) -> NDArray[Any]:
    """A table that is one series: `[length, channels]`, a point per row.

    Errors: `ValueError` and `TypeError` for a table that says that it is something else.
    """
    if library_of(table) == "pandas":
        if table.index.nlevels > 1:
            raise ValueError(
                f"the rows of {name} have an index of several levels, as points of many series have: pass one series, or "
                f"dtwave.panel({name}) to a function of many"
            )
        if table.columns.nlevels == 1 and table.shape[1] and table.columns.inferred_type in _TIMES:
            raise ValueError(
                f"the columns of {name} are times, and would each be a channel: pass {name}.T, or {name}.to_numpy() if they "
                "are channels"
            )
        check_forward(table.index, name, f"{name}.sort_index()")
    return _stacked(table, name, "")


def _stacked(table: Any, name: str, advice: str) -> NDArray[Any]:
    labels = names_of(table)
    for label in labels:
        if isinstance(label, str) and label.lower() in _NO_POINTS:
            raise ValueError(
                f"column {label!r} of {name} would count among the values of series: leave it out{advice}, or pass "
                f"{name}.to_numpy() if it holds values"
            )
    kinds = set(table.dtypes) if library_of(table) == "pandas" else set()
    if len(kinds) == 1 and isinstance(kind := kinds.pop(), np.dtype) and kind.kind in "fiu":
        return np.asarray(table.to_numpy())
    parts = []
    for label, column in zip(labels, columns_of(table)):
        what = f"column {label!r} of {name}"
        try:
            parts.append(numbers(column, what))
        except TypeError as error:
            cell = "series in its cells" in str(error)
            hint = f"; pass dtwave.panel({name})" if cell else f"; leave it out{advice}"
            raise TypeError(f"{error}{hint}") from None
    if not parts:
        return np.empty((len(table), 0))
    return joined(parts, name)


def joined(parts: Sequence[NDArray[Any]], name: str) -> NDArray[Any]:
    """Columns side by side, in a number type that has all their values.

    Errors: `ValueError` for whole numbers that would be rounded for the sake of another column.
    """
    number = np.result_type(*parts)
    for part in parts if number.kind == "f" else ():
        if (
            part.dtype.kind in "iu"
            and part.size
            and max(abs(int(part.max())), abs(int(part.min()))) > _arrays.MOST_EXACT
        ):
            raise ValueError(f"{name} has whole numbers up to {part.max()} beside a column that makes them float64")
    return np.column_stack([part.astype(number, copy=False) for part in parts])
