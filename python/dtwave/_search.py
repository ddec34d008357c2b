"""Where a query occurs in a longer series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _calls, _inputs, _missing, _native, _options, _resident, _resident_calls
from ._options import Given, Shared, taken, takes
from ._results import Match

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(Shared)
def search(
    query: Any,
    reference: Any,
    *,
    k: int | None = None,
    threshold: float | None = None,
    exclusion: int = 0,
    normalized_window: int | None = None,
    **options: Unpack[Shared],
) -> list[Match]:
    """The best matches of a query in a longer series, best first, by subsequence DTW.

    query, reference: one series each, `[length]` or `[length, channels]`.
    k: how many matches at most. Unless given, 1, or with `threshold` all of them.
    threshold: the largest distance of a match.
    exclusion: the ends of two matches are more than this many points apart. With 0, the default, only their ends differ.
    normalized_window: compares the z-normalised query with every z-normalised window of this many points instead. The
        first points of both then match, and the last points.
    measure: "dtw" alone; its `cost` may be given.
    band: around the diagonal of the query and the whole reference; with `normalized_window`, of the query and a window.
    Other options: as for `distance`.

    Returns a list of `Match`, fewer than k if there are no more. Its distance is that of dtw: no root is taken.

    Time: one sweep of `len(query) * len(reference)` cells; with windows, one per window.

    Errors: as `distance`.

    >>> import dtwave
    >>> dtwave.search([1.0, 2.0, 1.0], [5.0, 5.0, 0.0, 1.0, 2.0, 2.0, 1.0, 5.0])
    [Match(distance=0.0, start=3, end=6)]
    """
    chosen, given = _chosen(k, threshold, exclusion, normalized_window), taken(options, Shared)
    return _found("query", query, reference, chosen, given)[0]


@takes(Shared)
def search_all(
    queries: Any,
    reference: Any,
    *,
    k: int | None = None,
    threshold: float | None = None,
    exclusion: int = 0,
    normalized_window: int | None = None,
    lengths: Any = None,
    **options: Unpack[Shared],
) -> list[list[Match]]:
    """The best matches of each query in a longer series: a list per query, each as `search` returns it.

    queries: `[queries, length]`, `[queries, length, channels]`, or a list of series of any lengths.
    lengths: how many points of each query count, `[queries]`, for padded arrays.
    Other options: as for `search`. Queries share the threads.
    """
    chosen, given = _chosen(k, threshold, exclusion, normalized_window), taken(options, Shared)
    given.lengths = lengths
    return _found("queries", queries, reference, chosen, given)


#: Most matches, exclusion, threshold, window.
_Chosen = tuple[Any, int, Any, Any]


def _chosen(k: Any, threshold: Any, exclusion: Any, window: Any) -> _Chosen:
    """Which matches are wanted."""
    many = None if k is None else _options.whole("k", k, 1)
    if threshold is not None and (
        isinstance(threshold, (bool, np.bool_)) or not isinstance(threshold, (int, float, np.integer, np.floating))
    ):
        raise TypeError(f"threshold must be a number, got {threshold!r}")
    if many is None and threshold is None:
        many = 1
    apart = _options.whole("exclusion", exclusion, 0, "points")
    points = None if window is None else _options.whole("normalized_window", window, 1, "points")
    return many, apart, threshold, points


def _found(name: str, queries: Any, reference: Any, chosen: _Chosen, given: Given) -> list[list[Match]]:
    """The matches of each query; `name` is that of an argument of one query, or of several."""
    _missing.check_places(given.missing)
    if given.measure == "subsequence_dtw":
        given.measure = "dtw"
    single = name == "query"
    place = _resident.place_of(**{name: queries, "reference": reference})
    if place is not None:
        found = _resident_calls.search(place, name, queries, reference, chosen, given)
    else:
        if single:
            batch = _inputs.one(queries, name, given.layout)
        else:
            batch = _inputs.many(queries, name, given.layout, given.lengths)
        batches = [batch, _inputs.one(reference, "reference", given.layout)]
        if single:
            _calls.same_channels(batches[0], batches[1], "dtwave.search_all")
        call = _calls.prepared(batches, given)
        with _missing.Explained():
            found = _native.search(*call.sides, call.spec, call.engine, *chosen, None)
    return [[Match(*hit) for hit in hits] for hits in found]
