"""The examples run, and do what they say."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

import dtwave
from optional import need
from programs import example

torch = need("torch")


def test_example_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = example("soft_dtw_loss", monkeypatch).train()
    assert sum(losses[-10:]) < 0.1 * sum(losses[:10])


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened))


def test_forecaster_learns_and_draws(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trainings = example("ecg_forecaster", monkeypatch).main(["--steps", "60", "--out", str(tmp_path)])
    rows = rows_of(tmp_path / "training.csv")
    assert len(rows) == 60
    for name in ("squared_error", "soft_dtw"):
        losses = trainings[name].losses
        assert sum(losses[-10:]) < 0.6 * sum(losses[:10])
        assert [float(row[name]) for row in rows] == losses
    printed = capsys.readouterr().out
    assert "trained with squared_error: loss" in printed
    assert "trained with soft_dtw: loss" in printed
    for figure in ("losses.svg", "forecasts.svg"):
        assert "</svg>" in (tmp_path / figure).read_text(encoding="utf-8")


def test_forecaster_compares_its_losses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    main = example("ecg_forecaster", monkeypatch).main

    def run(steps: int, other: Path) -> None:
        main(["--steps", str(steps), "--dtype", "float64", "--out", str(tmp_path / "new"), "--compare", str(other)])

    main(["--steps", "8", "--out", str(tmp_path)])
    run(8, tmp_path / "training.csv")  # losses in single precision are those in double
    with pytest.raises(SystemExit, match="has 8 steps and this run 4"):
        run(4, tmp_path / "training.csv")
    rows = rows_of(tmp_path / "training.csv")
    rows[5]["soft_dtw"] = repr(1.002 * float(rows[5]["soft_dtw"]))
    with (tmp_path / "moved.csv").open("w", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(SystemExit, match=r"soft_dtw: losses differ by 2.0e-03 .* in step 6"):
        run(8, tmp_path / "moved.csv")


def test_forecaster_may_compare_with_what_it_overwrites(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "training.csv").write_text("step,squared_error,soft_dtw\n" + "1,1.0,1.0\n" * 4, encoding="utf-8")
    arguments = ["--steps", "4", "--out", str(tmp_path), "--compare", str(tmp_path / "training.csv")]
    with pytest.raises(SystemExit, match="squared_error: losses differ"):
        example("ecg_forecaster", monkeypatch).main(arguments)
    (tmp_path / "training.csv").write_text("step,squared_error\n" + "1,1.0\n" * 4, encoding="utf-8")
    with pytest.raises(SystemExit, match="has no column 'soft_dtw'"):
        example("ecg_forecaster", monkeypatch).main(arguments)


def test_forecaster_finds_memory_that_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    module = example("ecg_forecaster", monkeypatch)

    def check(kept_bytes: int, device: str) -> None:
        memory = [10**9 + kept_bytes * step for step in range(500)]
        training = module.Training(torch.nn.Identity(), [1.0] * 500, memory)
        module.check_flat("soft_dtw", training, torch.device(device), torch.float32)

    check(0, "cpu")
    check(0, "cuda")
    for kept_bytes, device in ((module.BATCH * module.FUTURE * 4, "cpu"), (1, "cuda")):
        with pytest.raises(SystemExit, match="soft_dtw: memory .* not flat"):
            check(kept_bytes, device)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a process's memory in /proc")
def test_memory_of_the_process_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    memory_bytes = example("ecg_forecaster", monkeypatch).memory_bytes
    before = memory_bytes(torch.device("cpu"))
    held = np.ones(1 << 23)
    assert memory_bytes(torch.device("cpu")) - before > held.nbytes // 2


def test_barycenter_by_descent_is_as_good_as_the_library_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = example("ecg_barycenter", monkeypatch)
    average, losses = module.main(["--steps", "40", "--out", str(tmp_path / "figures/barycenter.svg")])
    assert "</svg>" in (tmp_path / "figures/barycenter.svg").read_text(encoding="utf-8")
    beats = module.ecg.beats()
    assert len({len(beat) for beat in beats}) > 1
    mean, deviation = np.concatenate(beats).mean(), np.concatenate(beats).std()
    series = [(beat - mean) / deviation for beat in beats]
    start = np.mean([one[: len(average)] for one in series], axis=0)
    theirs = dtwave.barycenter(series, measure="soft_dtw", gamma=0.1, start=start, max_iterations=40)
    # `costs` are sums over the series.
    first, least = theirs.costs[0] / len(series), theirs.costs[-1] / len(series)
    np.testing.assert_allclose(losses[0], first, rtol=1e-9)
    assert losses[-1] - least < 0.1 * (first - least)
