"""Every Python example of the documents runs, in the order of the page."""

from pathlib import Path

import pytest
from matplotlib import pyplot
from optional import need

ROOT = Path(__file__).parents[2]
#: What pages import beside the package and what its own tests need.
NEEDED = {"docs/ecosystems.md": ["scipy", "sklearn", "sktime", "stumpy", "darts"]}
NEEDED |= {"docs/pytorch.md": ["torch"], "docs/sklearn.md": ["sklearn"]}
NEEDED |= {"docs/scale.md": ["distributed", "ray", "joblib"]}


def examples(text):
    """The Python of a page, each line where it stands in the page."""
    lines, inside = [], False
    for line in text.splitlines():
        fence = line.startswith("```")
        lines.append(line if inside and not fence else "")
        inside = line == "```python" if fence else inside
    return "\n".join(lines)


#: Pages, and how many lines of examples they have at least.
PAGES = {"README.md": 5, "docs/pytorch.md": 12, "docs/python.md": 30, "docs/sklearn.md": 30, "docs/ecosystems.md": 30}
# Nothing that they read is a file of the clone.
PAGES |= {f"docs/guide/{page}.md": 8 for page in ("classes", "clusters", "matrices", "measure", "searches")}
PAGES |= {"docs/quickstart.md": 8, "docs/scale.md": 40}


@pytest.mark.parametrize(("page", "least"), PAGES.items())
def test_examples_run(page, least, tmp_path, monkeypatch):
    for name in NEEDED.get(page, ()):
        need(name)
    pyplot.switch_backend("Agg")
    code = examples((ROOT / page).read_text(encoding="utf-8"))
    assert sum(bool(line.strip()) for line in code.splitlines()) >= least
    # What they write is left nowhere.
    monkeypatch.chdir(tmp_path)
    try:
        exec(compile(code, str(ROOT / page), "exec"), {"__name__": "__main__"})
    finally:
        pyplot.close("all")


def test_examples_keep_their_lines():
    page = "a\n```sh\nb\n```\n```python\nc\n```\nd\n```python\ne\n```\n"
    assert [line for line in examples(page).split("\n") if line] == ["c", "e"]
    assert examples(page).split("\n").index("e") == 9
