"""What the simulator needs of this machine, measured: rates of one core, costs of engines, and runs to compare with.

    python benchmarks/scale/measure.py [--record]

Matrices of one thread, two threads, and one and two workers of Dask and joblib take turns, in several rounds, since
other programs may run beside them. `--record` writes benchmarks/record/CPU/DATE-schedule.csv, with the load.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dtwave
import joblib
import numpy as np
from distributed import Client, LocalCluster
from dtwave.distributed import Plan, _dask, _matrices, _tiles
from dtwave.distributed._dask import DaskWorkers
from dtwave.distributed._joblib import JoblibWorkers
from records import written

ROUNDS = 10
#: Series of a side by their length: about a second of one core.
COUNTS = {128: 512, 512: 128}
#: Tiles that cost nothing, those of a window, how many under way are many, and tiles with results of 16 MiB.
TASKS, WINDOW, MANY, ARRAYS = 120, 12, 16, 24
COLUMNS = ["name", "length", "round", "value", "unit", "load"]

Row = list[str]


def nothing(work: Any, job: int) -> None:
    """A tile that costs nothing."""


def array(work: Any, job: int) -> Any:
    """A tile that costs nothing but its result, of 16 MiB."""
    return np.ones((2048, 2048), dtype=np.float32)


@contextmanager
def in_flight(tiles: int) -> Iterator[None]:
    """Another number of tiles under way for each worker of Dask."""
    before, _dask.PER_THREAD = _dask.PER_THREAD, tiles
    try:
        yield
    finally:
        _dask.PER_THREAD = before


def seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def row(name: str, number: int, value: float, unit: str, length: int | str = "") -> Row:
    found = [name, str(length), str(number), f"{value:.4e}", unit, f"{os.getloadavg()[0]:.2f}"]
    print("  ".join(f"{each:>14}" for each in found), flush=True)
    return found


def series(length: int) -> tuple[Any, Any]:
    walks = np.random.default_rng(0).normal(size=(2, COUNTS[length], length)).cumsum(axis=2).astype(np.float32)
    return walks[0], walks[1]


def of_tiles(workers: Any, function: Any, work: Any, jobs: int, last: int = 0) -> float:
    """Seconds of a tile: the mean, or the best of windows, since others may use the cores as well.

    last: tiles at the end that count for no window, since no other tile is handed out for them.
    """
    began = time.perf_counter()
    ends = np.array([time.perf_counter() for _ in workers.run(function, work, range(jobs + last))])
    if last == 0:
        return float(ends[-1] - began) / jobs
    ends = ends[:jobs]
    return float((ends[WINDOW:] - ends[:-WINDOW]).min()) / WINDOW


def of_engine(name: str, workers: Any, number: int, one: Any = None) -> Iterator[Row]:
    """A call of one tile, a tile that costs nothing, and one that costs nothing but its result.

    With many tiles under way, one that costs nothing takes as long as the caller and the scheduler have to do for it.
    With one under way, at the one worker of `one`, there is the round trip besides.
    """
    x = np.zeros((2, 4), dtype=np.float32)
    work = dtwave.distributed.tiles(x, x)._work
    yield row(f"{name}_start", number, seconds(lambda: [*workers.run(nothing, work, range(1))]), "s")
    if one is None:
        yield row(f"{name}_task", number, of_tiles(workers, nothing, work, TASKS), "s")
        yield row(f"{name}_array", number, of_tiles(workers, array, work, ARRAYS), "s")
        return
    with in_flight(MANY):
        yield row(f"{name}_task", number, of_tiles(workers, nothing, work, TASKS, 2 * MANY), "s")
    with in_flight(1):
        yield row(f"{name}_alone", number, of_tiles(one, nothing, work, TASKS, 1), "s")
    yield row(f"{name}_array", number, of_tiles(workers, array, work, ARRAYS, 4), "s")


def of_caller(number: int) -> Iterator[Row]:
    """What the caller does for each tile and for each row of one, and what a worker does beside the cells."""
    x = np.zeros((2048, 4), dtype=np.float32)
    plan = dtwave.distributed.tiles(x, x, tile=2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = seconds(lambda: plan.tiles)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    yield row("plan_tile", number, took / len(plan), "s")
    if number == 1:
        # Later plans use the memory of this one.
        yield row("plan_tile_memory", number, more / len(plan), "B")
    part = np.ones((512, 64), dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder, _matrices._npy(f"{folder}/matrix.npy", plan) as put:
        took = seconds(lambda: [put(512 * (k % 4), 64 * (k % 32), part) for k in range(100)])
    yield row("put_row", number, took / (100 * len(part)), "s")
    alone: Plan = dtwave.distributed.tiles(x, x, tile=1, threads=1)
    took = min(seconds(lambda: _tiles.distances(alone._work, alone.tiles[0])) for _ in range(100))
    yield row("cpu_tile", number, took, "s")


def runs(engines: dict[str, Any], number: int) -> Iterator[Row]:
    """The same matrix by all of them, in turn. Each round begins with another one."""
    first = number % len(engines)
    turns = [*engines.items()]
    engines = dict(turns[first:] + turns[:first])
    for length, side in COUNTS.items():
        yield row("cells", number, side**2 * length**2, "cells", length)
    for length, own in {128: engines, 512: {"threads_1": {"threads": 1}}}.items():
        x, y = series(length)
        for name, options in own.items():
            yield row(f"run_{name}", number, seconds(lambda: dtwave.pairwise(x, y, **options)), "s", length)


def main() -> None:
    """Reads the command line, starts workers and measures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    found: list[Row] = []
    with (
        LocalCluster(n_workers=1, **options) as one,
        LocalCluster(n_workers=2, **options) as two,
        Client(one) as client_of_one,
        Client(two) as client_of_two,
    ):
        jobs = {n: joblib.Parallel(n_jobs=n, return_as="generator_unordered") for n in (1, 2)}
        engines = {
            "threads_1": {"threads": 1},
            "dask_1": {"client": client_of_one, "threads": 1},
            "joblib_1": {"client": jobs[1], "threads": 1},
            "threads_2": {"threads": 2},
            "dask_2": {"client": client_of_two, "threads": 1},
            "joblib_2": {"client": jobs[2], "threads": 1},
        }
        small = np.zeros((8, 8), dtype=np.float32)
        for each in engines.values():
            # Workers import the package before anything is timed.
            dtwave.pairwise(small, small, **each)
        for number in range(1, ROUNDS + 1):
            found += runs(engines, number)
            found += of_engine("dask", DaskWorkers(client_of_two), number, DaskWorkers(client_of_one))
            found += of_engine("joblib", JoblibWorkers(jobs[2]), number)
            found += of_caller(number)
    if given.record:
        print(written(found, COLUMNS, "schedule"))


if __name__ == "__main__":
    main()
