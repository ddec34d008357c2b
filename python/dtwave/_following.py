"""Where a query occurs in a stream that goes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _calls, _inputs, _missing, _native
from ._options import Normalize, Shared, taken, takes
from ._results import Match
from ._search import chosen

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack


@takes(Shared)
def follow(
    query: Any,
    points: Iterable[Any],
    *,
    threshold: float,
    exclusion: int | None = None,
    normalize: Normalize = "none",
    normalized_window: int | None = None,
    sqrt: bool = False,
    **options: Unpack[Shared],
) -> Iterator[Match]:
    """The matches of a query in a stream, each as soon as no point that may come can change it: an iterator.

    query: `[length]` or `[length, channels]`.
    points: what gives points as they come, such as a generator: numbers, or arrays `[points]` or `[points, channels]`.
        Arrays cost less than numbers one by one.
    threshold: the largest distance of a match (with `sqrt` of its root).
    Other options: as for `search`; `missing` and `resample` are of the query.

    Gives `Match`es in the order of their ends: those that `search` finds in the whole with this threshold. A match is
    settled when no better one can come within `exclusion` points of its end. Memory is that of one block of points,
    and of ends that are not settled.

    Time: `len(query)` cells for each point; with windows, one sweep of a window.

    Errors: as `search`; `ValueError` for a point that is no finite number.

    >>> import dtwave
    >>> heard = dtwave.follow([1.0, 2.0, 1.0], iter([5.0, 0.0, 1.0, 2.0, 2.0, 1.0, 5.0, 9.0]), threshold=0.5)
    >>> next(heard)
    Match(distance=0.0, start=2, end=5)
    """
    given = taken(options, Shared)
    wanted = chosen(None, threshold, exclusion, normalize, normalized_window, sqrt)
    if wanted.threshold is None:
        raise TypeError("follow needs a threshold: the largest distance of a match")
    if not isinstance(points, Iterable):
        raise TypeError(f"points must give numbers or arrays one after the other, got {type(points).__name__}")
    _missing.check_places(given.missing)
    if given.measure == "subsequence_dtw":
        given.measure = "dtw"
    batch = _inputs.one(query, "query", given.layout)
    call = _calls.prepared([batch], given)
    _, apart, bound, window, _ = wanted.of(batch.lengths[0])
    assert bound is not None, "a threshold was given"
    follower = _native.Follower(call.first, call.spec, call.engine, apart, bound, window)
    return _told(follower, points, batch.channels, threshold, sqrt=wanted.sqrt)


def _told(
    follower: _native.Follower, points: Iterable[Any], channels: int, threshold: float, *, sqrt: bool
) -> Iterator[Match]:
    """The matches of a search that goes on."""

    def finished(hits: list[tuple[float, int, int]]) -> Iterator[Match]:
        for distance, start, end in hits:
            told = max(distance, 0.0) ** 0.5 if sqrt else distance
            if told <= threshold:
                yield Match(told, start, end)

    for some in points:
        yield from finished(follower.push(_points(some, channels)))
    yield from finished(follower.end())


def _points(some: Any, channels: int) -> NDArray[np.float64]:
    """What came, as `[points, channels]`."""
    try:
        array = np.asarray(some, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"points are numbers or arrays of numbers, got {some!r}") from error
    if array.ndim == 1 and channels == 1:
        array = array[:, None]
    elif array.ndim < 2:
        array = np.atleast_1d(array)[None]
    if array.ndim != 2 or array.shape[1] != channels:
        raise ValueError(f"points of {channels} channels have the shape [points, {channels}], got {np.shape(some)}")
    return np.ascontiguousarray(array)
