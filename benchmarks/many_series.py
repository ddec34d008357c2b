"""Seconds and memory of averages and clusters of many series.

    python benchmarks/many_series.py kmedoids --count 100000

Runs one task on made-up series and prints the seconds that it took and the most memory of the process beyond what it had
with the series in it. Run one task per process: memory that was once used counts.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import dtwave
import numpy as np

TASKS: dict[str, Any] = {
    "kmedoids": lambda x, k, o: dtwave.kmedoids(x, k, method="clara", **o),
    "kmeans": lambda x, k, o: dtwave.kmeans(x, k, restarts=1, max_iterations=10, center_iterations=3, **o),
    "minibatch": lambda x, k, o: dtwave.kmeans(x, k, restarts=1, batch_size=1000, sample_size=5000, **o),
    "barycenter": lambda x, k, o: dtwave.barycenter(x, max_iterations=10, **o),
}


def series(count: int, length: int) -> Any:
    """Bumps of eight shapes at random places, with noise, in f32."""
    rng = np.random.default_rng(1)
    places = np.arange(length, dtype=np.float32) / length
    x = rng.normal(scale=0.1, size=(count, length)).astype(np.float32)
    kinds = np.arange(count) % 8
    for kind in range(8):
        rows = np.flatnonzero(kinds == kind)
        center = rng.uniform(0.35, 0.65, size=(len(rows), 1)).astype(np.float32)
        width = np.float32(0.03 + 0.02 * (kind % 4))
        bump = np.exp(-(((places - center) / width) ** 2))
        x[rows] += bump if kind < 4 else 1 - bump
    return x


def main() -> None:
    """Reads the command line and runs the task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--band", default="10%", help="a band, or full")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    x = series(given.count, given.length)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    options = {"band": None if given.band == "full" else given.band, "device": given.device}
    found = TASKS[given.task](x, 8, options)
    took = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{given.task}, {given.count} x {given.length}, band {given.band}: {took:.2f} s, {most / 1024:.0f} MiB at most, "
        f"{(most - before) / 1024:.0f} MiB more than with the series alone; {found!r}"
    )


if __name__ == "__main__":
    main()
