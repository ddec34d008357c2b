"""`dtaidistance.dtw` on dtwave's engine.

Distances are roots of accumulated squared costs, as there. Keyword arguments are those of `DTWSettings`. `psi`,
`max_step`, and `penalty` with `inner_dist="euclidean"`, are computed by a grid: `O(n·m)` memory. Everything else runs on
the engine.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ... import _alignment
from .. import _one, _refuse
from .._numbers import Floats, check_finite
from ._distance import distance as distance
from ._matrix import distances, pairs, square, whole
from ._series import many, pair
from ._settings import DTWSettings

__all__ = [
    "DTWSettings",
    "best_path",
    "distance",
    "distance_array_index",
    "distance_fast",
    "distance_matrix",
    "distance_matrix_fast",
    "distance_matrix_func",
    "distances_array_to_matrix",
    "lb_keogh",
    "try_import_c",
    "ub_euclidean",
    "warp",
    "warping_amount",
    "warping_path",
    "warping_path_fast",
    "warping_path_penalty",
    "warping_paths",
    "warping_paths_fast",
]

Path = list[tuple[int, int]]


def distance_fast(s1: Any, s2: Any, use_pruning: bool = True, **kwargs: Any) -> float:
    """The same as `distance`. dtaidistance's may be infinite with its pruning, where lengths differ; this is not."""
    return distance(s1, s2, **kwargs)


def distance_matrix(
    s: Any,
    block: Any = None,
    compact: bool = False,
    parallel: bool = False,
    use_mp: bool = False,
    show_progress: bool = False,
    only_triu: bool = False,
    **kwargs: Any,
) -> Floats:
    """Distances of all pairs: `[n, n]`, or with `compact` the upper half alone, row by row: `[n (n - 1) / 2]`.

    s: a list of series, a matrix with one in each row, or `[series, length, channels]`. block: computes a part,
    `((first_row, end_row), (first_column, end_column))`; the rest is infinite. only_triu: leaves the lower half
    infinite. parallel: threads on all cores, whatever `use_mp` says. show_progress: a progress bar.

    Time: one sweep of dtwave's engine per pair.
    """
    settings = DTWSettings.wrap(kwargs)
    series = many(s)
    is_whole = block is None or block == 0
    if is_whole and not (compact or only_triu or settings.needs_grid or settings.max_length_diff is not None):
        return square(series, settings, None if parallel else 1, show_progress)
    which = pairs(block, len(series))
    found = distances(series, which, is_whole, settings, None if parallel else 1, show_progress)
    return found if compact else whole(found, which, len(series), only_triu)


def distance_matrix_fast(
    s: Any,
    block: Any = None,
    compact: bool = False,
    parallel: bool = True,
    use_mp: bool = False,
    only_triu: bool = False,
    **kwargs: Any,
) -> Floats:
    """As `distance_matrix`, on all cores unless `parallel` is False."""
    return distance_matrix(s, block, compact, parallel, use_mp, False, only_triu, **kwargs)


def distance_matrix_func(
    use_c: bool = False, parallel: bool = False, show_progress: bool = False
) -> Callable[..., Floats]:
    """`distance_matrix` with these arguments, for functions that take one."""

    def of_series(seqs: Any, **kwargs: Any) -> Floats:
        return distance_matrix(seqs, parallel=parallel, show_progress=show_progress, use_c=use_c, **kwargs)

    return of_series


def distances_array_to_matrix(dists: Any, nb_series: int, block: Any = None, only_triu: bool = False) -> Floats:
    """The matrix of condensed distances."""
    return whole(np.asarray(dists, dtype=np.float64), pairs(block, nb_series), nb_series, only_triu)


def distance_array_index(a: int, b: int, nb_series: int) -> int:
    """Where the distance of two series is among the condensed ones."""
    if a == b:
        raise ValueError("Distance between the same series is not available.")
    low, high = min(a, b), max(a, b)
    return low * nb_series - low * (low + 1) // 2 + high - low - 1


def warping_paths(
    s1: Any, s2: Any, psi_neg: bool = True, keep_int_repr: bool = False, second_matrix: Any = None, **kwargs: Any
) -> tuple[float, Floats | None]:
    """The distance, and distances of all prefixes: `[n + 1, m + 1]`, with a border. A grid.

    psi_neg: cells that `psi` leaves out at the end are -1. keep_int_repr: accumulated costs, without roots.
    Other keyword arguments: those of `DTWSettings`. With `max_dist`, all cells are computed, where dtaidistance stops.

    Errors: `NotImplementedError` for `second_matrix`.
    """
    if second_matrix is not None:
        raise _refuse.argument("dtw.warping_paths", "second_matrix", second_matrix, "align the others by the path")
    settings = DTWSettings.wrap(kwargs)
    x, y = pair(s1, s2)
    if settings.too_long(len(x), len(y)):
        return float("inf"), None
    grid = settings.grid(x, y)
    i, j = settings.end(grid)
    cost = grid[i, j]
    found = cost if keep_int_repr else settings.result(cost)
    limit = settings.inner(settings.max_dist)
    if limit and cost > limit:
        found = np.inf
    if not keep_int_repr:
        grid = settings.result(grid)
    if psi_neg:
        grid[i + 1 :, -1] = -1.0
        grid[-1, j + 1 :] = -1.0
    return float(found), grid


def warping_paths_fast(
    s1: Any,
    s2: Any,
    psi_neg: bool = True,
    keep_int_repr: bool = False,
    compact: bool = False,
    second_matrix: Any = None,
    **kwargs: Any,
) -> tuple[float, Floats | None]:
    """The same as `warping_paths`. Errors: `NotImplementedError` for `compact`."""
    if compact:
        raise _refuse.argument("dtw.warping_paths_fast", "compact", compact, "use warping_path, which keeps no grid")
    return warping_paths(s1, s2, psi_neg, keep_int_repr, second_matrix, **kwargs)


def best_path(
    paths: Any,
    row: int | None = None,
    col: int | None = None,
    use_max: bool = False,
    penalty: float = 0,
    dtw_settings: DTWSettings | None = None,
) -> Path:
    """The path back through what `warping_paths` returned: a list of `(i, j)`.

    row, col: its end, in the grid with the border; the last cell unless given. use_max: follows the largest neighbour.
    penalty: added to the neighbours above and to the left. dtw_settings: whose `psi` says which end is relaxed.
    """
    grid = np.asarray(paths)
    i = grid.shape[0] - 1 if row is None else int(row)
    j = grid.shape[1] - 1 if col is None else int(col)
    if grid[i, j] == -1:
        along_x = grid[i - 1, j] == -1
        if not along_x and grid[i, j - 1] != -1:
            along_x = dtw_settings is None or dtw_settings.split_psi()[1] != 0
        while grid[i, j] == -1 and (i if along_x else j) > 0:
            i, j = (i - 1, j) if along_x else (i, j - 1)
    choose = np.argmax if use_max else np.argmin
    found = []
    while i > 0 and j > 0 and grid[i, j] != -1:
        found.append((i - 1, j - 1))
        step = int(choose((grid[i - 1, j - 1], grid[i - 1, j] + penalty, grid[i, j - 1] + penalty)))
        i, j = i - (step != 2), j - (step != 1)
    return found[::-1]


def warping_path(from_s: Any, to_s: Any, include_distance: bool = False, **kwargs: Any) -> Any:
    """The best path, a list of `(i, j)`; with `include_distance` also the distance.

    With `penalty` it is the best path with the penalty, where dtaidistance walks back without it.
    """
    settings = DTWSettings.wrap(kwargs)
    x, y = pair(from_s, to_s)
    if settings.too_long(len(x), len(y)):
        raise ValueError(f"there is no path: lengths {len(x)} and {len(y)} differ by more than max_length_diff")
    if settings.needs_grid:
        found, grid = warping_paths(from_s, to_s, dtw_settings=settings)
        if not settings.max_dist and np.isinf(found):
            raise ValueError("there is no path: every one has a step above max_step")
        path = best_path(grid, penalty=0, dtw_settings=settings)
    else:
        measure, parameters = settings.measure()
        aligned = _alignment.align(
            x, y, measure=measure, band=settings.band(), threads=1, layout=_one.LAYOUT, **parameters
        )
        path, found = [(i, j) for i, j in aligned.path.tolist()], float(settings.finished(aligned.distance))
    return (path, found) if include_distance else path


def warping_path_fast(
    from_s: Any, to_s: Any, include_distance: bool = False, use_lowmem: bool | int = False, **kwargs: Any
) -> Any:
    """The same as `warping_path`, whose memory is linear, or limited, whatever `use_lowmem` says."""
    return warping_path(from_s, to_s, include_distance, **kwargs)


def warping_path_penalty(s1: Any, s2: Any, penalty_post: float = 0, **kwargs: Any) -> list[Any]:
    """The distance with a penalty for each step of the path off the diagonal, the path, its steps, and the grid."""
    found, grid = warping_paths(s1, s2, **kwargs)
    if grid is None:
        raise ValueError("there is no path: lengths differ by more than max_length_diff")
    path = best_path(grid)
    at = np.array([grid[i + 1, j + 1] for i, j in path])
    return [found + penalty_post * warping_amount(path), path, np.diff(at).tolist(), grid]


def warping_amount(path: Path) -> int:
    """How many steps of a path are off the diagonal."""
    steps = np.diff(np.array(path).reshape(-1, 2), axis=0)
    return int((steps != 1).any(axis=1).sum())


def warp(from_s: Any, to_s: Any, path: Path | None = None, **kwargs: Any) -> tuple[Floats, Path]:
    """The first series on the points of the second: means of the points that match; and the path."""
    x, y = pair(from_s, to_s)
    found: Path = warping_path(from_s, to_s, **kwargs) if path is None else path
    i, j = np.array(found).T
    sums = np.zeros((len(y), x.shape[1]))
    np.add.at(sums, j, x[i])
    means: Floats = sums / np.bincount(j, minlength=len(y))[:, None]
    return (means[:, 0] if np.ndim(from_s) == 1 else means), found


def lb_keogh(s1: Any, s2: Any, **kwargs: Any) -> float:
    """Keogh's lower bound of `distance` with a window, of one channel. In NumPy."""
    settings = DTWSettings.wrap(kwargs)
    x, y = pair(s1, s2)
    if x.shape[1] != 1:
        raise ValueError(f"lb_keogh is for one channel, got {x.shape[1]}")
    check_finite(x, y)
    n, m = len(x), len(y)
    window = max(n, m) if settings.window is None else int(settings.window)
    total = 0.0
    for i, value in enumerate(x[:, 0]):
        near = y[max(0, i - max(0, n - m) - window + 1) : i + max(0, m - n) + window, 0]
        outside = max(value - near.max(), near.min() - value, 0.0)
        total += outside**2 if settings.is_squared else outside
    return float(settings.result(total))


def ub_euclidean(s1: Any, s2: Any, inner_dist: Any = "squared euclidean", use_ndim: bool = False) -> float:
    """An upper bound of `distance`: point by point, the last point of the shorter series again and again. In NumPy."""
    settings = DTWSettings(inner_dist=inner_dist)
    x, y = pair(s1, s2)
    check_finite(x, y)
    points = np.arange(max(len(x), len(y)))
    squares = np.square(x[np.minimum(points, len(x) - 1)] - y[np.minimum(points, len(y) - 1)]).sum(axis=1)
    costs = squares if settings.is_squared else np.sqrt(squares)
    return float(settings.result(costs.sum()))


def try_import_c(verbose: bool = False) -> bool:
    """True: dtwave's engine is always there."""
    return True


warping_path_prob = _refuse.function(
    "dtaidistance.dtw", "warping_path_prob", "keep dtaidistance's; dtwave samples no paths"
)
warping_paths_affinity = _refuse.function(
    "dtaidistance.dtw", "warping_paths_affinity", "keep dtaidistance's; dtwave's log_gak and lcss are similarities"
)
warping_paths_affinity_fast = _refuse.function(
    "dtaidistance.dtw", "warping_paths_affinity_fast", "keep dtaidistance's; dtwave's log_gak and lcss are similarities"
)
best_path2 = _refuse.function("dtaidistance.dtw", "best_path2", "best_path walks back through the same grid")
