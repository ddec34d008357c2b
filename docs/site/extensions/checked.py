"""What the finished site must be: whole, without dead links, and readable without the network.

- Every public name of the package has an entry in the API reference.
- Every link to a page, a picture or a heading of the site leads there.
- No page loads a script, a style, a font or a picture from elsewhere.
"""

from __future__ import annotations

import importlib
import posixpath
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


class Page(HTMLParser):
    """The links and the targets of a page, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.targets.update(value for name, value in attrs if name in ("id", "name") and value)
        if tag in ("script", "img", "link", "source", "iframe", "video"):
            self.loads.append(given.get("src") or given.get("href") or given.get("data-src") or "")
        elif tag in ("a", "area"):
            self.links.append(given.get("href", ""))


def complaints(folder: Path) -> list[str]:
    """What is wrong with the pages of a folder."""
    pages = {path.relative_to(folder).as_posix(): Page(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    found = []
    for name, page in sorted(pages.items()):
        for link in page.loads:
            if urlsplit(link).netloc:
                found.append(f"{name} loads {link}: a page must need nothing from the network")
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
            target = path if parts.path else name
            if not (folder / target).is_file():
                found.append(f"{name} links to {link}, which is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].targets:
                found.append(f"{name} links to {link}: that page has no such place")
    return found


def undocumented(app: Sphinx) -> list[str]:
    """Public names without an entry."""
    known = {entry[0] for entry in app.env.domains["py"].get_objects()}
    found = []
    for name in app.config.public_modules:
        module = importlib.import_module(name)
        found += [f"{name}.{one}" for one in module.__all__ if f"{name}.{one}" not in known]
    return found


def check(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.name != "html":
        return
    for name in undocumented(app):
        logger.warning("%s is public and has no entry in the API reference", name)
    for complaint in complaints(Path(app.outdir)):
        logger.warning("%s", complaint)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("public_modules", [], "env", list)
    app.connect("build-finished", check)
    return {"parallel_read_safe": True}
