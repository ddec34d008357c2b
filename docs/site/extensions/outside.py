"""Links that leave docs/, and sections of the README that pages show.

A line `<!-- README: In Rust -->` becomes that section of the README, without its heading. A link that leaves
docs/ becomes what `outside_links` in conf.py says; any other becomes the file itself, for download. A link to what
neither is there is a warning.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

SECTION = re.compile(r"^<!-- README: (.+) -->$", re.M)
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)
LINK = re.compile(r"(?<!`)\]\(([^()\s]+)\)")


def section(text: str, title: str) -> str:
    """The body of the section of that title, up to the next heading of its level."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if found is None:
        raise KeyError(title)
    return found.group(1)


def rewritten(text: str, folder: str, page: str, known: dict[str, str], root: Path) -> str:
    """The text with its links as seen from `page`, where it stood in `folder` (both paths within the project)."""
    here = posixpath.dirname(page)

    def link(found: re.Match[str]) -> str:
        target = found.group(1)
        if "://" in target or target.startswith("mailto:"):
            return found.group(0)
        path, _, anchor = target.partition("#")
        whole = posixpath.normpath(posixpath.join(folder, path)) if path else page
        if not path and folder != here:
            # A section of the README, seen from elsewhere.
            whole = posixpath.join(folder, "README.md")
        inside = posixpath.relpath(whole, "docs")
        if inside.startswith(".."):
            at = f"{inside}#{anchor}" if anchor else inside
            if at in known:
                inside, anchor = known[at], ""
            elif not (root / whole).is_file() or anchor:
                logger.warning("%s links to %s, which is no page here: outside_links in conf.py", page, target)
        shown = posixpath.relpath(posixpath.join("docs", inside), here)
        if inside.startswith(".."):
            return f"](path:{shown})"
        return f"]({shown}{'#' + anchor if anchor else ''})" if path or folder != here else found.group(0)

    # Code is left as it is.
    parts = FENCE.split(text)
    return "".join(part if number % 2 else LINK.sub(link, part) for number, part in enumerate(parts))


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".md":
        return
    root = Path(app.srcdir).parent
    page = path.relative_to(root).as_posix()
    known: dict[str, str] = app.config.outside_links
    text = rewritten(source[0], posixpath.dirname(page), page, known, root)

    def included(found: re.Match[str]) -> str:
        app.env.note_dependency(str(root / "README.md"))
        try:
            body = section((root / "README.md").read_text(encoding="utf-8"), found.group(1))
        except KeyError:
            logger.warning("the README has no section %s", found.group(1), location=docname)
            return ""
        return rewritten(body, "", page, known, root)

    source[0] = SECTION.sub(included, text)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("outside_links", {}, "env", dict)
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
