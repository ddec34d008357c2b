"""aeon's elastic measures: their parameters and defaults, and dtwave's measures for them."""

from __future__ import annotations

from typing import Any

from . import _costs
from ._family import Family

_BAND: dict[str, Any] = {"window": None}
_SLOPE: dict[str, Any] = {"itakura_max_slope": None}


def _weight(options: dict[str, Any]) -> dict[str, Any]:
    return {"g": float(options["g"])}


FAMILIES = [
    Family("dtw", "dtw", "dynamic time warping, without a root", _BAND | _SLOPE, _costs.dtw),
    Family("ddtw", "ddtw", "DTW of derivatives", _BAND | _SLOPE, _costs.dtw, derives=True),
    Family("wdtw", "wdtw", "DTW weighted by the distance from the diagonal", _BAND | {"g": 0.05} | _SLOPE,
           _costs.wdtw, _weight),
    Family("wddtw", "wddtw", "weighted DTW of derivatives", _BAND | {"g": 0.05} | _SLOPE, _costs.wdtw, _weight,
           derives=True),
    Family("lcss", "lcss", "1 minus the longest common subsequence's share", _BAND | {"epsilon": 1.0} | _SLOPE,
           _costs.lcss, lambda options: {"epsilon": float(options["epsilon"])}, departs=("band",)),
    Family("erp", "erp", "edit distance with real penalty", _BAND | {"g": 0.0, "g_arr": None} | _SLOPE, _costs.erp,
           lambda options: {"gap": 0.0}, departs=("values",)),
    Family("edr", "edr", "edit distance on real sequences, divided by the longer length",
           _BAND | {"epsilon": None} | _SLOPE, _costs.edr,
           lambda options: {"epsilon": float(options["epsilon"]), "output": "normalized"}, departs=("values",)),
    Family("twe", "twed", "time warp edit distance", _BAND | {"nu": 0.001, "lmbda": 1.0} | _SLOPE, _costs.twe,
           lambda options: {"nu": float(options["nu"]), "lambda_": float(options["lmbda"])}, departs=("path",)),
    Family("msm", "msm", "move-split-merge", _BAND | {"independent": True, "c": 1.0} | _SLOPE, _costs.msm,
           lambda options: {"c": float(options["c"])}, departs=("path",)),
    Family("adtw", "adtw", "amerced DTW", _BAND | _SLOPE | {"warp_penalty": 1.0}, _costs.adtw,
           lambda options: {"penalty": float(options["warp_penalty"])}, departs=("path",)),
    Family("soft_dtw", "soft_dtw", "Soft-DTW, signed", {"gamma": 1.0} | _BAND | _SLOPE, _costs.soft_dtw,
           lambda options: {"gamma": float(options["gamma"])}, departs=("values",)),
]  # fmt: skip
