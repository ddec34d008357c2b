"""Makes golden.json, and makes its numbers anew to compare them with the file.

    python generate.py --write                       # golden.json, whole
    python generate.py --check                       # every input and every number of golden.json, made anew
    python generate.py --check --every 20            # all inputs, and the numbers of every 20th case
    python generate.py --check --file other.json     # the numbers of another file, from that file's inputs

It needs NumPy and mpmath. equations.py computes the numbers, from docs/measures.md alone.

Inputs come from Python's `random()` and from additions. So they have the same bits on every machine and with every
version of Python. `--check` stops at the first difference, with exit status 1.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from equations import Case, expected

GOLDEN = Path(__file__).with_name("golden.json")
NOTE = "made by generate.py from this seed; x and y are [time][channel]; ranges are [start, end) of each row"
SEED = 20261125
#: By how much a number may differ from the file's, relative to it; in a gradient, to its largest component.
RELATIVE = 1e-12


# -------------------------------------------------------------------------------------------------------------- inputs


def normal(draw: random.Random) -> float:
    """Nearly normal with variance 1: twelve uniform numbers, added up one after the other."""
    total = -6.0
    for _ in range(12):
        total += draw.random()
    return total


def whole(draw: random.Random) -> float:
    """0, 1 or 2, so that many costs are equal."""
    return float(int(3.0 * draw.random()))


def points(draw: random.Random, number: Callable[[random.Random], float], length: int, channels: int) -> list[Any]:
    return [[number(draw) for _ in range(channels)] for _ in range(length)]


def times(draw: random.Random, length: int) -> list[float]:
    """Times that increase by at least 0.1."""
    found, now = [], 0.0
    for _ in range(length):
        now += 0.1 + draw.random()
        found.append(now)
    return found


def ranges(draw: random.Random, n: int, m: int) -> list[list[int]]:
    """A band round the line from corner to corner: both ends never decrease, and neighbouring rows touch."""
    middle = [i * (m - 1) // max(n - 1, 1) for i in range(n)] + [m - 1]
    found, low, high = [], 0, 0
    for i in range(n):
        low = max(low, middle[i] - int(4 * draw.random()))
        high = max(high, min(m, middle[i + 1] + 1 + int(4 * draw.random())))
        found.append([low, high])
    return found


#: n, m and channels. All measures without a band, and DTW and Soft-DTW in bands.
SHAPES = [(1, 1, 1), (1, 6, 1), (6, 1, 1), (2, 3, 1), (8, 8, 1), (13, 9, 1), (9, 13, 1), (17, 17, 2), (10, 16, 3)]
SHAPES += [(33, 31, 1), (40, 65, 1)]
#: For all measures in bands, and those where LCSS and the Fréchet distance alone are in bands.
BANDED, FEWER = [(6, 6, 1), (8, 8, 1), (9, 13, 1)], [(13, 9, 1), (17, 17, 2), (10, 16, 3), (33, 31, 1)]
TWED = {"nu": 0.001, "lambda_": 1.0, "degree": 2}
#: With series of whole numbers, points are exactly this far apart.
EPSILON = {normal: 0.5, whole: 1.0}


def sakoe_chiba(radius: int) -> dict[str, Any]:
    return {"kind": "sakoe_chiba", "radius": radius}


def plain_cases(n: int, m: int, epsilon: float) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """Measure, parameters and what is expected beside the distance, for one pair of series."""
    squared = {"cost": "squared_euclidean"}
    for cost in ("squared_euclidean", "euclidean", "manhattan"):
        yield "dtw", {"cost": cost}, []
    yield "dtw", squared, ["path"]
    for radius in (0, 2, 5):
        yield "dtw", squared | {"band": sakoe_chiba(radius)}, []
    if min(n, m) >= 3:
        yield "ddtw", {}, []
    yield "wdtw", {"g": 0.05}, []
    yield "adtw", {"penalty": 0.7}, []
    yield from [("erp", {"gap": 0.25}, []), ("edr", {"epsilon": epsilon}, []), ("lcss", {"epsilon": epsilon}, [])]
    yield from [("msm", {"c": 0.5}, []), ("twed", TWED, [])]
    yield "twed", {"nu": 0.1, "lambda_": 0.5, "degree": 2}, ["times"]
    for gamma in (0.01, 1.0, 50.0):
        yield "soft_dtw", {"gamma": gamma}, ["grad_x"]
    yield "soft_dtw", {"gamma": 1.0, "band": sakoe_chiba(2)}, ["grad_x"]
    yield "soft_dtw_divergence", {"gamma": 1.0}, []
    yield "log_gak", {"sigma": 2.0}, []
    if n <= m:
        yield "subsequence_dtw", squared, ["match"]


def banded_cases(
    n: int, m: int, epsilon: float, explicit: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """All measures in three bands, but for `frechet`."""
    bands = [sakoe_chiba(0), sakoe_chiba(3), explicit]
    for band in bands:
        within = {"band": band}
        yield "wdtw", {"g": 0.1} | within, []
        yield "adtw", {"penalty": 0.3} | within, []
        yield "dtw", {"cost": "manhattan"} | within, []
        for measure, given in (("erp", {"gap": 0.25}), ("edr", {"epsilon": epsilon}), ("lcss", {"epsilon": epsilon})):
            yield measure, given | within, []
        yield "msm", {"c": 0.5} | within, []
        yield "twed", TWED | within, []
        for gamma in (0.1, 10.0):
            yield "soft_dtw", {"gamma": gamma} | within, ["grad_x"]
    for band in bands:
        within = {"band": band}
        if band is not explicit:
            yield "ddtw", within, []
            yield "wddtw", within, []
        yield "log_gak", {"sigma": 2.0} | within, []
        if band is not explicit or n == m:
            yield "soft_dtw_divergence", {"gamma": 1.0} | within, []
        yield "subsequence_dtw", within, ["match"]


def drawn(seed: int) -> list[Case]:
    """All cases with their inputs; `expected` names what is still to be computed."""
    draw = random.Random(seed)
    found: list[Case] = []

    def add(x: list[Any], y: list[Any], rows: Iterator[tuple[str, dict[str, Any], list[str]]]) -> None:
        for measure, params, wanted in rows:
            case: Case = {"measure": measure, "params": params, "x": x, "y": y}
            if "times" in wanted:
                case |= {"tx": times(draw, len(x)), "ty": times(draw, len(y))}
            more = [name for name in wanted if name != "times"]
            names = {"match": ["start", "end"], "path": ["path"], "grad_x": ["grad_x"]}
            found.append(case | {"expected": ["distance"] + [name for want in more for name in names[want]]})

    for n, m, channels in SHAPES:
        for number in (normal, whole):
            add(
                points(draw, number, n, channels), points(draw, number, m, channels), plain_cases(n, m, EPSILON[number])
            )
    for n, m, channels in BANDED + FEWER:
        for number in (normal, whole):
            x, y = points(draw, number, n, channels), points(draw, number, m, channels)
            explicit = {"kind": "ranges", "ranges": ranges(draw, n, m)}
            if (n, m, channels) in BANDED:
                add(x, y, banded_cases(n, m, EPSILON[number], explicit))
            else:
                within = [sakoe_chiba(0), sakoe_chiba(3), explicit]
                given = {"epsilon": EPSILON[number]}
                add(x, y, (("lcss", given | {"band": band}, []) for band in within))
            add(x, y, iter([("frechet", {}, [])]))
            add(x, y, (("frechet", {"band": band}, []) for band in (sakoe_chiba(0), sakoe_chiba(3), explicit)))
    return found


# ---------------------------------------------------------------------------------------------------- file and check


def differ(name: str, case: Case, given: Any, anew: Any) -> str | None:
    """What is different, if anything is."""
    if name in ("distance", "grad_x"):
        a, b = np.ravel(given), np.ravel(anew)
        if a.shape != b.shape or not np.all(np.abs(a - b) <= RELATIVE * np.max(np.abs(b))):
            return f"{name}: the file has {given}, computed anew {anew}"
    elif given != anew:
        return f"{name}: the file has {given}, computed anew {anew}"
    return None


def check(path: Path, every: int = 1, inputs: bool = True) -> int:
    """Compares a file with what is made anew, and gives the number of cases. Raises `ValueError` at a difference."""
    file = json.loads(path.read_text(encoding="utf-8"))
    cases = file["cases"]
    if inputs:
        again = drawn(file["seed"])
        if len(again) != len(cases):
            raise ValueError(f"the file has {len(cases)} cases, {len(again)} are drawn from its seed")
        for index, (case, other) in enumerate(zip(cases, again, strict=True)):
            if case | {"expected": list(case["expected"])} != other:
                raise ValueError(f"case {index} ({case['measure']}): other inputs than those drawn from the seed")
    for index in range(0, len(cases), every):
        case = cases[index]
        anew = expected(case)
        for name, given in case["expected"].items():
            if said := differ(name, case, given, anew[name]):
                raise ValueError(f"case {index} ({case['measure']}), {said}")
    return len(range(0, len(cases), every))


def write(path: Path, seed: int) -> int:
    cases = drawn(seed)
    for case in cases:
        case["expected"] = expected(case)
    text = json.dumps({"note": NOTE, "seed": seed, "cases": cases}, separators=(",", ":"), allow_nan=False)
    path.write_text(text, encoding="utf-8")
    return len(cases)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="make the file")
    what.add_argument("--check", action="store_true", help="make its numbers anew and compare")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="compute every Nth case only (default: all)")
    parser.add_argument("--file", type=Path, metavar="FILE", help="another file than golden.json, with its own inputs")
    parser.add_argument("--seed", type=int, default=SEED, help="for --write (default: %(default)s)")
    given = parser.parse_args()
    if given.every < 1:
        parser.error("--every: expected a number of 1 or more")
    path = given.file or GOLDEN
    if given.write:
        print(f"{path.name}: {write(path, given.seed)} cases")
        return 0
    try:
        count = check(path, given.every, inputs=given.file is None)
    except ValueError as error:
        print(f"{path.name}: {error}", file=sys.stderr)
        return 1
    print(f"{path.name}: {count} cases made anew, no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
