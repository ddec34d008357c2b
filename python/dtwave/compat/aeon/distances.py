"""`aeon.distances` under its whole name: all that `dtwave.compat.aeon` has."""

from __future__ import annotations

from typing import Any

from .. import aeon

__all__ = aeon.__all__


def __getattr__(name: str) -> Any:
    return getattr(aeon, name)


def __dir__() -> list[str]:
    return sorted(__all__)
