"""Searches in half precision beside full precision, on the first CUDA device: times of both, how many queries were
searched whole, and how many matches of full precision were found.

    python benchmarks/python/half.py

Series are on the device (PyTorch) before the clock starts, and matches are on the host when it stops: the best of five
calls, after one that is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import dtwave

POINTS, LENGTH = 100_000, 2_000


def walk(draw: np.random.Generator, points: int) -> Any:
    return np.cumsum(draw.normal(size=points))


def noise(draw: np.random.Generator, points: int) -> Any:
    return draw.normal(size=points)


def plateaus(draw: np.random.Generator, points: int) -> Any:
    """Levels of 127 points with noise of 1%."""
    return np.repeat(draw.normal(size=points // 127 + 1), 127)[:points] + 0.01 * draw.normal(size=points)


def drifting(draw: np.random.Generator, points: int) -> Any:
    """A wave with noise that drifts by many times its height."""
    at = np.arange(points)
    return np.sin(at / 40) + at / 2_000 + 0.1 * draw.normal(size=points)


def codes(draw: np.random.Generator, points: int) -> Any:
    """A walk in whole numbers of 8 bits."""
    raw = walk(draw, points)
    return np.round(255 * (raw - raw.min()) / np.ptp(raw))


def waves(draw: np.random.Generator, points: int) -> Any:
    """A wave without noise: each period is as good a match as any."""
    return np.sin(np.arange(points) / 25)


def ecg(draw: np.random.Generator, points: int) -> Any:
    """The recording that comes with the package, over and over."""
    beats = np.asarray(dtwave.datasets.ecg()).ravel()
    return np.resize(beats, points) + 0.01 * beats.std() * draw.normal(size=points)


MADE: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "random walk": walk,
    "noise": noise,
    "ECG": ecg,
    "plateaus, 1% noise": plateaus,
    "drifting wave": drifting,
    "codes of 8 bits": codes,
    "wave, near ties": waves,
}


def tensor(values: Any) -> Any:
    return torch.as_tensor(np.ascontiguousarray(values, dtype=np.float32), device="cuda")


def best(call: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds of a call, and its result."""
    found, least = call(), float("inf")
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        found = call()
        least = min(least, time.perf_counter() - start)
    return 1e3 * least, found


def row(name: str, queries: Any, reference: Any, k: int) -> None:
    times, found = zip(
        *(best(lambda: dtwave.search_all(queries, reference, k=k, precision=how)) for how in ("full", "half"))
    )
    full, half = found
    whole = sum(not matches.proposed for matches in half)
    wanted = sum(map(len, full))
    same = sum(match in matches for matches, own in zip(half, full, strict=True) for match in own)
    # Another match may cost as much: then no hit is missed.
    as_good = sum(
        [match.distance for match in matches] == [match.distance for match in own]
        for matches, own in zip(half, full, strict=True)
    )
    times_told = f"{times[0]:.1f} | {times[1]:.1f}"
    recall = f"{same} of {wanted} | {as_good}"
    print(f"| {name} | {len(queries)} | {k} | {times_told} | {whole} | {recall} |", flush=True)


def main() -> None:
    print(torch.cuda.get_device_name(), "dtwave", dtwave.__version__)
    titles = ["series", "queries", "k", "full, ms", "half, ms", "searched whole", "matches found", "queries as good"]
    print(f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}")
    for name, make in MADE.items():
        draw = np.random.default_rng(7)
        reference = make(draw, POINTS)
        starts = draw.integers(0, POINTS - LENGTH, 512)
        queries = np.stack([reference[start : start + LENGTH] for start in starts])
        queries = queries + 0.2 * reference.std() * draw.normal(size=queries.shape) / (1 + (make in (walk, codes)) * 9)
        for k in (1, 10):
            row(name, tensor(queries), tensor(reference), k)
    draw = np.random.default_rng(8)
    for name, make in (("random walk", walk), ("noise", noise)):
        row(f"{name}, elsewhere", tensor([make(draw, LENGTH) for _ in range(512)]), tensor(make(draw, POINTS)), 1)
    long = walk(draw, 20_000_000)
    row("one query in 20 million", tensor(long[None, 5_000_000 : 5_000_000 + LENGTH] + 0.1), tensor(long), 1)


if __name__ == "__main__":
    main()
