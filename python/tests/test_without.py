"""The package without PyTorch and scikit-learn: all of it works but the part that needs them, which says what is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from optional import need

#: For each library what the package says without it.
MISSING = {
    "torch": "dtwave.torch needs PyTorch: pip install torch (2.5 or newer)\n",
    "sklearn": "dtwave.sklearn needs scikit-learn 1.6 or newer: pip install -U scikit-learn\n",
}


def run(program: str) -> str:
    """What a Python of its own prints."""
    return subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120
    ).stdout


@pytest.mark.parametrize("name", MISSING)
def test_what_is_missing_is_named(name: str) -> None:
    # A module that is None cannot be imported.
    program = f"""
import sys
sys.modules["{name}"] = None
import dtwave
print(dtwave.distance([0.0], [2.0]))
try:
    dtwave.{name}
except ImportError as error:
    print(error)
"""
    assert run(program) == "4.0\n" + MISSING[name]


def test_old_sklearn_is_named() -> None:
    need("sklearn")
    program = """
import sklearn.utils.validation
del sklearn.utils.validation.validate_data
try:
    import dtwave.sklearn
except ImportError as error:
    print(error)
"""
    assert run(program) == MISSING["sklearn"]


def test_attribute_is_the_module() -> None:
    need("sklearn")
    assert run("import dtwave; print(dtwave.sklearn.TimeSeriesKMeans.__name__)") == "TimeSeriesKMeans\n"


def test_parts_are_imported_when_they_are_used() -> None:
    program = """
import dtwave, sys
print(any(name.startswith("dtwave.compat") for name in sys.modules))
print(dtwave.compat.tslearn.dtw([0.0], [2.0]), "dtwave.compat.aeon" in sys.modules)
"""
    assert run(program) == "False\n2.0 False\n"
