"""All pairs that are near enough: a sparse matrix by a threshold, returned and, if wanted, written to a file."""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native, _options
from ._calls import Call
from ._options import Given
from ._progress import Progress
from ._results import Graph

#: Rows of a file's table at a time.
AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Threshold:
    """Up to where pairs are edges; of similarities, from where on.

    most: the threshold, which is inside.
    out: where they are written besides: a `.parquet` or `.npz` file.
    """

    most: float
    out: str | None

    @staticmethod
    def of(threshold: Any, out: Any, place: str | None) -> Threshold:
        """Errors: `TypeError` and `ValueError` for what is no number, for series on a device, and for other files."""
        most = _options.real("threshold", threshold)
        if most != most:
            raise ValueError("threshold must be a number, got NaN")
        if place is not None:
            raise ValueError(
                f"threshold is for series in main memory, and x is on {place}: pass x.cpu() (of CuPy x.get())"
            )
        if out is None:
            return Threshold(most, None)
        if not isinstance(out, (str, os.PathLike)):
            raise TypeError(
                f"out must be a .parquet or .npz file: with threshold there is no matrix; got {type(out).__name__}"
            )
        path = os.fspath(out)
        if _kind(path) not in (".parquet", ".npz"):
            raise ValueError(f"out must be a .parquet or .npz file, as threshold is given, got {path!r}")
        if _kind(path) == ".parquet":
            _pyarrow()
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"cannot write {path}: its folder {folder} does not exist")
        return Threshold(most, path)

    def found(self, call: Call, given: Given, bar: Progress) -> Graph:
        """The edges of a call, in this process."""
        root = bool(given.sqrt)
        parts = _native.edges(call.first, call.second, self.most, root, call.spec, call.engine, bar)
        shape = _count(call.first), _count(call.packed[-1])
        return Graph(*parts, shape)

    def written(self, graph: Graph) -> Graph:
        """The same, which is in the file if one is wanted."""
        if self.out is not None:
            partial = f"{self.out}.{uuid.uuid4().hex[:8]}.partial"
            try:
                (_write_parquet if _kind(self.out) == ".parquet" else _write_npz)(partial, graph)
            except BaseException:
                if os.path.exists(partial):
                    os.unlink(partial)
                raise
            os.replace(partial, self.out)
        return graph


def _kind(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _count(packed: Any) -> int:
    values, offsets, _ = packed
    return len(values) if offsets is None else len(offsets) - 1


def _pyarrow() -> Any:
    """Errors: `ModuleNotFoundError` without pyarrow."""
    try:
        import pyarrow.parquet  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ModuleNotFoundError:
        raise ModuleNotFoundError("a .parquet file needs pyarrow: pip install pyarrow", name="pyarrow") from None
    return pyarrow


def _write_parquet(path: str, graph: Graph) -> None:
    """Columns `row`, `column` and `distance`, an edge in each row."""
    arrow = _pyarrow()
    number = arrow.from_numpy_dtype(graph.data.dtype)
    schema = arrow.schema([("row", arrow.int64()), ("column", arrow.int64()), ("distance", number)])
    with arrow.parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, len(graph.data), AT_ONCE):
            stop = min(start + AT_ONCE, len(graph.data))
            rows = np.searchsorted(graph.indptr, np.arange(start, stop), side="right") - 1
            columns = [rows.astype(np.int64), graph.indices[start:stop], graph.data[start:stop]]
            writer.write_table(arrow.table([arrow.array(each) for each in columns], schema=schema))


def _write_npz(path: str, graph: Graph) -> None:
    """As `scipy.sparse.save_npz` does, so that `load_npz` reads it."""
    with open(path, "xb") as file:
        np.savez(
            file,
            indices=graph.indices,
            indptr=graph.indptr,
            format=np.array(b"csr"),
            shape=np.array(graph.shape, dtype=np.int64),
            data=graph.data,
        )


def ordered(
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]],
    shape: tuple[int, int],
    number: np.dtype[Any],
    is_similarity: bool,
) -> Graph:
    """The edges of tiles (rows, columns, distances) as one graph: row by row, nearest first, then by column."""
    none = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, number)
    rows, columns, values = (np.concatenate(each) for each in zip(none, *parts))
    order = np.lexsort((columns, -values if is_similarity else values, rows))
    indptr = np.zeros(shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=indptr[1:])
    return Graph(indptr, columns[order], values[order], shape)
