"""The examples run, and what they print and draw is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot
from optional import need
from programs import example


@pytest.fixture(autouse=True)
def _nothing_is_shown() -> None:
    pyplot.switch_backend("Agg")


def test_classification_of_made_series(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    need("sklearn")
    errors = example("ucr_classification", monkeypatch).main([])
    assert errors["learned window"] < 0.05 < errors["no warping"]
    assert f"learned window: error {errors['learned window']:.4f}" in capsys.readouterr().out


def test_classification_of_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("sklearn")
    program = example("ucr_classification", monkeypatch)
    sets = [program.cylinder_bell_funnel(30, seed=1), program.cylinder_bell_funnel(30, seed=2)]
    for (series, labels), name in zip(sets, ("TRAIN.tsv", "TEST.tsv")):
        lines = ["\t".join([label, *map(repr, one.tolist())]) for one, label in zip(series, labels)]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    _, expected = program.errors(*sets)
    assert program.main([str(tmp_path / "TRAIN.tsv"), str(tmp_path / "TEST.tsv")]) == expected
    # Padding, and commas.
    (tmp_path / "padded.tsv").write_text("1\t0.5\t1.5\tNaN\n2,0.25,0.5,0.75\n", encoding="utf-8")
    series, labels = program.read(tmp_path / "padded.tsv")
    assert [one.tolist() for one in series] == [[0.5, 1.5], [0.25, 0.5, 0.75]] and labels.tolist() == ["1", "2"]
    with pytest.raises(SystemExit):
        program.main(["one.tsv"])
    assert "expected two files" in capsys.readouterr().err


def test_clusters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert example("clusters", monkeypatch).main(["--out", str(tmp_path / "clusters.svg")]) == 1.0
    drawn = (tmp_path / "clusters.svg").read_text(encoding="utf-8")
    assert drawn.rstrip().endswith("</svg>") and "cluster 2: 15 series" in drawn


def test_heartbeats(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = example("heartbeats", monkeypatch)
    matches = program.main(["--out", str(tmp_path / "heartbeats.svg")])
    # The first is the query itself. All of them are beats of one kind: their highest samples are as high.
    assert (matches[0].start, matches[0].end, matches[0].distance) == (83, 174, 0.0)
    assert len(matches) == 8 and np.diff([match.distance for match in matches]).min() > 0
    values = program.recording()
    heights = [values[match.slice].max() for match in matches]
    assert max(heights) - min(heights) < 0.05 * max(heights) and 0 <= matches[0].start
    assert "</svg>" in (tmp_path / "heartbeats.svg").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore")  # Of their own making: what they compute is checked.
def test_sktime(monkeypatch: pytest.MonkeyPatch) -> None:
    need("sktime")
    program = example("with_sktime", monkeypatch)
    assert program.main() >= 0.95
    # sktime passes what the function says that it takes.
    x, y = program.spirals(3, seed=1)[0], program.spirals(2, seed=2)[0]
    assert program.msm(x, y).shape == (3, 2)


@pytest.mark.filterwarnings("ignore")
def test_stumpy(monkeypatch: pytest.MonkeyPatch) -> None:
    need("stumpy")
    cut, begin = example("with_stumpy", monkeypatch).main()
    assert begin - 24 <= cut <= begin + 24


@pytest.mark.filterwarnings("ignore")
def test_darts(monkeypatch: pytest.MonkeyPatch) -> None:
    need("darts")
    program = example("with_darts", monkeypatch)
    assert program.main() == {"squared error": 1, "adtw": 24}
    day = program.days(2, seed=3)
    assert program.elastic(day, day) == 0.0
