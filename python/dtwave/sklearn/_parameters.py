"""The parameters that all estimators share: the measure with its own parameters, and where a call computes.

The parameters of a measure are nested, as scikit-learn nests those of parts: `measure__gamma` is the gamma of the
measure, whether `measure` is a key or an object. So a search may vary them.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeVar

from .. import _native
from .._measure import Measure, in_python
from .._spec import spec
from .._measures import MEASURES
from ._series import TakesSeries

#: What comes before the name of a measure's parameter.
_NESTED = "measure__"

_Self = TypeVar("_Self", bound="Comparing")


@dataclass(eq=False, repr=False)
class Comparing(TakesSeries):
    """An estimator that compares series under a measure."""

    _: KW_ONLY
    measure: str | Measure = "dtw"
    measure_params: dict[str, Any] | None = None
    band: Any = None

    @property
    def _is_precomputed(self) -> bool:
        """Whether `X` are distances.

        Errors: `ValueError` for parameters that have no effect on distances.
        """
        if not (isinstance(self.measure, str) and self.measure == "precomputed"):
            return False
        given = {"measure_params": self.measure_params, "band": self.band, "layout": self.layout, "device": self.device}
        given |= {"dtype": self.dtype, "missing": None if self.missing == "error" else self.missing}
        given |= {"resample": None if isinstance(self.resample, str) and self.resample == "none" else self.resample}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name} has no effect on distances that are precomputed: leave it out")
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.measure, str) and self.measure == "precomputed"
        return tags

    def _spec(self) -> _native.Spec:
        """The measure with its parameters.

        Errors: `ValueError` and `TypeError` for an unknown measure, and for parameters that are not its own.
        """
        given = self.measure_params
        if given is not None and not isinstance(given, dict):
            raise TypeError(f"measure_params must be a dict of the measure's parameters, got {given!r}")
        if given and isinstance(self.measure, Measure):
            raise ValueError(
                f"measure_params has no effect on a measure that is an object ({self.measure!r}): "
                "give them to the object, or name the measure by its key"
            )
        return spec(self.measure, None, dict(given or {}))

    def _options(self) -> dict[str, Any]:
        """The options of a call of dtwave's functions, without the band.

        Errors: as `_spec`.
        """
        self._spec()
        return {"measure": self.measure, **self._where(), **(self.measure_params or {})}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also those of the measure, such as `measure__gamma`.

        Of a measure that is not valid, or not complete yet, the parameters that were given are shown.
        """
        parameters: dict[str, Any] = super().get_params(deep=deep)
        if not deep:
            return parameters
        try:
            own = self._spec().parameters
        except (TypeError, ValueError):
            own = self.measure_params if isinstance(self.measure_params, dict) else {}
        return {**parameters, **{_NESTED + in_python(name): value for name, value in own.items()}}

    def set_params(self: _Self, **params: Any) -> _Self:
        """Sets parameters by name, those of the measure as `measure__gamma=0.1`.

        Errors: `ValueError` for an unknown parameter.
        """
        nested = {name[len(_NESTED) :]: value for name, value in params.items() if name.startswith(_NESTED)}
        super().set_params(**{name: value for name, value in params.items() if not name.startswith(_NESTED)})
        if not nested:
            return self
        measure = self.measure
        key = measure.key if isinstance(measure, Measure) else str(measure).replace("-", "_").lower()
        if key not in MEASURES:
            spec(measure, None, {})  # It says what is wrong.
        known = [in_python(name) for name in _native.Spec.names(key)]
        for name in nested:
            if name not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                raise ValueError(f"{_NESTED}{name}: {key} has no parameter {name!r}: {takes}")
        if isinstance(measure, Measure):
            given = {in_python(name): value for name, value in measure.parameters.items()}
            self.measure = type(measure)(**{**given, **nested})
        else:
            # `lambda` and `lambda_` are one parameter.
            given = {in_python(name): value for name, value in (self.measure_params or {}).items()}
            self.measure_params = {**given, **nested}
        return self
