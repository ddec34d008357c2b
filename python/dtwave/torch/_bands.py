"""Bands as arguments of an operator: PyTorch passes numbers and text, so a band travels as text.

Other Soft-DTW classes take `bandwidth`, a number of points, and read 0 as "no band". A dtwave band of radius 0 is the
diagonal. So 0 is refused with a word on both, and so are fractions, which the others would read as points.
"""

from __future__ import annotations

import json

import numpy as np

from dtwave import Band, Itakura, Ranges, SakoeChiba, Slanted

__all__ = ["FULL", "from_text", "to_text"]

#: The text of no band.
FULL = "full"


class _Described:
    """A band as the library takes it: its kind and its numbers."""

    def __init__(self, kind: str, value: object) -> None:
        self._band = (kind, value)


def to_text(bandwidth: Band) -> str:
    """The text that `from_text` reads.

    Raises `ValueError` for 0, fractions and negative numbers, `TypeError` for what is no band.
    """
    if bandwidth is None:
        return FULL
    if isinstance(bandwidth, (SakoeChiba, Slanted, Itakura, Ranges)):
        kind, value = bandwidth._band
        return _text(kind, [ends.tolist() for ends in value] if kind == "ranges" else value)
    if isinstance(bandwidth, bool) or not isinstance(bandwidth, (int, float, np.integer, np.floating)):
        raise TypeError(
            "bandwidth must be None, a whole number of points, or SakoeChiba, Slanted, Itakura or Ranges of dtwave,"
            f" not {bandwidth!r}"
        )
    if bandwidth != bandwidth // 1:
        raise ValueError(
            f"bandwidth must be a whole number of points, not {bandwidth}: a fraction of the longer series is"
            f" dtwave.SakoeChiba({bandwidth})"
        )
    if bandwidth < 1:
        raise ValueError(
            f"bandwidth must be at least 1, not {bandwidth}: None is no band, dtwave.SakoeChiba(0) the diagonal"
        )
    return _text("sakoe_chiba", int(bandwidth))


def _text(kind: str, value: object) -> str:
    """In JSON, which writes whole numbers, fractions and lists of them as Python does; `torch.compile` cannot trace
    the module `json`.
    """
    return f'["{kind}", {value!r}]'


def from_text(text: str) -> object:
    """The band as the library takes it."""
    if text == FULL:
        return None
    kind, value = json.loads(text)
    if kind == "ranges":
        starts, ends = value
        value = (np.array(starts, np.uint64), np.array(ends, np.uint64))
    return _Described(kind, value)
