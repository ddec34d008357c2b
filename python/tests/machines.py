"""What the tests of every engine compare: calls with a client and without it, and calls that something happens to."""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtwave
from dtwave import _progress

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(41, 24)), RNG.normal(size=(30, 17))
RAGGED = [RNG.normal(size=(length, 2)) for length in RNG.integers(3, 40, size=33)]
#: Enough that its tiles take some seconds of one core.
LONG = RNG.normal(size=(300, 400)).astype(np.float32)


def same(one: Any, other: Any) -> bool:
    """Whether arrays have the same bytes and number type."""
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


class Here:
    """A stand-in for an engine."""

    def submit(self): ...
    def scatter(self): ...
    def cancel(self): ...
    def nthreads(self): ...


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    """A client whose jobs are computed by this process, the last ones first. All that would travel is pickled."""
    from dtwave.distributed import _dask

    class Workers:
        def __init__(self, client): ...
        def count(self):
            return 2

        @contextmanager
        def hold(self, work):
            held = pickle.dumps(work)

            def run(function, jobs):
                for job in reversed(list(jobs)):
                    found = function(pickle.loads(held), pickle.loads(pickle.dumps(job)))
                    yield job, pickle.loads(pickle.dumps(found))

            yield run

    monkeypatch.setattr(_dask, "DaskWorkers", Workers)
    return Here()


def same_means(one: dtwave.KMeans, other: dtwave.KMeans) -> bool:
    """Whether clusters have the same bytes."""
    alike = len(one.centers) == len(other.centers) and all(map(same, one.centers, other.centers))
    alike = alike and same(one.labels, other.labels) and same(one.distances, other.distances)
    ends = [(each.inertia, each.iterations, each.converged) for each in (one, other)]
    return alike and ends[0] == ends[1]


def check_learning(client: Any) -> None:
    """What is learned in rounds, and in many bands, is what one process learns."""
    weights = np.where(np.arange(41) % 5 == 0, 0.0, np.linspace(0.5, 2.0, 41))
    for x, clusters, options in (
        (X, 3, {"seed": 3, "restarts": 2, "max_iterations": 2, "weights": weights}),
        (RAGGED, 2, {"measure": "soft_dtw", "restarts": 1, "max_iterations": 2, "dtype": "float32"}),
    ):
        assert same_means(dtwave.kmeans(x, clusters, client=client, **options), dtwave.kmeans(x, clusters, **options))
    with pytest.raises(ValueError, match="series 3 is inf: scale or normalise the data"):
        dtwave.kmeans(np.where(np.arange(41)[:, np.newaxis] == 3, 1e200, X), 1, client=client)
    if importlib.util.find_spec("sklearn") is None:
        return
    from dtwave.sklearn import KNeighborsTimeSeriesClassifier, leave_one_out_band

    labels = np.arange(41) % 3
    model, bands = KNeighborsTimeSeriesClassifier(n_neighbors=3, measure="adtw"), [0, 2, 0.5, None]
    found = leave_one_out_band(model, X, labels, bands=bands, client=client)
    expected = leave_one_out_band(model, X, labels, bands=bands)
    assert found == expected and same(found.scores, expected.scores)


def check_calls(client: Any, folder: Path, no_gpu: type[Exception] = dtwave.DeviceError) -> None:
    """Every function with a client gives the bytes that it gives without."""
    for options in ({}, {"band": 0.2, "normalize": "z", "sqrt": True, "dtype": "float32"}, {"cutoff": 20.0}):
        assert same(dtwave.pairwise(X, client=client, **options), dtwave.pairwise(X, **options))
        assert same(dtwave.pairwise(X, Y, client=client, **options), dtwave.pairwise(X, Y, **options))
    assert same(dtwave.pairwise(RAGGED, measure="msm", client=client), dtwave.pairwise(RAGGED, measure="msm"))
    half = dtwave.pairwise(X, condensed=True)
    assert same(dtwave.pairwise(X, condensed=True, client=client), half)
    found, expected = dtwave.pairwise(X, out=folder / "c.npy", client=client), dtwave.pairwise(X, out=folder / "d.npy")
    assert isinstance(found, np.memmap) and same(found, expected)
    assert (folder / "c.npy").read_bytes() == (folder / "d.npy").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["c.npy", "d.npy"]
    for y in (None, Y):
        assert dtwave.nearest(X, y, k=3, client=client) == dtwave.nearest(X, y, k=3)
        assert dtwave.pairwise(X, y, k=2, client=client) == dtwave.pairwise(X, y, k=2)
    # So few that the other side is shared out.
    assert dtwave.nearest(X, Y[:2], k=4, client=client) == dtwave.nearest(X, Y[:2], k=4)
    labels = RNG.integers(0, 3, size=len(X)).astype("U")
    for options in ({"k": 1}, {"k": 7, "band": 0.5}, {"k": 6, "measure": "log_gak", "sigma": 2.0}):
        assert same(dtwave.classify(X, labels, Y, client=client, **options), dtwave.classify(X, labels, Y, **options))
    assert dtwave.classify(X, labels, Y[:0], client=client).shape == (0,)
    reference = RNG.normal(size=500)
    queries = [reference[10:30], reference[100:110], RNG.normal(size=20), RNG.normal(size=10)]
    for options in ({"k": 3}, {"normalize": "z", "sqrt": True}):
        expected = dtwave.search_all(queries, reference, **options)
        assert dtwave.search_all(queries, reference, client=client, **options) == expected
    with pytest.raises(ValueError, match="series 2 of x has NaN at point 1"):
        dtwave.pairwise(np.where(np.arange(41 * 24).reshape(41, 24) == 49, np.nan, X), client=client)
    with pytest.raises(no_gpu):
        dtwave.pairwise(X, device="hip:77", client=client)


@contextmanager
def told(monkeypatch: pytest.MonkeyPatch, heard: Callable[[int, int], None]) -> Iterator[None]:
    """Calls with `progress=True` tell `heard` how many tiles are done, and of how many cells all cells are, if that is
    known.
    """

    @contextmanager
    def shown(progress: bool, what: str, cells: Callable[[], int]) -> Iterator[Callable[[int], None]]:
        count = 0

        def tell(done: int) -> None:
            nonlocal count
            count += 1
            assert 0 < done <= (cells() or done)
            heard(count, done)

        yield tell

    with monkeypatch.context() as patch:
        patch.setattr(_progress, "shown", shown)
        yield


def check_happening(client: Any, monkeypatch: pytest.MonkeyPatch, events: dict[int, Callable[[], object]]) -> None:
    """A matrix has its bytes although something happens when so many tiles are done."""
    last = 0

    def heard(count: int, done: int) -> None:
        nonlocal last
        last = done
        if count in events:
            events.pop(count)()

    with told(monkeypatch, heard):
        found = dtwave.pairwise(LONG, measure="soft_dtw", client=client, progress=True)
    assert not events, "there were too few tiles"
    assert last == 300 * 301 // 2 * 400 * 400
    assert same(found, dtwave.pairwise(LONG, measure="soft_dtw"))


class Stop(Exception):
    """What a test raises in the middle of a call."""


def stopped(client: Any, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """A call that an error in the caller's process ends after its first tile: its file has no name yet."""

    def heard(count: int, done: int) -> None:
        raise Stop

    with told(monkeypatch, heard), pytest.raises(Stop):
        dtwave.pairwise(LONG, measure="soft_dtw", out=folder / "m.npy", client=client, progress=True)
    assert sorted(path.name for path in folder.iterdir()) == ["m.npy.partial", "m.npy.progress"]
