"""tslearn's arguments that many functions share, read in one place."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any, Callable

import numpy as np

from ._masks import constraint
from ._series import home

_LIMITS = ("global_constraint", "sakoe_chiba_radius", "itakura_max_slope")


def limited(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with tslearn's arguments, of one that takes keywords in their place: `limit`, a `Constraint`, and, if it
    wants it, `to`, the `Home` of its results.

    Arguments of its own come first, then those of the constraint, then its other keywords, then `be`. What it returns in
    NumPy's types goes to where the series are from, or where `be` says.
    """
    own, kinds = inspect.signature(function).parameters.values(), inspect.Parameter
    either = kinds.POSITIONAL_OR_KEYWORD
    first = [each for each in own if each.kind is either]
    later = [each.replace(kind=either) for each in own if each.kind is kinds.KEYWORD_ONLY]
    rest = [each for each in own if each.kind is kinds.VAR_KEYWORD]
    limits, be = [kinds(name, either, default=None) for name in _LIMITS], kinds("be", either, default=None)
    wants = {"limit", "to"} & {each.name for each in later}
    later = [each for each in later if each.name not in wants]
    signature = inspect.Signature([*first, *limits, *later, be, *rest])

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        more = given.pop(rest[0].name) if rest else {}
        limit = constraint(*(given.pop(name) for name in _LIMITS))
        to = home(given.pop("be"), *(given[each.name] for each in first[:2]))
        read = {name: value for name, value in (("limit", limit), ("to", to)) if name in wants}
        found = function(**given, **read, **more)
        parts = found if isinstance(found, tuple) else (found,)
        moved = tuple(to.returned(part) if isinstance(part, (np.ndarray, np.generic)) else part for part in parts)
        return moved if isinstance(found, tuple) else moved[0]

    called.__signature__ = signature  # type: ignore[attr-defined]
    return called
