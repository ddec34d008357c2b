"""What the figures of the records say: processors by name, and the range of several records.

python -m pytest docs/site/tests
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")
sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import figures  # noqa: E402

HEAD = "date,cpu,commit,work,ours,other,rounds,ours_median_secs,other_median_secs,ratio,ratio_of_best,load\n"


def record(folder: Path, device: str, day: str, cpu: str, ratio: float) -> None:
    """A record of one row."""
    (folder / device).mkdir(exist_ok=True)
    row = f"{day},{cpu},abc,pairwise_200x96,dtwave 0.1.0,aeon 1.6.0,3,0.01,{ratio / 100},{ratio},{ratio},0.5\n"
    (folder / device / f"{day}-python.csv").write_text(HEAD + row, encoding="utf-8")


def texts(figure: object) -> list[list[str]]:
    """Of each panel, what stands in it."""
    return [[text.get_text() for text in ax.texts] + [ax.get_xlabel()] for ax in figure.axes]  # type: ignore[attr-defined]


def test_several_records_of_a_processor_are_a_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "RECORDS", tmp_path)
    record(tmp_path, "a", "2026-01-01", "Maker(R) One Processor (family 1 model 2)", 20.0)
    record(tmp_path, "a", "2026-01-02", "Maker(R) One Processor (family 1 model 2)", 24.0)
    rows = [{"date": "2026-01-01", "commit": commit} for commit in ("1234567890", "abc-dirty")]
    assert figures.made(rows) == "2026-01-01, commits 1234567, abc-dirty"
    record(tmp_path, "b", "2026-01-03", "Maker(R) One Processor (family 1 model 3)", 9.0)
    first, second = texts(figures.python_on_cpu())
    assert first == [
        "10 ms",
        "240 ms, 20.0 to 24.0 ×",
        "Maker One (family 1 model 2), 2026-01-01, commit abc; 2026-01-02, commit abc",
    ]
    assert second == ["10 ms", "90 ms, 9.0 ×", "Maker One (family 1 model 3), 2026-01-03, commit abc"]


def test_aims_are_judged_on_each_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "RECORDS", tmp_path)
    record(tmp_path, "a", "2026-01-01", "One", 24.0)
    record(tmp_path, "b", "2026-01-02", "Two", 9.0)
    with pytest.raises(SystemExit, match="there are no records"):
        figures.rows("*/nothing.csv")
    monkeypatch.setattr(figures, "rows", lambda pattern, rows=figures.rows: [] if "peers" in pattern else rows(pattern))
    assert [(row["CPU"], row["measured"], row["met"]) for row in figures.aims()] == [
        ("One", "24.0 ×", "yes"),
        ("Two", "9.0 ×", "no"),
    ]


def test_the_project_s_own_records_are_drawn() -> None:
    for figure in figures.FIGURES:
        drawn = figure()
        drawn.canvas.draw()
    assert "CPU" in figures.aims()[0]
