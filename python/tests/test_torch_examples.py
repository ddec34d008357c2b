"""The example and the code of the documentation run, and do what they say."""

from __future__ import annotations

import runpy
from pathlib import Path

from optional import need

need("torch")

ROOT = Path(__file__).parents[2]


def test_example_learns() -> None:
    train = runpy.run_path(str(ROOT / "python/examples/soft_dtw_loss.py"))["train"]
    losses = train()
    assert sum(losses[-10:]) < 0.1 * sum(losses[:10])


def test_code_of_the_page_runs() -> None:
    blocks = (ROOT / "docs/pytorch.md").read_text(encoding="utf-8").split("```python\n")[1:]
    assert blocks
    for block in blocks:
        exec(compile(block.split("```")[0], "docs/pytorch.md", "exec"), {})
