"""The golden file is what its generator makes: every input and every number, in plain loops of another language.

The generator and this test do without dtwave.
"""

from __future__ import annotations

import copy
import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from optional import need

need("mpmath")

DATA = Path(__file__).parents[2] / "crates/dtw-conformance/data"
GOLDEN = DATA / "golden.json"
Case = dict[str, Any]


@pytest.fixture(scope="module")
def generate() -> Any:
    sys.path.insert(0, str(DATA))
    try:
        return importlib.import_module("generate")
    finally:
        sys.path.remove(str(DATA))


@pytest.fixture(scope="module")
def file() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return read


def test_every_number_made_anew(file: dict[str, Any]) -> None:
    command = [sys.executable, str(DATA / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"golden.json: {len(file['cases'])} cases made anew, no difference\n"


def slightly(value: float) -> float:
    """Wrong from the twelfth digit on."""
    return value * (1 + 3e-12)


def wrong_distance(case: Case) -> None:
    case["expected"]["distance"] = slightly(case["expected"]["distance"])


def wrong_gradient(case: Case) -> None:
    largest = max((point for point in case["expected"]["grad_x"]), key=lambda point: abs(point[0]))
    largest[0] = slightly(largest[0])


def wrong_path(case: Case) -> None:
    case["expected"]["path"].pop()


def later_start(case: Case) -> None:
    case["expected"]["start"] += 1


def later_end(case: Case) -> None:
    case["expected"]["end"] += 1


@pytest.mark.parametrize(
    ("has", "fault"),
    [
        ("distance", wrong_distance),
        ("grad_x", wrong_gradient),
        ("path", wrong_path),
        ("start", later_start),
        ("end", later_end),
    ],
)
def test_a_wrong_number_of_every_measure_is_noticed(
    generate: Any, file: dict[str, Any], tmp_path: Path, has: str, fault: Callable[[Case], None]
) -> None:
    measures = {case["measure"] for case in file["cases"] if has in case["expected"]}
    assert measures
    for measure in sorted(measures):
        having = (case for case in file["cases"] if case["measure"] == measure and has in case["expected"])
        case = copy.deepcopy(next(case for case in having if case["expected"]["distance"] != 0))
        path = tmp_path / f"{measure}.json"
        path.write_text(json.dumps({"cases": [case]}))
        assert generate.check(path, inputs=False) == 1
        fault(case)
        path.write_text(json.dumps({"cases": [case]}))
        with pytest.raises(ValueError, match=rf"case 0 \({measure}\), {has}: the file has"):
            generate.check(path, inputs=False)


def test_other_inputs_and_missing_cases_are_noticed(generate: Any, file: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "golden.json"
    changed = copy.deepcopy(file)
    changed["cases"][7]["x"][0][0] += 1e-9
    path.write_text(json.dumps(changed))
    with pytest.raises(ValueError, match=r"case 7 \(wdtw\): other inputs than those drawn from the seed"):
        generate.check(path)
    path.write_text(json.dumps(file | {"cases": file["cases"][:-1]}))
    with pytest.raises(ValueError, match="the file has 827 cases, 828 are drawn from its seed"):
        generate.check(path)
