"""Where a query occurs in a longer series."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Iterator, get_args

import numpy as np

from . import _calls, _frames, _inputs, _missing, _native, _notes, _options, _resident, _resident_calls, _workers
from ._inputs import Batch
from ._options import Given, Normalize, Precision, Shared, taken, takes
from ._results import Match, Matches

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(Shared)
def search(
    query: Any,
    reference: Any,
    *,
    k: int | None = None,
    threshold: float | None = None,
    exclusion: int | None = None,
    normalize: Normalize = "none",
    normalized_window: int | None = None,
    sqrt: bool = False,
    precision: Precision = "full",
    **options: Unpack[Shared],
) -> Matches:
    """The best matches of a query in a longer series, best first, by subsequence DTW.

    query, reference: one series each, `[length]` or `[length, channels]`.
    k: how many matches at most. Unless given, 5, or with `threshold` all of them.
    threshold: the largest distance of a match (with `sqrt` of its root).
    exclusion: the ends of two matches are more than this many points apart: half the points of the query unless given.
        With 0 only their ends differ, and the best matches are often one match, shifted by a point.
    normalize: "z" compares the z-normalised query with every z-normalised window instead. The first points of both then
        match, and the last points.
    normalized_window: points per window, as many as the query has unless given; with it `normalize` is "z".
    sqrt: True gives the roots of the distances.
    precision: "half" proposes places in half precision and confirms them in float32, on "cuda" and "hip": faster for
        long queries. Distances, starts and ends are those of "full"; a match that half precision cannot tell from worse
        ones may be missed. The numerics page says when a query is searched in full after all.
    measure: "dtw" alone; its `cost` may be given.
    band: around the diagonal of the query and the whole reference; with `normalized_window`, of the query and a window.
    Other options: as for `distance`.

    Returns `Matches`, a list of `Match`, fewer than k if there are no more. Its distance is that of dtw: without `sqrt`
    no root is taken.

    Time: one sweep of `len(query) * len(reference)` cells; with windows, one per window.

    Errors: as `distance`.

    >>> import dtwave
    >>> dtwave.search([1.0, 2.0, 1.0], [5.0, 5.0, 0.0, 1.0, 2.0, 2.0, 1.0, 5.0], k=1)
    [Match(distance=0.0, start=3, end=6)]
    """
    wanted = chosen(k, threshold, exclusion, normalize, normalized_window, sqrt, precision)
    given = taken(options, Shared)
    return _found("query", query, reference, wanted, given)[0]


@takes(Shared)
def search_all(
    queries: Any,
    reference: Any,
    *,
    k: int | None = None,
    threshold: float | None = None,
    exclusion: int | None = None,
    normalize: Normalize = "none",
    normalized_window: int | None = None,
    sqrt: bool = False,
    precision: Precision = "full",
    lengths: Any = None,
    client: Any = None,
    **options: Unpack[Shared],
) -> list[Matches]:
    """The best matches of each query in a longer series: a list per query, each as `search` returns it.

    queries: `[queries, length]`, `[queries, length, channels]`, or a list of series of any lengths.
    lengths: how many points of each query count, `[queries]`, for padded arrays.
    client: workers that compute, as for `pairwise`: they share the queries, and each has the reference.
    Other options: as for `search`. Queries share the threads.
    """
    wanted = chosen(k, threshold, exclusion, normalize, normalized_window, sqrt, precision)
    given = taken(options, Shared)
    given.lengths = lengths
    return _found("queries", queries, reference, wanted, given, client)


#: Matches of a query unless it is said how many.
BEST = 5


@dataclass(frozen=True)
class Chosen:
    """Which matches are wanted; what is None follows the query."""

    many: int | None
    threshold: float | None
    exclusion: int | None
    is_normalized: bool
    window: int | None
    sqrt: bool
    half: bool

    def of(self, points: int) -> tuple[int | None, int, float | None, int | None, bool]:
        """What the native half is asked for, for queries of so many points: most matches, exclusion, threshold, window,
        and whether half precision proposes.
        """
        bound = self.threshold
        if bound is not None and self.sqrt:
            # A little wider: the roots are compared.
            bound = min(bound * bound * (1 + 1e-6), sys.float_info.max)
        exclusion = points // 2 if self.exclusion is None else self.exclusion
        window = (self.window or points) if self.is_normalized else None
        return self.many, exclusion, bound, window, self.half


def chosen(
    k: Any, threshold: Any, exclusion: Any, normalize: Any, window: Any, sqrt: Any, precision: Any = "full"
) -> Chosen:
    """Which matches are wanted."""
    many = None if k is None else _options.whole("k", k, 1)
    most = None if threshold is None else _threshold(threshold)
    if many is None and most is None:
        many = BEST
    apart = None if exclusion is None else _options.whole("exclusion", exclusion, 0, "points")
    points = None if window is None else _options.whole("normalized_window", window, 1, "points")
    how = Given(normalize=normalize, sqrt=sqrt)
    if precision not in get_args(Precision):
        raise ValueError(f'precision must be "full" or "half", got {precision!r}')
    is_normalized = how.normalize == "z" or points is not None
    return Chosen(many, most, apart, is_normalized, points, how.sqrt, precision == "half")


def _threshold(threshold: Any) -> float:
    """Errors: `TypeError` for what is no number, `ValueError` for one that is negative or not finite."""
    try:
        most = _options.real("threshold", threshold)
    except OverflowError:
        raise ValueError("threshold is too large for float64: leave it out if any distance will do") from None
    if not 0.0 <= most < np.inf:
        raise ValueError(f"a threshold is a finite cost of at least 0, got {'NaN' if most != most else f'{most:g}'}")
    return most


def _found(name: str, queries: Any, reference: Any, wanted: Chosen, given: Given, client: Any = None) -> list[Matches]:
    """The matches of each query; `name` is that of an argument of one query, or of several."""
    _missing.check_places(given.missing)
    if given.measure == "subsequence_dtw":
        given.measure = "dtw"
    single = name == "query"
    place = _resident.place_of(**{name: queries, "reference": reference})
    if client is not None:
        _workers.on_host(place)
    if place is not None:
        found = _resident_calls.search(place, name, queries, reference, wanted.of, given)
    else:
        if single:
            batch = _inputs.one(queries, name, given.layout)
        else:
            batch = _inputs.many(queries, name, given.layout, given.lengths)
        other = _inputs.one(reference, "reference", given.layout)
        tables = [queries] if single else _frames.tables_in(queries)
        _frames.check_same_order([*tables, reference], f"{name} and reference")
        if single:
            _calls.same_channels(batch, other, "dtwave.search_all")
        elif len(batch) and batch.channels != other.channels:
            one, two = _inputs.channels_text(batch.channels), _inputs.channels_text(other.channels)
            raise ValueError(
                f"series of queries have {one}, reference has {two}: they must be equal; "
                'for series of [channels, length] pass layout="channels_first"'
            )
        # Of all queries, before those of one length are searched together: errors tell their places among all.
        told = _calls.resampled([batch, other], given)
        told += [
            text for text in (_missing.treated(each, given.missing) for each in (batch, other)) if text is not None
        ]
        check_finite(batch)
        check_finite(other)
        if told:
            _notes.warn("; ".join(told), _notes.MissingWarning)
        found = [([], False) for _ in range(len(batch))]
        calls = _calls_by_length(batch, other, given if client is None else _workers.local(given), wanted)
        for at, hits in _hits(calls, client, given).items():
            found[at] = hits
    matches = [Matches([Match(*hit) for hit in hits], proposed) for hits, proposed in found]
    if not wanted.sqrt:
        return matches
    most = np.inf if wanted.threshold is None else wanted.threshold
    rooted = []
    for of_query in matches:
        roots = [replace(match, distance=max(match.distance, 0.0) ** 0.5) for match in of_query]
        rooted.append(Matches([match for match in roots if match.distance <= most], of_query.proposed))
    return rooted


#: A call for queries of one length, their places among all, and what is asked of them.
_Calls = Iterator[tuple[_calls.Call, list[int], Any]]


def _calls_by_length(batch: Batch, reference: Batch, given: Given, wanted: Chosen) -> _Calls:
    """A call for each length of the queries. Those of one number type have one array of the reference."""
    packed: dict[Any, Any] = {}
    for points, places in _by_length(batch.lengths).items():
        some = batch if len(places) == len(batch) else _picked(batch, places)
        call = _calls.prepared([some, reference], given)
        own = packed.setdefault(call.number, call.packed[1])
        yield replace(call, packed=[call.packed[0], own]), places, wanted.of(points)


def _hits(calls: _Calls, client: Any, given: Given) -> dict[int, Any]:
    """The matches of each query, by its place, of calls for queries of one length each."""
    if client is not None:
        known = list(calls)
        return _workers.search(client, given, known) if known else {}
    found: dict[int, Any] = {}
    for call, places, asked in calls:
        with _missing.Explained():
            many, exclusion, threshold, window, half = asked
            hits = _native.search(*call.sides, call.spec, call.engine, many, exclusion, threshold, window, half, None)
        found.update(zip(places, hits))
    return found


def check_finite(batch: Batch) -> None:
    """Errors: `ValueError` for a series that is empty or has a value that is not finite."""
    whole = batch.arrays
    # A sum is finite only if all that it is made of is, and needs no memory.
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(whole, np.ndarray) and whole.size and (whole.dtype.kind != "f" or np.isfinite(whole.sum())):
            return
    for s, series in enumerate(batch.arrays):
        which = f"series {s} of queries" if batch.name == "queries" else batch.name
        if not len(series):
            raise ValueError(f"{which} is empty: every series needs at least one point")
        if series.dtype.kind != "f" or np.isfinite(series).all():
            continue
        point, channel = (int(place) for place in np.argwhere(~np.isfinite(series))[0])
        value = series[point, channel]
        shown = "NaN" if np.isnan(value) else str(value)
        # Not "drop", which a search does not take.
        advice = '; if it is missing, missing="linear" or "previous" fills it' if np.isnan(value) else ""
        raise ValueError(f"{which} has {shown} at point {point}, channel {channel}: expected finite numbers{advice}")


def _by_length(lengths: list[int]) -> dict[int, list[int]]:
    """The places of the queries of each length: exclusion and windows follow it."""
    places: dict[int, list[int]] = {}
    for at, points in enumerate(lengths):
        places.setdefault(points, []).append(at)
    return places


def _picked(batch: Batch, places: list[int]) -> Batch:
    """These series of a batch, which have times of their own only in an index."""
    index = None if batch.index is None else [batch.index[at] for at in places]
    return replace(batch, arrays=[batch.arrays[at] for at in places], padded=None, index=index)
