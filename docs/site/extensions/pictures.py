"""Pictures of docs/images stand within the page, so that a dark page has dark ones."""

from __future__ import annotations

import html
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

import drawing


def replace(app: Sphinx, doctree: nodes.document) -> None:
    folder = Path(app.env.doc2path(app.env.docname)).parent
    for image in list(doctree.findall(nodes.image)):
        path = folder / image["uri"]
        if path.suffix != ".svg" or not path.is_file():
            continue
        app.env.note_dependency(str(path))
        label = f'<svg role="img" aria-label="{html.escape(image.get("alt", ""), quote=True)}" '
        body = drawing.inline(path.read_text(encoding="utf-8")).replace("<svg ", label, 1)
        image.replace_self(nodes.raw("", f'<span class="picture">{body}</span>', format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", replace, priority=400)
    return {"parallel_read_safe": True}
