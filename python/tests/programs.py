"""Examples of the project, as modules."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """An example as a module, with those that it imports."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module(name)
