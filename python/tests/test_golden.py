"""The golden numbers: values, gradients, paths and matches that loops of Python made (test_golden_made_anew.py).

`DTWAVE_GOLDEN` may name more files of such cases, separated as PATH is.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtwave
from optional import need

GOLDEN = Path(__file__).parents[2] / "crates/dtw-conformance/data/golden.json"
FILES = [GOLDEN, *map(Path, filter(None, os.environ.get("DTWAVE_GOLDEN", "").split(os.pathsep)))]

Case = dict[str, Any]


@pytest.fixture(params=FILES, ids=lambda path: path.name)
def cases(request: pytest.FixtureRequest) -> list[Case]:
    found: list[Case] = json.loads(request.param.read_text(encoding="utf-8"))["cases"]
    assert found
    return found


def options(case: Case) -> dict[str, Any]:
    """Measure, parameters and band of a case."""
    given = dict(case["params"])
    band = given.pop("band", None)
    if band is None:
        return {"measure": case["measure"], **given}
    kinds = {
        "full": lambda band: None,
        "sakoe_chiba": lambda band: dtwave.SakoeChiba(band["radius"]),
        "slanted": lambda band: dtwave.Slanted(band["radius"]),
        "itakura": lambda band: dtwave.Itakura(band["max_slope"]),
        "ranges": lambda band: dtwave.Ranges(band["ranges"]),
    }
    return {"measure": case["measure"], "band": kinds[band["kind"]](band), **given}


def series(case: Case) -> tuple[Any, Any]:
    x, y = (np.array(case[name], dtype=np.float64) for name in "xy")
    return x, y


def those_with(cases: list[Case], number: str) -> list[Case]:
    """The cases that expect this number."""
    found = [case for case in cases if number in case["expected"]]
    if not found:
        pytest.skip(f"no case of the file has {number}")
    return found


def test_our_own_file_has_every_kind_of_case() -> None:
    own: list[Case] = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    numbers = {number for case in own for number in case["expected"]}
    assert numbers == {"distance", "grad_x", "path", "start", "end"}
    assert {case["measure"] for case in own} == set(dtwave.MEASURES)


def test_values(cases: list[Case]) -> None:
    for case in cases:
        x, y = series(case)
        timed = {"times": (case["tx"], case["ty"])} if "tx" in case else {}
        value = dtwave.distance(x, y, **options(case), **timed)
        assert value == pytest.approx(case["expected"]["distance"], rel=1e-9, abs=1e-9), case
        if not timed:
            (zipped,) = dtwave.zipped(x[None], y[None], **options(case))
            assert zipped == value


def test_gradients(cases: list[Case]) -> None:
    for case in those_with(cases, "grad_x"):
        x, y = series(case)
        (value,), (gradient,), _ = dtwave.gradients(x[None], y[None], **options(case))
        assert value == pytest.approx(case["expected"]["distance"], rel=1e-9, abs=1e-9), case
        np.testing.assert_allclose(gradient, case["expected"]["grad_x"], rtol=1e-7, atol=1e-9)


def test_gradients_of_the_loss(cases: list[Case]) -> None:
    torch = need("torch")
    from dtwave.torch import soft_dtw

    for case in those_with(cases, "grad_x"):
        x, y = (torch.from_numpy(values)[None] for values in series(case))
        given = options(case)
        normalize = given["measure"] == "soft_dtw_divergence"
        x.requires_grad_()
        value = soft_dtw(x, y, gamma=given["gamma"], normalize=normalize, bandwidth=given.get("band"))
        (gradient,) = torch.autograd.grad(value.sum(), x)
        np.testing.assert_allclose(gradient[0].numpy(), case["expected"]["grad_x"], rtol=1e-7, atol=1e-9)


def test_paths(cases: list[Case]) -> None:
    for case in those_with(cases, "path"):
        found = dtwave.align(*series(case), **options(case))
        assert found.path.tolist() == case["expected"]["path"], case
        assert found.distance == pytest.approx(case["expected"]["distance"], rel=1e-9, abs=1e-9)


def test_matches(cases: list[Case]) -> None:
    for case in those_with(cases, "end"):
        given = options(case)
        assert given.pop("measure") == "subsequence_dtw"
        (match,) = dtwave.search(*series(case), k=1, **given)
        assert match.distance == pytest.approx(case["expected"]["distance"], rel=1e-9, abs=1e-9), case
        assert match.end == case["expected"]["end"], case
        assert match.start == case["expected"].get("start", match.start), case
