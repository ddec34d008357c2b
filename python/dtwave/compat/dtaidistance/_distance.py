"""The distance of two series, with the settings of dtaidistance."""

from __future__ import annotations

import math
from typing import Any

from .. import _one
from ._series import pair
from ._settings import DTWSettings


def distance(s1: Any, s2: Any, **kwargs: Any) -> float:
    """The distance of two series, `[length]` or `[length, channels]`. Keyword arguments: those of `DTWSettings`."""
    settings = DTWSettings.wrap(kwargs)
    x, y = pair(s1, s2)
    if settings.too_long(len(x), len(y)):
        return float("inf")
    if settings.needs_grid:
        grid = settings.grid(x, y)
        return float(settings.finished(grid[settings.end(grid)]))
    measure, parameters = settings.measure()
    found = _one.distance(x, y, measure, settings.band(), **parameters)
    if settings.max_dist and found > settings.inner(settings.max_dist):
        return float("inf")
    return math.sqrt(found) if settings.is_squared else found
