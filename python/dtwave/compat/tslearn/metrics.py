"""`tslearn.metrics` on dtwave's engine."""

from __future__ import annotations

from typing import Any

from .. import _refuse
from ._dtw import (
    cdist_ctw,
    cdist_dtw,
    ctw,
    ctw_path,
    dtw,
    dtw_accumulated_matrix,
    dtw_limited_warping_length,
    dtw_path,
    dtw_path_from_metric,
    dtw_path_limited_warping_length,
)
from ._frechet import cdist_frechet, frechet, frechet_accumulated_matrix, frechet_path, frechet_path_from_metric
from ._gak import cdist_gak, gak, gamma_soft_dtw, sigma_gak, unnormalized_gak
from ._lcss import lcss, lcss_path, lcss_path_from_metric
from ._masks import GLOBAL_CONSTRAINT_CODE, compute_mask, itakura_mask, sakoe_chiba_mask
from ._soft_dtw import (
    SoftDTW,
    SquaredEuclidean,
    cdist_soft_dtw,
    cdist_soft_dtw_normalized,
    soft_dtw,
    soft_dtw_alignment,
    soft_dtw_normalized,
)
from ._subsequence import dtw_subsequence_path, lb_envelope, lb_keogh, subsequence_cost_matrix, subsequence_path

cdist_sax = _refuse.function("tslearn.metrics", "cdist_sax", "keep tslearn's; SAX is no elastic distance")
cdist_normalized_cc = _refuse.function(
    "tslearn.metrics", "cdist_normalized_cc", "keep tslearn's; cross-correlation is no elastic distance"
)
y_shifted_sbd_vec = _refuse.function(
    "tslearn.metrics", "y_shifted_sbd_vec", "keep tslearn's; cross-correlation is no elastic distance"
)

__all__ = [
    "GLOBAL_CONSTRAINT_CODE",
    "SoftDTW",
    "SquaredEuclidean",
    "cdist_ctw",
    "cdist_dtw",
    "cdist_frechet",
    "cdist_gak",
    "cdist_normalized_cc",
    "cdist_sax",
    "cdist_soft_dtw",
    "cdist_soft_dtw_normalized",
    "compute_mask",
    "ctw",
    "ctw_path",
    "dtw",
    "dtw_accumulated_matrix",
    "dtw_limited_warping_length",
    "dtw_path",
    "dtw_path_from_metric",
    "dtw_path_limited_warping_length",
    "dtw_subsequence_path",
    "frechet",
    "frechet_accumulated_matrix",
    "frechet_path",
    "frechet_path_from_metric",
    "gak",
    "gamma_soft_dtw",
    "itakura_mask",
    "lb_envelope",
    "lb_keogh",
    "lcss",
    "lcss_path",
    "lcss_path_from_metric",
    "sakoe_chiba_mask",
    "sigma_gak",
    "soft_dtw",
    "soft_dtw_alignment",
    "soft_dtw_normalized",
    "subsequence_cost_matrix",
    "subsequence_path",
    "unnormalized_gak",
    "y_shifted_sbd_vec",
]


def __getattr__(name: str) -> Any:
    # Needs PyTorch, so it is imported when it is used, and is not in `__all__`.
    if name == "SoftDTWLossPyTorch":
        from ._loss import SoftDTWLossPyTorch

        return SoftDTWLossPyTorch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
