"""A real electrocardiogram for the examples: the recording that comes with the package, at a lower rate.

`help(dtwave.datasets.ecg)` names its source and licence.
"""

import numpy as np
from numpy.typing import NDArray

import dtwave

#: Samples per second, as `recording` returns them.
RATE_HZ = 120


def recording() -> NDArray[np.float64]:
    """Millivolts at 120 Hz, `[7180]`: means of six samples of `dtwave.datasets.ecg`."""
    values = dtwave.datasets.ecg().astype(np.float64)
    step = dtwave.datasets.ECG_RATE_HZ // RATE_HZ
    means: NDArray[np.float64] = values[: len(values) // step * step].reshape(-1, step).mean(1)
    return means


def beats() -> list[NDArray[np.float64]]:
    """From one deep downward stroke to the next, `[length]` each; lengths differ by a few samples.

    In this recording every second beat has such a stroke, so each stretch is two beats.
    """
    values = recording()
    deep = values < -0.3
    strokes = np.flatnonzero(deep[1:] & ~deep[:-1])
    return [values[start:end] for start, end in zip(strokes, strokes[1:])]
