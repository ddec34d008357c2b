"""The native half of the package. Private: its functions take what `_inputs` and `_options` make."""

from typing import Any, Callable, Final

from numpy import float32, float64, int64
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
    @property
    def is_symmetric(self) -> bool: ...
    def ranges(self, n: int, m: int) -> tuple[NDArray[int64], NDArray[int64]]: ...

class Engine:
    """A device, the memory that calls may use, and the plans that wait between calls."""

    def __new__(cls, device: str, threads: int, memory_limit: int) -> Engine: ...
    def within(self, cutoff: float) -> Engine: ...
    @property
    def backend(self) -> str: ...

class Bar:
    """A progress bar on stderr."""

    def __new__(cls, what: str, cells: int) -> Bar: ...
    def __call__(self, done: int) -> None: ...
    def close(self) -> None: ...

def devices() -> list[dict[str, Any]]: ...
def cells(x: _Batch, y: _Batch | None, spec: Spec, is_zipped: bool) -> int: ...
def distance_of_arrays(x: Any, y: Any, measure: Any, engine: Engine) -> float | None: ...
def distances(
    x: _Batch, y: _Batch | None, spec: Spec, engine: Engine, is_zipped: bool, out: NDArray[Any], progress: _Progress
) -> None: ...
def condensed(x: _Batch, spec: Spec, engine: Engine, out: NDArray[Any], progress: _Progress) -> None: ...
def pairwise_into(
    x: _Batch, y: _Batch | None, spec: Spec, engine: Engine, out: NDArray[Any], progress: _Progress
) -> None: ...
def pairwise_to_file(
    x: _Batch, y: _Batch | None, spec: Spec, engine: Engine, path: str, resume: bool, root: bool, progress: _Progress
) -> tuple[str, list[str]]: ...
def matrix_options(spec: Spec, device: str, given: bool, root: bool) -> list[tuple[str, str]]: ...
def series_hash(series: _Batch) -> str: ...

class Draws:
    def __init__(self, seed: int) -> None: ...
    def below(self, count: int) -> int: ...
    def by_weight(self, weights: NDArray[float64]) -> int: ...

class MatrixFile:
    found: str
    notes: list[str]
    def __init__(
        self,
        path: str,
        resume: bool,
        shape: tuple[int, int],
        is_f32: bool,
        symmetric: bool,
        options: list[tuple[str, str]],
        inputs: list[tuple[str, str]],
    ) -> None: ...
    def edges(self) -> tuple[list[int], list[int]]: ...
    def has(self, rows: tuple[int, int], columns: tuple[int, int]) -> bool: ...
    def write(self, rows: tuple[int, int], columns: tuple[int, int], part: NDArray[Any]) -> None: ...
    def finish(self) -> None: ...
    def pause(self) -> None: ...

def align(
    x: _Batch, y: _Batch, spec: Spec, engine: Engine, progress: _Progress
) -> list[tuple[float, NDArray[int64]]]: ...
def expected_alignment(x: _Batch, y: _Batch, spec: Spec, engine: Engine, progress: _Progress) -> NDArray[Any]: ...
def cost_matrix(x: _Batch, y: _Batch, spec: Spec) -> NDArray[Any]: ...
def cost_matrix_of_costs(costs: NDArray[float64], spec: Spec) -> NDArray[float64]: ...
def explain(x: _Batch, y: _Batch | None, spec: Spec, engine: Engine, progress: _Progress) -> dict[str, Any]: ...
def search(
    queries: _Batch,
    references: _Batch,
    spec: Spec,
    engine: Engine,
    top_k: int | None,
    exclusion: int,
    threshold: float | None,
    normalized_window: int | None,
    half: bool,
    progress: _Progress,
) -> list[tuple[list[tuple[float, int, int]], bool]]: ...

class Follower:
    def __init__(
        self,
        query: _Batch,
        spec: Spec,
        engine: Engine,
        exclusion: int,
        threshold: float,
        normalized_window: int | None,
    ) -> None: ...
    def push(self, points: NDArray[float64]) -> list[tuple[float, int, int]]: ...
    def end(self) -> list[tuple[float, int, int]]: ...

def edges(
    x: _Batch, y: _Batch | None, threshold: float, root: bool, spec: Spec, engine: Engine, progress: _Progress
) -> tuple[NDArray[int64], NDArray[int64], NDArray[Any]]: ...
def nearest(
    x: _Batch, y: _Batch | None, k: int, spec: Spec, engine: Engine, progress: _Progress
) -> tuple[NDArray[int64], NDArray[Any]]: ...
def nearest_cells(x: _Batch, y: _Batch | None, spec: Spec, engine: Engine) -> int: ...
def profile(
    series: _Batch,
    other: _Batch | None,
    window: int,
    step: int,
    is_normalized: bool,
    exclusion: int,
    spec: Spec,
    engine: Engine,
    progress: _Progress,
) -> tuple[NDArray[Any], NDArray[int64]]: ...
def profile_cells(
    series: _Batch,
    other: _Batch | None,
    window: int,
    step: int,
    is_normalized: bool,
    exclusion: int,
    spec: Spec,
    engine: Engine,
) -> int: ...
def classify(
    train: _Batch, classes: list[int], test: _Batch, k: int, spec: Spec, engine: Engine, progress: _Progress
) -> NDArray[int64]: ...
def barycenter(
    x: _Batch,
    spec: Spec,
    engine: Engine,
    weights: list[float] | None,
    start: str,
    series: _Batch | None,
    sample: tuple[int, int],
    minimizer: tuple[str, float],
    max_iterations: int,
    tolerance: float,
    progress: _Progress,
) -> tuple[NDArray[Any], list[float], bool]: ...
def kmeans(
    x: _Batch,
    clusters: int,
    spec: Spec,
    engine: Engine,
    restarts: int,
    max_iterations: int,
    tolerance: float,
    center_iterations: int,
    minimizer: tuple[str, float],
    seed: int,
    weights: list[float] | None,
    sample_size: int | None,
    batch_size: int | None,
    progress: _Progress,
) -> tuple[NDArray[Any], list[int], NDArray[int64], NDArray[Any], float, int, bool]: ...
def kmedoids(
    x: _Batch,
    clusters: int,
    spec: Spec,
    engine: Engine,
    random: tuple[int, int] | None,
    clara: tuple[int | None, int | None, int] | None,
    max_iterations: int,
    progress: _Progress,
) -> tuple[NDArray[int64], NDArray[int64], float, int, bool]: ...
def kmedoids_of_matrix(
    matrix: NDArray[Any], n: int, clusters: int, random: tuple[int, int] | None, max_iterations: int
) -> tuple[NDArray[int64], NDArray[int64], float, int, bool]: ...
def z_normalize(x: _Batch) -> NDArray[Any]: ...
def gradients(
    x: _Batch, y: _Batch, upstream: NDArray[Any] | None, spec: Spec, engine: Engine, progress: _Progress
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
def ecg() -> NDArray[float32]: ...
def soft_dtw(
    x: NDArray[Any],
    y: NDArray[Any],
    spec: Spec,
    engine: Engine,
    *,
    lengths_x: NDArray[int64] | None = None,
    lengths_y: NDArray[int64] | None = None,
    gradients: bool = True,
) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]: ...
def soft_dtw_of_costs(
    costs: NDArray[Any],
    *,
    gamma: float,
    band: Any = None,
    lengths_x: NDArray[int64] | None = None,
    lengths_y: NDArray[int64] | None = None,
    threads: int | None = None,
    gradients: bool = True,
) -> tuple[NDArray[Any], NDArray[Any] | None]: ...
