"""Every measure on a GPU: billions of cells a second by measure, number type, channels, band and length.

    python benchmarks/python/gpu_measures.py [--measures dtw,erp] [--lengths 64,512] [--channels 1,3,16] [--out FILE]

All pairs of random series that are tensors on the GPU, as are the results; times are those of the GPU's events, the best
of three calls after one to warm up. A cell outside the band is not counted. Before the timing, the first 2 x 2 distances
are compared with those of the CPU in float64.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from typing import Any, NamedTuple

import numpy as np
import torch

import dtwave

PARAMETERS: dict[str, dict[str, Any]] = {
    "dtw": {},
    "adtw": {"penalty": 0.5},
    "wdtw": {"g": 0.05},
    "erp": {"gap": 0.0},
    "edr": {"epsilon": 0.5},
    "lcss": {"epsilon": 0.5},
    "msm": {"c": 0.5},
    "twed": {"nu": 0.01, "lambda_": 1.0},
    "soft_dtw": {"gamma": 1.0},
    "log_gak": {"sigma": 1.0},
}
BAND = 0.1
# Series of x, most series of y, and about how long a call shall take.
SERIES, MOST, SECONDS = 64, 16384, 0.06
# Largest difference from the CPU, of the value; a point at a threshold may count as another one in float32.
TOLERANCE = {torch.float32: 2e-2, torch.float64: 1e-9}


class Work(NamedTuple):
    measure: str
    dtype: torch.dtype
    channels: int
    band: float | None
    length: int

    def series(self, count: int) -> torch.Tensor:
        shape = (count, self.length) if self.channels == 1 else (count, self.length, self.channels)
        return torch.randn(shape, dtype=self.dtype, device="cuda")

    def distances(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return dtwave.pairwise(
            x, y, measure=self.measure, band=self.band, layout="channels_last", **PARAMETERS[self.measure]
        )

    def cells(self) -> float:
        """Cells of a pair that the band allows."""
        radius = self.length if self.band is None else int(self.band * self.length)
        offsets = np.arange(self.length)
        return float(np.minimum(self.length, offsets + radius + 1).sum() - np.maximum(0, offsets - radius).sum())

    def check(self, x: torch.Tensor, y: torch.Tensor) -> None:
        got = self.distances(x[:2], y[:2]).cpu().numpy()
        expected = np.asarray(self.distances(x[:2].cpu().double(), y[:2].cpu().double()))
        worst = float((np.abs(got - expected) / (np.abs(expected) + 1)).max())
        if not worst <= TOLERANCE[self.dtype]:
            raise SystemExit(f"{self}: off by {worst:.1e} of the CPU's value")


def seconds(work: Work) -> tuple[int, float]:
    """Series of y, and the best time of a call."""
    x, count = work.series(SERIES), 256
    while True:
        y = work.series(count)
        work.distances(x, y)
        torch.cuda.synchronize()
        began = time.perf_counter()
        work.distances(x, y)
        torch.cuda.synchronize()
        took = time.perf_counter() - began
        if took > SECONDS / 2 or count >= MOST:
            break
        count = min(MOST, int(count * min(64.0, max(2.0, SECONDS / took))))
    work.check(x, y)
    times = []
    for _ in range(3):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work.distances(x, y)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return count, min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measures", default=",".join(PARAMETERS))
    parser.add_argument("--lengths", default="64,512,4096")
    parser.add_argument("--channels", default="1,3,16")
    parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout, help="a CSV file")
    options = parser.parse_args()
    rows = csv.writer(options.out)
    rows.writerow(["measure", "dtype", "channels", "band", "length", "pairs", "seconds", "gcups"])
    torch.manual_seed(1)
    for length in map(int, options.lengths.split(",")):
        for channels in map(int, options.channels.split(",")):
            for band in (None, BAND):
                for measure in options.measures.split(","):
                    for dtype in (torch.float32, torch.float64):
                        work = Work(measure, dtype, channels, band, length)
                        count, best = seconds(work)
                        rate = SERIES * count * work.cells() / best / 1e9
                        name = str(dtype).removeprefix("torch.")
                        rows.writerow(
                            [measure, name, channels, band or "", length, SERIES * count, f"{best:.6f}", f"{rate:.1f}"]
                        )
                        options.out.flush()


if __name__ == "__main__":
    main()
