"""tslearn's global constraints: as masks of points that may match, and as bands of dtwave."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from ..._bands import Band, SakoeChiba
from .._grids import Mask, ranges
from ._series import home

#: Names of constraints and their numbers, which some arguments take.
GLOBAL_CONSTRAINT_CODE = {None: 0, "": 0, "itakura": 1, "sakoe_chiba": 2}


@dataclass(frozen=True)
class Constraint:
    """Which points may match: those within `radius` points, those of slopes up to `slope`, or all."""

    radius: int | None = None
    slope: float | None = None

    @property
    def is_itakura(self) -> bool:
        return self.slope is not None

    def band(self, n: int, m: int) -> Band:
        """That of series of `n` and `m` points.

        Errors: `RuntimeWarning`, raised, for a slope that leaves no path, as tslearn raises it.
        """
        if self.radius is not None:
            return SakoeChiba(self.radius)
        return None if self.slope is None else ranges(self.mask(n, m))

    def mask(self, n: int, m: int) -> Mask:
        """`[n, m]`, True where points may match."""
        if self.radius is not None:
            return _sakoe_chiba(n, m, self.radius)
        return np.full((n, m), True) if self.slope is None else _itakura(n, m, self.slope)


def constraint(kind: Any, radius: Any, slope: Any) -> Constraint:
    """What tslearn's three arguments mean; `kind` is a name or its number.

    Errors: `ValueError` for another kind, `RuntimeWarning`, raised as tslearn raises it, where two are possible.
    """
    if kind not in GLOBAL_CONSTRAINT_CODE and kind not in (0, 1, 2):
        raise ValueError(f'global_constraint must be None, "itakura" or "sakoe_chiba", got {kind!r}')
    code = GLOBAL_CONSTRAINT_CODE[kind] if kind is None or isinstance(kind, str) else int(kind)
    if code == 0 and radius is not None and slope is not None:
        raise RuntimeWarning(
            "global_constraint is not set, but sakoe_chiba_radius and itakura_max_slope are: name the one to use"
        )
    if code == 2 or (code == 0 and radius is not None):
        if radius is not None and (isinstance(radius, bool) or not hasattr(radius, "__index__")):
            raise TypeError(f"sakoe_chiba_radius must be a whole number of points, got {radius!r}")
        return Constraint(radius=1 if radius is None else index(radius))
    if code == 1 or (code == 0 and slope is not None):
        return Constraint(slope=2.0 if slope is None else float(slope))
    return Constraint()


def _sakoe_chiba(n: int, m: int, radius: int) -> Mask:
    ahead = np.arange(m)[None, :] - np.arange(n)[:, None]
    near: Mask = (ahead >= -radius - max(0, n - m)) & (ahead <= radius + max(0, m - n))
    return near


def _itakura(n: int, m: int, slope: float) -> Mask:
    if not slope > 0:
        raise ValueError(f"itakura_max_slope must be positive, got {slope}")
    steep, flat = slope * n / m, n / (slope * m)
    j = np.arange(m)
    # Lines are rounded to hundredths, so that cells at the edge are tslearn's.
    lower = np.ceil(np.maximum(np.round(flat * j, 2), np.round(n - 1 - steep * (m - 1) + steep * j, 2)))
    upper = np.floor(np.minimum(np.round(steep * j, 2), np.round(n - 1 - flat * (m - 1) + flat * j, 2)) + 1)
    i = np.arange(n)[:, None]
    mask: Mask = (i >= lower) & (i < upper)
    if not (mask.any(axis=0).all() and mask.any(axis=1).all()):
        raise RuntimeWarning(
            f"itakura_max_slope={slope} leaves no path for series of {n} and {m} points: take a larger one"
        )
    return mask


def sakoe_chiba_mask(sz1: int, sz2: int, radius: int = 1, be: Any = None) -> Any:
    """`[sz1, sz2]`, True where points may match: at most `radius` apart, or in the longer series further."""
    return _boolean(be, _sakoe_chiba(sz1, sz2, index(radius)))


def itakura_mask(sz1: int, sz2: int, max_slope: float = 2.0, be: Any = None) -> Any:
    """`[sz1, sz2]`, True where points may match: a parallelogram of slopes `1/max_slope` and `max_slope`.

    Errors: `RuntimeWarning`, raised, if a row or a column is empty.
    """
    return _boolean(be, _itakura(sz1, sz2, float(max_slope)))


def compute_mask(
    s1: Any,
    s2: Any,
    global_constraint: int = 0,
    sakoe_chiba_radius: int | None = None,
    itakura_max_slope: float | None = None,
    be: Any = None,
) -> Any:
    """The mask of two series, or of two lengths. `global_constraint` is 0 (none), 1 (Itakura) or 2 (Sakoe-Chiba)."""
    n, m = (int(one) if isinstance(one, (int, np.integer)) else len(one) for one in (s1, s2))
    found = constraint(global_constraint, sakoe_chiba_radius, itakura_max_slope).mask(n, m)
    return _boolean(be, found, s1, s2)


def _boolean(be: Any, mask: Mask, *values: Any) -> Any:
    return home(be, *values).returned(mask)
