"""A real electrocardiogram for the examples: about one minute of the recording that comes with the project.

It is waveform 3a of the ANSI/AAMI EC13 test waveforms of PhysioNet (Goldberger et al. 2000, DOI
10.1161/01.CIR.101.23.e215; Open Data Commons Attribution License 1.0). Its folder has a README.md.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).parents[2] / "crates/dtwave-cli/data/ecg_aami3a.csv"
#: Samples per second, in the file and as `recording` returns it.
FILE_RATE_HZ, RATE_HZ = 720, 120


def recording() -> NDArray[np.float64]:
    """Millivolts at 120 Hz, `[7180]`: means of six samples of the file."""
    values = np.loadtxt(FILE)
    step = FILE_RATE_HZ // RATE_HZ
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
