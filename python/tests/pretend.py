"""A GPU that is not there: its memory is the host's, and its kernels are the CPU backend. What comes before and after a
kernel is then as on a GPU: addresses, strides, lengths, streams, whose memory is lent.
"""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np

from dtwave import _libraries, _native, _resident

NUMBERS = {"f32": np.float32, "f64": np.float64, "f16": np.float16}


class Array(np.ndarray):
    """An array on the GPU of this number, as CuPy has it."""

    ordinal = 0
    device = nullcontext()

    def __array_finalize__(self, source):
        self.ordinal = getattr(source, "ordinal", 0)

    def __dlpack_device__(self):
        return (2, self.ordinal)

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)


def on_gpu(values, device=0):
    """A copy there."""
    array = np.array(values).view(Array)
    array.ordinal = device
    return array


class NumPy:
    """CuPy as it is called, whose device is the host."""

    def __getattr__(self, name):
        return getattr(np, name)

    @property
    def cuda(self):
        return SimpleNamespace(Device=nullcontext, get_current_stream=lambda: SimpleNamespace(ptr=0), alloc=self.alloc)

    def alloc(self, size):
        return SimpleNamespace(ptr=256, size=size)

    def empty(self, shape, dtype):
        return np.full(shape, np.nan, dtype).view(Array)

    def ascontiguousarray(self, array, dtype=None):
        return np.ascontiguousarray(array, dtype).view(Array)

    def concatenate(self, arrays):
        return np.concatenate(arrays).view(Array)

    def argsort(self, array, axis):
        return np.argsort(array, axis, kind="stable")

    def asnumpy(self, array):
        return np.array(array)


class Library(_libraries.CuPy):
    """CuPy's arrays, but in the host's memory; remembers what was lent and what was written."""

    name = "Pretend"

    def __init__(self):
        super().__init__(NumPy())
        self.lent = []

    def lend(self, size, ordinal):
        self.lent.append(size)
        return super().lend(size, ordinal)

    def written(self, array):
        self.changed = array


class Gpu:
    """What the native half is on a GPU."""

    def __init__(self, ordinal, memory_limit):
        self.calls = []
        self.engine = _native.Engine("cpu", 1, memory_limit)

    def distances(self, x, y, spec, pairing, is_double, stream, out, lend):
        number = np.dtype(np.float64 if is_double else np.float32)
        self.calls.append((pairing, len(x[2]) and x[2][0], number))
        lend(1 << 10)
        sides = [_packed(side, number) for side in (x, y) if side is not None]
        first, second = sides[0], sides[1] if len(sides) > 1 else None
        if pairing == "symmetric":
            assert second is None
        elif second is None:
            second = first
        count_x, count_y = x[2][0], (y or x)[2][0]
        shape = (count_x,) if pairing == "zipped" else (count_x, count_y)
        found = np.empty(shape, number)
        _native.distances(first, second, spec, self.engine, pairing == "zipped", found, None)
        _at(out, found.size, number)[:] = found.ravel()

    def gradients(self, x, y, spec, is_double, stream, out, lend):
        number = np.dtype(np.float64 if is_double else np.float32)
        lend(1 << 10)
        values, *gradients = _native.gradients(_packed(x, number), _packed(y, number), None, spec, self.engine, None)
        _at(out[0], len(values), number)[:] = values
        for side, gradient, address in zip((x, y), gradients, out[1:]):
            _, _, (count, length, channels), _, _, lengths, room = side
            parts = np.split(gradient.ravel(), np.cumsum(lengths or [length] * count)[:-1] * channels)
            for s, part in enumerate(parts):
                first = s * (length if room is None else room) * channels
                _at(address + first * number.itemsize, part.size, number)[:] = part

    def cost_gradients(self, costs, rows, columns, spec, is_double, stream, out, lend):
        number = np.dtype(np.float64 if is_double else np.float32)
        lend(1 << 10)
        address, shape, strides = costs
        matrices = np.full(shape, np.nan, number)
        for cell in np.ndindex(*shape):
            pair, i, j = cell
            if i < (shape[1] if rows is None else rows[pair]) and j < (shape[2] if columns is None else columns[pair]):
                matrices[cell] = _at(address + int(np.dot(cell, strides)) * number.itemsize, 1, number)[0]
        lengths = [None if given is None else np.array(given, np.int64) for given in (rows, columns)]
        values, unit = _native.soft_dtw_of_costs(
            matrices,
            gamma=spec.gamma,
            band=spec.band,
            lengths_x=lengths[0],
            lengths_y=lengths[1],
            gradients=out[1] != 0,
        )
        _at(out[0], len(values), number)[:] = values
        if unit is not None:
            _at(out[1], unit.size, number)[:] = unit.ravel()

    def costs_keep_digits(self, spec, sizes):
        return all(min(size) > 1 for size in sizes)

    def align(self, x, y, spec, is_double, stream):
        number = np.dtype(np.float64 if is_double else np.float32)
        return _native.align(_packed(x, number), _packed(y, number), spec, self.engine, None)

    def search(self, queries, references, spec, is_double, stream, *chosen):
        number = np.dtype(np.float64 if is_double else np.float32)
        sides = _packed(queries, number), _packed(references, number)
        return _native.search(*sides, spec, self.engine, *chosen, None)

    def z_normalize(self, source, target, count, length, is_double, stream):
        number = np.dtype(np.float64 if is_double else np.float32)
        values = _at(source, count * length, number).reshape(count, length, 1)
        _at(target, count * length, number)[:] = _native.z_normalize((values, None, None)).ravel()


def _at(address, count, number):
    kind = {8: ctypes.c_double, 4: ctypes.c_float, 2: ctypes.c_uint16}[number.itemsize]
    return np.ctypeslib.as_array((kind * max(count, 1)).from_address(address))[:count].view(number)


def _packed(side, number):
    """The series that a call is told of, read number by number."""
    address, format, (count, length, channels), strides, times, lengths, room = side
    own = np.dtype(NUMBERS[format])

    def series(first, points):
        rows = np.empty((points, channels), number)
        for point in range(points):
            for channel in range(channels):
                offset = first + point * strides[1] + channel * strides[2]
                rows[point, channel] = _at(address + offset * own.itemsize, 1, own)[0]
        return rows

    if lengths is None:
        values = np.stack([series(s * strides[0], length) for s in range(count)])
        offsets, firsts, many = None, [s * length for s in range(count)], [length] * count
    else:
        firsts = [s * room for s in range(count)] if room is not None else np.cumsum([0, *lengths])[:-1]
        values = np.concatenate([series(int(first) * strides[1], n) for first, n in zip(firsts, lengths)])
        offsets, many = np.cumsum([0, *lengths]).astype(np.int64), lengths
    stamps = None
    if times:
        stamps = np.concatenate([_at(times + int(f) * number.itemsize, n, number) for f, n in zip(firsts, many)])
    return values, offsets, stamps


def install(monkeypatch):
    """Puts the pretended GPUs in place of real ones; the library and the GPUs that calls have used."""
    library, gpus = Library(), {}
    plain = _libraries.library_of
    monkeypatch.setattr(
        _libraries, "library_of", lambda value, name: library if isinstance(value, Array) else plain(value, name)
    )

    def gpu(ordinal, memory_limit):
        return gpus.setdefault((ordinal, memory_limit), Gpu(ordinal, memory_limit))

    monkeypatch.setattr(_resident, "gpu_of", gpu)
    return library, gpus
