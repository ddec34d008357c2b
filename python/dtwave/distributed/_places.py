"""Files by name: paths on a disk, and URLs in an object store, which fsspec reads."""

from __future__ import annotations

import importlib
import io
import os
import re
import tokenize
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Bytes that are read for the header of a `.npy` file. NumPy's own limit is 10,000 characters.
_HEADER_BYTES = 1 << 14


def module(name: str, what: str) -> Any:
    """Imports an optional library.

    Errors: `ModuleNotFoundError` without it; `what` needs it.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(f"{what} needs {name}: pip install {name}", name=name) from None


def is_url(path: str) -> bool:
    """Whether it names something in an object store, as `s3://bucket/series.npy` does. A drive's letter is no scheme."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) is not None


def for_workers(path: str) -> str:
    """A name that workers in other folders can use: an absolute path, or the URL as it is."""
    return path if is_url(path) else os.path.abspath(path)


def store_of(url: str) -> tuple[Any, str]:
    """The object store of a URL, and the name in it.

    Errors: `ModuleNotFoundError` without fsspec, `ImportError` without its part for this kind of store.
    """
    module("fsspec", f"{url} is in an object store, which")
    from fsspec.core import url_to_fs

    store, name = url_to_fs(url)
    return store, str(name)


def npy(path: str) -> Any:
    """The array of a `.npy` file, of which only rows that are asked for are read.

    Errors: `OSError` for a file that cannot be read, `ValueError` for one whose header is not true.
    """
    try:
        if is_url(path):
            return RemoteRows.of(path)
        return np.load(path, mmap_mode="r", allow_pickle=False)
    # Of a header that is no Python, the last one.
    except (ValueError, EOFError, tokenize.TokenError) as error:
        raise ValueError(f"{path} is no whole .npy file of numbers: {error}") from None


@dataclass(frozen=True)
class RemoteRows:
    """A `.npy` file in an object store: `rows[3:7]` reads four rows."""

    store: Any
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    begin: int

    @classmethod
    def of(cls, url: str) -> RemoteRows:
        """Reads the header.

        Errors: as `npy`; `ValueError` if the size of the file is not what the header says.
        """
        store, name = store_of(url)
        size = store.size(name)
        if size is None:
            raise ValueError("its store does not tell how many bytes it has")
        head = io.BytesIO(store.cat_file(name, 0, min(size, _HEADER_BYTES)))
        # Typed in some versions of NumPy only.
        layout: Any = np.lib.format
        version = layout.read_magic(head)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version} of the format is unknown here")
        read = layout.read_array_header_1_0 if version == (1, 0) else layout.read_array_header_2_0
        shape, is_by_columns, number = read(head)
        if number.hasobject:
            raise ValueError("its values are objects of Python")
        if is_by_columns and len(shape) > 1:
            raise ValueError("its values lie by columns: save it with np.save(..., np.ascontiguousarray(series))")
        whole = head.tell() + prod(shape) * number.itemsize
        if size != whole:
            raise ValueError(f"it has {size} bytes where its header says {whole}")
        return cls(store, name, shape, number, head.tell())

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        start, stop, _ = rows.indices(self.shape[0])
        count, row = max(stop - start, 0), prod(self.shape[1:])
        shape = (count, *self.shape[1:])
        if count == 0 or row == 0:
            return np.empty(shape, dtype=self.dtype)
        begin = self.begin + start * row * self.dtype.itemsize
        size = count * row * self.dtype.itemsize
        found = self.store.cat_file(self.name, begin, begin + size)
        if len(found) != size:
            raise ValueError(f"{self.name} has changed: of rows {start} to {stop} it has {len(found)} of {size} bytes")
        return np.frombuffer(found, dtype=self.dtype).reshape(shape)
