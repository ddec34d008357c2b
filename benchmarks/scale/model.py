"""Jobs, devices and engines for the simulator: how dtwave cuts a job into tiles, and what everything costs.

Every number is a parameter with a unit and a source. Rates of a core and costs of engines are the least seconds of a
record that measure.py wrote; the others are figures of older records, or assumed.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from events import Block, Crew, Engine, Outcome, run

RECORDS = Path(__file__).resolve().parents[1] / "record"
MEASURED = RECORDS / "amd-epyc-family-25-model-1/2026-11-30-schedule.csv"
H200 = "record/nvidia-h200/README.md"

#: As dtwave.distributed._tiles has them; a test compares.
CELLS, CELLS_OF_GPU, LEAST_CELLS = 2_000_000_000, 4_000_000_000_000, 50_000_000
TILES_PER_WORKER, MOST_TILES, MOST_DISTANCES, MOST_PAIRS = 8, 1 << 18, 1 << 22, 1 << 28
#: As the command cuts shards: tiles of each at least, and rows of a tile at most.
TILES_PER_SHARD, MOST_SIDE = 16, 2048
#: What measure.py collects for each tile.
BYTES_OF_ARRAY = 1 << 24
#: Blocks of each worker in a large job: the end of a run is off by one of them at most, so by some percent.
BLOCKS = 64


@dataclass(frozen=True)
class Parameter:
    value: float
    unit: str
    source: str


class Measured:
    """A record of measure.py."""

    def __init__(self, path: Path = MEASURED) -> None:
        self.path = path
        with path.open(newline="", encoding="utf-8") as file:
            self.rows = list(csv.DictReader(file))

    def values(self, name: str, length: int | str = "") -> list[float]:
        """The values of all rounds.

        Errors: `SystemExit` for what was not measured.
        """
        found = [float(row["value"]) for row in self.rows if (row["name"], row["length"]) == (name, str(length))]
        if not found:
            raise SystemExit(f"{self.path} has no {name} of length {length or 'none'}: run measure.py --record")
        return found

    def median(self, name: str, length: int | str = "") -> float:
        return statistics.median(self.values(name, length))

    def rate(self, length: int) -> float:
        """Cells a second of one core, by the best round: others may have used the core as well."""
        return self.median("cells", length) / self.least("run_threads_1", length)

    def least(self, name: str, length: int | str = "") -> float:
        return min(self.values(name, length))

    def collect(self, engine: str) -> float:
        """Bytes of results a second that an engine's caller takes."""
        return BYTES_OF_ARRAY / max(self.least(f"{engine}_array") - self.least(f"{engine}_task"), 1e-6)

    def round_trip(self, engine: str) -> float:
        """Seconds of a tile in which neither the caller nor the worker is busy."""
        return max(self.least(f"{engine}_alone") - self.least(f"{engine}_task"), 0.0)


def parameters(measured: Measured) -> dict[str, Parameter]:
    """All of them, by name."""
    here = measured.path.relative_to(RECORDS.parent).as_posix() if measured.path.is_relative_to(RECORDS) else ""
    here = here or str(measured.path)

    def own(name: str, unit: str = "s") -> Parameter:
        return Parameter(measured.least(name), unit, f"{here}, {name}, the least")

    assumed = "assumed"
    return {
        "h200_rate_128": Parameter(4e8 * 128**2 / 0.91, "cells/s", f"{H200}, whole jobs: 20,000 x 128, 0.91 s"),
        "h200_rate_512": Parameter(1.6e7 * 512**2 / 0.53, "cells/s", f"{H200}, whole jobs: 4,000 x 512, 0.53 s"),
        "h200_tile_s": Parameter(3.1e-3, "s", f"{H200}, several GPUs: a call of 50 series on one GPU, 3.1 ms"),
        "h200_sent": Parameter(25e9, "B/s", f"{assumed}: half of what PCIe 5.0 x16 can"),
        "core_rate_128": Parameter(measured.rate(128), "cells/s", f"{here}, run_threads_1, best round"),
        "core_rate_512": Parameter(measured.rate(512), "cells/s", f"{here}, run_threads_1, best round"),
        "core_tile_s": own("cpu_tile"),
        "cores_of_worker": Parameter(64, "cores", f"{assumed}: one process of Dask per machine"),
        "task_s": own("dask_task"),
        "round_trip_s": Parameter(measured.round_trip("dask"), "s", f"{here}, dask_alone less dask_task"),
        "in_flight": Parameter(2, "tiles", "PER_THREAD of dtwave/distributed/_dask.py"),
        "collect": Parameter(measured.collect("dask"), "B/s", f"{here}, dask_array less dask_task"),
        "put_row_s": own("put_row"),
        "plan_tile_s": own("plan_tile"),
        "plan_tile_memory": own("plan_tile_memory", "B"),
        "link": Parameter(3.125e9, "B/s", f"{assumed}: 25 Gbit/s for each machine"),
        "fan_out": Parameter(2, "copies", "branching_factor of Dask's Scheduler.replicate, 2026.8.0"),
        "disk": Parameter(2e9, "B/s", f"{assumed}: a shared disk, reading and writing together"),
        "process_s": Parameter(5, "s", f"{assumed}: a process starts, and so does its device"),
        "slow_share": Parameter(0.02, "of all", assumed),
        "slow_factor": Parameter(1.5, "times", assumed),
        "failure_rate": Parameter(
            419 / (54 * 24 * 16384), "1/h", "The Llama 3 Herd of Models, 2024: 419 in 54 days of 16,384 GPUs"
        ),
        "detect_s": Parameter(300, "s", "Dask's distributed.scheduler.worker-ttl, 2026.8.0"),
        "replace_s": Parameter(600, "s", assumed),
        "larger_tiles": Parameter(1, "times", "cells and distances of a tile; 1 is what dtwave cuts"),
        "neighbors": Parameter(10, "series", "k of the k-nearest graph"),
        "edge_share": Parameter(1e-5, "of all pairs", assumed),
    }


Values = dict[str, float]


@dataclass(frozen=True)
class Job:
    """Distances of as many series with as many others, in `f32`.

    output: matrix, nearest or edges.
    by: dask, or shards: a process for each device, which write a matrix in parts that are merged.
    """

    device: str
    workers: int
    series: int
    length: int
    output: str
    by: str = "dask"

    @property
    def cells_of_pair(self) -> int:
        return self.length**2

    @property
    def bytes_of_series(self) -> int:
        """Of one side."""
        return self.series * self.length * 4


def side_of_tile(job: Job, larger: float = 1.0) -> int:
    """Rows and columns of a tile of a matrix, as dtwave.distributed and the command cut it for so many workers."""
    if job.by == "shards":
        return min(math.isqrt(job.series**2 // (TILES_PER_SHARD * job.workers)), MOST_SIDE)
    target = CELLS_OF_GPU if job.device == "h200" else CELLS
    cells = job.series**2 * job.cells_of_pair
    shared = cells // (TILES_PER_WORKER * job.workers)
    pairs = larger * min(max(target, cells // MOST_TILES), max(shared, LEAST_CELLS)) / job.cells_of_pair
    most = MOST_DISTANCES if job.output == "matrix" else MOST_PAIRS
    side = max(int(min(max(pairs, 1), larger * most) ** 0.5), 1)
    return side if side < 16 else side // 16 * 16


def shape_of_tiles(job: Job, larger: float = 1.0) -> tuple[int, int, int]:
    """How many tiles there are, and rows and columns of one. Those at the edges are as large here.

    larger: times as many cells and distances in a tile as dtwave takes.
    """
    side = side_of_tile(job, larger)
    count = math.ceil(job.series / side) ** 2
    if job.output != "nearest":
        return count, side, side
    # All series of one side with some of the other.
    columns = max(job.series // max(4 * job.workers, count), 1)
    return math.ceil(job.series / columns), job.series, columns


def blocks(job: Job, values: Values) -> list[Block]:
    """The tiles of a job."""
    count, rows, columns = shape_of_tiles(job, values["larger_tiles"])
    pairs = job.series**2 / count
    result, put, stored = {
        "matrix": (4 * pairs, rows * values["put_row_s"], 4 * pairs),
        "nearest": (12 * columns * values["neighbors"], 0.0, 0.0),
        "edges": (20 * pairs * values["edge_share"], 0.0, 0.0),
    }[job.output]
    sent = (rows + columns) * job.length * 4
    parts = min(count, BLOCKS * job.workers)
    edges = [k * count // parts for k in range(parts + 1)]
    kinds: dict[int, Block] = {}
    for start, stop in zip(edges, edges[1:]):
        kinds.setdefault(stop - start, Block(stop - start, pairs * job.cells_of_pair, sent, result, put, stored))
    return [kinds[stop - start] for start, stop in zip(edges, edges[1:])]


def crew(job: Job, values: Values) -> Crew:
    """The workers of a job."""
    return Crew(
        workers=job.workers,
        rate=values[f"{job.device}_rate_{job.length}"],
        tile_s=values[f"{job.device}_tile_s"],
        sent_rate=values["h200_sent"] if job.device == "h200" else math.inf,
        slow_share=values["slow_share"],
        slow_factor=values["slow_factor"],
        failure_rate=values["failure_rate"] / (1 if job.device == "h200" else values["cores_of_worker"]),
        detect_s=values["detect_s"],
        replace_s=values["replace_s"],
    )


def by_tree(size: float, processes: int, link: float, fan_out: float) -> float:
    """Seconds until every process has its copy: to the scheduler, to one worker, and on from all that have it."""
    rounds = math.ceil(round(math.log(processes, fan_out + 1), 9))
    return size / link * (2 + rounds * fan_out)


def by_all(size: float, processes: int, link: float) -> float:
    """Seconds until every process has its copy, all from one place."""
    return size / link * processes


def listed(job: Job, values: Values) -> int:
    """How many tiles the caller lists: those of the matrix, whatever is asked for."""
    return 0 if job.by == "shards" else math.ceil(job.series / side_of_tile(job, values["larger_tiles"])) ** 2


def engine(job: Job, values: Values) -> Engine:
    """What shares out the tiles of a job."""
    size = 2.0 * job.bytes_of_series
    processes = job.workers if job.device == "h200" else math.ceil(job.workers / values["cores_of_worker"])
    if job.by == "shards":
        start = values["process_s"] + by_all(size, processes, values["disk"])
        return Engine(start, store_rate=values["disk"], is_static=True)
    listing = listed(job, values) * values["plan_tile_s"]
    return Engine(
        start_s=listing + by_tree(size, processes, values["link"], values["fan_out"]),
        task_s=values["task_s"],
        round_trip_s=values["round_trip_s"],
        collect_rate=min(values["collect"], values["link"]),
        store_rate=values["disk"],
        in_flight=int(values["in_flight"]),
    )


def simulated(job: Job, values: Values, seed: int = 0) -> Outcome:
    """A run of a job."""
    return run(blocks(job, values), crew(job, values), engine(job, values), seed)


def merging(job: Job, values: Values) -> float:
    """Seconds to put the shards of a matrix together: all is read and written once. No device waits for it."""
    return 2 * 4.0 * job.series**2 / values["disk"] if job.by == "shards" else 0.0


def with_values(known: dict[str, Parameter], given: Iterable[str]) -> dict[str, Parameter]:
    """Parameters with some of them as given, `name=value`.

    Errors: `SystemExit` for a name that there is not, and for what is no number.
    """
    found = dict(known)
    for each in given:
        name, _, text = each.partition("=")
        try:
            found[name] = replace(found[name], value=float(text), source="given")
        except KeyError:
            raise SystemExit(f"{each}: there is no parameter {name}; `simulate.py parameters` lists them") from None
        except ValueError:
            raise SystemExit(f"{each}: expected name=value, the value a number") from None
    return found
