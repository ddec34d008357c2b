"""The distance of one pair, by the shortest way to the engine: users of other libraries call it in loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _distances


def distance(x: NDArray[np.float64], y: NDArray[np.float64], measure: str, band: Any, **parameters: Any) -> float:
    """dtwave's distance of two series `[length, channels]`."""
    if x.shape[1] == 1 and y.shape[1] == 1:
        x, y = x[:, 0], y[:, 0]
    if measure == "dtw" and parameters.get("cost") == "squared_euclidean":
        parameters = {}
    if band is not None:
        parameters["band"] = band
    found: float = _distances.distance(x, y, measure=measure, **parameters)
    return found
