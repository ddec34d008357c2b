"""What the classes of measures share."""

from __future__ import annotations

from typing import Any, ClassVar

from . import _native


class Measure:
    """A measure with its parameters, checked when it is made. Immutable; equal ones are equal.

    Errors: `ValueError` for a number out of its range, `TypeError` for what is no number.
    """

    __slots__ = ("_parameters",)
    #: The measure's name as text, as in `measure="dtw"`.
    key: ClassVar[str]
    #: Whether it accumulates a cost of which a root can be taken.
    is_rooted: ClassVar[bool] = False
    _parameters: dict[str, Any]

    def __init__(self) -> None:
        self._set()

    def _set(self, **parameters: Any) -> None:
        own = {name.rstrip("_"): value for name, value in parameters.items()}
        spec = _native.Spec(self.key, own)
        object.__setattr__(self, "_parameters", spec.parameters)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters and their values, by name."""
        return dict(self._parameters)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a measure does not change: make another {type(self).__name__}")

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name.rstrip("_") in self._parameters:
            return self._parameters[name.rstrip("_")]
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and self.key == other.key and self._parameters == other._parameters

    def __hash__(self) -> int:
        return hash((self.key, *self._parameters.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._parameters)

    def __repr__(self) -> str:
        given = ", ".join(f"{in_python(name)}={value!r}" for name, value in self._parameters.items())
        return f"dtwave.{type(self).__name__}({given})"


def in_python(name: str) -> str:
    """`lambda` is a word of Python's: `lambda_`."""
    return "lambda_" if name == "lambda" else name


def _restore(measure: type[Measure], parameters: dict[str, Any]) -> Measure:
    """A pickled measure."""
    return measure(**{in_python(name): value for name, value in parameters.items()})
