"""Where a query occurs in a longer series."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from . import _calls, _inputs, _native, _options, _resident, _resident_calls
from ._bands import Band
from ._inputs import Batch, Layout
from ._measure import Measure
from ._options import DeviceLike
from ._results import Match


def search(
    query: Any,
    reference: Any,
    *,
    k: int | None = None,
    threshold: float | None = None,
    exclusion: int = 0,
    normalized_window: int | None = None,
    measure: str | Measure = "dtw",
    band: Band = None,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    layout: Layout = "channels_last",
    **parameters: Any,
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
    chosen = _chosen(k, threshold, exclusion, normalized_window)
    options = (measure, band, device, dtype, threads, memory_limit, parameters)
    place = _resident.place_of(query=query, reference=reference)
    if place is not None:
        return _on_gpu(place, query, reference, layout, None, chosen, options, True)[0]
    batch = _inputs.one(query, "query", layout)
    return _found(batch, reference, layout, chosen, options)[0]


def search_all(
    queries: Any,
    reference: Any,
    *,
    k: int | None = None,
    threshold: float | None = None,
    exclusion: int = 0,
    normalized_window: int | None = None,
    measure: str | Measure = "dtw",
    band: Band = None,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    layout: Layout = "channels_last",
    lengths: Any = None,
    **parameters: Any,
) -> list[list[Match]]:
    """The best matches of each query in a longer series: a list per query, each as `search` returns it.

    queries: `[queries, length]`, `[queries, length, channels]`, or a list of series of any lengths.
    lengths: how many points of each query count, `[queries]`, for padded arrays.
    Other options: as for `search`. Queries share the threads.
    """
    chosen = _chosen(k, threshold, exclusion, normalized_window)
    options = (measure, band, device, dtype, threads, memory_limit, parameters)
    place = _resident.place_of(queries=queries, reference=reference)
    if place is not None:
        return _on_gpu(place, queries, reference, layout, lengths, chosen, options, False)
    batch = _inputs.many(queries, "queries", layout, lengths)
    return _found(batch, reference, layout, chosen, options)


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


def _on_gpu(
    place: str,
    queries: Any,
    reference: Any,
    layout: Layout,
    lengths: Any,
    chosen: _Chosen,
    options: tuple[Any, ...],
    single: bool,
) -> list[list[Match]]:
    measure, band, device, dtype, threads, memory_limit, parameters = options
    found = _resident_calls.search(
        place, queries, reference, lengths, chosen, "dtw" if measure == "subsequence_dtw" else measure, band, parameters,
        single, device=device, dtype=dtype, threads=threads, memory_limit=memory_limit, layout=layout,
    )
    return [[Match(*hit) for hit in hits] for hits in found]


def _found(
    queries: Batch, reference: Any, layout: Layout, chosen: _Chosen, options: tuple[Any, ...]
) -> list[list[Match]]:
    measure, *others = options
    if measure == "subsequence_dtw":
        measure = "dtw"
    batches = [queries, _inputs.one(reference, "reference", layout)]
    if queries.name == "query":
        _inputs.same_channels(batches[0], batches[1], "dtwave.search_all")
    call = _calls.prepared(batches, measure, *others)
    first, second = call.packed
    found = _native.search(first, second, call.spec, call.engine, *chosen, None)
    return [[Match(*hit) for hit in hits] for hits in found]
