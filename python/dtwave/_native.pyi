"""The native half of the package. Private: its functions take what `_inputs` and `_options` make."""

from typing import Any, Callable, Final

from numpy import int64
from numpy.typing import NDArray

__version__: Final[str]

_Batch = tuple[NDArray[Any], NDArray[int64] | None, NDArray[Any] | None]
_Progress = Callable[[int], object] | None

class DeviceError(Exception):
    """A device is not there, cannot do what was asked, or failed. The text says which, and what to do."""

class Spec:
    """What to compute: a measure with its parameters and a band, checked."""

    def __new__(cls, key: str, parameters: dict[str, Any] | None = None, band: Any = None) -> Spec: ...
    @staticmethod
    def names(key: str) -> list[str]: ...
    @property
    def key(self) -> str: ...
    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def is_similarity(self) -> bool: ...

class Engine:
    """A device, the memory that calls may use, and the plans that wait between calls."""

    def __new__(cls, device: str, threads: int, memory_limit: int) -> Engine: ...
    @property
    def backend(self) -> str: ...

def devices() -> list[dict[str, Any]]: ...
def distance_of_arrays(x: Any, y: Any, measure: Any, engine: Engine) -> float | None: ...
def zipped(x: _Batch, y: _Batch, spec: Spec, engine: Engine, progress: _Progress) -> NDArray[Any]: ...
def pairwise(
    x: _Batch, y: _Batch | None, spec: Spec, engine: Engine, progress: _Progress
) -> NDArray[Any]: ...
def gradients(
    x: _Batch,
    y: _Batch,
    upstream: NDArray[Any] | None,
    spec: Spec,
    engine: Engine,
    progress: _Progress,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
def soft_dtw(
    x: NDArray[Any],
    y: NDArray[Any],
    upstream: NDArray[Any] | None = None,
    *,
    gamma: float = 1.0,
    divergence: bool = False,
    band: Any = None,
    cost: str = "squared_euclidean",
    lengths_x: NDArray[int64] | None = None,
    lengths_y: NDArray[int64] | None = None,
    threads: int | None = None,
    gradients: bool = True,
) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]: ...
