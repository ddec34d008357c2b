"""Figures: alignments and their paths, matrices of distances, accumulated costs, averages, clusters, neighbours, matches
in a long series, profiles.

Functions of one panel draw on `ax`, or on a figure of their own if there is none, and return the `Axes`: change what you
like there, and save it with `ax.figure.savefig("name.svg")`. Those of several panels (`warping`, `clusters`, `neighbors`,
`profile`, `search`) take `axes` and return an array of them. All need matplotlib, which is imported when one is called. Results
draw themselves: `dtwave.align(x, y).plot()`.

>>> import dtwave
>>> x, y = [0.0, 1.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0]
>>> ax = dtwave.plots.matrix(dtwave.pairwise([x, y]))
>>> ax.get_title()
'2 × 2 distances'
"""

from __future__ import annotations

from ._figures import accuracies, clusters, neighbors, profile, search, warping
from ._panels import alignment, barycenter, costs, matches, matrix, path

__all__ = [
    "accuracies",
    "alignment",
    "barycenter",
    "clusters",
    "costs",
    "matches",
    "matrix",
    "neighbors",
    "path",
    "profile",
    "search",
    "warping",
]


def __dir__() -> list[str]:
    return __all__
