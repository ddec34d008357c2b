"""The nearest window of each window of a long series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _arrays, _calls, _frames, _inputs, _missing, _native, _progress
from ._options import Given, Normalize, Shared, taken, takes, whole
from ._results import Profile

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(Shared)
def profile(
    series: Any,
    window: int,
    other: Any = None,
    *,
    step: int = 1,
    exclusion: int | None = None,
    normalize: Normalize = "z",
    sqrt: bool = False,
    progress: bool = False,
    **options: Unpack[Shared],
) -> Profile:
    """The profile of a long series: how far each of its windows is from the nearest other one, and where that is.

    series: one series, `[length]` or `[length, channels]`.
    window: points of a window.
    other: another series, among whose windows neighbours are looked for. Unless given, they are the windows of `series`
        outside the exclusion zone.
    step: points from the beginning of a window to that of the next one.
    exclusion: windows that begin at most this many points apart are no neighbours: they overlap, and are near for that
        reason alone. Half of a window, rounded up, unless given. It also keeps motifs and discords apart.
    normalize: "z" gives each window (each channel by itself) mean 0 and deviation 1, "none" takes windows as they are.
        A window of equal values becomes zeros.
    sqrt: True gives the roots of the distances.
    progress: True shows a bar.
    measure: one whose distance is the cost of one best path: not the soft ones, log_gak and subsequence_dtw.
    Other options: as for `distance`; the band is that of two windows.

    Returns `Profile`: `distances` and `indices`, of equally near windows the first one. With `normalize="z"` and dtw in
    the band 0, its roots are the matrix profile of z-normalised Euclidean distance.

    Time: a sweep for every two windows, at most. On the CPU lower bounds prove of most pairs of dtw (squared Euclidean
    cost, one channel) that they are not nearest, and these cost a few operations; distances and places have the same
    bits. Memory: some numbers per point, or a tile of the distances of all windows.

    Errors: as `distance`; `ValueError` for a window that is longer than a series. Yeh et al. 2016, 10.1109/ICDM.2016.0179.

    >>> import dtwave
    >>> found = dtwave.profile([0.0, 1.0, 5.0, 0.0, 2.0, 2.0, 1.0, 2.0, 6.0, 1.0, 9.0], 3)
    >>> found.motifs(1)
    [Motif(distance=0.0, first=0, second=6)]
    """
    given = taken(options, Shared)
    # Whether the measure has a root, and whether windows are normalised; the series stay as they are.
    own = Given(given.measure, normalize=normalize, sqrt=sqrt)
    _missing.check_places(given.missing)
    points, apart = whole("window", window, 1, "points"), whole("step", step, 1, "points")
    zone = -(-points // 2) if exclusion is None else whole("exclusion", exclusion, 0, "points")
    arguments = {"series": series} if other is None else {"series": series, "other": other}
    _arrays.same_device(**arguments)
    batches = [_inputs.one(value, name, given.layout) for name, value in arguments.items()]
    if other is not None:
        _frames.check_same_order([series, other], "series and other")
        _calls.same_channels(batches[0], batches[1], "dtwave.nearest")
    call = _calls.prepared(batches, given, ("step", "exclusion"))
    how = (points, apart, own.normalize == "z", zone)

    def cells() -> int:
        return _native.profile_cells(call.first, call.second, *how, call.spec, call.engine)

    with _missing.Explained(), _progress.shown(progress, "profile", cells) as bar:
        distances, places = _native.profile(call.first, call.second, *how, call.spec, call.engine, bar)
    return Profile(own.rooted(distances), places, points, apart, zone, other is not None)
