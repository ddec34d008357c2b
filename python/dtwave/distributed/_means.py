"""k-means by the workers of a client: they have the series, and from round to round only centres travel.

```text
label    blocks of series    each to its nearest centre
average  clusters            each whole, by one worker, of its members in their order
```

All starts are drawn first, in the order in which one process draws them, and then go through their rounds side by side:
so there are jobs for many workers. Nothing is summed in another order than by one process, and the bits are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from .. import _missing, _native, _progress
from .._calls import Call
from .._inputs import Packed
from .._options import Given
from ._engines import all_of, workers_of
from ._seeds import seeds, shown, total
from ._tiles import blocks
from ._work import Run, Span, Work, lengths_of, naming, picked

#: A series, `[length, channels]`.
Series = NDArray[Any]
#: What the native half returns: centres (values, and the points of each), labels, distances, inertia, iterations,
#: whether it converged.
Found = tuple[NDArray[Any], list[int], NDArray[np.int64], NDArray[Any], float, int, bool]


@dataclass(frozen=True)
class Asked:
    """What k-means is asked for."""

    clusters: int
    restarts: int
    max_iterations: int
    tolerance: float
    center_iterations: int
    minimizer: tuple[str, float]
    seed: int


@dataclass(frozen=True)
class _State:
    """Where a start is."""

    centers: list[Series]
    labels: NDArray[np.int64]
    distances: NDArray[Any]
    inertia: float
    iterations: int = 1
    converged: bool = False


@dataclass(frozen=True)
class _Labels:
    """A job: the nearest of the centres of start `start`, for some series of a side. `numbers` has their places among
    all, where these are others.
    """

    start: int
    centers: list[Series]
    side: int
    span: Span
    numbers: NDArray[np.int64] | None


@dataclass(frozen=True)
class _Average:
    """A job: the average of some series, sought from a centre."""

    start: int
    cluster: int
    center: Series
    members: NDArray[np.int64]
    weights: list[float]
    asked: Asked


def _labels(work: Work, wanted: _Labels) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """What a worker finds: the nearest centre of each series, and how far it is."""
    call = work.call((wanted.side, wanted.span))

    def named(cluster: int, s: int) -> str:
        place = wanted.span[0] + s if wanted.numbers is None else wanted.numbers[s]
        return f"the centre of cluster {cluster} and series {place}"

    with naming(named):
        indices, values = _native.nearest(_packed(wanted.centers), call.first, 1, call.spec, call.engine, None)
    return indices[:, 0], values[:, 0]


def _own(work: Work, s: int) -> NDArray[Any]:
    """What a worker finds: the distance of a series from itself, `[1]`."""
    call = work.call((0, (s, s + 1)))
    found = np.empty(1, dtype=work.number)
    _native.distances(call.first, call.first, call.spec, call.engine, True, found, None)
    return found


def _average(work: Work, wanted: _Average) -> Series:
    """What a worker finds."""
    side, asked = work.sides[0], wanted.asked
    assert isinstance(side, tuple)
    call = work.call()
    return _native.barycenter(
        picked(side, wanted.members),
        call.spec,
        call.engine,
        wanted.weights,
        "series",
        _packed([wanted.center]),
        (1, 0),
        asked.minimizer,
        asked.center_iterations,
        asked.tolerance,
        None,
    )[0]


def kmeans(client: Any, given: Given, call: Call, weights: list[float] | None, asked: Asked) -> Found:
    """The clusters of a call, by the workers of a client.

    Errors: `ValueError` as those of the native half.
    """
    shares = _checked(call, weights, asked)
    kept, left = np.flatnonzero(shares > 0), np.flatnonzero(shares == 0)
    packed = [call.first] if not len(left) else [picked(call.first, kept), picked(call.first, left)]
    workers = workers_of(client)
    work = Work.of(replace(call, packed=packed), given)
    with _missing.Explained(), _progress.shown(given.progress, "kmeans", lambda: 0) as bar:
        with workers.hold(work) as run:
            rounds = _Rounds(run, workers.count(), call.spec, packed, shares[kept], kept if len(left) else None, bar)
            best = rounds.best(asked)
            if len(left):
                labels, distances = np.empty(len(shares), dtype=np.int64), np.empty(len(shares), dtype=call.number)
                labels[kept], distances[kept] = best.labels, best.distances
                ((labels[left], distances[left]),) = rounds.nearest([best.centers], 1, left)
                best = replace(best, labels=labels, distances=distances)
    values = np.concatenate([center.ravel() for center in best.centers])
    lengths = [len(center) for center in best.centers]
    return values, lengths, best.labels, best.distances, best.inertia, best.iterations, best.converged


def _checked(call: Call, weights: list[float] | None, asked: Asked) -> NDArray[np.float64]:
    """The weight of each series.

    Errors: `ValueError` for what no worker need begin with, in the words of the native half.
    """
    count = len(lengths_of(call.first))
    if asked.clusters == 0:
        raise ValueError("clustering needs at least 1 cluster, got 0")
    if count == 0:
        raise ValueError("clustering needs at least one series, got none")
    if asked.clusters > count:
        raise ValueError(f"{asked.clusters} clusters were asked for, but there are only {count} series")
    if asked.restarts == 0:
        raise ValueError("clustering needs at least 1 start, got 0 restarts")
    if asked.max_iterations == 0:
        raise ValueError("k-means needs at least 1 iteration to label the series, got 0")
    with _missing.Explained():
        _native.cells(call.first, None, call.spec, False)
        if asked.max_iterations > 1:
            # The average of a short series, which is there already: it says what is wrong with the options of averages.
            short = np.zeros((1, 8, call.first[0].shape[-1]), dtype=call.number), None, None
            minimizer, tolerance = asked.minimizer, asked.tolerance
            _native.barycenter(short, call.spec, call.engine, None, "medoid", None, (1, 0), minimizer, 0, tolerance, None)
    if weights is None:
        return np.ones(count)
    shares = np.array(weights)
    wrong = np.flatnonzero(~np.isfinite(shares) | (shares < 0))
    if len(wrong):
        value = shares[wrong[0]]
        text = repr(float(value)).removesuffix(".0") if np.isfinite(value) else shown(value)
        raise ValueError(f"the weight of series {wrong[0]} is {text}: expected a finite number >= 0")
    if not shares.any():
        raise ValueError(f"all {count} weights are 0: at least one series must count")
    if not np.isfinite(total(shares)):
        raise ValueError("the weights' sum overflows f64: scale them down")
    positive = int((shares > 0).sum())
    if asked.clusters > positive:
        raise ValueError(
            f"{asked.clusters} clusters were asked for, but only {positive} series have a weight above 0"
        )
    return shares


class _Rounds:
    """Rounds of labels and averages, by workers that hold the series."""

    def __init__(
        self,
        run: Run,
        workers: int,
        spec: _native.Spec,
        packed: list[Packed],
        weights: NDArray[np.float64],
        numbers: NDArray[np.int64] | None,
        bar: Callable[[int], object] | None,
    ) -> None:
        self.run, self.spec, self.packed, self.weights, self.numbers = run, spec, packed, weights, numbers
        self.bar, self.cells = bar, 0
        #: Of each side blocks of series, of about as many points.
        self.spans = []
        for side in packed:
            lengths = lengths_of(side)
            edges = blocks(lengths, max(-(-len(lengths) // (4 * workers)), 1)).tolist()
            self.spans.append(list(zip(edges, edges[1:])))

    def best(self, asked: Asked) -> _State:
        """The best of all starts; of equally good ones the first."""
        draws = _native.Draws(asked.seed)
        starts = [seeds(self.run, self.spans[0], self.weights, asked.clusters, draws) for _ in range(asked.restarts)]
        states = self.labelled([[self._series(s) for s in start] for start in starts])
        floor = float(self.spec.parameters["gamma"]) if self.spec.key == "soft_dtw" else 0.0
        floor *= total(self.weights)
        going = list(range(asked.restarts))
        for iteration in range(2, asked.max_iterations + 1):
            if not going:
                break
            for at, after in zip(going, self.labelled(self.averaged([states[at] for at in going], asked))):
                before = states[at]
                decrease = before.inertia - after.inertia
                converged = decrease <= asked.tolerance * max(abs(before.inertia), floor)
                # A round that gains nothing is not taken.
                taken = after if decrease > 0 else before
                states[at] = replace(taken, iterations=iteration, converged=converged)
            going = [at for at in going if not states[at].converged]
        return min(states, key=lambda state: state.inertia)

    def labelled(self, many: list[list[Series]]) -> list[_State]:
        """Each series to its nearest centre, by the centres of each start."""
        found = self.nearest(many, 0, self.numbers)
        return [self._filled(centers, *own) for centers, own in zip(many, found)]

    def nearest(
        self, many: list[list[Series]], side: int, numbers: NDArray[np.int64] | None
    ) -> list[tuple[NDArray[np.int64], NDArray[Any]]]:
        """The nearest centre of each series of a side, and how far it is, by the centres of each start."""
        count = len(lengths_of(self.packed[side]))
        number = self.packed[side][0].dtype
        found = [(np.empty(count, dtype=np.int64), np.empty(count, dtype=number)) for _ in many]
        jobs = [
            _Labels(start, centers, side, span, None if numbers is None else numbers[slice(*span)])
            for start, centers in enumerate(many)
            for span in self.spans[side]
        ]
        for job, (labels, distances) in all_of(self.run, _labels, jobs):
            found[job.start][0][slice(*job.span)] = labels
            found[job.start][1][slice(*job.span)] = distances
        if self.bar is not None:
            self.cells += sum(
                _native.cells(_packed(centers), self.packed[side], self.spec, False) for centers in many
            )
            self.bar(self.cells)
        return found

    def _filled(self, centers: list[Series], labels: NDArray[np.int64], distances: NDArray[Any]) -> _State:
        """An empty cluster gets the series that adds most to the inertia.

        Errors: `ValueError` for an inertia that is not finite.
        """
        sizes, centers = np.bincount(labels, minlength=len(centers)), list(centers)
        while not sizes.all():
            empty = int(np.argmin(sizes))
            # There are at least as many series as clusters, so an empty one leaves another with two.
            s = int(np.where(sizes[labels] > 1, self._costs(distances), -np.inf).argmax())
            sizes[labels[s]] -= 1
            sizes[empty] += 1
            labels[s] = empty
            ((_, distances[s : s + 1]),) = all_of(self.run, _own, [s])
            centers[empty] = self._series(s)
        inertia = total(self._costs(distances))
        if not np.isfinite(inertia):
            raise ValueError(f"the inertia is {shown(inertia)}: scale or normalise the data")
        return _State(centers, labels, distances, inertia)

    def _costs(self, distances: NDArray[Any]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            costs: NDArray[np.float64] = self.weights * distances
        return costs

    def averaged(self, states: list[_State], asked: Asked) -> list[list[Series]]:
        """The average of each cluster of each start, sought from its former centre."""
        jobs = []
        for start, state in enumerate(states):
            for cluster, center in enumerate(state.centers):
                members = np.flatnonzero(state.labels == cluster)
                own = self.weights[members].tolist()
                jobs.append(_Average(start, cluster, center, members, own, asked))
        # The largest first: the others fill what is left.
        jobs.sort(key=lambda job: -len(job.members))
        centers = [list(state.centers) for state in states]
        for job, center in all_of(self.run, _average, jobs):
            centers[job.start][job.cluster] = center
        return centers

    def _series(self, s: int) -> Series:
        values, offsets, _ = self.packed[0]
        found: Series = values[s] if offsets is None else values[offsets[s] : offsets[s + 1]]
        return found


def _packed(centers: list[Series]) -> Packed:
    ends = np.cumsum([0, *map(len, centers)], dtype=np.int64)
    # Copies: what comes to a worker may be at an odd address.
    return np.concatenate(centers), ends, None
