"""How a call finds what to compute: a measure by key or class, its parameters and its band."""

from __future__ import annotations

import difflib
from functools import lru_cache
from typing import Any

from . import _native
from ._bands import Band
from ._measure import Measure, in_python
from ._measures import MEASURES
from ._options import NAMES


def _meant(name: str, known: list[str]) -> str:
    """`; did you mean …?`, if anything is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _belongs(name: str) -> str:
    """`; it is a parameter of …`, if other measures have it."""
    having = [key for key in MEASURES if name in _native.Spec.names(key)]
    if not having:
        return ""
    return f"; it is a parameter of {', '.join(having)}: with it pass measure={having[0]!r}" + (
        " or another of them" if len(having) > 1 else ""
    )


#: What other libraries call these options.
_ELSEWHERE = {
    "metric": "measure",
    "method": "measure",
    "window": "band",
    "sakoe_chiba_radius": "band",
    "n_jobs": "threads",
    "verbose": "progress",
    "init": "start",
    "init_barycenter": "start",
    "max_iter": "max_iterations",
    "n_init": "restarts",
    "n_neighbors": "k",
    "random_state": "seed",
    "tol": "tolerance",
}

#: What other libraries call these measures.
_MEASURES_ELSEWHERE = {
    "sdtw": "soft_dtw",
    "softdtw": "soft_dtw",
    "gak": "log_gak",
    "subsequence": "subsequence_dtw",
    "dfd": "frechet",
}

#: What other libraries do by an option, and this one by other means.
_BY_OTHER_MEANS = {
    "root": "pass sqrt=True",
    "squared": "dtw is the accumulated squared cost: take np.sqrt of the result for the root",
    "normalize": "pass dtwave.normalize(x)",
    "znormalize": 'pass normalize="z", or dtwave.normalize(x)',
    "z_normalize": 'pass normalize="z", or dtwave.normalize(x)',
    "normalized": 'pass normalize="z", or dtwave.normalize(x)',
    "return_path": "dtwave.align finds the path",
    "return_cost": "dtwave.align has distance and path",
    "keep_internals": "dtwave.align finds the path, dtwave.cost_matrix the accumulated costs",
    "axis": "rows are series: pass x.T, or layout= for channels",
    "dist": "the measures dtw and soft_dtw take cost=; of other functions of points, dtwave has none",
}

#: Names of the distance without warping, which needs no measure of its own.
_WITHOUT_WARPING = ("euclidean", "sqeuclidean", "squared", "squared_euclidean")


def spec(measure: str | Measure, band: Band, parameters: dict[str, Any], options: tuple[str, ...] = ()) -> _native.Spec:
    """What to compute; `band` is plain. `options` are those that only the caller has: a misspelt one is compared with
    them, too.

    Errors: `ValueError` for an unknown measure or parameter, with what may have been meant, and for a number out of its
    range; `TypeError` for a value of another type.
    """
    if isinstance(measure, str):
        # Equal values are not always the same: True is no number here, and 1.0 is a fraction where 1 is a point.
        types = tuple(map(type, parameters.values()))
        try:
            return _known(measure, band, tuple(parameters.items()), types, options)
        except TypeError:  # Not hashable; or a value that is wrong anyway, which says so below.
            return _spec(measure, band, parameters, options)
    if isinstance(measure, Measure):
        if parameters:
            first = next(iter(parameters))
            raise ValueError(
                f"{', '.join(parameters)}: no option, and a measure that is an object has its parameters already"
                f" ({measure!r}){_meant(_ELSEWHERE.get(first, first), [*NAMES, *options])}"
            )
        return _native.Spec(measure.key, measure._parameters, band)
    if isinstance(measure, type) and issubclass(measure, Measure):
        raise TypeError(f"measure is a class: write dtwave.{measure.__name__}(...), or {measure.key!r}")
    raise TypeError(f"measure must be a key such as 'dtw' or an object such as dtwave.Dtw(), got {measure!r}")


@lru_cache(maxsize=64, typed=True)
def _known(
    measure: str,
    band: Band,
    parameters: tuple[tuple[str, Any], ...],
    types: tuple[type, ...],
    options: tuple[str, ...],
) -> _native.Spec:
    return _spec(measure, band, dict(parameters), options)


def _spec(measure: str, band: Band, parameters: dict[str, Any], options: tuple[str, ...]) -> _native.Spec:
    key = measure.replace("-", "_").lower()
    if key not in MEASURES:
        keys = list(MEASURES)
        meant = _meant(_MEASURES_ELSEWHERE.get(key, key), keys)
        if key in _WITHOUT_WARPING:
            meant = "; of series of equal length, 'dtw' with band=0 is the squared Euclidean distance"
        if key == "precomputed":
            meant = "; a matrix of distances is for kmedoids, and for estimators that look for neighbours or medoids"
        raise ValueError(f"unknown measure {measure!r}: expected one of {', '.join(keys)}{meant}")
    own = _native.Spec.names(key)
    given = {}
    for name, value in parameters.items():
        plain = name.rstrip("_")
        if plain not in own:
            spelt = [in_python(name) for name in own]
            takes = f"it takes {', '.join(spelt)}" if own else "it takes none"
            other = _BY_OTHER_MEANS.get(name)
            if other:
                meant = f"; {other}"
            elif name in NAMES:
                meant = f"; this function does not take {name}, which others have"
            else:
                meant = _belongs(plain) or _meant(_ELSEWHERE.get(name, name), [*spelt, *NAMES, *options])
            raise ValueError(f"{name!r} is no option, and {key} has no parameter {name!r}: {takes}{meant}")
        if plain in given:
            raise ValueError(f"{in_python(plain)} is given twice")
        given[plain] = value
    return _native.Spec(key, given, band)
