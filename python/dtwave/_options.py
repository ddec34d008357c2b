"""Options that functions share: what to compute, where, in how much memory, in which number type, of which series."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Callable, Literal, Mapping, Sequence, TypeVar, Union

import numpy as np
from numpy.typing import DTypeLike

from . import _native
from ._bands import Band, plain
from ._inputs import Layout, Padding
from ._measure import Measure
from ._measures import MEASURES, Parameters
from ._missing import Missing
from ._resampling import Resample, step_of
from ._times import check as check_times

#: Scratch memory of a call, in bytes, unless told otherwise.
DEFAULT_MEMORY_LIMIT = 1 << 30

#: Names of devices: `"cpu"`, `"cuda"` (the first NVIDIA GPU), `"cuda:1"`, `"hip"` (the first AMD GPU), `"hip:1"`,
#: `"wgpu"` (any GPU, in float32), `"wgpu:1"`; or an object whose text is one of them. Several work together:
#: `"cuda:0,1"`, `"cuda:all"`, `["cuda:0", "cuda:1"]`.
DeviceLike = Union[None, str, Sequence[Any], Any]

#: How series are prepared: as they are, or each channel of each with mean 0 and deviation 1.
Normalize = Literal["none", "z"]

#: In which precision a search looks for places.
Precision = Literal["full", "half"]

#: Times of the points, for twed: those of x and of y, or in a word which times of an index count.
Times = Union[None, tuple[Any, Any], Literal["index", "elapsed", "count"]]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Shared(Parameters, total=False):
    """What every function takes; `help(dtwave.distance)` explains it."""

    measure: str | Measure
    band: Band
    device: DeviceLike
    dtype: DTypeLike | None
    threads: int | None
    memory_limit: int | str | None
    layout: Layout
    missing: Missing
    resample: Resample


class OfPair(Shared, total=False):
    """What functions of two series take."""

    normalize: Normalize
    sqrt: bool
    times: Times


class OfMany(Shared, total=False):
    """What functions of many series take."""

    lengths: Any
    padding: Padding
    progress: bool


class OfManyPrepared(OfMany, total=False):
    """What functions take that may prepare their series."""

    normalize: Normalize


class OfManyTimed(OfManyPrepared, total=False):
    """What functions of many series take that give distances; the series may have timestamps."""

    sqrt: bool
    times: Any


@dataclass
class Given:
    """The options of a call; what was left out has its default."""

    measure: str | Measure = "dtw"
    band: Band = None
    device: DeviceLike = None
    dtype: DTypeLike | None = None
    threads: int | None = None
    memory_limit: int | str | None = None
    layout: Layout = None
    missing: Missing = "error"
    resample: Resample = "none"
    normalize: Normalize = "none"
    sqrt: bool = False
    lengths: Any = None
    padding: Padding = None
    times: Any = None
    progress: bool = False
    is_timed: bool = True
    """Whether the function has the option `times`."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """All other keywords: parameters of the measure, and mistakes, which `_spec.spec` explains."""

    def __post_init__(self) -> None:
        self.band = plain(self.band)
        if self.normalize not in ("none", "z"):
            raise ValueError(f'normalize must be "none" or "z" (mean 0, deviation 1), got {self.normalize!r}')
        check_times(self.times)
        if self.is_resampled:
            step_of(self.resample)
        if not isinstance(self.sqrt, (bool, np.bool_)):
            raise TypeError(f"sqrt must be True or False, got {self.sqrt!r}")
        if self.sqrt:
            self._check_root()

    @property
    def is_resampled(self) -> bool:
        """Whether points are made equally spaced."""
        return not (isinstance(self.resample, str) and self.resample == "none")

    def _check_root(self) -> None:
        """Errors: `ValueError` for a measure whose values have no root."""
        own = self.measure.key if isinstance(self.measure, Measure) else str(self.measure).replace("-", "_").lower()
        if own in MEASURES and not MEASURES[own].is_rooted:
            having = ", ".join(key for key, measure in MEASURES.items() if measure.is_rooted)
            raise ValueError(f"sqrt is no option of {own}; it belongs to {having}")

    def rooted_one(self, found: float, number: Any) -> float:
        """A distance as the call gives it: the root has the number type of the call, as in an array."""
        if not self.sqrt:
            return found
        return float(self.rooted(np.full(1, found, dtype=number))[0])

    def rooted(self, found: Any) -> Any:
        """Distances as the call gives them: with `sqrt` their roots, of an array in its place."""
        if not self.sqrt:
            return found
        if isinstance(found, np.ndarray):
            return np.sqrt(np.maximum(found, 0, out=found), out=found)
        # An array in a GPU's memory; costs are not negative.
        found **= 0.5
        return found


def _names(kind: type) -> tuple[str, ...]:
    """The options of a kind, in the order of `Given`."""
    return tuple(name for name in Given.__annotations__ if name in kind.__annotations__)


_OWN: dict[type, tuple[str, ...]] = {
    kind: _names(kind) for kind in (Shared, OfPair, OfMany, OfManyPrepared, OfManyTimed)
}

#: The options of all functions, by name.
NAMES = _OWN[OfManyTimed]


def taken(options: Mapping[str, Any], kind: type, measure: str | Measure = "dtw") -> Given:
    """The options of a function that takes those of `kind`."""
    own = _OWN[kind]
    given = {name: value for name, value in options.items() if name in own}
    parameters = {name: value for name, value in options.items() if name not in own}
    return Given(**{"measure": measure, **given}, is_timed="times" in own, parameters=parameters)


def takes(kind: type, measure: str = "dtw") -> Callable[[_Function], _Function]:
    """Shows the options of `kind` in a function's signature, as `help` and editors read it."""

    def shown(function: _Function) -> _Function:
        own = inspect.signature(function)
        defaults, parameter = Given(measure), inspect.Parameter
        keywords = [each for each in own.parameters.values() if each.kind is not parameter.VAR_KEYWORD]
        for name in _OWN[kind]:
            hint = kind.__annotations__[name]
            default, text = getattr(defaults, name), getattr(hint, "__forward_arg__", hint)
            keywords.append(parameter(name, parameter.KEYWORD_ONLY, default=default, annotation=text))
        keywords.append(parameter("parameters", parameter.VAR_KEYWORD, annotation="Any"))
        function.__signature__ = own.replace(parameters=keywords)  # type: ignore[attr-defined]
        return function

    return shown


def engine(given: Given) -> _native.Engine:
    """Where a call runs.

    Errors: `ValueError` and `TypeError` for values that make no sense, `dtwave.DeviceError` if there is no such device.
    """
    name, threads = device_name(given.device), given.threads
    workers = 0 if threads is None else whole("threads", threads, 1, most=1 << 16, hint="; leave it out for all cores")
    return _engine(name, workers, memory_limit(given))


def device_name(device: DeviceLike) -> str:
    """The name of a device or, with commas between them, of several.

    Errors: `ValueError` for a list without devices.
    """
    if device is None:
        return "cpu"
    if not isinstance(device, (list, tuple)):
        return str(device)
    if not device:
        raise ValueError('device is an empty list: expected one device or more, as ["cuda:0", "cuda:1"]')
    return ",".join(str(each) for each in device)


def memory_limit(given: Given) -> int:
    """Bytes of scratch that a call may take.

    Errors: `ValueError` and `TypeError` for values that make no sense.
    """
    limit = given.memory_limit
    if isinstance(limit, str):
        limit = _bytes(limit)
    return DEFAULT_MEMORY_LIMIT if limit is None else whole("memory_limit", limit, 1, "bytes")


#: Units of memory, as the command takes them.
_UNITS = {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


def _bytes(text: str) -> int:
    """`"512MiB"` as a number of bytes.

    Errors: `ValueError` for what is no size.
    """
    plain_text = text.strip().lower()
    unit = next((unit for unit in (*_UNITS, "b") if plain_text.endswith(unit)), "")
    try:
        size = float(plain_text.removesuffix(unit)) * _UNITS.get(unit, 1)
        return int(size)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no memory size: expected a number of bytes, or such as '512MiB'") from None


@lru_cache(maxsize=8)
def _engine(name: str, threads: int, memory_limit: int) -> _native.Engine:
    return _native.Engine(name, threads, memory_limit)


def whole(name: str, value: Any, least: int, unit: str = "", most: int = 1 << 62, hint: str = "") -> int:
    """`value` as a whole number from `least` to `most`; `hint` says what to do about another one.

    Errors: `TypeError` for what is no whole number, `ValueError` for one out of range.
    """
    of = f" of {unit}" if unit else ""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number{of}, got {value!r}")
    if not least <= value <= most:
        bounds = f"of at least {least}" if value < least else f"of at most {most}"
        raise ValueError(f"{name} must be a whole number{of} {bounds}, got {value}{hint}")
    return int(value)


def real(name: str, value: Any) -> float:
    """`value` as a number.

    Errors: `TypeError` for what is none.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


@dataclass(frozen=True)
class Cutoff:
    """Up to where distances are wanted; larger ones are infinite."""

    most: float

    @staticmethod
    def of(cutoff: Any, place: str | None) -> Cutoff | None:
        """Errors: `TypeError` and `ValueError` for what is no number, and for series on a device."""
        if cutoff is None:
            return None
        most = real("cutoff", cutoff)
        if most != most:
            raise ValueError("cutoff must be a number, got NaN")
        if place is not None:
            raise ValueError(
                f"cutoff is for series in main memory, and x is on {place}: pass x.cpu() (of CuPy x.get())"
            )
        return Cutoff(most)

    def engine(self, engine: _native.Engine, number: np.dtype[Any], given: Given) -> _native.Engine:
        """The engine that leaves out larger distances. Before a root the bound is a little wider."""
        most = float(number.type(self.most))
        least = max(most, 0.0)
        return engine.within(least * least * (1 + 1e-6) if given.sqrt else most)

    def roots(self, found: Any, given: Given) -> Any:
        """Distances of that engine as the call gives them, in their place."""
        rooted = given.rooted(found)
        if given.sqrt:
            rooted[rooted > rooted.dtype.type(self.most)] = np.inf
        return rooted


#: What random starts begin with: a whole number; None for another one each time; or what draws it.
Seed = Union[None, int, np.random.Generator, np.random.RandomState]


def seed_of(seed: Any, name: str = "seed") -> int:
    """A seed as a whole number: drawn from a NumPy `Generator` or `RandomState`, or for `None` from the system.

    Errors: `TypeError` and `ValueError` for what is no seed.
    """
    if isinstance(seed, (np.random.Generator, np.random.SeedSequence)) or seed is None:
        return int(np.random.default_rng(seed).integers(1 << 31))
    if isinstance(seed, np.random.RandomState) or seed is np.random:
        return int(seed.randint(np.iinfo(np.int32).max))
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, None, or a NumPy Generator or RandomState, got {seed!r}")
    return whole(name, seed, 0)


_NUMBERS = (np.dtype(np.float32), np.dtype(np.float64))


def number_type(dtype: Any) -> np.dtype[Any] | None:
    """The number type that was asked for: float32, float64, or none in particular.

    Errors: `ValueError` for another one.
    """
    if dtype is None:
        return None
    # PyTorch's are objects whose text is `torch.float32`.
    name: Any = dtype if isinstance(dtype, (str, type, np.dtype)) else str(dtype).removeprefix("torch.")
    try:
        known: Any = np.dtype({"f32": "float32", "f64": "float64"}.get(name, name))
    except TypeError:
        known = None
    for number in _NUMBERS:
        if known is not None and known == number:
            return number
    raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
