"""sktime: its nearest neighbours and its clusters take a function of two sets of series as their distance.

    pip install sktime
    python python/examples/with_sktime.py

sktime's arrays are `[series, channels, length]`, which is `layout="channels_first"` here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sktime.classification.distance_based import KNeighborsTimeSeriesClassifier

import dtwave


def msm(x: NDArray[np.float64], y: NDArray[np.float64], c: float = 1.0, band: float = 1.0) -> NDArray[np.float64]:
    """All pairs, `[series of x, series of y]`."""
    matrix: NDArray[np.float64] = dtwave.pairwise(x, y, measure="msm", c=c, band=band, layout="channels_first")
    return matrix


def spirals(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Points that turn left or right, beginning anywhere, `[count, 2, 50]`; and which way they turn."""
    random, time = np.random.default_rng(seed), np.linspace(0.0, 6.0, 50)
    turns = np.where(np.arange(count) % 2, 1.0, -1.0)
    angles = turns[:, None] * time + random.uniform(0.0, 1.5, size=(count, 1))
    series = np.stack([np.cos(angles), np.sin(angles)], axis=1) + random.normal(scale=0.2, size=(count, 2, 50))
    return series, np.where(turns > 0, "left", "right")


def main() -> float:
    """Returns the share of the test series that are classified right."""
    train, labels = spirals(20, seed=1)
    test, expected = spirals(40, seed=2)
    model = KNeighborsTimeSeriesClassifier(
        distance=msm, distance_params={"c": 0.5, "band": 0.2}, distance_mtype="numpy3D"
    )
    predicted = model.fit(train, labels).predict(test)
    share = float(np.mean(predicted == expected))
    print(f"sktime's classifier with dtwave's msm: {share:.1%} of {len(test)} series right")
    return share


if __name__ == "__main__":
    main()
