"""aeon's elastic measures: their parameters and defaults, and dtwave's measures for them."""

from __future__ import annotations

from typing import Any

from . import _costs
from ._family import Family

_BAND: dict[str, Any] = {"window": None}
_SLOPE: dict[str, Any] = {"itakura_max_slope": None}
_TWE = {"nu": "nu", "lmbda": "lambda_"}
_EPSILON = {"epsilon": "epsilon"}

FAMILIES = [
    Family("dtw", "dtw", "dynamic time warping, without a root", _BAND | _SLOPE),
    Family("ddtw", "ddtw", "DTW of derivatives", _BAND | _SLOPE, derives=True),
    Family("wdtw", "wdtw", "DTW weighted by the distance from the diagonal", _BAND | {"g": 0.05} | _SLOPE, {"g": "g"}),
    Family("wddtw", "wddtw", "weighted DTW of derivatives", _BAND | {"g": 0.05} | _SLOPE, {"g": "g"}, derives=True),
    Family("lcss", "lcss", "1 minus the longest common subsequence's share", _BAND | {"epsilon": 1.0} | _SLOPE,
           _EPSILON, departs=("band",), costs=_costs.lcss),
    Family("erp", "erp", "edit distance with real penalty", _BAND | {"g": 0.0, "g_arr": None} | _SLOPE,
           departs=("values",), costs=_costs.erp),
    Family("edr", "edr", "edit distance on real sequences, divided by the longer length",
           _BAND | {"epsilon": None} | _SLOPE, _EPSILON, departs=("values",), costs=_costs.edr),
    Family("twe", "twed", "time warp edit distance", _BAND | {"nu": 0.001, "lmbda": 1.0} | _SLOPE, _TWE,
           departs=("path",)),
    Family("msm", "msm", "move-split-merge", _BAND | {"independent": True, "c": 1.0} | _SLOPE, {"c": "c"},
           departs=("path",), costs=_costs.msm),
    Family("adtw", "adtw", "amerced DTW", _BAND | _SLOPE | {"warp_penalty": 1.0}, {"warp_penalty": "penalty"},
           departs=("path",)),
    Family("soft_dtw", "soft_dtw", "Soft-DTW, signed", {"gamma": 1.0} | _BAND | _SLOPE, {"gamma": "gamma"},
           departs=("values",)),
]  # fmt: skip
