"""Calls on a GPU through WebGPU; Mesa's driver in software will do, and without any these tests fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtwave
from optional import MANY_CHANNELS

SERIES = np.random.default_rng(4).normal(size=(5, 40)).astype(np.float32)


def test_distances_are_those_of_the_cpu() -> None:
    expected = dtwave.pairwise(SERIES)
    assert expected.dtype == np.float32
    for device in ("wgpu", "wgpu:0"):
        np.testing.assert_allclose(dtwave.pairwise(SERIES, device=device), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("cost", ["squared_euclidean", "euclidean", "manhattan"])
@pytest.mark.parametrize("channels", MANY_CHANNELS)
def test_many_channels(channels: int, cost: Any) -> None:
    x, y = (np.random.default_rng(k).normal(size=(k, 24, channels)).astype(np.float32) for k in (3, 4))
    for measure in (dtwave.Dtw(cost=cost), dtwave.SoftDtw(gamma=0.5, cost=cost), dtwave.Twed(degree=3.0)):
        expected = dtwave.pairwise(x, y, measure=measure, layout="channels_last")
        np.testing.assert_allclose(
            dtwave.pairwise(x, y, measure=measure, device="wgpu", layout="channels_last"), expected, rtol=1e-4
        )


def test_doubles_are_refused() -> None:
    with pytest.raises(dtwave.DeviceError, match="f64"):
        dtwave.pairwise(SERIES.astype(np.float64), device="wgpu")
    narrow = dtwave.pairwise(SERIES.astype(np.float64), device="wgpu", dtype="float32")
    assert narrow.dtype == np.float32


def test_gpus_are_listed_and_chosen_by_name() -> None:
    first = next(device for device in dtwave.devices() if device.backend == "wgpu")
    assert first.available and first.description.startswith("0: ")
    name = first.description.removeprefix("0: ").split()[0]
    assert dtwave.distance(SERIES[0], SERIES[1], device=f"wgpu:{name}") > 0
    with pytest.raises(ValueError, match=r'whose name has "Voodoo 2"; there are 0 \('):
        dtwave.distance(SERIES[0], SERIES[1], device="wgpu:Voodoo 2")


def test_what_is_refused_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(dtwave.DeviceError, match="f64"):
        dtwave.pairwise(SERIES.astype(np.float64), device="wgpu", out=tmp_path / "d.npy")
    assert list(tmp_path.iterdir()) == []
