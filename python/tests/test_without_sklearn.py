"""The package without scikit-learn: all of it works but `dtwave.sklearn`, which says what is missing."""

from __future__ import annotations

from optional import need
from test_without_torch import run

MESSAGE = "dtwave.sklearn needs scikit-learn 1.6 or newer: pip install -U scikit-learn\n"


def test_package_does_not_import_sklearn() -> None:
    assert run("import dtwave, sys; print(dtwave.distance([0.0], [2.0]), 'sklearn' in sys.modules)") == "4.0 False\n"


def test_missing_sklearn_is_named() -> None:
    # A module that is None cannot be imported.
    program = """
import sys
sys.modules["sklearn"] = None
import dtwave
print(dtwave.distance([0.0], [2.0]))
try:
    dtwave.sklearn
except ImportError as error:
    print(error)
"""
    assert run(program) == "4.0\n" + MESSAGE


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
    assert run(program) == MESSAGE


def test_attribute_is_the_module() -> None:
    need("sklearn")
    assert run("import dtwave; print(dtwave.sklearn.TimeSeriesKMeans.__name__)") == "TimeSeriesKMeans\n"
