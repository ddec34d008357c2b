"""A simulator of the schedule of tiles, for jobs beyond one machine.

    python benchmarks/scale/simulate.py parameters             # every number, with its unit and source
    python benchmarks/scale/simulate.py check [--record]       # predicted and measured runs
    python benchmarks/scale/simulate.py table                  # 10^12 pairs on 8, 64 and 1,024 devices
    python benchmarks/scale/simulate.py job --device core --workers 256 --series 200000 --length 128 --output edges

`--set link=12.5e9` changes a parameter, and may be given several times. `--measured FILE` takes another record of
measure.py. Nothing here runs dtwave: all output but the column `measured` is simulated.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import checks
import model
from events import Outcome
from model import Job

COUNTS = (8, 64, 1024)
#: Devices at most, where it is asked how many are too many.
MOST = 4096
#: What the table's rows are: outputs, and who shares out the tiles.
KINDS = (("matrix", "dask"), ("matrix", "shards"), ("nearest", "dask"), ("edges", "dask"))


def time_text(seconds: float) -> str:
    for unit, name in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} s"


def hours_text(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.2g}"


def percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else f"{share:.2%}"


def cell(outcome: Outcome, merging: float) -> str:
    """Time, device-hours, efficiency, and what binds."""
    hours, whole = outcome.workers * outcome.seconds / 3600, outcome.seconds + merging
    part = outcome.seconds / whole
    shares = {name: share * part for name, share in outcome.by_resource().items()}
    bound = max({**shares, "merging": 1 - part}.items(), key=lambda each: each[1])[0]
    return f"{time_text(whole)}, {hours_text(hours)}, {percent(outcome.efficiency * part)}, {bound}"


def limit(job: Job, values: model.Values, seed: int) -> str:
    """The most devices, of powers of two, that work for half of the time until the result is whole."""
    count = 1
    while count <= MOST:
        own = replace(job, workers=count)
        outcome = model.simulated(own, values, seed)
        if outcome.efficiency * outcome.seconds / (outcome.seconds + model.merging(own, values)) < 0.5:
            return f"{count // 2:,}" if count > 1 else "none"
        count *= 2
    return f"{MOST:,} or more"


def table(values: model.Values, series: int, seed: int) -> Iterator[str]:
    titles = ["output, by", "device", "points", *(f"{count:,}" for count in COUNTS), "half at"]
    yield f"| {' | '.join(titles)} |"
    yield "| --- " * len(titles) + "|"
    for output, by in KINDS:
        for device in ("h200", "core"):
            for length in (128, 512):
                jobs = [Job(device, count, series, length, output, by) for count in COUNTS]
                cells = [cell(model.simulated(job, values, seed), model.merging(job, values)) for job in jobs]
                row = [f"{output}, {by}", device, str(length), *cells, limit(jobs[0], values, seed)]
                yield f"| {' | '.join(row)} |"


def told(job: Job, values: model.Values, seed: int) -> Iterator[str]:
    """One job, with all shares."""
    outcome = model.simulated(job, values, seed)
    tiles, rows, columns = model.shape_of_tiles(job, values["larger_tiles"])
    memory = model.listed(job, values) * values["plan_tile_memory"]
    yield f"{job}: {tiles:,} tiles of {rows:,} x {columns:,}"
    yield f"{time_text(outcome.seconds)}, efficiency {outcome.efficiency:.1%}, {outcome.failures} failures"
    yield f"merging: {time_text(model.merging(job, values))}; list of tiles: {memory / 1e9:.3g} GB"
    yield ", ".join(f"{name} {share:.1%}" for name, share in outcome.shares().items())


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    found.add_argument("what", choices=["parameters", "check", "table", "job"])
    found.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    found.add_argument("--measured", default=str(model.MEASURED), metavar="FILE")
    found.add_argument("--seed", type=int, default=0)
    found.add_argument("--series", type=int, default=1_000_000, help="series of a side (default: %(default)s)")
    found.add_argument("--device", choices=["h200", "core"], default="h200")
    found.add_argument("--workers", type=int, default=8)
    found.add_argument("--length", type=int, choices=[128, 512], default=128)
    found.add_argument("--output", choices=["matrix", "nearest", "edges"], default="matrix")
    found.add_argument("--by", choices=["dask", "shards"], default="dask")
    found.add_argument("--record", action="store_true", help="of check: write benchmarks/record/CPU/DATE-....csv")
    return found


def main() -> None:
    """Reads the command line and prints."""
    given = parser().parse_args()
    if given.by == "shards" and given.output != "matrix":
        raise SystemExit("shards are of a matrix: leave --output out")
    measured = model.Measured(Path(given.measured))
    known = model.with_values(model.parameters(measured), given.set)
    values = {name: each.value for name, each in known.items()}
    if given.what == "parameters":
        for name, each in known.items():
            print(f"{name:18} {each.value:>10.4g} {each.unit:8} {each.source}")
    elif given.what == "check":
        checks.check(measured, values, given.record)
    elif given.what == "table":
        print(f"Simulated: {given.series:,} series with as many others, DTW, f32.")
        print("Time, device-hours, efficiency, what binds; the most devices with half efficiency:")
        for line in table(values, given.series, given.seed):
            print(line, flush=True)
    else:
        job = Job(given.device, given.workers, given.series, given.length, given.output, given.by)
        print("Simulated.", *told(job, values, given.seed), sep="\n")


if __name__ == "__main__":
    main()
