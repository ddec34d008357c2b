"""A walk through the package: distances, a matrix, neighbours, a path, a search, an average, clusters.

    pip install .
    python python/examples/tour.py
"""

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dtwave


def bumps(count: int, seed: int) -> NDArray[np.float64]:
    """Series of one or two bumps, early and late, in turn: `[count, 60]`."""
    random, time = np.random.default_rng(seed), np.arange(60.0)
    series = []
    for s in range(count):
        delay = random.uniform(-6.0, 6.0)
        centers = [30.0] if s % 2 == 0 else [18.0, 42.0]
        shape = sum(np.exp(-((time - center - delay) ** 2) / 20.0) for center in centers)
        series.append(shape + random.normal(scale=0.02, size=60))
    return np.array(series)


def main() -> None:
    series = bumps(20, seed=1)
    kinds = np.arange(20) % 2
    msm = dtwave.Msm(c=0.1)

    print("two series:", dtwave.distance(series[0], series[2], measure=msm, band=0.2))
    print("what matches:", dtwave.align(series[0], series[2], band=dtwave.Slanted(8)))

    matrix = dtwave.pairwise(series, measure=msm)
    print("a matrix:", matrix.shape, "of", matrix.dtype)
    with tempfile.TemporaryDirectory() as folder:
        stored = dtwave.pairwise(series, measure=msm, out=Path(folder) / "distances.npy")
        print("the same in a file:", np.array_equal(stored, matrix))
        del stored

    graph = dtwave.pairwise(series, measure=msm, k=3)
    print("a sparse graph:", graph)
    neighbors = dtwave.nearest(series, k=3, measure=msm)
    print("neighbours of one kind:", np.mean(kinds[neighbors.indices] == kinds[:, None]))
    predicted = dtwave.classify(series, kinds, bumps(10, seed=2), measure="twed", nu=0.01, lambda_=0.5)
    print("classified right:", np.mean(predicted == np.arange(10) % 2))

    recording = np.concatenate(bumps(40, seed=3))
    for match in dtwave.search(series[0], recording, k=3, exclusion=60):
        print("a match:", match)

    average = dtwave.barycenter(series[::2], measure="soft_dtw", gamma=0.1)
    print("an average:", average)
    print("clusters:", dtwave.kmeans(series, 2, seed=1))
    values, slopes, _ = dtwave.gradients(series[:2], series[2:4], gamma=0.5)
    print("gradients:", values.shape, slopes.shape)


if __name__ == "__main__":
    main()
