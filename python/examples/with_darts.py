"""darts: a model is chosen by an error that allows forecasts to be a little early or late.

    pip install darts
    python python/examples/with_darts.py

`gridsearch` takes a function of two series as its error. The peaks of the series here come some hours early or late.
The squared error counts a forecast peak that is late twice: where it is, and where it should be. So it prefers a flat
forecast, without peaks. The error with a penalty for warping (ADTW) prefers the forecast with the peaks.
"""

from __future__ import annotations

import numpy as np
from darts import TimeSeries
from darts.metrics import mse
from darts.models import NaiveSeasonal

import dtwave


def elastic(actual: TimeSeries, forecast: TimeSeries) -> float:
    """ADTW of a forecast and what came, in a window of 6 points, per point."""
    both = actual.slice_intersect(forecast), forecast.slice_intersect(actual)
    x, y = (series.values() for series in both)
    return float(dtwave.distance(x, y, measure="adtw", penalty=0.01, band=6)) / len(x)


def days(count: int, seed: int) -> TimeSeries:
    """A peak a day, at about noon, hour by hour."""
    random, hours = np.random.default_rng(seed), np.arange(24.0)
    peaks = [np.exp(-((hours - 12.0 - random.uniform(-5.0, 5.0)) ** 2) / 2.0) for _ in range(count)]
    return TimeSeries.from_values(np.concatenate(peaks))


def main() -> dict[str, int]:
    """Returns the number of hours that the chosen model repeats, by the error that chose it: 24 is a day, 1 is flat."""
    past, future = days(14, seed=1), days(14, seed=2)
    series = past.append_values(future.values())
    chosen = {}
    for name, error in {"squared error": mse, "adtw": elastic}.items():
        _, parameters, value = NaiveSeasonal.gridsearch(
            {"K": [1, 24]}, series[: len(past)], val_series=series[len(past) :], metric=error
        )
        chosen[name] = parameters["K"]
        print(f"{name}: repeats the last {parameters['K']} hours, error {value:.4f}")
    return chosen


if __name__ == "__main__":
    main()
