"""Clusters of delayed peaks, around averages, and a plot of them.

pip install '.[plots]'
python python/examples/clusters.py --out clusters.svg
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from numpy.typing import NDArray

import dtwave


def peaks(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Series with one, two or three peaks in turn, at random places, `[count, 100]`; and how many peaks they have."""
    random, time = np.random.default_rng(seed), np.arange(100.0)
    series, numbers = [], 1 + np.arange(count) % 3
    for number in numbers:
        places = np.arange(1, number + 1) * 100.0 / (number + 1) + random.uniform(-8.0, 8.0)
        shape = np.exp(-((time - places[:, None]) ** 2) / 50.0).sum(axis=0)
        series.append(shape + random.normal(scale=0.05, size=100))
    return np.array(series), numbers


def draw(clusters: dtwave.KMeans, series: NDArray[np.float64], path: Path) -> None:
    """Each cluster with its average, side by side."""
    figure, axes = pyplot.subplots(
        1, len(clusters.centers), figsize=(9.0, 2.6), sharey=True, layout="constrained", squeeze=False
    )
    for number, (center, ax) in enumerate(zip(clusters.centers, axes[0])):
        members = series[clusters.labels == number]
        dtwave.plots.barycenter(center, members, ax=ax)
        ax.set_title(f"cluster {number}: {len(members)} series")
    figure.savefig(path)
    pyplot.close(figure)


def main(arguments: list[str] | None = None) -> float:
    """Returns the share of the pairs of series on which clusters and peaks agree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=Path("clusters.svg"), help="where the plot goes: .svg, .png or .pdf"
    )
    path = parser.parse_args(arguments).out
    series, numbers = peaks(45, seed=3)
    clusters = dtwave.kmeans(series, 3, band=0.3, restarts=5, seed=1)
    print(clusters)
    together = clusters.labels[:, None] == clusters.labels
    agreement = float(np.mean(together == (numbers[:, None] == numbers)))
    print(f"clusters and numbers of peaks agree on {agreement:.1%} of the pairs")
    draw(clusters, series, path)
    print(f"drawn in {path}")
    return agreement


if __name__ == "__main__":
    main()
