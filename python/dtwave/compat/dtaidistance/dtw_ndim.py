"""`dtaidistance.dtw_ndim` on dtwave's engine: `dtw` for series of several channels, `[length, channels]`."""

from __future__ import annotations

from typing import Any

from . import dtw
from ._series import Floats, many

__all__ = [
    "distance",
    "distance_fast",
    "distance_matrix",
    "distance_matrix_fast",
    "ub_euclidean",
    "warping_path",
    "warping_paths",
    "warping_paths_fast",
]


def distance(
    s1: Any,
    s2: Any,
    window: int | None = None,
    max_dist: float | None = None,
    max_step: float | None = None,
    max_length_diff: int | None = None,
    penalty: float | None = None,
    psi: Any = None,
    use_c: bool = False,
    use_pruning: bool = False,
    inner_dist: Any = "squared euclidean",
) -> float:
    """As `dtw.distance`."""
    return dtw.distance(
        s1, s2, window=window, max_dist=max_dist, max_step=max_step, max_length_diff=max_length_diff, penalty=penalty,
        psi=psi, inner_dist=inner_dist,
    )  # fmt: skip


def distance_fast(
    s1: Any,
    s2: Any,
    window: int | None = None,
    max_dist: float | None = None,
    max_step: float | None = None,
    max_length_diff: int | None = None,
    penalty: float | None = None,
    psi: Any = None,
    use_pruning: bool = False,
    inner_dist: Any = "squared euclidean",
) -> float:
    """As `dtw.distance`."""
    return distance(
        s1, s2, window, max_dist, max_step, max_length_diff, penalty, psi, True, use_pruning, inner_dist
    )


def distance_matrix(
    s: Any,
    ndim: int | None = None,
    max_dist: float | None = None,
    use_pruning: bool = False,
    max_length_diff: int | None = None,
    window: int | None = None,
    max_step: float | None = None,
    penalty: float | None = None,
    psi: Any = None,
    block: Any = None,
    compact: bool = False,
    parallel: bool = False,
    use_c: bool = False,
    use_mp: bool = False,
    show_progress: bool = False,
    only_triu: bool = False,
    inner_dist: Any = "squared euclidean",
) -> Floats:
    """As `dtw.distance_matrix`, of `[series, length, channels]` or a list. ndim: the channels, which are checked.

    Errors: `ValueError` for series of another number of channels than `ndim`.
    """
    series = many(s)
    found = {one.shape[1] for one in series}
    if ndim is not None and found - {ndim}:
        raise ValueError(f"ndim is {ndim}, and the series have {sorted(found)} channels")
    return dtw.distance_matrix(
        series, block, compact, parallel, use_mp, show_progress, only_triu, max_dist=max_dist,
        max_length_diff=max_length_diff, window=window, max_step=max_step, penalty=penalty, psi=psi,
        inner_dist=inner_dist,
    )  # fmt: skip


def distance_matrix_fast(
    s: Any,
    ndim: int | None = None,
    max_dist: float | None = None,
    max_length_diff: int | None = None,
    window: int | None = None,
    max_step: float | None = None,
    penalty: float | None = None,
    psi: Any = None,
    block: Any = None,
    compact: bool = False,
    parallel: bool = True,
    only_triu: bool = False,
    inner_dist: Any = "squared euclidean",
    use_c: bool = True,
) -> Floats:
    """As `distance_matrix`, on all cores unless `parallel` is False."""
    return distance_matrix(
        s, ndim, max_dist, False, max_length_diff, window, max_step, penalty, psi, block, compact, parallel,
        only_triu=only_triu, inner_dist=inner_dist,
    )  # fmt: skip


def warping_paths(*args: Any, **kwargs: Any) -> tuple[float, Floats | None]:
    """As `dtw.warping_paths`."""
    return dtw.warping_paths(*args, **kwargs)


def warping_paths_fast(*args: Any, **kwargs: Any) -> tuple[float, Floats | None]:
    """As `dtw.warping_paths_fast`."""
    return dtw.warping_paths_fast(*args, **kwargs)


def warping_path(from_s: Any, to_s: Any, **kwargs: Any) -> Any:
    """As `dtw.warping_path`."""
    return dtw.warping_path(from_s, to_s, **kwargs)


def ub_euclidean(s1: Any, s2: Any, inner_dist: Any = "squared euclidean") -> float:
    """As `dtw.ub_euclidean`."""
    return dtw.ub_euclidean(s1, s2, inner_dist)
