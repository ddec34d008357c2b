"""What the site's extensions make of docstrings, links and examples, and what they complain about.

    python -m pytest docs/site/tests
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "extensions"))

import checked  # noqa: E402
import docstrings  # noqa: E402
import drawing  # noqa: E402
import executed  # noqa: E402
import outside  # noqa: E402


def test_arguments_become_a_list_and_paragraphs_fields() -> None:
    text = """Sum of two.

x, y: one series each,
    of any length.
Other options: as for `f`.

Returns the sum. Chen 2005, 10.1145/1066157.1066213.

Time: linear. Errors: `ValueError` for
NaN.
"""
    assert docstrings.rest(text.split("\n"), "function") == [
        "Sum of two.",
        "",
        "",
        ":Parameters:",
        "    * **x**, **y** – one series each,",
        "      of any length.",
        "    * Other options – as for `f`.",
        "",
        ":Returns: The sum. Chen 2005, `10.1145/1066157.1066213 <https://doi.org/10.1145/1066157.1066213>`__.",
        "",
        ":Cost: Time: linear.",
        "",
        ":Errors: `ValueError` for",
        "    NaN.",
        "",
    ]


def test_a_sentence_with_a_colon_is_no_argument() -> None:
    lines = ["One thing.", "", "It has two parts", "one: this, and that."]
    assert docstrings.rest(lines, "function") == lines


def test_links_out_of_the_folder_become_pages_or_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch()
    known = {"../README.md#gpu": "gpu.md"}

    def of(text: str, page: str = "docs/guide/a.md", folder: str = "docs/guide") -> str:
        return outside.rewritten(text, folder, page, known, tmp_path)

    assert of("[a](../../README.md#gpu)") == "[a](../gpu.md)"
    assert of("[a](b.md#c) [d](#e) [f](https://g.h/i)") == "[a](b.md#c) [d](#e) [f](https://g.h/i)"
    assert of("[a](../../a.csv)") == "[a](path:../../a.csv)"
    code = "```python\nmeasures[0](../../a.csv)\n```"
    assert of(f"[a](../../a.csv)\n{code}\n") == f"[a](path:../../a.csv)\n{code}\n"
    # A section of the README, shown in a page.
    assert of("[a](docs/b.md#c) [d](#gpu)", "docs/d.md", "") == "[a](b.md#c) [d](gpu.md)"


def test_sections_of_the_readme_end_at_the_next_heading() -> None:
    text = "# A\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n"
    assert outside.section(text, "B") == "\nb\n\n### C\n\nc\n\n"
    assert outside.section(text, "D") == "\nd\n"
    with pytest.raises(KeyError):
        outside.section(text, "C")


def test_blocks_print_and_return() -> None:
    names: dict[str, object] = {}
    assert executed.run("a = 2\nprint(a)", "page.md", 1, names) == ("2\n", None)
    assert executed.run("a + 1", "page.md", 1, names) == ("", 3)
    with pytest.raises(ZeroDivisionError) as failed:
        executed.run("a / 0", "page.md", 7, names)
    assert failed.traceback[-1].lineno + 1 == 7


def test_blocks_must_not_warn() -> None:
    with pytest.raises(UserWarning, match="mind"):
        executed.run("import warnings\nwarnings.warn('mind')", "page.md", 1, {})


def test_typed_lines_must_succeed() -> None:
    assert executed.typed("$ echo a\n$ echo b \\\n    c") == "a\nb c\n"
    with pytest.raises(ValueError, match="exits with 3"):
        executed.typed("$ exit 3")
    with pytest.raises(ValueError, match="must begin"):
        executed.typed("echo a")


def test_figures_take_the_colours_of_the_page() -> None:
    from matplotlib import pyplot

    with drawing.style():
        _, ax = pyplot.subplots()
        ax.set_title("a title")
        (figure,) = drawing.drawn("test")
    assert figure.startswith("<svg") and "a title" in figure
    assert "var(--color-foreground-primary)" in figure and drawing.INK not in figure
    assert not pyplot.get_fignums()


def test_dead_links_and_what_is_loaded_from_elsewhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<p id="there">')
    page = '<a href="b.html#there"></a><a href="{}"></a><img src="{}"/>'
    (tmp_path / "a.html").write_text(page.format("https://elsewhere.org", "b.html"))
    assert checked.complaints(tmp_path) == []
    (tmp_path / "a.html").write_text(page.format("b.html#nowhere", "https://elsewhere.org/c.png"))
    assert checked.complaints(tmp_path) == [
        "a.html loads https://elsewhere.org/c.png: a page must need nothing from the network",
        "a.html links to b.html#nowhere: that page has no such place",
    ]
    (tmp_path / "a.html").write_text(page.format("c.html", "b.html"))
    assert checked.complaints(tmp_path) == ["a.html links to c.html, which is not there"]
