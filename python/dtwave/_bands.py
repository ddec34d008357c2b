"""Bands: which points of two series may match. The equations are in docs/measures.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

import numpy as np


def checked_radius(radius: object) -> int | float:
    """Whole points or a fraction.

    Errors: `TypeError` for what is no number, `ValueError` for a negative one and a fraction above 1.
    """
    if isinstance(radius, (bool, np.bool_)) or not isinstance(radius, (int, float, np.integer, np.floating)):
        raise TypeError(f"a band radius is whole points (10) or a fraction (0.1), got {radius!r}")
    if isinstance(radius, (int, np.integer)):
        if radius < 0:
            raise ValueError(f"a band radius cannot be negative, got {radius}")
        return int(radius)
    if not 0.0 <= radius <= 1.0:
        whole = f": {int(radius)}" if float(radius).is_integer() else ""
        raise ValueError(
            f"a band radius as a fraction lies between 0 and 1, got {radius}; whole points are an int{whole}"
        )
    return float(radius)


@dataclass(frozen=True, eq=False)
class _Radius:
    """A band that has a radius. Equal ones are equal: a radius of 1 is a point, one of 1.0 the whole."""

    radius: int | float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", checked_radius(self.radius))

    def _own(self) -> tuple[type, type, int | float]:
        return type(self), type(self.radius), self.radius

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Radius) and self._own() == other._own()

    def __hash__(self) -> int:
        return hash(self._own())


@dataclass(frozen=True, eq=False)
class SakoeChiba(_Radius):
    """Point i of one series may match point j of the other if `|i − j| <= radius`; a band along the main diagonal.

    Where lengths differ, points of the longer series may lie further ahead, by the difference of the lengths.

    radius: an int is points; a float is a fraction of the longer series, from 0.0 to 1.0. A plain number as `band` is
    this band. Sakoe & Chiba 1978, 10.1109/TASSP.1978.1163055.
    """

    @property
    def _band(self) -> tuple[str, Any]:
        return "sakoe_chiba", self.radius


@dataclass(frozen=True, eq=False)
class Slanted(_Radius):
    """A band along the line from the first pair of points to the last pair, for series of different lengths.

    radius: how far from the line, counted along the longer series: an int is points; a float is a fraction of the longer
    series, from 0.0 to 1.0.
    """

    @property
    def _band(self) -> tuple[str, Any]:
        return "slanted", self.radius


@dataclass(frozen=True)
class Itakura:
    """A parallelogram: narrow at both ends of the series and wide in the middle.

    max_slope: at least 1. The sides have the slopes `1/max_slope` and `max_slope`, where 1 is the slope of the line from
    the first pair of points to the last pair. Itakura 1975, 10.1109/TASSP.1975.1162641.
    """

    max_slope: float = 2.0

    def __post_init__(self) -> None:
        try:
            slope = float(self.max_slope)
        except (TypeError, ValueError):
            raise TypeError(f"max_slope must be a number, got {self.max_slope!r}") from None
        if not (1.0 <= slope < float("inf")):
            raise ValueError(f"an itakura band needs a finite max_slope >= 1, got {slope}")
        object.__setattr__(self, "max_slope", slope)

    @property
    def _band(self) -> tuple[str, Any]:
        return "itakura", self.max_slope


class Ranges:
    """For each point of the first series, the points of the second series that it may match.

    ranges: `[len(x), 2]` of whole numbers: point i of x may match the points j of y with
    `ranges[i, 0] <= j < ranges[i, 1]`. They fit series of these lengths only. Pairs of points that no path can reach
    are left out. Equal ones are equal.
    """

    __slots__ = ("_hash", "_starts_ends")

    def __init__(self, ranges: Any) -> None:
        try:
            pairs = np.asarray(ranges)
        except ValueError:
            raise ValueError("ranges must be whole numbers of shape [rows, 2], got rows of several lengths") from None
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise ValueError(
                f"ranges must be whole numbers of shape [rows, 2], got {pairs.dtype} of shape {list(pairs.shape)}"
            )
        if pairs.size and pairs.min() < 0:
            raise ValueError(f"ranges cannot be negative, got {pairs.min()} in row {int(pairs.argmin()) // 2}")
        whole = np.ascontiguousarray(pairs.T, dtype=np.uint64)
        whole.flags.writeable = False
        self._starts_ends = whole[0], whole[1]
        self._hash: int | None = None

    @property
    def _band(self) -> tuple[str, Any]:
        return "ranges", self._starts_ends

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Ranges):
            return self is other
        return all(np.array_equal(mine, theirs) for mine, theirs in zip(self._starts_ends, other._starts_ends))

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(tuple(ends.tobytes() for ends in self._starts_ends))
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Ranges, (np.stack(self._starts_ends, axis=1).astype(np.int64),)

    def __len__(self) -> int:
        return len(self._starts_ends[0])

    def __repr__(self) -> str:
        return f"dtwave.Ranges({len(self)} rows)"


#: What functions take as `band`: nothing (every cell), a radius in points or as a fraction, an
#: object, or text as the command takes it (`"10%"`).
Band = Union[None, int, float, str, SakoeChiba, Slanted, Itakura, Ranges]


def _read(text: str) -> Band:
    """A band as the command takes it: `full`, `10`, `5%`, `slanted:10`, `itakura:2`.

    Errors: `ValueError` for other text.
    """
    kind, _, value = text.strip().rpartition(":")
    kinds = {"": None, "sakoe_chiba": SakoeChiba, "sakoe-chiba": SakoeChiba, "slanted": Slanted}
    try:
        if kind == "itakura":
            return Itakura(float(value))
        if kind == "" and value in ("full", "none"):
            return None
        radius = float(value.removesuffix("%")) / 100 if value.endswith("%") else int(value)
        wanted = kinds[kind]
    except (KeyError, ValueError):
        raise ValueError(
            f"{text!r} is no band: expected 'full', '10' (points), '5%' (of the longer series), 'slanted:10', "
            "'slanted:5%' or 'itakura:2'"
        ) from None
    return radius if wanted is None else wanted(radius)


def plain(band: Band) -> Band:
    """A band as calls take it: NumPy's numbers as Python's, text understood, fractions checked. The native half checks
    the rest.

    Errors: `ValueError` for a fraction above 1 or below 0, and for other text; `TypeError` for a class.
    """
    if isinstance(band, type) and hasattr(band, "_band"):
        raise TypeError(f"band is a class: write dtwave.{band.__name__}(...)")
    if isinstance(band, str):
        band = _read(band)
    if isinstance(band, (np.integer, np.floating)):
        band = band.item()
    return checked_radius(band) if isinstance(band, float) else band
