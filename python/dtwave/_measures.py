"""The measures, one class each. Written by `cargo xtask stubs` of the table of measures: do not edit."""

from __future__ import annotations

from typing import Literal, TypedDict

from ._measure import Measure


class Dtw(Measure):
    """Dynamic time warping: the accumulated cost, no root. Sakoe & Chiba 1978,
    10.1109/TASSP.1978.1163055.

    cost: Cost of matching two points: "squared_euclidean", "euclidean", "manhattan".
    """

    __slots__ = ()
    key = "dtw"
    is_rooted = True

    def __init__(
        self,
        *,
        cost: Literal["squared_euclidean", "euclidean", "manhattan"] = "squared_euclidean",
    ) -> None:
        self._set(cost=cost)


class Ddtw(Measure):
    """DTW on the Keogh–Pazzani derivative; needs 3 points. Keogh & Pazzani 2001,
    10.1137/1.9781611972719.1.

    cost: Cost of matching two points: "squared_euclidean", "euclidean", "manhattan".
    """

    __slots__ = ()
    key = "ddtw"
    is_rooted = True

    def __init__(
        self,
        *,
        cost: Literal["squared_euclidean", "euclidean", "manhattan"] = "squared_euclidean",
    ) -> None:
        self._set(cost=cost)


class Wdtw(Measure):
    """DTW weighted by the distance from the diagonal: squared Euclidean cost times a logistic
    function of `|i − j|`. Jeong et al. 2011, 10.1016/j.patcog.2010.09.022.

    g: Steepness of the weight, >= 0.
    """

    __slots__ = ()
    key = "wdtw"
    is_rooted = True

    def __init__(self, *, g: float = 0.05) -> None:
        self._set(g=g)


class Wddtw(Measure):
    """`Wdtw` on the Keogh–Pazzani derivative; needs 3 points.

    g: Steepness of the weight, >= 0.
    """

    __slots__ = ()
    key = "wddtw"
    is_rooted = True

    def __init__(self, *, g: float = 0.05) -> None:
        self._set(g=g)


class Adtw(Measure):
    """Amerced DTW: squared Euclidean cost, plus a penalty for each step off the diagonal. Herrmann
    & Webb 2023, 10.1016/j.patcog.2023.109333.

    penalty: Penalty of a step off the diagonal, >= 0.
    """

    __slots__ = ()
    key = "adtw"
    is_rooted = True

    def __init__(self, *, penalty: float = 1.0) -> None:
        self._set(penalty=penalty)


class Erp(Measure):
    """Edit distance with real penalty: a point that is left out is compared with the gap value.
    Chen & Ng 2004, 10.1016/B978-012088469-8.50070-X.

    gap: Gap value.
    """

    __slots__ = ()
    key = "erp"

    def __init__(self, *, gap: float = 0.0) -> None:
        self._set(gap=gap)


class Edr(Measure):
    """Edit distance on real sequences: the number of edits. Chen, Özsu & Oria 2005,
    10.1145/1066157.1066213.

    epsilon: Largest distance at which points match, >= 0.
    output: "count", or "normalized": divide the edit count by the longer length.
    """

    __slots__ = ()
    key = "edr"

    def __init__(
        self,
        *,
        epsilon: float,
        output: Literal["count", "normalized"] = "count",
    ) -> None:
        self._set(epsilon=epsilon, output=output)


class Lcss(Measure):
    """Longest common subsequence: 1 minus its length as a fraction of the shorter series. Vlachos,
    Kollios & Gunopulos 2002, 10.1109/ICDE.2002.994784.

    epsilon: Largest distance at which points match, >= 0.
    output: "distance", or "length": give the length of the longest common subsequence instead of
    the distance.
    """

    __slots__ = ()
    key = "lcss"

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        output: Literal["distance", "length"] = "distance",
    ) -> None:
        self._set(epsilon=epsilon, output=output)


class Msm(Measure):
    """Move–split–merge. With several channels, the sum of the channels' distances, each with an
    alignment of its own. Stefan, Athitsos & Das 2013, 10.1109/TKDE.2012.88.

    c: Cost of a split or merge, >= 0.
    """

    __slots__ = ()
    key = "msm"

    def __init__(self, *, c: float = 1.0) -> None:
        self._set(c=c)


class Twed(Measure):
    """Time warp edit distance. Without timestamps, the times of the points are 1, 2, …. Marteau
    2009, 10.1109/TPAMI.2008.76.

    Series may have timestamps.

    nu: Stiffness per unit of time, >= 0.
    lambda_: Cost of a deletion, >= 0.
    degree: Degree of the norm, >= 1.
    """

    __slots__ = ()
    key = "twed"

    def __init__(self, *, nu: float = 0.001, lambda_: float = 1.0, degree: float = 2.0) -> None:
        self._set(nu=nu, lambda_=lambda_, degree=degree)


class SoftDtw(Measure):
    """Soft-DTW: DTW with a smooth minimum. It may be negative. Cuturi & Blondel 2017, arXiv
    1703.01541.

    Has gradients.

    gamma: Smoothing, in units of the cost, > 0.
    cost: Cost of matching two points: "squared_euclidean", "euclidean", "manhattan".
    """

    __slots__ = ()
    key = "soft_dtw"

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        cost: Literal["squared_euclidean", "euclidean", "manhattan"] = "squared_euclidean",
    ) -> None:
        self._set(gamma=gamma, cost=cost)


class SoftDtwDivergence(Measure):
    """Soft-DTW minus half the Soft-DTW of each series with itself: `s(x,y) − ½(s(x,x) + s(y,y))`.
    Blondel, Mensch & Vert 2021, arXiv 2010.08354.

    Has gradients.

    gamma: Smoothing, in units of the cost, > 0.
    cost: Cost of matching two points: "squared_euclidean", "euclidean", "manhattan".
    """

    __slots__ = ()
    key = "soft_dtw_divergence"

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        cost: Literal["squared_euclidean", "euclidean", "manhattan"] = "squared_euclidean",
    ) -> None:
        self._set(gamma=gamma, cost=cost)


class LogGak(Measure):
    """Logarithm of the global alignment kernel (a similarity). Cuturi 2011.

    sigma: Bandwidth of the kernel, in units of the values, > 0.
    """

    __slots__ = ()
    key = "log_gak"

    def __init__(self, *, sigma: float) -> None:
        self._set(sigma=sigma)


class Frechet(Measure):
    """Discrete Fréchet distance: the largest distance of matched points, not their sum. Eiter &
    Mannila 1994, technical report CD-TR 94/64, Technische Universität Wien.
    """

    __slots__ = ()
    key = "frechet"


class SubsequenceDtw(Measure):
    """DTW of a query with any stretch of a reference; the accumulated cost, no root. Müller 2007,
    10.1007/978-3-540-74048-3.

    Not symmetric: the first series is the query, the second the reference.

    cost: Cost of matching two points: "squared_euclidean", "euclidean", "manhattan".
    """

    __slots__ = ()
    key = "subsequence_dtw"
    is_rooted = True

    def __init__(
        self,
        *,
        cost: Literal["squared_euclidean", "euclidean", "manhattan"] = "squared_euclidean",
    ) -> None:
        self._set(cost=cost)


#: The classes by key, in the order of the documentation.
MEASURES: dict[str, type[Measure]] = {
    "dtw": Dtw,
    "ddtw": Ddtw,
    "wdtw": Wdtw,
    "wddtw": Wddtw,
    "adtw": Adtw,
    "erp": Erp,
    "edr": Edr,
    "lcss": Lcss,
    "msm": Msm,
    "twed": Twed,
    "soft_dtw": SoftDtw,
    "soft_dtw_divergence": SoftDtwDivergence,
    "log_gak": LogGak,
    "frechet": Frechet,
    "subsequence_dtw": SubsequenceDtw,
}

#: Measures whose distance is the cost of one path between whole series, not a sum over all paths.
MINIMA = frozenset(
    (
        "dtw",
        "ddtw",
        "wdtw",
        "wddtw",
        "adtw",
        "erp",
        "edr",
        "lcss",
        "msm",
        "twed",
        "frechet",
    )
)


class Parameters(TypedDict, total=False):
    """The parameters of all measures, as keywords of functions."""

    cost: Literal["squared_euclidean", "euclidean", "manhattan"]
    g: float
    penalty: float
    gap: float
    epsilon: float
    output: Literal["count", "normalized"] | Literal["distance", "length"]
    c: float
    nu: float
    lambda_: float
    degree: float
    gamma: float
    sigma: float


__all__ = [
    "MEASURES",
    "Dtw",
    "Ddtw",
    "Wdtw",
    "Wddtw",
    "Adtw",
    "Erp",
    "Edr",
    "Lcss",
    "Msm",
    "Twed",
    "SoftDtw",
    "SoftDtwDivergence",
    "LogGak",
    "Frechet",
    "SubsequenceDtw",
]
