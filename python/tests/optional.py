"""Modules that tests compare with, and that need not be there.

Where one is missing, its tests are skipped with its name. With `DTWAVE_TESTS=all` in the environment, as in the CI, a
missing module fails them.
"""

from __future__ import annotations

import importlib
import os
import warnings
from types import ModuleType

import pytest


def need(name: str) -> ModuleType:
    """The module of this name. What it warns of on the way is its own affair."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as error:
        if os.environ.get("DTWAVE_TESTS") == "all":
            pytest.fail(f"DTWAVE_TESTS=all, and {name} cannot be imported: {error}", pytrace=False)
        pytest.skip(f"{name} is not installed", allow_module_level=True)
