"""The Python package beside other libraries: the same task in turn, on one thread each, checked before it is timed.

    cargo xtask python --release
    target/python/bin/pip install -r python/tests/requirements.txt
    target/python/bin/python benchmarks/python/peers.py [--record] [NAME ...]

`--record` writes benchmarks/record/CPU/DATE-python.csv; the machine should be quiet then (the column `load`). Names are
parts of the names of works. Arrays go in and come out; what a library does once, as compiling, is not timed.
"""

from __future__ import annotations

import os

# Before the libraries look: one thread each.
for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import csv
import datetime
import importlib
import importlib.metadata
import re
import statistics
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dtwave

BENCHMARKS = Path(__file__).parents[1]
COLUMNS = ["work", "ours", "other", "rounds", "ours_median_secs", "other_median_secs", "ratio", "ratio_of_best", "load"]

Call = Callable[[], Any]


@dataclass(frozen=True)
class Work:
    """A task, ours and each other library's call of it, and how to compare what they return."""

    name: str
    ours: Call
    others: dict[str, Call]
    """By the name of the distribution."""
    same: Callable[[Any, Any], bool]
    """Whether another's result is ours."""
    calls: int = 1
    """Calls that are timed together: many where one is short."""


def lazily(module: str, name: str, *args: Any, **options: Any) -> Call:
    """A call of a function in a module that is imported at the first call."""

    def call() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(importlib.import_module(module), name)(*args, **options)

    call()
    function = getattr(importlib.import_module(module), name)
    return lambda: function(*args, **options)


def close(theirs: Any, ours: Any, tolerance: float = 1e-9) -> bool:
    return bool(np.allclose(theirs, ours, rtol=tolerance, atol=tolerance))


def root_of_ours(theirs: Any, ours: Any) -> bool:
    return close(np.square(theirs), ours)


def either(theirs: Any, ours: Any, tolerance: float = 1e-9) -> bool:
    """The accumulated cost or its root; libraries differ in that alone."""
    return close(theirs, ours, tolerance) or close(np.square(theirs), ours, tolerance)


def walks(count: int, length: int) -> Any:
    return np.random.default_rng(count * length).normal(size=(count, length)).cumsum(axis=1)


def one_distance(length: int) -> Work:
    x, y = walks(2, length)
    dtw = importlib.import_module("dtaidistance.dtw")
    return Work(
        f"distance_{length}",
        lambda: dtwave.distance(x, y),
        {"dtaidistance": lambda: dtw.distance_fast(x, y, use_pruning=False)},
        root_of_ours,
        calls=2_000,
    )


def all_pairs(count: int, length: int) -> Work:
    x = walks(count, length)
    return Work(
        f"pairwise_{count}x{length}",
        lambda: dtwave.pairwise(x, threads=1),
        {
            "tsdistances": lazily("tsdistances", "dtw_distance", x, par=False, device="cpu"),
            "aeon": lazily("aeon.distances", "dtw_pairwise_distance", x[:, None, :], n_jobs=1),
            "dtaidistance": lazily("dtaidistance.dtw", "distance_matrix_fast", x, parallel=False),
            "tslearn": lazily("tslearn.metrics", "cdist_dtw", x, n_jobs=1),
        },
        either,
    )


def all_pairs_f32(count: int, length: int) -> Work:
    x = walks(count, length).astype(np.float32)
    return Work(
        f"pairwise_f32_{count}x{length}",
        lambda: dtwave.pairwise(x, threads=1),
        {"tsdistances": lazily("tsdistances", "dtw_distance", x.astype(float), par=False, device="cpu")},
        lambda theirs, ours: either(theirs, ours, 1e-5),
    )


def soft_pairs(count: int, length: int) -> Work:
    x = walks(count, length)
    return Work(
        f"soft_dtw_pairwise_{count}x{length}",
        lambda: dtwave.pairwise(x, measure="soft_dtw", gamma=1.0, threads=1),
        {"tslearn": lazily("tslearn.metrics", "cdist_soft_dtw", x, gamma=1.0)},
        close,
    )


def two_threads(count: int, length: int) -> Work:
    """Two threads give the bits of one."""
    x = walks(count, length)
    one = {"dtwave": lambda: dtwave.pairwise(x, threads=1)}
    return Work(f"threads_{count}x{length}", lambda: dtwave.pairwise(x, threads=2), one, np.array_equal)


def best_window(points: int, length: int) -> Work:
    """The window nearest to a query without warping, both z-normalised: what stumpy is made for."""
    query, reference = walks(1, points)[0], walks(1, length)[0]
    profile = lazily("stumpy", "mass", query, reference)
    return Work(
        f"search_windows_{points}x{length}",
        lambda: dtwave.search(query, reference, normalized_window=points, band=0, threads=1)[0].distance,
        {"stumpy": lambda: float(profile().min())},
        root_of_ours,
    )


def loss_and_gradient(batch: int, length: int, channels: int) -> Work:
    import torch
    from dtwave.torch import SoftDTW

    torch.set_num_threads(1)
    # pysdtw 0.0.5 calls what NumPy 2 no longer has.
    setattr(np, "row_stack", np.vstack)
    x, y = (torch.from_numpy(walks(batch * channels, length).reshape(batch, length, channels) / length) for _ in "xy")
    x.requires_grad_()

    def step(loss: Any) -> Call:
        def call() -> Any:
            x.grad = None
            values = loss(x, y)
            values.sum().backward()
            return np.append(values.detach().numpy().ravel(), x.grad.numpy().ravel())  # type: ignore[attr-defined]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
        return call

    return Work(
        f"soft_dtw_and_gradient_{batch}x{length}x{channels}",
        step(SoftDTW(1.0)),
        {
            "pysdtw": step(importlib.import_module("pysdtw").SoftDTW(1.0, None, False)),
            "tslearn": step(importlib.import_module("tslearn.metrics").SoftDTWLossPyTorch(gamma=1.0)),
        },
        # The others round to single precision on the way.
        lambda theirs, ours: bool(np.allclose(theirs, ours, rtol=1e-3, atol=1e-3 * np.abs(ours).max())),
    )


WORKS: dict[str, Callable[[], Work]] = {
    "distance_100": lambda: one_distance(100),
    "pairwise_200x96": lambda: all_pairs(200, 96),
    "pairwise_40x1024": lambda: all_pairs(40, 1024),
    "pairwise_f32_200x96": lambda: all_pairs_f32(200, 96),
    "pairwise_f32_40x1024": lambda: all_pairs_f32(40, 1024),
    "soft_dtw_pairwise_200x96": lambda: soft_pairs(200, 96),
    "soft_dtw_pairwise_40x1024": lambda: soft_pairs(40, 1024),
    "threads_200x96": lambda: two_threads(200, 96),
    "threads_40x1024": lambda: two_threads(40, 1024),
    "search_windows_100x20000": lambda: best_window(100, 20_000),
    "soft_dtw_and_gradient_16x128x64": lambda: loss_and_gradient(16, 128, 64),
    "soft_dtw_and_gradient_8x512x8": lambda: loss_and_gradient(8, 512, 8),
}


def seconds(call: Call, calls: int) -> float:
    began = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - began) / calls


def load() -> str:
    return f"{os.getloadavg()[0]:.2f}"


def rows(work: Work, rounds: int) -> Iterator[list[str]]:
    """Times ours and the others in turn, each as often; one row for each of the others."""
    expected = work.ours()
    for name, call in work.others.items():
        if not work.same(call(), expected):
            raise SystemExit(f"{work.name}: {name} returns other values: nothing is timed")
    times: dict[str, list[float]] = {"": [], **{name: [] for name in work.others}}
    for _ in range(rounds):
        times[""].append(seconds(work.ours, work.calls))
        for name, call in work.others.items():
            times[name].append(seconds(call, work.calls))
    ours = times.pop("")
    for name, theirs in times.items():
        middles, bests = [statistics.median(found) for found in (ours, theirs)], [min(ours), min(theirs)]
        yield [
            work.name,
            f"dtwave {dtwave.__version__}",
            f"{name} {importlib.metadata.version(name)}",
            str(rounds),
            *(f"{middle:.4e}" for middle in middles),
            f"{middles[1] / middles[0]:.2f}",
            f"{bests[1] / bests[0]:.2f}",
            load(),
        ]


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=BENCHMARKS).stdout.strip()


def origin() -> tuple[str, str, str]:
    """Day, CPU and commit, as the records of `cargo xtask bench` have them."""
    fields = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M))
    cpu = f"{fields['model name']} (family {fields['cpu family']} model {fields['model']})"
    changes = output("git", "status", "--porcelain", "--untracked-files=no")
    commit = output("git", "rev-parse", "--short=12", "HEAD") + ("-dirty" if changes else "")
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat(), cpu.replace(",", " "), commit


def record(found: list[list[str]], columns: list[str] = COLUMNS, kind: str = "python") -> Path:
    """Adds rows to today's file of this CPU."""
    day, cpu, commit = origin()
    device = "-".join(re.findall("[a-z0-9]+", re.sub(r"\((r|tm)\)", " ", cpu.lower())))
    path = BENCHMARKS / "record" / device / f"{day}-{kind}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(["date", "cpu", "commit", *columns])
        writer.writerows([day, cpu, commit, *row] for row in found)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write benchmarks/record/CPU/DATE-python.csv")
    parser.add_argument("--rounds", type=int, default=7, help="rounds, in each of which everyone has a turn")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"parts of {', '.join(WORKS)}")
    options = parser.parse_args()
    chosen = [name for name in WORKS if not options.names or any(part in name for part in options.names)]
    if not chosen:
        parser.error(f"no work's name contains {' or '.join(options.names)}; there are {', '.join(WORKS)}")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    print(f"{'work':34} {'other':20} {'ours us':>12} {'other us':>12} {'ratio':>8} {'of best':>8} {'load':>6}")
    found = []
    for name in chosen:
        for row in rows(WORKS[name](), options.rounds):
            found.append(row)
            ours, theirs = (float(value) * 1e6 for value in row[4:6])
            ratios = " ".join(f"{value:>8}" for value in row[6:8])
            print(f"{row[0]:34} {row[2]:20} {ours:12.2f} {theirs:12.2f} {ratios} {row[8]:>6}", flush=True)
    if options.record:
        print(f"recorded in {record(found)}")


if __name__ == "__main__":
    main()
