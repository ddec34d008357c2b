"""Warnings of this package, each of a class of its own, told of the line of the caller's program."""

from __future__ import annotations

import sys
import warnings

#: Packages between a caller's program and this one: whose lines warnings are not told of.
_BETWEEN = ("dtwave", "sklearn", "torch", "joblib")


class LayoutWarning(UserWarning):
    """An array without `layout=` has more channels than points, so its axes may be in the other order."""

    __module__ = "dtwave"


class MissingWarning(UserWarning):
    """Missing values were filled or left out, as `missing=` asks; the text counts them."""

    __module__ = "dtwave"


class TimesWarning(UserWarning):
    """Points that are not equally spaced under twed; the text says which times count, and how to say which should."""

    __module__ = "dtwave"


def warn(text: str, category: type[Warning]) -> None:
    """Warns of the line that called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_globals.get("__name__", "").split(".")[0] in _BETWEEN and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
