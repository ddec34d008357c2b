"""`dtaidistance.subsequence.dtw`: alignments of a query with any stretch of a series.

A grid of the query and the whole series: `O(n·m)` memory. `dtwave.search` finds the best matches with linear
memory; it has no penalty for steps off the diagonal, which is 0.1 here unless given.
"""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ... import _refuse
from ..._numbers import Floats
from .. import dtw

__all__ = ["SAMatch", "SubsequenceAlignment", "subsequence_alignment"]


def subsequence_alignment(query: Any, series: Any, penalty: float = 0.1, use_c: bool = False) -> SubsequenceAlignment:
    """Aligns a query with all stretches of a series, `[length]` or `[length, channels]`.

    penalty: of a step off the diagonal. use_c: has no effect here.
    """
    found = SubsequenceAlignment(query, series, penalty, use_c)
    found.align()
    return found


class SAMatch:
    """A match: the point `idx` of the series where it ends, and what follows from it."""

    def __init__(self, idx: int, alignment: SubsequenceAlignment) -> None:
        self.idx = int(idx)
        self.alignment = alignment

    @property
    def value(self) -> float:
        """The distance, divided by the length of the query."""
        return float(self.alignment.matching_function()[self.idx])

    @property
    def distance(self) -> float:
        """The distance of the query and the stretch."""
        return self.value * len(self.alignment.query)

    @property
    def path(self) -> list[tuple[int, int]]:
        """Which points match: of the query, and of the series."""
        return self.alignment.matching_function_bestpath(self.idx)

    @property
    def segment(self) -> list[int]:
        """The first and the last point of the stretch."""
        return self.alignment.matching_function_segment(self.idx)

    def linearly_scale(self, return_coeff: bool = False) -> Any:
        """Not offered."""
        raise _refuse.argument("SAMatch", "linearly_scale", return_coeff, "numpy.polyfit of the path is near it")

    def __repr__(self) -> str:
        return f"SAMatch({self.idx})"


class SubsequenceAlignment:
    """Alignments of a query with all stretches of a series. Arguments: as `subsequence_alignment`, and settings of DTW.

    Of the settings, dtaidistance uses `penalty` alone, so others are an error.
    """

    def __init__(self, query: Any, series: Any, penalty: float = 0.1, use_c: bool = False, **kwargs: Any) -> None:
        if kwargs:
            name, value = next(iter(kwargs.items()))
            raise _refuse.argument("SubsequenceAlignment", name, value, "it takes penalty alone")
        self.query, self.series = query, series
        self.settings = dtw.DTWSettings(penalty=penalty, psi=[0, 0, len(series), len(series)])
        self.paths: Floats | None = None
        self.matching: Floats | None = None

    def reset(self) -> None:
        """Forgets the alignment."""
        self.paths = self.matching = None

    def align(self) -> None:
        """Computes the alignment, unless it is there."""
        if self.matching is None:
            self.paths = dtw.warping_paths(
                self.query, self.series, psi_neg=False, keep_int_repr=True, dtw_settings=self.settings
            )[1]
            self.matching = np.sqrt(self.warping_paths()[-1, 1:]) / len(self.query)

    align_fast = align

    def warping_paths(self) -> Floats:
        """Accumulated costs, `[n + 1, m + 1]`."""
        if self.paths is None:
            self.align()
        assert self.paths is not None
        return self.paths

    def matching_function(self) -> Floats:
        """For each point of the series the distance of the best match that ends there, by the query's length."""
        if self.matching is None:
            self.align()
        assert self.matching is not None
        return self.matching

    def get_match(self, idx: int) -> SAMatch:
        """The best match that ends at a point."""
        return SAMatch(idx, self)

    def matching_function_bestpath(self, idx: int) -> list[tuple[int, int]]:
        """The path of the best match that ends at a point."""
        return dtw.best_path(self.warping_paths(), col=int(idx) + 1, penalty=self.settings.inner(self.settings.penalty))

    def matching_function_startpoint(self, idx: int, path: list[tuple[int, int]] | None = None) -> int:
        """Where the best match that ends at a point starts."""
        return (self.matching_function_bestpath(idx) if path is None else path)[0][1]

    def matching_function_endpoint(self, idx: int) -> int:
        """Where it ends: at this point."""
        return int(idx)

    def matching_function_segment(self, idx: int) -> list[int]:
        """The first and the last point of the best match that ends at a point."""
        return [self.matching_function_startpoint(idx), int(idx)]

    def best_match(self, minlength: int | None = 2, maxlength: int | None = None) -> SAMatch:
        """The best match of at least `minlength` points.

        Errors: `ValueError` if there is none.
        """
        for match in self.best_matches(1, 0, minlength, maxlength):
            return match
        raise ValueError(f"no match of {minlength} points or more was found")

    best_match_fast = best_match

    def kbest_matches(
        self, k: int | None = 1, overlap: int = 0, minlength: int | None = 2, maxlength: int | None = None
    ) -> Iterator[SAMatch]:
        """The k best matches, best first; None for all."""
        return self.best_matches(k, overlap, minlength, maxlength)

    kbest_matches_fast = kbest_matches

    def best_matches_rangefactor(
        self, max_rangefactor: float = 2, overlap: int = 0, minlength: int | None = 2, maxlength: int | None = None
    ) -> Iterator[SAMatch]:
        """Matches whose value is at most `max_rangefactor` times that of the best one."""
        return self.best_matches(None, overlap, minlength, maxlength, max_rangefactor)

    best_matches_rangefactor_fast = best_matches_rangefactor

    def best_matches_knee(
        self, alpha: float = 0.3, overlap: int = 0, minlength: int | None = 2, maxlength: int | None = None
    ) -> Iterator[SAMatch]:
        """Not offered."""
        return self.best_matches(None, overlap, minlength, maxlength, None, alpha)

    best_matches_knee_fast = best_matches_knee

    def best_matches(
        self,
        k: int | None = None,
        overlap: int = 0,
        minlength: int | None = 2,
        maxlength: int | None = None,
        max_rangefactor: float | None = None,
        detectknee_alpha: float | None = None,
    ) -> Iterator[SAMatch]:
        """Matches, best first, until there are k, or no more. They may share `overlap` points.

        minlength, maxlength: how many points of the series a match has. max_rangefactor: stops at a value of more than
        this many times the best one.

        Errors: `NotImplementedError` for `detectknee_alpha`.
        """
        if detectknee_alpha is not None:
            raise _refuse.argument(
                "SubsequenceAlignment.best_matches", "detectknee_alpha", detectknee_alpha, "give k or max_rangefactor"
            )
        return self._best(k, overlap, minlength, maxlength, max_rangefactor)

    best_matches_fast = best_matches

    def _best(
        self, k: int | None, overlap: int, minlength: int | None, maxlength: int | None, factor: float | None
    ) -> Iterator[SAMatch]:
        left = self.matching_function().copy()
        # What is left out stays apart from what a match has taken.
        done = np.ceil(left.max() + 1)
        left[: min(len(self.query) - 1, overlap)] = done
        found, largest = 0, np.inf
        while k is None or found < k:
            at = int(left.argmin())
            if np.isinf(left[at]) or left[at] == done or left[at] > largest:
                return
            if factor is not None and found == 0:
                largest = left[at] * factor
            begin, end = self.matching_function_segment(at)
            length = end - begin + 1
            taken = slice(at + 1 - (end - begin) + min(overlap, end - begin - 1), at + 1)
            wrong = (minlength is not None and length < minlength) or (maxlength is not None and length > maxlength)
            if wrong or np.isinf(left[taken]).any():
                left[at] = done
                continue
            left[taken] = np.inf
            found += 1
            yield SAMatch(at, self)


subsequence_search = _refuse.function(
    "dtaidistance.subsequence.dtw", "subsequence_search", "dtwave.nearest(series, [query], k=…) finds the nearest"
)
local_concurrences = _refuse.function(
    "dtaidistance.subsequence.dtw", "local_concurrences", "keep dtaidistance's; dtwave.search finds a query in a series"
)
