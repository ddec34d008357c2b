"""A recording that comes with the package, to try things on.

>>> import dtwave
>>> dtwave.datasets.ecg().shape
(43081,)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _native

__all__ = ["ECG_RATE_HZ", "ecg"]


def __dir__() -> list[str]:
    return __all__


#: Samples of `ecg` per second.
ECG_RATE_HZ = 720


def ecg() -> NDArray[np.float32]:
    """One minute of an electrocardiogram: `[43081]` in millivolts, 720 samples per second (`ECG_RATE_HZ`).

    It is waveform 3a of the ANSI/AAMI EC13 test waveforms of PhysioNet, https://physionet.org/content/aami-ec13/1.0.0/,
    with unchanged values, under the Open Data Commons Attribution License 1.0,
    https://opendatacommons.org/licenses/by/1-0/. Please cite Goldberger et al. 2000, 10.1161/01.CIR.101.23.e215.

    Returns a new array at each call; samples 500 to 1050 are one beat.

    >>> import dtwave
    >>> recording = dtwave.datasets.ecg()
    >>> round(len(recording) / dtwave.datasets.ECG_RATE_HZ)
    60
    """
    return _native.ecg()
