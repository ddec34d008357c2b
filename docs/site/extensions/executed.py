"""Runs the Python of every page when the site is built, and shows what each block printed, returned and drew.

The blocks of a page build on each other, as in a notebook. A block that fails, or warns, fails the build. Blocks of
`console` run what stands after `$ ` in a shell, which must succeed. The current folder is a temporary one for each
page: examples run outside a clone, and what is written is gone afterwards. Only `benchmarks` is there, for the page that
draws its records.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

import drawing

logger = logging.getLogger(__name__)


def run(code: str, name: str, line: int, names: dict[str, Any]) -> tuple[str, Any]:
    """What a block printed, and the value of its last line if that is an expression."""
    tree = ast.parse("\n" * (line - 1) + code, name)
    last = tree.body[-1] if tree.body else None
    shown = tree.body.pop() if isinstance(last, ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        exec(compile(tree, name, "exec"), names)
        value = eval(compile(ast.Expression(shown.value), name, "eval"), names) if isinstance(shown, ast.Expr) else None
    for one in warned:
        # Only warnings about the page's own lines are errors: libraries warn of their insides, too.
        if one.filename == name:
            raise one.message if isinstance(one.message, Warning) else RuntimeWarning(one.message)
    return printed.getvalue(), value


def typed(block: str) -> str:
    """What the lines after `$ ` print, each below its line."""
    # `python` is the one that builds the site.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    shown = ""
    for line in block.replace("\\\n", " ").splitlines():
        command = line.removeprefix("$ ")
        if command == line:
            raise ValueError(f"a line of console must begin with '$ ', got {line!r}")
        ran = subprocess.run(command, shell=True, capture_output=True, text=True, env={**os.environ, "PATH": path})
        if ran.returncode != 0:
            raise ValueError(f"{command!r} exits with {ran.returncode}:\n{ran.stderr}")
        shown += ran.stderr + ran.stdout
    return shown


def output(text: str, value: Any, figures: list[str]) -> list[nodes.Node]:
    """What stands below a block."""
    table = getattr(value, "_repr_html_", lambda: None)()
    if value is not None and table is None and not (figures and not isinstance(value, str)):
        text += f"{value!r}\n"
    found: list[nodes.Node] = []
    if text:
        block = nodes.literal_block(text.rstrip("\n"), text.rstrip("\n"), language="none")
        found.append(nodes.container("", block, classes=["output"]))
    if table is not None:
        # Without the style that pandas brings: the page has its own.
        rows = re.sub(r"<style.*?</style>| border=\"\d+\"| style=\"[^\"]*\"", "", table, flags=re.S)
        found.append(nodes.raw("", f'<div class="output table-wrapper">{rows}</div>', format="html"))
    if figures:
        inside = "".join(f"<figure>{figure}</figure>" for figure in figures)
        found.append(nodes.raw("", f'<div class="output figures">{inside}</div>', format="html"))
    return found


def execute(app: Sphinx, doctree: nodes.document) -> None:
    docname = app.env.docname
    if Path(app.env.doc2path(docname)).suffix != ".md":
        return
    kinds = ("python", "console")
    blocks = [block for block in doctree.findall(nodes.literal_block) if block.get("language") in kinds]
    names: dict[str, Any] = {"__name__": "__main__"}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, drawing.style():
        os.chdir(folder)
        os.symlink(Path(app.srcdir).parent / "benchmarks", "benchmarks", target_is_directory=True)
        try:
            for number, block in enumerate(blocks):
                line = (block.line or 0) + 1
                try:
                    if block["language"] == "console":
                        text, value = typed(block.astext()), None
                    else:
                        text, value = run(block.astext(), f"{docname}.md", line, names)
                except Exception as error:
                    trace = "".join(traceback.format_exception(error))
                    logger.warning("this block fails:\n%s", trace, location=(docname, line))
                    break
                figures = drawing.drawn(f"{docname}-{number}")
                parent = block.parent
                at = parent.index(block) + 1
                parent[at:at] = output(text, value, figures)
        finally:
            os.chdir(before)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", execute)
    # Pages share matplotlib and the current folder.
    return {"parallel_read_safe": False}
