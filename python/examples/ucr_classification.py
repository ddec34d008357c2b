"""Classification as the tables of the UCR archive do it: the nearest neighbour under DTW, in a window that is learned.

    pip install '.[sklearn]'
    python python/examples/ucr_classification.py
    python python/examples/ucr_classification.py GunPoint_TRAIN.tsv GunPoint_TEST.tsv

The window is chosen on the training series alone, by leaving one out (Dau et al. 2019, 10.1109/JAS.2019.1911747). Files
are the archive's: a series per line, its label first, NaN at the end where series differ in length. Without files,
series are made: cylinder, bell and funnel (Saito 1994), three shapes with random begin, end and height in noise.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dtwave
from dtwave.sklearn import KNeighborsTimeSeriesClassifier, LeaveOneOutBand

#: Series of any lengths, and the label of each.
Labelled = tuple[list[NDArray[np.float64]], NDArray[np.str_]]


def read(path: Path) -> Labelled:
    """The series of a file, without the padding at their ends."""
    lines = [line.replace(",", " ").split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    series = []
    for line in lines:
        values = np.array(line[1:], dtype=np.float64)
        there = np.flatnonzero(~np.isnan(values))
        series.append(values[: there[-1] + 1] if len(there) else values[:0])
    return series, np.array([line[0] for line in lines])


def cylinder_bell_funnel(count: int, seed: int) -> Labelled:
    """Series of the three classes in turn, 128 points each."""
    random, time = np.random.default_rng(seed), np.arange(128)
    series, labels = [], []
    for number in range(count):
        begin, length = random.integers(16, 33), random.integers(32, 97)
        inside = (time >= begin) & (time <= begin + length)
        rise = (time - begin) / length
        shapes = {"cylinder": np.ones(128), "bell": rise, "funnel": 1.0 - rise}
        label = list(shapes)[number % 3]
        series.append((6.0 + random.normal()) * inside * shapes[label] + random.normal(size=128))
        labels.append(label)
    return series, np.array(labels)


def errors(train: Labelled, test: Labelled) -> tuple[LeaveOneOutBand, dict[str, float]]:
    """How the window was chosen, and the share of the test series that is classified wrong, by what the window is."""
    series, asked = dtwave.normalize(train[0]), dtwave.normalize(test[0])
    learned = KNeighborsTimeSeriesClassifier(band="leave_one_out").fit(series, train[1])
    models = {
        "no warping": KNeighborsTimeSeriesClassifier(band=0).fit(series, train[1]),
        "learned window": learned,
        "no window": KNeighborsTimeSeriesClassifier().fit(series, train[1]),
    }
    found = {name: 1.0 - float(model.score(asked, test[1])) for name, model in models.items()}
    return learned.leave_one_out_, found


def main(arguments: list[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="the training series and the test series")
    files = parser.parse_args(arguments).files
    if len(files) not in (0, 2):
        parser.error(f"expected two files, of training and of test series, got {len(files)}")
    if files:
        train, test = read(files[0]), read(files[1])
    else:
        train, test = cylinder_bell_funnel(30, seed=1), cylinder_bell_funnel(300, seed=2)
    print(f"{len(train[0])} training series, {len(test[0])} test series, {len(set(train[1]))} classes")
    chosen, found = errors(train, test)
    print(f"the window {chosen.band:.0%} classifies {chosen.score:.1%} of the training series right, one left out")
    for name, error in found.items():
        print(f"{name}: error {error:.4f}")
    return found


if __name__ == "__main__":
    main()
