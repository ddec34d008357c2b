"""dtaidistance's settings of DTW: what a call allows, and what its numbers mean."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from .. import _grids
from .._numbers import Floats
from .._refuse import argument

#: dtaidistance's names of local costs, and dtwave's.
_COSTS = {"squared euclidean": "squared_euclidean", "euclidean": "euclidean"}


@dataclass
class DTWSettings:
    """Arguments that dtaidistance's functions share.

    window: points may match if they are less than `window` apart (the longer series further, by the difference of the
    lengths); 1 is the diagonal alone. max_dist: a larger distance is infinite. max_step: points further apart do not
    match. max_length_diff: series whose lengths differ by more are infinitely far apart. penalty: of a step off the
    diagonal. psi: how many points may be left out at the begin and end of both series: one number, or four (begin and
    end of the first series, begin and end of the second). inner_dist: "squared euclidean", whose result is a root, or
    "euclidean". use_ndim: whether points are vectors; found by itself. use_pruning, use_c: change the time alone in
    dtaidistance, and nothing here.
    """

    window: int | None = None
    use_pruning: bool | None = False
    max_dist: float | None = None
    max_step: float | None = None
    max_length_diff: int | None = None
    penalty: float | None = None
    psi: Any = None
    inner_dist: Any = "squared euclidean"
    use_ndim: bool | None = False
    use_c: bool | None = False

    def __post_init__(self) -> None:
        # `InnerDistType` of dtaidistance has the name as its value.
        name = getattr(self.inner_dist, "value", self.inner_dist)
        if not isinstance(name, str) or name not in _COSTS:
            raise argument("dtaidistance.dtw", "inner_dist", self.inner_dist, 'it has "squared euclidean", "euclidean"')
        self.inner_dist = name
        if self.window is not None and index(self.window) < 1:
            raise ValueError(f"window must be at least 1, the diagonal alone, or None for no window; got {self.window}")
        for what in ("max_dist", "max_step", "penalty", "max_length_diff"):
            value = getattr(self, what)
            if value is not None and not value >= 0:
                raise ValueError(f"{what} must be at least 0, or None; got {value}")
        if self.psi is not None:
            self.split_psi()

    @staticmethod
    def wrap(settings: Any) -> DTWSettings:
        """These settings, or those of a dictionary of arguments.

        Errors: `TypeError` for a name that is not there.
        """
        if isinstance(settings, DTWSettings):
            return settings
        given = dict(settings or {})
        if "dtw_settings" in given:
            if len(given) > 1:
                raise ValueError(f"dtw_settings goes alone, got {', '.join(sorted(given))}")
            found: DTWSettings = given["dtw_settings"]
            return found
        return DTWSettings(**given)

    @property
    def is_squared(self) -> bool:
        """Whether costs are squares, and results roots."""
        return bool(self.inner_dist == "squared euclidean")

    @property
    def cost(self) -> str:
        """dtwave's local cost."""
        return _COSTS[self.inner_dist]

    def inner(self, value: float | None) -> float:
        """A threshold in the unit of the accumulated cost; 0 for none."""
        if not value:
            return 0.0
        return float(value) ** 2 if self.is_squared else float(value)

    def result(self, cost: Any) -> Any:
        """Accumulated costs as distances."""
        return np.sqrt(cost) if self.is_squared else cost

    def split_psi(self) -> tuple[int, int, int, int]:
        """Begin and end of the first series, begin and end of the second.

        Errors: `ValueError` for other than one or four whole numbers of at least 0.
        """
        given = self.psi
        if given is None:
            return 0, 0, 0, 0
        parts = list(given) if isinstance(given, (tuple, list, np.ndarray)) else [given]
        parts = parts * 4 if len(parts) == 1 else parts
        if len(parts) != 4 or any(not hasattr(part, "__index__") or part < 0 for part in parts):
            raise ValueError(f"psi must be one or four whole numbers of at least 0, got {given!r}")
        first, second, third, fourth = map(int, parts)
        return first, second, third, fourth

    @property
    def needs_grid(self) -> bool:
        """Whether dtwave's engine does not compute this."""
        return any(self.split_psi()) or bool(self.max_step) or (bool(self.penalty) and not self.is_squared)

    def too_long(self, n: int, m: int) -> bool:
        """Whether lengths differ by more than they may."""
        return self.max_length_diff is not None and abs(n - m) > self.max_length_diff

    def band(self) -> int | None:
        """dtwave's radius."""
        return None if self.window is None else int(self.window) - 1

    def measure(self) -> tuple[str, dict[str, Any]]:
        """dtwave's measure, with its parameters."""
        if self.penalty:
            return "adtw", {"penalty": self.inner(self.penalty)}
        return "dtw", {"cost": self.cost}

    def finished(self, costs: Any) -> Any:
        """Distances of accumulated costs, infinite above `max_dist`."""
        limit = self.inner(self.max_dist)
        return self.result(np.where(np.asarray(costs) > limit, np.inf, costs) if limit else costs)

    def grid(self, x: Floats, y: Floats) -> Floats:
        """Accumulated costs of all prefixes, `[n + 1, m + 1]`, of `[length, channels]`."""
        n, m = len(x), len(y)
        costs = _grids.squared(x, y)
        costs = costs if self.is_squared else np.sqrt(costs)
        if self.max_step:
            costs[costs > self.inner(self.max_step)] = np.inf
        if self.window is not None:
            radius = int(self.window) - 1
            ahead = np.arange(m)[None, :] - np.arange(n)[:, None]
            costs[(ahead < -radius - max(0, n - m)) | (ahead > radius + max(0, m - n))] = np.inf
        # The border is a row and a column of costs: 0 is reached where psi lets paths begin, behind each penalty.
        begin_x, _, begin_y, _ = self.split_psi()
        penalty = self.inner(self.penalty)
        whole = np.full((n + 1, m + 1), np.inf)
        whole[0, : begin_y + 1] = whole[: begin_x + 1, 0] = -penalty
        whole[0, 0] = 0.0
        whole[1:, 1:] = costs
        return _grids.accumulated(whole, "adtw", penalty=penalty)

    def end(self, grid: Floats) -> tuple[int, int]:
        """The cell of a grid where the best path ends: the last one, or within `psi` of it."""
        _, end_x, _, end_y = self.split_psi()
        n, m = grid.shape[0] - 1, grid.shape[1] - 1
        up, left = grid[max(1, n - end_x) :, m][::-1], grid[n, max(1, m - end_y) :][::-1]
        i, j = int(up.argmin()), int(left.argmin())
        return (n - i, m) if end_x and up[i] < left[j] or not end_y else (n, m - j)
