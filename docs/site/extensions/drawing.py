"""Figures of matplotlib as SVG within a page, in the page's own font and colours, light or dark."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from typing import Any

import matplotlib
from cycler import cycler

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

#: Colours that stand for those of the page, and what they become.
INK, PAPER, RULE = "#101112", "#fefdfc", "#d8d9da"
PAGE = {
    INK: "var(--color-foreground-primary)",
    PAPER: "var(--color-background-primary)",
    RULE: "var(--color-background-border)",
    # The colours of the pictures that the command draws.
    "#1F2933": "var(--color-foreground-primary)",
    "#5F6B7A": "var(--color-foreground-secondary)",
    "#B4BCC6": "var(--color-foreground-border)",
    "#E4E7EB": "var(--color-background-border)",
    "#FFFFFF": "none",
    # matplotlib's defaults.
    "#000000": "var(--color-foreground-primary)",
    "#ffffff": "none",
}

#: Colours of lines that can be told apart on white and on black.
LINES = ["#3b82f6", "#f07c2b", "#22a06b", "#a26bdc", "#d9486a", "#8a8f98"]

STYLE: Any = {
    "figure.figsize": (7.0, 3.4),
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.linewidth": 0.6,
    "axes.prop_cycle": cycler(color=LINES),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": RULE,
    "legend.facecolor": PAPER,
    "legend.edgecolor": "none",
    "legend.framealpha": 0.8,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "font.size": 10,
    "svg.fonttype": "none",
}


@contextlib.contextmanager
def style() -> Iterator[None]:
    with matplotlib.rc_context(STYLE):
        try:
            yield
        finally:
            pyplot.close("all")


def drawn(name: str) -> list[str]:
    """The open figures, which are closed."""
    found = []
    for number in pyplot.get_fignums():
        text = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": f"{name}-{number}"}):
            pyplot.figure(number).savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
        found.append(inline(text.getvalue()))
    pyplot.close("all")
    return found


def inline(text: str) -> str:
    """An SVG file as a part of a page: its colours the page's, its size the column's at most."""
    body = text[text.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    # Names of groups, which every figure has; nothing refers to them.
    body = re.sub(r'<g id="[^"]*">', "<g>", body)
    width = re.search(r'<svg [^>]*?width="([\d.]+)(pt)?"', body)
    if width is not None:
        pixels = float(width.group(1)) * (1.35 if width.group(2) else 1.0)
        body = body.replace(width.group(0), width.group(0).rsplit(" width", 1)[0], 1)
        body = re.sub(r'(<svg [^>]*?)\s*height="[\d.]+(pt)?"', rf'\1 style="max-width: {pixels:.0f}px"', body, count=1)
    for color, var in PAGE.items():
        body = body.replace(color, var)
    return body
