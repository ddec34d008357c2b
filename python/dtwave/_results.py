"""What functions return besides arrays: small objects that do not change."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray


def _short(array: NDArray[Any]) -> str:
    return f"{array.dtype}{list(array.shape)}"


class Equal:
    """Objects are equal if they are of one class and have the same values, bit for bit but for NaN, which is equal too."""

    def __eq__(self, other: object) -> bool:
        if self is other or type(other) is not type(self):
            return self is other
        return all(_same(getattr(self, each.name), getattr(other, each.name)) for each in fields(self))  # type: ignore[arg-type]

    # Arrays may be written, so there is no lasting hash.
    __hash__ = None  # type: ignore[assignment]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if isinstance(one, (list, tuple)) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(np.all(one == other)) or bool(one != one and other != other)


def _ended(iterations: int, converged: bool) -> str:
    rounds = "1 iteration" if iterations == 1 else f"{iterations} iterations"
    return f"{rounds}, {'converged' if converged else 'not converged'}"


@dataclass(frozen=True, eq=False)
class Alignment(Equal):
    """Two series, and which of their points match.

    distance: the cost of the path.
    path: `[steps, 2]` of int64: matched points (i, j), 0-based, from the first to the last. For derivative measures
        they are points of the derivative: its point i belongs to point i + 1 of the series.
    x, y: the series, `[length, channels]`.
    """

    distance: float
    path: NDArray[np.int64]
    x: NDArray[Any] = field(repr=False)
    y: NDArray[Any] = field(repr=False)

    def __len__(self) -> int:
        """Steps of the path."""
        return len(self.path)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """The steps, as pairs of ints."""
        return iter([(int(i), int(j)) for i, j in self.path])

    def __repr__(self) -> str:
        return f"Alignment(distance={self.distance:.6g}, path={len(self.path)} steps)"

    def plot(self, **options: Any) -> Any:
        """Draws both series with what matches, and the path beside them; needs matplotlib. Options are those of
        `dtwave.plots.warping`; returns both axes.
        """
        return import_module("dtwave.plots").warping(self, **options)


@dataclass(frozen=True)
class Match:
    """A stretch of a reference that matches a query.

    distance: the cost of the match, as `dtw` defines it.
    start, end: its first and last point in the reference, 0-based; `end` is part of it.
    """

    distance: float
    start: int
    end: int

    def __len__(self) -> int:
        """Points of the stretch."""
        return self.end + 1 - self.start

    @property
    def slice(self) -> slice:
        """The stretch: `reference[match.slice]`."""
        return slice(self.start, self.end + 1)


class Matches(list[Match]):
    """A list of the matches of one query, best first.

    proposed: whether half precision proposed them (`precision="half"`). Otherwise the whole was searched in full
    precision.
    """

    def __init__(self, matches: Iterable[Match] = (), proposed: bool = False) -> None:
        super().__init__(matches)
        self.proposed = proposed

    def plot(self, reference: Any, query: Any = None, **options: Any) -> Any:
        """Draws them in the long series that was searched and, with the query, each of them with it; needs matplotlib.
        Options are those of `dtwave.plots.matches` (returns its axes) or, with the query, of `dtwave.plots.search`
        (returns an array of axes).
        """
        plots = import_module("dtwave.plots")
        return (
            plots.matches(reference, self, **options)
            if query is None
            else plots.search(self, reference, query, **options)
        )


@dataclass(frozen=True)
class Kernel:
    """A kernel, or a sweep on the CPU, in one shape.

    name: the symbol of a GPU's.
    shape: lanes, columns, instruction set, …
    why: why this one.
    launches: how many. pairs: which they computed, all together.
    """

    name: str
    shape: str
    why: str
    launches: int
    pairs: int


@dataclass(frozen=True)
class Explanation:
    """How distances were computed. As text it has a line for each kernel, and one for all.

    kernels: what swept, in the order of first use.
    tiles: plans that computed: one for each tile of a matrix that is computed in tiles.
    memory_bytes: scratch memory of a plan, at most. allowed_bytes: what it was allowed.
    cells: of the dynamic program.
    seconds: how long it took.
    """

    kernels: list[Kernel]
    tiles: int
    memory_bytes: int
    allowed_bytes: int
    cells: int
    seconds: float
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Neighbors(Equal):
    """The nearest series to each of some series, nearest first.

    indices: `[n_y, k]` of int64, into x.
    distances: `[n_y, k]`, in the same order.
    """

    indices: NDArray[np.int64]
    distances: NDArray[Any]

    def __len__(self) -> int:
        """Series that were asked about."""
        return len(self.indices)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """`indices, distances = nearest(...)`."""
        return iter((self.indices, self.distances))

    def plot(self, x: Any, y: Any = None, **options: Any) -> Any:
        """Draws series with their nearest ones: `x`, `y` are those that `nearest` was given. Needs matplotlib. Options are
        those of `dtwave.plots.neighbors`; returns an array of axes.
        """
        return import_module("dtwave.plots").neighbors(self, x, y, **options)

    def __repr__(self) -> str:
        return f"Neighbors(k={self.indices.shape[1]}, of {len(self)} series)"


@dataclass(frozen=True)
class Motif:
    """Two windows that are near to each other.

    distance: how near.
    first: the first point of a window of the series.
    second: that of its nearest window: of the same series, or of the other one.
    """

    distance: float
    first: int
    second: int


@dataclass(frozen=True)
class Discord:
    """A window that is far from its nearest one.

    distance: how far.
    start: the first point of the window.
    nearest: that of its nearest window.
    """

    distance: float
    start: int
    nearest: int


@dataclass(frozen=True, eq=False)
class Profile(Equal):
    """For each window of a series its distance to the nearest one, and where that is.

    distances: `[windows]`; infinite for a window without a neighbour: all others are in its exclusion zone.
    indices: `[windows]` of int64: the first point of the nearest window, -1 where there is none.
    window: points of a window. step: window w begins at point `w * step`.
    exclusion: the exclusion zone in points.
    is_join: whether the neighbours are windows of another series.
    """

    distances: NDArray[Any]
    indices: NDArray[np.int64]
    window: int
    step: int
    exclusion: int
    is_join: bool

    def __len__(self) -> int:
        """Windows."""
        return len(self.indices)

    def __repr__(self) -> str:
        return f"Profile({len(self)} windows of {self.window} points)"

    def motifs(self, k: int = 3) -> list[Motif]:
        """The k best motifs, the closest first; fewer where there are no more.

        Candidates are the pairs of each window and its nearest one. The closest is taken, of equally close ones the one
        whose window of the series begins first; it is the closest pair of windows that there is. Then the next one
        follows that does not overlap those taken: both of its windows begin more than the exclusion zone away from all
        of theirs (with another series: from theirs in the same series).
        """
        motifs: list[Motif] = []
        for place in self._ranked(self.distances):
            if len(motifs) >= k:
                break
            first, second = int(place) * self.step, int(self.indices[place])
            if not any(self._overlap(first, second, taken) for taken in motifs):
                motifs.append(Motif(float(self.distances[place]), first, second))
        return motifs

    def discords(self, k: int = 3) -> list[Discord]:
        """The k best discords, the farthest first; fewer where there are no more.

        The window whose nearest one is farthest is taken, of equally far ones the first; then the next one follows that
        begins more than the exclusion zone away from those taken. Windows without a neighbour are no discords.
        """
        discords: list[Discord] = []
        for place in self._ranked(-self.distances):
            if len(discords) >= k:
                break
            start = int(place) * self.step
            if all(abs(taken.start - start) > self.exclusion for taken in discords):
                discords.append(Discord(float(self.distances[place]), start, int(self.indices[place])))
        return discords

    def _ranked(self, order: NDArray[Any]) -> NDArray[np.int64]:
        """The windows that have a neighbour, in this order."""
        places = np.flatnonzero(self.indices >= 0)
        ranked: NDArray[np.int64] = places[np.argsort(order[places], kind="stable")]
        return ranked

    def _overlap(self, first: int, second: int, taken: Motif) -> bool:
        """Whether a window of a motif is in the exclusion zone of one that was taken."""

        def near(one: int, other: int) -> bool:
            return abs(one - other) <= self.exclusion

        crossed = not self.is_join and (near(first, taken.second) or near(second, taken.first))
        return near(first, taken.first) or near(second, taken.second) or crossed

    def plot(self, series: Any, other: Any = None, **options: Any) -> Any:
        """Draws the series with its best motifs, the profile, and the best motif: `series` and `other` are those that
        `profile` was given. Needs matplotlib. Options are those of `dtwave.plots.profile`; returns an array of axes.
        """
        return import_module("dtwave.plots").profile(self, series, other, **options)


@dataclass(frozen=True, eq=False)
class Graph(Equal):
    """A sparse matrix of distances in compressed rows (CSR): of each row's nearest series, or of those within a threshold.

    The entries of row i are `data[indptr[i]:indptr[i + 1]]`, nearest first, in the columns
    `indices[indptr[i]:indptr[i + 1]]`. A distance of 0 is an entry too. HDBSCAN, UMAP and scikit-learn take it as
    `to_scipy()`.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    data: NDArray[Any]
    shape: tuple[int, int]

    def to_scipy(self) -> Any:
        """The same as a `scipy.sparse.csr_matrix`, without a copy.

        Errors: `ModuleNotFoundError` without SciPy.
        """
        try:
            from scipy.sparse import csr_matrix  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ModuleNotFoundError:
            raise ModuleNotFoundError("to_scipy needs SciPy: pip install scipy", name="scipy") from None

        return csr_matrix((self.data, self.indices, self.indptr), shape=self.shape)

    def __repr__(self) -> str:
        return f"Graph({self.shape[0]} x {self.shape[1]}, {len(self.data)} entries of {self.data.dtype})"


@dataclass(frozen=True, eq=False)
class Barycenter(Equal):
    """An average and how it was reached.

    center: `[length]`, or `[length, channels]` for series that have an axis of channels.
    costs: the weighted sum of distances, of the start and after each iteration.
    converged: whether the cost stopped falling before the iterations ran out.
    """

    center: NDArray[Any]
    costs: NDArray[np.float64]
    converged: bool

    @property
    def cost(self) -> float:
        """The cost of `center`: the least of `costs`."""
        return float(self.costs.min())

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return len(self.costs) - 1

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """`np.asarray(average)` is its centre."""
        return np.array(self.center, dtype=dtype) if copy else np.asarray(self.center, dtype=dtype)

    def __repr__(self) -> str:
        ended = _ended(self.iterations, self.converged)
        return f"Barycenter(center={_short(self.center)}, cost={self.cost:.6g}, {ended})"

    def plot(self, x: Any, **options: Any) -> Any:
        """Draws the average over its series; needs matplotlib. Options are those of `dtwave.plots.barycenter`."""
        return import_module("dtwave.plots").barycenter(self, x, **options)


@dataclass(frozen=True, eq=False)
class KMeans(Equal):
    """Clusters around averages.

    centers: one per cluster, `[length]` or `[length, channels]`, of the lengths of the series they started from.
    labels: the cluster of each series, `[n]` of int64.
    distances: of each series to its centre, `[n]`.
    inertia: the sum of the distances.
    iterations: rounds of the start that won.
    converged: whether the inertia stopped falling before the rounds ran out.
    """

    centers: list[NDArray[Any]]
    labels: NDArray[np.int64]
    distances: NDArray[Any]
    inertia: float
    iterations: int
    converged: bool

    def __repr__(self) -> str:
        of = f"{len(self.centers)} clusters of {len(self.labels)} series, inertia={self.inertia:.6g}"
        return f"KMeans({of}, {_ended(self.iterations, self.converged)})"

    def plot(self, x: Any, **options: Any) -> Any:
        """Draws each cluster with its centre: `x` are the series. Needs matplotlib. Options are those of
        `dtwave.plots.clusters`; returns an array of axes.
        """
        return import_module("dtwave.plots").clusters(self, x, **options)


@dataclass(frozen=True, eq=False)
class KMedoids(Equal):
    """Clusters around members (medoids).

    medoids: index of the medoid of each cluster, `[k]` of int64, increasing.
    labels: the cluster of each series, `[n]` of int64: that of its nearest medoid. `medoids[labels[s]]` is the medoid of
        series s.
    loss: the sum of the distances of all series to their medoid; of a similarity, minus the sum.
    iterations: passes of the start that won.
    converged: whether no swap of a medoid with another series lowers the loss.
    """

    medoids: NDArray[np.int64]
    labels: NDArray[np.int64]
    loss: float
    iterations: int
    converged: bool

    def __repr__(self) -> str:
        of = f"{len(self.medoids)} clusters of {len(self.labels)} series, loss={self.loss:.6g}"
        return f"KMedoids({of}, {_ended(self.iterations, self.converged)})"

    def plot(self, x: Any, **options: Any) -> Any:
        """Draws each cluster with its centre: `x` are the series. Needs matplotlib. Options are those of
        `dtwave.plots.clusters`; returns an array of axes.
        """
        return import_module("dtwave.plots").clusters(self, x, **options)
