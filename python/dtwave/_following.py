"""Where a query occurs in a stream that goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _calls, _frames, _inputs, _missing, _native
from ._options import Normalize, Shared, taken, takes
from ._results import Match
from ._search import check_finite, chosen

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
        Arrays cost less than numbers one by one. Each is read as the other functions read a series.
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
    coming = _coming(points)
    _missing.check_places(given.missing)
    if given.measure == "subsequence_dtw":
        given.measure = "dtw"
    batch = _inputs.one(query, "query", given.layout)
    call = _calls.prepared([batch], given)
    check_finite(batch)
    _, apart, bound, window, _ = wanted.of(batch.lengths[0])
    assert bound is not None, "a threshold was given"
    follower = _native.Follower(call.first, call.spec, call.engine, apart, bound, window)
    # With dtype="float64" whole numbers may be rounded, as in a series.
    read = partial(_points, query=query, channels=batch.channels, number=call.number, is_exact=given.dtype is None)
    return _told(follower, map(read, coming), wanted.threshold, sqrt=wanted.sqrt)


def _coming(points: Any) -> Iterable[Any]:
    """What gives the points.

    Errors: `TypeError` for what has no points one after the other.
    """
    kind = type(points).__name__
    if isinstance(points, (str, bytes, bytearray)):
        raise TypeError(f"points is text, {points!r:.40}: expected numbers or arrays, one after the other")
    if isinstance(points, Mapping):
        raise TypeError(f"points is a {kind}, which gives its keys: pass points.values(), if they come in order")
    if isinstance(points, Set):
        raise TypeError(f"points is a {kind}, which has no order: pass a list or a generator of points")
    if _frames.is_table(points):
        raise TypeError(
            f"points is a {kind}, which gives no rows one after the other: pass [points], a list of one block"
        )
    if _frames.is_column(points):
        cells = _frames.cells(points)
        return [_frames.series(points, "points")] if cells is None else cells
    if not isinstance(points, Iterable):
        raise TypeError(f"points must give numbers or arrays one after the other, got {kind}")
    return points


def _told(
    follower: _native.Follower, blocks: Iterable[NDArray[np.float64]], threshold: float, *, sqrt: bool
) -> Iterator[Match]:
    """The matches of a search that goes on."""

    def finished(step: Callable[[], list[tuple[float, int, int]]]) -> Iterator[Match]:
        try:
            hits = step()
        except ValueError as error:
            # The native half says what it calls the series in which it searches.
            raise ValueError(str(error).replace("the reference ", "the stream of points ")) from None
        for distance, start, end in hits:
            told = max(distance, 0.0) ** 0.5 if sqrt else distance
            if told <= threshold:
                yield Match(told, start, end)

    for block in blocks:
        yield from finished(partial(follower.push, block))
    yield from finished(follower.end)


#: The largest number that float32 has.
_MOST_SMALL = float(np.finfo(np.float32).max)


def _points(some: Any, query: Any, channels: int, number: np.dtype[Any], is_exact: bool) -> NDArray[np.float64]:
    """What came, as `[points, channels]`.

    Errors: `TypeError` and `ValueError` for what is no number or array of them, or is too large for the number type.
    """
    if isinstance(some, float) or (type(some) is int and abs(some) <= _arrays.MOST_EXACT):
        if channels == 1 and abs(some) <= _MOST_SMALL:
            # The shortest way, of most streams of single numbers.
            return np.array([[some]], dtype=np.float64)
        array = np.asarray(some, dtype=np.float64)
    elif _frames.is_table(some):
        _frames.check_same_order([query, some], "query and points")
        array = _frames.points(some, "points")
    else:
        array = _inputs.values_of(some, "points")
    if array.ndim == 1 and channels == 1:
        array = array[:, None]
    elif array.ndim < 2:
        array = np.atleast_1d(array)[None]
    if array.ndim != 2 or array.shape[1] != channels:
        raise ValueError(f"points of {channels} channels have the shape [points, {channels}], got {list(array.shape)}")
    batch = _inputs.Batch(array[None], "points")
    _inputs.number_type([batch], None if is_exact else number)
    if number == np.float32:
        _inputs.pack(batch, number)
    return np.ascontiguousarray(array, dtype=np.float64)
