"""The examples in docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest
from optional import need

import dtwave

MODULES = ["dtwave", *(found.name for found in pkgutil.walk_packages(dtwave.__path__, "dtwave."))]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(("._native", ".__main__"))])
def test_examples_of_docstrings(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        need(str(error.name))
        raise
    assert doctest.testmod(module).failed == 0
