"""Predicts how fast the headline kernels are on AMD's GPUs, from their machine code. Nothing here is measured.

    cargo xtask kernels hip --arch gfx90a --arch gfx942 --arch gfx1100
    python benchmarks/predict/amd.py [--out FILE]

writes amd.csv beside this file. README.md says what is counted and where each number of a chip comes from.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path

import amd_code
from amd_code import KINDS, Instruction, Timing, Usage

#: Cycles of a wave of 64 lanes on CDNA: 16 lanes a cycle, and results are there for the next instruction;
#: transcendental functions take four times as long.
CDNA = Timing(
    64,
    {kind: 16.0 if kind == "transcendental" else 4.0 for kind, _ in KINDS},
    {kind: 4.0 for kind, _ in KINDS} | {"transcendental": 16.0, "memory": 320.0, "scratch": 320.0, "local": 20.0},
)
#: Cycles of a wave of 32 lanes on RDNA 3: 32 lanes a cycle, doubles at 1/16 of it (1/32 of two instructions in one).
RDNA3 = Timing(
    32,
    {kind: 1.0 for kind, _ in KINDS} | {"transcendental": 4.0, "double": 16.0},
    {kind: 5.0 for kind, _ in KINDS}
    | {"scalar": 2.0, "transcendental": 10.0, "double": 38.0, "memory": 320.0, "scratch": 320.0, "local": 20.0},
)


@dataclass(frozen=True)
class Gpu:
    """A device as a program sees it, at its highest clock."""

    name: str
    chip: str
    simds: int
    hertz: float
    timing: Timing


GPUS = [
    Gpu("MI210", "gfx90a", 104 * 4, 1.7e9, CDNA),
    Gpu("MI250X, one of two dies", "gfx90a", 110 * 4, 1.7e9, CDNA),
    Gpu("MI300X", "gfx942", 304 * 4, 2.1e9, CDNA),
    Gpu("RX 7900 XTX", "gfx1100", 96 * 2, 2.5e9, RDNA3),
]


@dataclass(frozen=True)
class Work:
    """What is computed, and by which kernels.

    `kernels` matches their names, with lanes, columns and rows as groups; `cell` matches instructions of which each
    cell has `per_cell`. `pairs`: many pairs of n x m cells, or this many, of which strips go to different waves.
    """

    name: str
    dtype: str
    kernels: str
    cell: str
    n: int
    m: int
    per_cell: int = 1
    pairs: int = 0
    paper_secs: float = 0.0


def of_shape(kernel: str) -> str:
    return kernel + r"_(\d+)x(\d+)(?:x(\d+))?$"


#: Two of a cell, as doubles or as the integers that have their bits.
MIN_F64 = r"v_min_f64|v_cmp_lt_[iu]64"
MANY = of_shape(r"dtw_dtw_(?:narrow|wide)_f32_one")
WORKS = [
    *(Work(f"dtw_{length}", "f32", MANY, r"v_min3_\w32", length, length) for length in (127, 511, 1023, 2047)),
    Work("dtw_511", "f64", of_shape("dtw_dtw_narrow_f64_one"), MIN_F64, 511, 511, 2),
    *(
        Work(f"soft_dtw_{length}", "f32", of_shape("dtw_soft_dtw_soft_f32_one"), r"v_exp_f32", length, length)
        for length in (127, 512, 1024)
    ),
    Work("dtw_3_channels_512", "f32", of_shape("dtw_dtw_few_f32_3"), r"v_min3_\w32", 512, 512),
    *(
        Work(f"twed_pair_{n}", "f64", of_shape("dtw_twed_wide_f64_one"), MIN_F64, n, n, 2, 1)
        for n in (65_536, 1_048_576)
    ),
    Work(
        "search_512x2000x100000",
        "f32",
        of_shape("dtw_open_dtw_wide_f32_one"),
        r"v_min3_\w32",
        100_000,
        2000,
        pairs=512,
        # 9.26e-4 G samples a second, of 512 x 2000: the paper's, in half precision, on its own GPU.
        paper_secs=1.106,
    ),
]

#: Rows by which a strip follows the one to its left, and most waves of a SIMD for strips that wait for each other: as
#: measured on an H200 (crates/dtw-kernels/tuning/sm90.toml).
STRIP_LAG, MOST_WAITING = 56, 2


@dataclass(frozen=True)
class Sweep:
    """A kernel's hot loop on a chip, and what a pass through it makes and takes."""

    lanes: int
    columns: int
    rows: int
    cells: int
    loop: list[Instruction]
    issue: float
    alone: float

    @property
    def steps(self) -> float:
        """Bundles of rows in a pass."""
        return self.cells / (self.columns * self.rows)


def swept(chip: str, kernel: str, work: Work, timing: Timing) -> Sweep:
    match = re.fullmatch(work.kernels, kernel)
    assert match, kernel
    lanes, columns, rows = int(match[1]), int(match[2]), int(match[3] or 1)
    code = amd_code.instructions(chip, kernel)
    has_links = "_wide_" in kernel and not ("open_dtw" in kernel and is_one_strip(columns, rows, work.m))
    loop, rest, cells = amd_code.hot_loop(code, work.cell, work.per_cell, columns * rows, has_links)
    issue, alone = amd_code.issued(loop, timing), amd_code.alone(loop, timing)
    if has_links:
        # What a chunk of rows needs besides: its links.
        chunk = 8 if work.dtype == "f64" or columns <= 8 else 16
        share = cells / (columns * rows) * rows / chunk
        issue += amd_code.issued(rest, timing) * share
        alone += sum(timing.issue[at.kind] for at in rest) * share
    return Sweep(lanes, columns, rows, cells, loop, issue, alone)


def is_one_strip(columns: int, rows: int, m: int) -> bool:
    """Whether a search has a version of its own for this: kOne of native/sweeps/wide.cuh."""
    lanes = math.ceil(m / columns)
    return columns >= 32 and rows > 1 and m <= 32 * columns and lanes * columns - m <= lanes - 1


def seconds(work: Work, sweep: Sweep, usage: Usage, gpu: Gpu) -> tuple[float, float]:
    """Seconds of one pair if there are many, else of all pairs: as predicted, and if no wave ever waited."""
    groups = gpu.timing.lanes // 32
    if not work.pairs:
        passes = (math.ceil(work.n / sweep.rows) + math.ceil(work.m / sweep.columns) - 1) / sweep.steps
        pairs = gpu.timing.lanes / sweep.lanes * gpu.simds
        each = max(sweep.issue, sweep.alone / usage.waves)
        return passes * each / pairs / gpu.hertz, passes * sweep.issue / pairs / gpu.hertz
    strips = math.ceil(work.m / (32 * sweep.columns))
    waves = math.ceil(work.pairs / groups) * strips
    most = min(usage.waves, MOST_WAITING) if strips > 1 else usage.waves
    at_once = min(waves, gpu.simds * most)
    rounds = math.ceil(waves / at_once)
    sharing = math.ceil(at_once / gpu.simds)
    chain = work.n + strips * STRIP_LAG + 32 * sweep.rows
    row = max(sweep.alone, sharing * sweep.issue) / sweep.rows / sweep.steps
    issue = waves * (work.n + 32 * sweep.rows) * sweep.issue / sweep.rows / sweep.steps / gpu.simds
    return max(rounds * chain * row, issue) / gpu.hertz, issue / gpu.hertz


def rows_of(gpu: Gpu, work: Work) -> list[dict[str, object]]:
    """Every kernel that can do the work, the fastest first; of many pairs the fastest alone."""
    found = []
    for kernel, usage in amd_code.usages(gpu.chip).items():
        match = re.fullmatch(work.kernels, kernel)
        if match is None or (not work.pairs and int(match[1]) * int(match[2]) < work.m):
            continue
        sweep = swept(gpu.chip, kernel, work, gpu.timing)
        secs, limit = seconds(work, sweep, usage, gpu)
        cells = work.n * work.m * max(work.pairs, 1)
        count = amd_code.counts(sweep.loop)
        row: dict[str, object] = {
            "gpu": gpu.name,
            "chip": gpu.chip,
            "work": work.name,
            "dtype": work.dtype,
            "kernel": kernel,
            "vgprs": usage.vgprs,
            "agprs": usage.agprs,
            "scratch_bytes": usage.scratch_bytes,
            "waves_a_simd": usage.waves,
        }
        row |= {f"{kind}_a_cell": f"{count[kind] / sweep.cells:.3f}" for kind, _ in KINDS}
        row |= {
            "issue_cycles_a_cell": f"{sweep.issue / sweep.cells:.3f}",
            "alone_cycles_a_cell": f"{sweep.alone / sweep.cells:.3f}",
            "limit_tcups": f"{cells / limit / 1e12:.4g}",
            "predicted_tcups": f"{cells / secs / 1e12:.4g}",
            "predicted_ms": f"{secs * 1e3:.4g}" if work.pairs else "",
            "paper_ms": f"{work.paper_secs * 1e3:.0f}" if work.paper_secs else "",
        }
        found.append((secs, row))
    if not found:
        raise SystemExit(f"no kernel for {work.name} on {gpu.chip}: `cargo xtask kernels hip` builds them all")
    ordered = [row for _, row in sorted(found, key=lambda item: item[0])]
    return ordered if work.pairs else ordered[:1]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("amd.csv"))
    options = parser.parse_args()
    table = [row for gpu in GPUS for work in WORKS for row in rows_of(gpu, work)]
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, table[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    for row in table:
        names = ("gpu", "work", "dtype", "kernel", "predicted_tcups", "limit_tcups", "predicted_ms")
        print(*(row[name] for name in names))


if __name__ == "__main__":
    main()
