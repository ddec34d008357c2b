"""The equations of docs/measures.md as plain loops, in a second language: what generate.py computes with.

Nothing here is taken from the library's code. Grids are NumPy arrays of `float64`. Soft-DTW, its gradients, its
divergence and `log_gak` are sums over paths, in 40 digits of mpmath.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

INF = math.inf
Case = dict[str, Any]
#: Points of a series, [time, channel].
Series = np.ndarray
#: Whether cell (i, j), counted from 0, is in the band.
Allowed = Callable[[int, int], bool]
#: Arrivals at cell (i, j), counted from 1, of the grid D: from the diagonal, from above, from the left.
Arrivals = Callable[[np.ndarray, int, int], tuple[float, float, float]]
#: A number of 40 digits.
Digits = Any
context = mpmath.mp.clone()
context.dps = 40


# --------------------------------------------------------------------------------------------------------------- bands


def allowed(band: dict[str, Any] | None, n: int, m: int) -> Allowed:
    """The section "Bands". Rows and columns are counted from 0."""
    kind = "full" if band is None else band["kind"]
    last, end = n - 1, m - 1
    if kind == "full":
        return lambda i, j: True
    assert band is not None
    if kind == "ranges":
        rows = band["ranges"]
        return lambda i, j: rows[i][0] <= j < rows[i][1]
    if kind == "itakura":
        if min(n, m) == 1:
            return lambda i, j: True
        u = 10**6
        s = min(int(math.floor(u * band["max_slope"] + 0.5)), u * max(last, end, 1))
        return lambda i, j: (
            j * last * s >= i * end * u
            and j * last * u <= i * end * s
            and (end - j) * last * s >= (last - i) * end * u
            and (end - j) * last * u <= (last - i) * end * s
        )
    r = band["radius"] if "radius" in band else int(10**6 * band["fraction"] + 0.5) * max(n, m) // 10**6
    if kind == "sakoe_chiba":
        return lambda i, j: -r - max(0, n - m) <= j - i <= r + max(0, m - n)
    if kind == "slanted":
        width = max(2 * r * min(last, end), max(last, end))
        return lambda i, j: min(n, m) == 1 or 2 * abs(j * last - i * end) <= width
    raise ValueError(f"unknown band {kind}")


# --------------------------------------------------------------------------------------------------------- local costs


def norm(a: Series, b: Series, degree: float = 2.0) -> float:
    if degree == 2.0:
        return math.sqrt(sum(float(d) * float(d) for d in a - b))
    return math.pow(sum(math.pow(abs(float(d)), degree) for d in a - b), 1.0 / degree)


def local_cost(name: str, a: Series, b: Series) -> float:
    if name == "squared_euclidean":
        return sum(float(d) * float(d) for d in a - b)
    if name == "euclidean":
        return norm(a, b)
    assert name == "manhattan", name
    return sum(abs(float(d)) for d in a - b)


def derivative(x: Series) -> Series:
    return np.array([((x[i] - x[i - 1]) + (x[i + 1] - x[i - 1]) / 2) / 2 for i in range(1, len(x) - 1)])


# ------------------------------------------------------------------------------ measures that take the least arrival


def sweep(n: int, m: int, within: Allowed, arrivals: Arrivals, row: list[float], column: list[float]) -> np.ndarray:
    """The whole grid: the least of three arrivals in the band, infinity outside of it, borders as given."""
    d = np.full((n + 1, m + 1), INF)
    d[0, :], d[:, 0] = row, column
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if within(i - 1, j - 1):
                d[i, j] = min(arrivals(d, i, j))
    return d


def corner(length: int) -> list[float]:
    """A border that is entered at the corner alone."""
    return [0.0] + [INF] * length


def same_for_all(price: Callable[[int, int], float], penalty: float = 0.0) -> Arrivals:
    """A cell costs the same however it is reached, but for a penalty off the diagonal."""

    def arrivals(d: np.ndarray, i: int, j: int) -> tuple[float, float, float]:
        c = price(i - 1, j - 1)
        return d[i - 1, j - 1] + c, d[i - 1, j] + penalty + c, d[i, j - 1] + penalty + c

    return arrivals


def weight(g: float, distance: int, longest: int) -> float:
    return 1.0 / (1.0 + math.exp(-g * (distance - longest / 2)))


def dtw_like(case: Case, x: Series, y: Series) -> np.ndarray:
    """The grid of dtw, wdtw, adtw and subsequence_dtw; x and y may be derivatives."""
    measure, given = case["measure"], case["params"]
    n, m = len(x), len(y)
    name = given.get("cost", "squared_euclidean")

    def price(i: int, j: int) -> float:
        factor = weight(given.get("g", 0.05), abs(i - j), max(n, m)) if measure in ("wdtw", "wddtw") else 1.0
        return factor * local_cost(name, x[i], y[j])

    row = [0.0] * (m + 1) if measure == "subsequence_dtw" else corner(m)
    penalty = given.get("penalty", 1.0) if measure == "adtw" else 0.0
    within = allowed(given.get("band"), n, m)
    return sweep(n, m, within, same_for_all(price, penalty), row, corner(n))


def walked_back(d: np.ndarray, end: int) -> list[list[int]]:
    """From the last row's column `end`, counted from 1, to the first row or the first cell: diagonal, up, left."""
    i, j = d.shape[0] - 1, end
    found: list[list[int]] = []
    while i > 0 and j > 0:
        found.append([i - 1, j - 1])
        arrivals = [(d[i - 1, j - 1], 0), (d[i - 1, j], 1), (d[i, j - 1], 2)]
        i, j = [(i - 1, j - 1), (i - 1, j), (i, j - 1)][min(arrivals)[1]]
    return found[::-1]


def erp(case: Case, x: Series, y: Series) -> float:
    gap = np.full(x.shape[1], case["params"].get("gap", 0.0))
    out_x, out_y = [norm(a, gap) for a in x], [norm(b, gap) for b in y]

    def arrivals(d: np.ndarray, i: int, j: int) -> tuple[float, float, float]:
        return d[i - 1, j - 1] + norm(x[i - 1], y[j - 1]), d[i - 1, j] + out_x[i - 1], d[i, j - 1] + out_y[j - 1]

    def border(costs: list[float]) -> list[float]:
        return [sum(costs[:k]) for k in range(len(costs) + 1)]

    within = allowed(case["params"].get("band"), len(x), len(y))
    return float(sweep(len(x), len(y), within, arrivals, border(out_y), border(out_x))[-1, -1])


def edr(case: Case, x: Series, y: Series) -> float:
    epsilon, n, m = case["params"]["epsilon"], len(x), len(y)

    def arrivals(d: np.ndarray, i: int, j: int) -> tuple[float, float, float]:
        differ = 1.0 if norm(x[i - 1], y[j - 1]) > epsilon else 0.0
        return d[i - 1, j - 1] + differ, d[i - 1, j] + 1.0, d[i, j - 1] + 1.0

    row, column = [float(j) for j in range(m + 1)], [float(i) for i in range(n + 1)]
    edits = float(sweep(n, m, allowed(case["params"].get("band"), n, m), arrivals, row, column)[-1, -1])
    normalized = case["params"].get("output") == "normalized"
    return edits / max(n, m) if normalized else edits


def lcss(case: Case, x: Series, y: Series) -> float:
    epsilon, n, m = case["params"].get("epsilon", 1.0), len(x), len(y)
    within = allowed(case["params"].get("band"), n, m)
    length = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if within(i - 1, j - 1) and norm(x[i - 1], y[j - 1]) <= epsilon:
                length[i, j] = length[i - 1, j - 1] + 1.0
            else:
                length[i, j] = max(length[i - 1, j], length[i, j - 1])
    found = float(length[n, m])
    return found if case["params"].get("output") == "length" else 1.0 - found / min(n, m)


def msm(case: Case, x: Series, y: Series) -> float:
    c: float = case["params"].get("c", 1.0)

    def split(a: float, b: float, d: float) -> float:
        between = b <= a <= d or d <= a <= b
        return c if between else c + min(abs(a - b), abs(a - d))

    def channel(u: list[float], v: list[float]) -> float:
        def arrivals(d: np.ndarray, i: int, j: int) -> tuple[float, float, float]:
            a, b = u[i - 1], v[j - 1]
            up = d[i - 1, j] + split(a, u[i - 2], b) if i > 1 else INF
            left = d[i, j - 1] + split(b, v[j - 2], a) if j > 1 else INF
            return d[i - 1, j - 1] + abs(a - b), up, left

        within = allowed(case["params"].get("band"), len(u), len(v))
        return float(sweep(len(u), len(v), within, arrivals, corner(len(v)), corner(len(u)))[-1, -1])

    return sum(channel(x[:, k].tolist(), y[:, k].tolist()) for k in range(x.shape[1]))


def twed(case: Case, x: Series, y: Series) -> float:
    given, n, m = case["params"], len(x), len(y)
    nu, degree = given.get("nu", 0.001), float(given.get("degree", 2))
    deletion = given.get("lambda_", given.get("lambda", 1.0))
    t = [0.0] + case.get("tx", [float(i) for i in range(1, n + 1)])
    s = [0.0] + case.get("ty", [float(j) for j in range(1, m + 1)])
    origin = np.zeros((1, x.shape[1]))
    x, y = np.concatenate([origin, x]), np.concatenate([origin, y])

    def arrivals(d: np.ndarray, i: int, j: int) -> tuple[float, float, float]:
        apart = norm(x[i], y[j], degree) + norm(x[i - 1], y[j - 1], degree)
        diagonal = d[i - 1, j - 1] + apart + nu * (abs(t[i] - s[j]) + abs(t[i - 1] - s[j - 1]))
        up = d[i - 1, j] + norm(x[i], x[i - 1], degree) + nu * (t[i] - t[i - 1]) + deletion
        left = d[i, j - 1] + norm(y[j], y[j - 1], degree) + nu * (s[j] - s[j - 1]) + deletion
        return diagonal, up, left

    return float(sweep(n, m, allowed(given.get("band"), n, m), arrivals, corner(m), corner(n))[-1, -1])


def frechet(case: Case, x: Series, y: Series) -> float:
    def arrivals(d: np.ndarray, i: int, j: int) -> tuple[float, float, float]:
        here = norm(x[i - 1], y[j - 1])
        return max(here, d[i - 1, j - 1]), max(here, d[i - 1, j]), max(here, d[i, j - 1])

    within = allowed(case["params"].get("band"), len(x), len(y))
    return float(sweep(len(x), len(y), within, arrivals, corner(len(y)), corner(len(x)))[-1, -1])


# ------------------------------------------------------------------------------------------------- sums over all paths


def exact(series: Series) -> list[list[Digits]]:
    return [[context.mpf(float(value)) for value in point] for point in series]


def squared(a: list[Digits], b: list[Digits]) -> Digits:
    return context.fsum((p - q) ** 2 for p, q in zip(a, b, strict=True))


def exact_cost(name: str, a: list[Digits], b: list[Digits]) -> Digits:
    if name == "manhattan":
        return context.fsum(abs(p - q) for p, q in zip(a, b, strict=True))
    return squared(a, b) if name == "squared_euclidean" else context.sqrt(squared(a, b))


def slope(name: str, a: list[Digits], b: list[Digits]) -> list[Digits]:
    """The derivative of the cost by each channel of a."""
    if name == "squared_euclidean":
        return [2 * (p - q) for p, q in zip(a, b, strict=True)]
    if name == "manhattan":
        return [context.sign(p - q) for p, q in zip(a, b, strict=True)]
    length = context.sqrt(squared(a, b))
    return [(p - q) / length if length else context.zero for p, q in zip(a, b, strict=True)]


def sums(factors: list[list[Digits]]) -> list[list[Digits]]:
    """Z(i, j) = factor(i, j) * (Z(i-1, j-1) + Z(i-1, j) + Z(i, j-1)), with Z(0, 0) = 1 and other borders 0.

    These numbers have exponents of any size, so nothing overflows, and no logarithm is taken on the way.
    """
    n, m = len(factors), len(factors[0])
    z = [[context.zero] * (m + 1) for _ in range(n + 1)]
    z[0][0] = context.one
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if factors[i - 1][j - 1]:
                z[i][j] = factors[i - 1][j - 1] * (z[i - 1][j - 1] + z[i - 1][j] + z[i][j - 1])
    return z


def soft_factors(case: Case, x: Series, y: Series) -> list[list[Digits]]:
    """exp(-cost / gamma), and 0 outside of the band: then Z = exp(-D / gamma), by the definition of softmin."""
    given = case["params"]
    within, gamma = allowed(given.get("band"), len(x), len(y)), context.mpf(given.get("gamma", 1.0))
    name, a, b = given.get("cost", "squared_euclidean"), exact(x), exact(y)
    return [
        [context.exp(-exact_cost(name, p, q) / gamma) if within(i, j) else context.zero for j, q in enumerate(b)]
        for i, p in enumerate(a)
    ]


def soft_dtw(case: Case, x: Series, y: Series) -> Digits:
    return -context.mpf(case["params"].get("gamma", 1.0)) * context.log(sums(soft_factors(case, x, y))[-1][-1])


def divergence(case: Case, x: Series, y: Series) -> Digits:
    return soft_dtw(case, x, y) - (soft_dtw(case, x, x) + soft_dtw(case, y, y)) / 2


def gradient(case: Case, x: Series, y: Series) -> list[list[Digits]]:
    """Of soft_dtw by x. E(i, j) is the share of the paths through a cell: those to it times those from it on."""
    factors = soft_factors(case, x, y)
    to_here = sums(factors)
    from_here = [row[::-1] for row in sums([row[::-1] for row in factors[::-1]])[::-1]]
    name, a, b = case["params"].get("cost", "squared_euclidean"), exact(x), exact(y)
    found = []
    for i, p in enumerate(a):
        total = [context.zero] * len(p)
        for j, q in enumerate(b):
            if factors[i][j]:
                # Both sums have this cell's own factor.
                share = to_here[i + 1][j + 1] * from_here[i][j] / factors[i][j] / to_here[-1][-1]
                total = [t + share * d for t, d in zip(total, slope(name, p, q), strict=True)]
        found.append(total)
    return found


def log_gak(case: Case, x: Series, y: Series) -> Digits:
    within, sigma = allowed(case["params"].get("band"), len(x), len(y)), context.mpf(case["params"]["sigma"])

    def kappa(p: list[Digits], q: list[Digits]) -> Digits:
        u = squared(p, q) / (2 * sigma**2)
        return context.exp(-(u + context.log(2 - context.exp(-u))))

    a, b = exact(x), exact(y)
    factors = [[kappa(p, q) if within(i, j) else context.zero for j, q in enumerate(b)] for i, p in enumerate(a)]
    return context.log(sums(factors)[-1][-1])


# ----------------------------------------------------------------------------------------------------------- all of it

VALUES: dict[str, Callable[[Case, Series, Series], Any]] = {
    "dtw": lambda case, x, y: dtw_like(case, x, y)[-1, -1],
    "ddtw": lambda case, x, y: dtw_like(case, derivative(x), derivative(y))[-1, -1],
    "wdtw": lambda case, x, y: dtw_like(case, x, y)[-1, -1],
    "wddtw": lambda case, x, y: dtw_like(case, derivative(x), derivative(y))[-1, -1],
    "adtw": lambda case, x, y: dtw_like(case, x, y)[-1, -1],
    "erp": erp,
    "edr": edr,
    "lcss": lcss,
    "msm": msm,
    "twed": twed,
    "soft_dtw": soft_dtw,
    "soft_dtw_divergence": divergence,
    "log_gak": log_gak,
    "frechet": frechet,
    "subsequence_dtw": lambda case, x, y: min(dtw_like(case, x, y)[-1, 1:]),
}


def expected(case: Case) -> dict[str, Any]:
    """What a case expects, computed anew, under the names that its `expected` has."""
    x, y = np.array(case["x"], dtype=np.float64), np.array(case["y"], dtype=np.float64)
    measure, wanted = case["measure"], list(case["expected"])
    found: dict[str, Any] = {"distance": float(VALUES[measure](case, x, y))}
    if "path" in wanted and measure in ("dtw", "wdtw", "adtw"):
        found["path"] = walked_back(dtw_like(case, x, y), len(y))
    if "grad_x" in wanted and measure == "soft_dtw":
        found["grad_x"] = [[float(value) for value in point] for point in gradient(case, x, y)]
    if measure == "subsequence_dtw":
        d = dtw_like(case, x, y)
        found["end"] = int(np.argmin(d[-1, 1:]))
        found["start"] = walked_back(d, found["end"] + 1)[0][1]
    if unknown := [name for name in wanted if name not in found]:
        raise ValueError(f"{unknown[0]} of {measure} is not written here")
    return {name: found[name] for name in wanted}
