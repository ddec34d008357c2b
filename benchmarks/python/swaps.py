"""`dtwave.compat` beside the functions that it stands for, and beside dtwave's own: what an import swap brings and costs.

    python benchmarks/python/swaps.py [--record] [--rounds N] [NAME ...]

One thread each, in turn, each as often. Matrices are compared before they are timed. `times` is the original's time
divided by ours, `cost` what the swap takes above `dtwave.pairwise` with the same threads. Both are of the least times
of all rounds, in seconds of the processor, which count no other process. Names are parts of the names of works.
`--record` writes benchmarks/record/CPU/DATE-swaps.csv; the machine should be quiet then.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import time
from typing import Any

# First, because it sets the threads of the other libraries before they look.
import peers

import numpy as np

import dtwave
import dtwave.compat.aeon as compat_aeon
from dtwave.compat import tslearn as compat_tslearn
from dtwave.compat.dtaidistance import dtw as compat_dtaidistance

SIZES = [(200, 96), (40, 1024)]
COLUMNS = ["work", "size", "ours", "other", "rounds", "ours_best_secs", "other_best_secs", "pairwise_best_secs", "load"]

Three = tuple[peers.Call, peers.Call, peers.Call]


def of_tslearn(x: Any, name: str, measure: str, **options: Any) -> Three:
    function = getattr(compat_tslearn, name)
    return (
        lambda: function(x, **options),
        peers.lazily("tslearn.metrics", name, x, **options),
        lambda: dtwave.pairwise(x, measure=measure, threads=1, **options),
    )


def of_aeon(x: Any, name: str, measure: str) -> Three:
    function = getattr(compat_aeon, f"{name}_pairwise_distance")
    channels_first = np.ascontiguousarray(x[:, None, :])
    return (
        lambda: function(channels_first),
        peers.lazily("aeon.distances", f"{name}_pairwise_distance", channels_first, n_jobs=1),
        lambda: dtwave.pairwise(x, measure=measure, threads=1),
    )


def of_dtaidistance(x: Any) -> Three:
    return (
        lambda: compat_dtaidistance.distance_matrix_fast(x, parallel=False),
        peers.lazily("dtaidistance.dtw", "distance_matrix_fast", x, parallel=False),
        lambda: dtwave.pairwise(x, threads=1),
    )


WORKS: dict[str, Any] = {
    "tslearn.cdist_dtw": lambda x: of_tslearn(x, "cdist_dtw", "dtw"),
    "tslearn.cdist_soft_dtw": lambda x: of_tslearn(x, "cdist_soft_dtw", "soft_dtw", gamma=1.0),
    "aeon.dtw": lambda x: of_aeon(x, "dtw", "dtw"),
    "aeon.wdtw": lambda x: of_aeon(x, "wdtw", "wdtw"),
    "aeon.adtw": lambda x: of_aeon(x, "adtw", "adtw"),
    "aeon.msm": lambda x: of_aeon(x, "msm", "msm"),
    "aeon.twe": lambda x: of_aeon(x, "twe", "twed"),
    "aeon.lcss": lambda x: of_aeon(x, "lcss", "lcss"),
    "dtaidistance.distance_matrix_fast": of_dtaidistance,
}


def seconds(call: peers.Call) -> float:
    """Seconds of the processor, in all threads of this process."""
    began = time.process_time()
    call()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write benchmarks/record/CPU/DATE-swaps.csv")
    parser.add_argument("--rounds", type=int, default=7, help="rounds, in each of which everyone has a turn")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"parts of {', '.join(WORKS)}")
    options = parser.parse_args()
    titles = f"{'ours ms':>9} {'theirs ms':>10} {'dtwave ms':>10} {'times':>7} {'cost':>7} {'load':>6}"
    print(f"{'work':34} {'series':>9} {titles}")
    found = []
    for name, work in WORKS.items():
        if options.names and not any(part in name for part in options.names):
            continue
        for count, length in SIZES:
            swapped, original, own = work(peers.walks(count, length))
            if not np.allclose(swapped(), original(), rtol=1e-9, atol=1e-9):
                raise SystemExit(f"{name}: other values than the original's: nothing is timed")
            times: list[list[float]] = [[], [], []]
            own()
            for _ in range(options.rounds):
                for taken, call in zip(times, (swapped, original, own)):
                    taken.append(seconds(call))
            bests = [min(taken) for taken in times]
            library = name.split(".")[0]
            versions = [f"{package} {importlib.metadata.version(package)}" for package in ("dtwave", library)]
            written = [f"{best:.4e}" for best in bests]
            found.append([name, f"{count}x{length}", *versions, str(options.rounds), *written, peers.load()])
            ours, theirs, dtwaves = (1e3 * best for best in bests)
            print(
                f"{name:34} {count:>4}x{length:<4} {ours:9.2f} {theirs:10.1f} {dtwaves:10.2f} {theirs / ours:7.1f} "
                f"{100 * (ours / dtwaves - 1):6.1f}% {peers.load():>6}",
                flush=True,
            )
    if options.record:
        print(f"recorded in {peers.record(found, COLUMNS, 'swaps')}")


if __name__ == "__main__":
    main()
