"""`dtaidistance.dtw_ndim` on dtwave's engine: `dtw` for series of several channels, `[length, channels]`."""

from __future__ import annotations

import inspect
from typing import Any, Callable

from .._numbers import Floats
from . import dtw
from ._series import many
from .dtw import ub_euclidean as ub_euclidean
from .dtw import warping_path as warping_path
from .dtw import warping_paths as warping_paths
from .dtw import warping_paths_fast as warping_paths_fast

__all__ = [
    "distance",
    "distance_fast",
    "distance_matrix",
    "distance_matrix_fast",
    "ub_euclidean",
    "warping_path",
    "warping_paths",
    "warping_paths_fast",
]

#: Settings by their defaults here; each function has them in an order of its own.
_DEFAULTS: dict[str, Any] = {
    "window": None, "max_dist": None, "max_step": None, "max_length_diff": None, "penalty": None, "psi": None,
    "use_c": False, "use_pruning": False, "inner_dist": "squared euclidean", "ndim": None, "block": None,
    "compact": False, "parallel": False, "use_mp": False, "show_progress": False, "only_triu": False,
}  # fmt: skip


def _ordered(name: str, order: str, call: Callable[..., Any], **defaults: Any) -> Callable[..., Any]:
    """`call` with arguments in this order, of which those that have no default are series; its name and defaults."""
    either, usual = inspect.Parameter.POSITIONAL_OR_KEYWORD, _DEFAULTS | defaults
    arguments = [inspect.Parameter(each, either, default=usual.get(each, inspect._empty)) for each in order.split()]
    signature = inspect.Signature(arguments)

    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return call(**bound.arguments)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = call.__doc__
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _matrix(s: Any, ndim: int | None = None, **arguments: Any) -> Floats:
    """As `dtw.distance_matrix`, of `[series, length, channels]` or a list. ndim: the channels, which are checked.

    `distance_matrix_fast` takes all cores unless `parallel` is False. Errors: `ValueError` for series of another number
    of channels than `ndim`.
    """
    series = many(s)
    found = {one.shape[1] for one in series}
    if ndim is not None and found - {ndim}:
        raise ValueError(f"ndim is {ndim}, and the series have {sorted(found)} channels")
    return dtw.distance_matrix(series, **arguments)


_THRESHOLDS = "window max_dist max_step max_length_diff penalty psi"
distance = _ordered("distance", f"s1 s2 {_THRESHOLDS} use_c use_pruning inner_dist", dtw.distance)
distance_fast = _ordered("distance_fast", f"s1 s2 {_THRESHOLDS} use_pruning inner_dist", dtw.distance)
distance_matrix = _ordered(
    "distance_matrix",
    "s ndim max_dist use_pruning max_length_diff window max_step penalty psi block compact parallel use_c use_mp"
    " show_progress only_triu inner_dist",
    _matrix,
)
distance_matrix_fast = _ordered(
    "distance_matrix_fast",
    "s ndim max_dist max_length_diff window max_step penalty psi block compact parallel only_triu inner_dist use_c",
    _matrix,
    parallel=True,
    use_c=True,
)
