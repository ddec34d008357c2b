"""The four functions of each measure: a distance, all distances, the path, the cost matrix; made from one table row."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

from ... import _alignment, _matrices, _spec
from .. import _grids, _one
from .._numbers import Floats, Many
from .._refuse import workers
from ._bounding import band, create_bounding_matrix
from ._costs import Costs
from ._series import collections, one_by_one, pair

#: Whether functions depart from the papers where aeon 1.6 does, unless they are told by `strict_aeon`.
STRICT_AEON = False

_PARAMETER = inspect.Parameter
#: Lines that all docstrings share.
_SHARED = """
x, y: `[length]` or `[channels, length]`, of float64.
window: which points may match: how far from the line between the corners, as a fraction of the shorter series.
itakura_max_slope: a parallelogram instead; from 0 to 1.
strict_aeon: True for aeon's number where it departs from the paper (docs/compat.md); None is
    `dtwave.compat.aeon.set_strict`'s choice, which is False unless called.
"""


@dataclass(frozen=True)
class Family:
    """A measure of aeon: its name, its parameters after the series with their defaults, and dtwave's for it."""

    name: str
    measure: str
    text: str
    options: dict[str, Any]
    """In aeon's order, with `window` and `itakura_max_slope`."""
    renamed: dict[str, str] = field(default_factory=dict)
    """dtwave's names of parameters."""
    derives: bool = False
    """Whether it compares derivatives."""
    departs: tuple[str, ...] = ()
    """What aeon computes otherwise: "values" always, "band" in a band, "path"."""
    costs: Costs | None = None
    """The grid of what the engine does not compute."""

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Its four functions, by their names."""
        made = {
            "distance": (self.distance, ("x", "y"), f"The distance of two series: {self.text}."),
            "pairwise_distance": (self.pairwise, ("X", "y"), f"Distances of all pairs: {self.text}."),
            "alignment_path": (self.path, ("x", "y"), f"The path of two series and their distance: {self.text}."),
            "cost_matrix": (self.matrix, ("x", "y"), f"Accumulated costs of all prefixes: {self.text}."),
        }
        return {f"{self.name}_{kind}": self._function(kind, *parts) for kind, parts in made.items()}

    def _function(self, kind: str, call: Callable[..., Any], series: tuple[str, str], text: str) -> Callable[..., Any]:
        either, keyword = _PARAMETER.POSITIONAL_OR_KEYWORD, _PARAMETER.KEYWORD_ONLY
        is_pairwise = kind == "pairwise_distance"
        parameters = [_PARAMETER(series[0], either)]
        parameters.append(_PARAMETER(series[1], either, default=None if is_pairwise else _PARAMETER.empty))
        parameters += [_PARAMETER(name, either, default=default) for name, default in self.options.items()]
        if is_pairwise:
            parameters.append(_PARAMETER("n_jobs", either, default=1))
        parameters.append(_PARAMETER("strict_aeon", keyword, default=None))
        signature = inspect.Signature(parameters)

        def function(*args: Any, **options: Any) -> Any:
            try:
                bound = signature.bind(*args, **options)
            except TypeError as error:
                raise TypeError(f"{self.name}_{kind}: {error}; it has {', '.join(signature.parameters)}") from None
            bound.apply_defaults()
            given = dict(bound.arguments)
            strict = given.pop("strict_aeon")
            return call(*(given.pop(name) for name in series), given, STRICT_AEON if strict is None else bool(strict))

        function.__name__ = function.__qualname__ = f"{self.name}_{kind}"
        function.__doc__ = f"{text}\n{_SHARED if not is_pairwise else _SHARED_PAIRWISE}\n{_RETURNS[kind]}"
        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    def distance(self, x: Any, y: Any, options: dict[str, Any], strict: bool) -> float:
        """Of two series."""
        a, b = self._pair(x, y, strict)
        return self._distance(a, b, options, strict)

    def pairwise(self, X: Any, y: Any, options: dict[str, Any], strict: bool) -> Floats:
        """Of all pairs."""
        threads = workers(options.pop("n_jobs"))
        first, second = collections(X, y)
        if self._needs_grid(options, strict) or options.get("epsilon", 0) is None:
            return one_by_one(first, second, lambda a, b: self._distance(a, b, options, strict), not strict)
        return self._matrix(first, second, options, threads)

    def path(self, x: Any, y: Any, options: dict[str, Any], strict: bool) -> tuple[list[tuple[int, int]], float]:
        """The path and the distance."""
        a, b = self._pair(x, y, strict)
        by_grid = self._needs_grid(options, strict) or ("path" in self.departs and strict)
        # Matches alone, no path, and one path of each channel.
        by_grid = by_grid or self.name in ("lcss", "soft_dtw") or (self.name == "msm" and a.shape[1] > 1)
        if not by_grid:
            found = _alignment.align(
                self._shifted(a, options), self._shifted(b, options), measure=self.measure,
                band=self._band(len(a), len(b), options), threads=1, layout=_one.LAYOUT,
                **self._engine(self._given(a, b, options))[1],
            )  # fmt: skip
            return [(i, j) for i, j in found.path.tolist()], float(found.distance)
        grid = self._grid(a, b, options, strict)
        if self.name == "lcss":
            return _grids.common_path(grid, self._close(a, b, options)), self._finished(grid, a, b, strict)
        return _grids.path(grid), self._finished(grid, a, b, strict)

    def matrix(self, x: Any, y: Any, options: dict[str, Any], strict: bool) -> Floats:
        """The cost matrix."""
        return self._grid(*self._pair(x, y, strict), options, strict)

    def _pair(self, x: Any, y: Any, strict: bool) -> tuple[Floats, Floats]:
        # A step of one series alone counts all of its channels, so none can be left out.
        return pair(x, y, strict and self.name not in ("erp", "twe"))

    def _needs_grid(self, options: dict[str, Any], strict: bool) -> bool:
        """Whether the engine does not compute this."""
        if options.get("independent") is False:
            return True
        banded = options["itakura_max_slope"] is not None or options["window"] not in (None, 1.0)
        return strict and ("values" in self.departs or ("band" in self.departs and banded))

    def _distance(self, a: Floats, b: Floats, options: dict[str, Any], strict: bool) -> float:
        if self._needs_grid(options, strict):
            return self._finished(self._grid(a, b, options, strict), a, b, strict)
        measure, given = self._engine(self._given(a, b, options))
        limit = self._band(len(a), len(b), options)
        return _one.distance(self._shifted(a, options), self._shifted(b, options), measure, limit, **given)

    def _matrix(self, first: Many, second: Many | None, options: dict[str, Any], threads: int | None) -> Floats:
        """All pairs on the engine: one call where one band fits all, else one for each two lengths."""
        measure, given = self._engine(options)
        free = band(2, 2, options["window"], None) is None and options["itakura_max_slope"] is None

        def matrix(x: Many, y: Many | None) -> Floats:
            limit = None if free else self._band(len(x[0]), len((x if y is None else y)[0]), options)
            x, y = self._shifted(x, options), None if y is None else self._shifted(y, options)
            found: Floats = _matrices.pairwise(
                x, y, measure=measure, band=limit, threads=threads, layout=_one.LAYOUT, **given
            )
            return found

        of_one_length = all(len({len(one) for one in series}) == 1 for series in (first, second) if series is not None)
        return matrix(first, second) if free or of_one_length else _one.by_lengths(first, second, matrix)

    def _given(self, a: Floats, b: Floats, options: dict[str, Any]) -> dict[str, Any]:
        """The options, with an epsilon that was left out."""
        if options.get("epsilon", 0) is None:
            return options | {"epsilon": max(np.std(a), np.std(b)) / 4}
        return options

    def _engine(self, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """dtwave's measure and its parameters."""
        if self.name == "soft_dtw" and options["gamma"] == 0.0:
            return "dtw", {}
        given: dict[str, Any] = {ours: float(options[theirs]) for theirs, ours in self.renamed.items()}
        return self.measure, given | ({"output": "normalized"} if self.name == "edr" else {})

    def _band(self, n: int, m: int, options: dict[str, Any]) -> Any:
        cut = 2 if self.derives else 0
        return band(max(n - cut, 0), max(m - cut, 0), options["window"], options["itakura_max_slope"])

    def _shifted(self, series: Any, options: dict[str, Any]) -> Any:
        """ERP's gap point, which may have a value for each channel, is moved to 0."""
        gap = _gap(options)
        if gap is None:
            return series
        channels = series[0].shape[-1] if isinstance(series, list) else series.shape[-1]
        if np.ndim(gap) and len(gap) != channels:
            raise ValueError(f"g_arr must have a number for each of the {channels} channels, got {len(gap)}")
        return [one - gap for one in series] if isinstance(series, list) else series - gap

    def _close(self, a: Floats, b: Floats, options: dict[str, Any]) -> Any:
        """`[n, m]`, whether two points match, in the band."""
        mask = create_bounding_matrix(len(a), len(b), options["window"], options["itakura_max_slope"])
        return mask & (np.sqrt(_grids.squared(a, b)) <= options["epsilon"])

    def _grid(self, a: Floats, b: Floats, options: dict[str, Any], strict: bool) -> Floats:
        options = self._given(a, b, options)
        a, b = self._shifted(a, options), self._shifted(b, options)
        measure, given = self._engine(options)
        if self.costs is not None and self._needs_grid(options, strict):
            # The engine knows which parameters make sense.
            _spec.spec(measure, None, given)
            mask = create_bounding_matrix(len(a), len(b), options["window"], options["itakura_max_slope"])
            return self.costs(a, b, mask, options)
        if self.name == "lcss":
            _spec.spec(measure, None, given)
            return _grids.common(self._close(a, b, options))
        if self.name == "edr":
            given["output"] = "count"
        if self.name == "soft_dtw" and strict and np.array_equal(a, b):
            measure, given = "dtw", {}
        limit = self._band(len(a), len(b), options)
        return _alignment.cost_matrix(a, b, measure=measure, band=limit, layout=_one.LAYOUT, **given)

    def _finished(self, grid: Floats, a: Floats, b: Floats, strict: bool) -> float:
        last = float(grid[-1, -1])
        if self.name == "lcss":
            return 1.0 - last / min(len(a), len(b))
        if self.name == "edr":
            return last / max(len(a), len(b))
        return abs(last) if self.name == "soft_dtw" and strict else last


def _gap(options: dict[str, Any]) -> Any:
    if "g_arr" not in options:
        return None
    if options["g_arr"] is not None:
        return np.asarray(options["g_arr"], dtype=np.float64).reshape(-1)
    return float(options["g"]) if options["g"] else None


_SHARED_PAIRWISE = _SHARED.replace(
    "x, y: `[length]` or `[channels, length]`, of float64.",
    "X, y: `[series, channels, length]`, `[series, length]`, or a list of arrays; without `y`, all pairs of `X`.",
).replace("strict_aeon:", "n_jobs: threads; -1 is all cores.\nstrict_aeon:")
_RETURNS = {
    "distance": "Runs on dtwave's engine, in linear memory. Errors: `ValueError` for NaN, infinity, other channels.",
    "pairwise_distance": "Returns `[n_X, n_y]`. Runs on dtwave's engine: one sweep per pair (per two without `y`).",
    "alignment_path": "Returns a list of `(i, j)`, and the distance. Runs on dtwave's engine where a path is offered.",
    "cost_matrix": "Returns `[n, m]`. A grid: `O(n·m)` memory.",
}
