"""The package's docstrings as reStructuredText: what each argument is, what comes back, what goes wrong.

A docstring is written to be read as text: a paragraph of lines `name, name: what it is`, and what continues them;
paragraphs that begin with `Returns`, `Errors:`, `Time:`. Here they become lists with those names.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import dtwave
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.inspect import stringify_signature

#: `x, y: …`, as one item of a list; some libraries have series `X` and matrices `D`.
ITEM = re.compile(r"^((?:(?:[a-z_]\w*|[A-Z]\b)(?:, )?)+|Other options): (.*)$")
#: What begins a paragraph, and the name of the field it becomes.
PARAGRAPHS = [
    (re.compile(r"^Returns (.*)$"), "Returns"),
    (re.compile(r"^Errors: (.*)$"), "Errors"),
    (re.compile(r"^(Time: .*|Time and memory: .*|Memory: .*)$"), "Cost"),
]
DOI = re.compile(r"(?<![\w/.`])(10\.\d{4,}/[^\s;,]*[^\s;,.)])")
ARXIV = re.compile(r"\barXiv (\d{4}\.\d{4,5})")


def rest(lines: list[str], kind: str) -> list[str]:
    """The docstring with fields and lists in reStructuredText."""
    # A paragraph for the errors, where they end another.
    lines = "\n".join(re.sub(r"(?<=\.) (Errors: )", r"\n\n\1", line) for line in lines).split("\n")
    found: list[str] = []
    items = "Fields" if kind == "class" else "Parameters"
    is_listing = False
    for number, line in enumerate(lines):
        follows = number > 0 and lines[number - 1] != ""
        item = ITEM.match(line)
        if item and (is_listing or not follows):
            if not is_listing:
                found += ["" if follows else "", f":{items}:"]
                is_listing = True
            names, text = item.groups()
            bold = names if names == "Other options" else ", ".join(f"**{name}**" for name in names.split(", "))
            found.append(f"    * {bold} – {text}")
            continue
        if is_listing and line:
            found.append(f"      {line.strip()}")
            continue
        is_listing = False
        begun = [(name, match.group(1)) for pattern, name in PARAGRAPHS if (match := pattern.match(line))]
        if begun and not follows:
            name, text = begun[0]
            found.append(f":{name}: {text[0].upper()}{text[1:]}")
        elif follows and found and line and inside_field(found):
            found.append(f"    {line}")
        else:
            found.append(line)
    text = "\n".join(found)
    text = DOI.sub(r"`\1 <https://doi.org/\1>`__", text)
    text = ARXIV.sub(r"`arXiv \1 <https://arxiv.org/abs/\1>`__", text)
    return text.split("\n")


def inside_field(found: list[str]) -> bool:
    """Whether the last line belongs to a field."""
    for line in reversed(found):
        if line.startswith(":"):
            return True
        if not line.startswith("    "):
            return False
    return False


def docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    is_measure = what == "class" and "__dataclass_fields__" not in vars(thing)
    lines[:] = rest(lines, "function" if is_measure else what)
    if what == "class" and issubclass(thing, dtwave.Measure) and thing is not dtwave.Measure:
        lines[0] = f"``{thing.key}``: {lines[0]}"


def signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, given: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """Types as the source writes them: short names, not what they stand for."""
    if what not in ("function", "method", "class") or not callable(thing):
        return None
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    parameters = [one for one in found.parameters.values() if one.name != "self"]
    if what == "class" and all(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters):
        # What the page says, if it says anything.
        return None
    shown = stringify_signature(found.replace(parameters=parameters), unqualified_typehints=True)
    arguments, _, result = shown.partition(" -> ")
    return arguments, result if what != "class" and result else None


def without_overloads(app: Sphinx, *_: Any) -> None:
    """One signature for a function: its docstring says what each option does to the result."""
    analyze = ModuleAnalyzer.analyze

    def analyzed(self: ModuleAnalyzer) -> None:
        analyze(self)
        self.overloads = {}

    setattr(ModuleAnalyzer, "analyze", analyzed)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", without_overloads)
    app.connect("autodoc-process-docstring", docstring)
    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": True}
