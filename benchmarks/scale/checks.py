"""Runs that were measured, and what the simulator predicts for them from other runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from events import Block, Crew, Engine, run
from model import BYTES_OF_ARRAY, H200, Job, Measured, Values, shape_of_tiles
from records import written

COLUMNS = ["case", "device", "workers", "predicted_secs", "measured_secs", "error_percent", "predicted_from", "source"]
#: Four H200 of one host: seconds of two and of four, by what one GPU takes. "Twice" is one GPU listed twice.
GPU_PIECES = 8
HOST = {
    # A call of 50 series; page-locked memory of a piece; what four threads of the host copy.
    "start_s": 3.1e-3,
    "piece_s": 0.8e-3,
    "copies": 1.6e9 / 0.14,
}
#: `docs/scale.md`, 3,000 x 3,000 series of 200 points in `f64`.
EARLIER = {("threads", 1): 43.1, ("threads", 2): 22.7, ("dask", 1): 45.3, ("dask", 2): 25.0, ("joblib", 2): 27.6}


@dataclass(frozen=True)
class Case:
    name: str
    device: str
    workers: int
    predicted: float
    measured: float
    predicted_from: str
    source: str

    @property
    def error(self) -> float:
        """Per cent: positive where the simulator is too slow."""
        return 100.0 * (self.predicted / self.measured - 1.0)

    def row(self) -> list[str]:
        seconds = [f"{each:.3f}" for each in (self.predicted, self.measured)]
        return [
            self.name,
            self.device,
            str(self.workers),
            *seconds,
            f"{self.error:+.1f}",
            self.predicted_from,
            self.source,
        ]


def of_engine(measured: Measured, name: str, job: Job, rate: float, bytes_of_pair: float, tile_s: float) -> float:
    """A matrix in memory by threads, Dask or joblib, by what the engine took in the median round."""
    count, rows, columns = shape_of_tiles(job)
    pairs = job.series**2 / count
    block = Block(1, pairs * job.cells_of_pair, result=pairs * bytes_of_pair)
    if name == "threads" or (name, job.workers) == ("joblib", 1):
        # In the caller's process.
        own = Engine()
    else:
        median = measured.median
        own = Engine(
            start_s=median(f"{name}_start"),
            task_s=median(f"{name}_task"),
            round_trip_s=max(median("dask_alone") - median("dask_task"), 0.0) if name == "dask" else 0.0,
            collect_rate=BYTES_OF_ARRAY / max(median(f"{name}_array") - median(f"{name}_task"), 1e-6),
        )
    return run([block] * count, Crew(job.workers, rate, tile_s), own).seconds


def of_processors(measured: Measured, values: Values) -> Iterator[Case]:
    """Threads and workers of this machine, and of the one of `docs/scale.md`.

    Two threads are predicted from one, workers from as many threads: other programs may have a part of the cores.
    """
    here, length = measured.rows[0]["cpu"], 128
    cells = measured.median("cells", length)
    found = {
        (name, workers): measured.median(f"run_{name}_{workers}", length)
        for name in ("threads", "dask", "joblib")
        for workers in (1, 2)
    }
    series, record = round(cells**0.5 / length), measured.path.name
    jobs = [
        (f"{series} x {series} x {length} f32", here, record, found, Job("core", 1, series, length, "matrix"), 4),
        ("3000 x 3000 x 200 f64", "two cores", "docs/scale.md", EARLIER, Job("core", 1, 3000, 200, "matrix"), 8),
    ]
    for title, device, source, seconds, job, size in jobs:
        cells = job.series**2 * job.cells_of_pair
        for (name, workers), took in seconds.items():
            if (name, workers) == ("threads", 1):
                continue
            threads = 1 if name == "threads" else workers
            rate = cells / seconds["threads", threads] / threads
            own = replace(job, workers=workers)
            predicted = of_engine(measured, name, own, rate, size, values["core_tile_s"])
            known = f"{threads} thread{'s' if threads > 1 else ''}"
            yield Case(f"{title} by {name}", device, workers, predicted, took, known, source)


def of_gpus(gpus: int, sweep_s: float, result: float, copies: float) -> float:
    """One call of several GPUs of a host, from arrays to an array: even pieces, and a host that puts results away.

    sweep_s: seconds of the sweep on one GPU.
    result: bytes of the result; copies: bytes of it a second that the host puts away.
    """
    pieces = GPU_PIECES * gpus
    block = Block(1, sweep_s / pieces, result=result / pieces)
    return run([block] * pieces, Crew(gpus, 1.0, HOST["piece_s"]), Engine(HOST["start_s"], collect_rate=copies)).seconds


def of_h200(values: Values) -> Iterator[Case]:
    """One, two and four H200."""

    def cases(
        name: str, sweep_s: float, result: float, copies: float, known: str, seconds: dict[int, float]
    ) -> Iterator[Case]:
        for gpus, measured in seconds.items():
            predicted = of_gpus(gpus, sweep_s, result, copies)
            yield Case(name, "NVIDIA H200", gpus, predicted, measured, known, H200)

    copies, start = HOST["copies"], HOST["start_s"] + GPU_PIECES * HOST["piece_s"]
    sweep = 6.4e7 * 512**2 / values["h200_rate_512"]
    name = "dtw 8000 x 8000 x 512 f32"
    yield from cases(name, sweep, 2.56e8, copies, "sweeps of tensors", {1: 2.17, 2: 1.14, 4: 0.675})
    sweep = 2.0001e8 * 128**2 / values["h200_rate_128"]
    name = "dtw 20000 with themselves x 128 f32; whole jobs"
    yield from cases(name, sweep, 1.6e9, copies, "sweeps of tensors", {1: 0.495})
    name = "twed 3000 x 3000 x 512 f32"
    yield from cases(name, 2.29 - start, 3.6e7, copies, "one GPU", {2: 1.175, 4: 0.635})
    name = "msm 3000 with themselves x 512 f64"
    yield from cases(name, 3.72 - start, 7.2e7, copies, "one GPU", {2: 2.13, 4: 1.10})
    # The host bound these: one GPU listed twice tells what its threads put away.
    name, known = "dtw 20000 with themselves x 128 f32; before", "one GPU listed twice, 1.25 s"
    yield from cases(name, 0.456, 1.6e9, 1.6e9 / 1.25, known, {2: 1.25, 4: 1.3})
    name, known = "nearest 20000 x 128; k = 10", "one GPU, 2.95 s, all of it ranking"
    yield from cases(name, 0.456, 1.6e9, 1.6e9 / 2.95, known, {2: 2.75, 4: 3.0})
    # 20,000 x 20,000 took 10.5 s: 1.6 GB.
    sweep = 1e10 * 128**2 / values["h200_rate_128"]
    engine = Engine(HOST["start_s"], collect_rate=copies, store_rate=1.6e9 / 10.5)
    tiles = 2400
    block = Block(1, sweep / tiles, result=4e10 / tiles, stored=4e10 / tiles)
    predicted = run([block] * tiles, Crew(1, 1.0, HOST["piece_s"]), engine).seconds
    name, known = "dtw 100000 x 100000 x 128 f32 to a file", "20000 x 20000 to a file, 10.5 s"
    yield Case(name, "NVIDIA H200", 1, predicted, 236.0, known, H200)


def all_cases(measured: Measured, values: Values) -> list[Case]:
    return [*of_processors(measured, values), *of_h200(values)]


def check(measured: Measured, values: Values, is_recorded: bool) -> None:
    """Prints what was predicted and measured."""
    cases = all_cases(measured, values)
    loads = [float(row["load"]) for row in measured.rows]
    print(f"{'case':50} {'workers':>7} {'simulated':>10} {'measured':>9} {'error':>7}  simulated from")
    for case in cases:
        print(
            f"{case.name:50} {case.workers:7} {case.predicted:8.3f} s {case.measured:7.3f} s {case.error:+6.1f}%  "
            f"{case.predicted_from}"
        )
    errors = sorted(abs(case.error) for case in cases)
    print(
        f"error: median {errors[len(errors) // 2]:.1f}%, largest {errors[-1]:.1f}%; "
        f"load of this machine while it was measured: {min(loads)} to {max(loads)}"
    )
    if is_recorded:
        rows = [[each.replace(",", ";") for each in case.row()] for case in cases]
        print(written(rows, COLUMNS, "schedule-check"))
