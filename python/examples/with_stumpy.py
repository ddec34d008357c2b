"""stumpy: a matrix profile under DTW, which stumpy then cuts into regimes.

    pip install stumpy
    python python/examples/with_stumpy.py

stumpy computes matrix profiles under the z-normalised Euclidean distance. Some of its functions take a profile that is
there already, whatever it was computed with: `fluss` needs only which window is nearest to which.
"""

from __future__ import annotations

import numpy as np
import stumpy
from numpy.typing import NDArray

import dtwave


def two_regimes(seed: int) -> tuple[NDArray[np.float64], int]:
    """Waves of one shape, then of another, of lengths that vary from wave to wave; and where the second begin."""
    random = np.random.default_rng(seed)
    waves: list[NDArray[np.float64]] = []
    for number in range(40):
        phase = np.linspace(0.0, 2.0 * np.pi, int(random.integers(12, 21)), endpoint=False)
        waves.append(np.sin(phase) if number < 20 else np.sin(phase) + 0.8 * np.cos(2.0 * phase))
    values = np.concatenate(waves)
    return values + random.normal(scale=0.05, size=len(values)), sum(map(len, waves[:20]))


def nearest_windows(values: NDArray[np.float64], window: int, band: int) -> NDArray[np.int64]:
    """For each window of the series the most similar one that is not nearly the same, `[windows]`: under DTW."""
    windows = dtwave.normalize(np.lib.stride_tricks.sliding_window_view(values, window))
    distances = dtwave.pairwise(windows, band=band)
    places = np.arange(len(windows))
    distances[np.abs(places[:, None] - places) <= window // 2] = np.inf
    nearest: NDArray[np.int64] = distances.argmin(axis=1)
    return nearest


def main() -> tuple[int, int]:
    """Returns where stumpy cuts the series, and where its second regime begins."""
    values, begin = two_regimes(seed=4)
    window = 24
    nearest = nearest_windows(values, window, band=4)
    _, cuts = stumpy.fluss(nearest, L=window, n_regimes=2, excl_factor=2)
    cut = int(cuts[0])
    print(f"stumpy cuts the series at {cut}; its shape changes at {begin}, and windows are {window} long")
    return cut, begin


if __name__ == "__main__":
    main()
