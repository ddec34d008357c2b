"""The package without PyTorch: all of it works but `dtwave.torch`, which says what is missing."""

from __future__ import annotations

import subprocess
import sys


def run(program: str) -> str:
    """What a Python of its own prints."""
    return subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120
    ).stdout


def test_package_does_not_import_torch() -> None:
    assert run("import dtwave, sys; print(dtwave.distance([0.0], [2.0]), 'torch' in sys.modules)") == "4.0 False\n"


def test_missing_torch_is_named() -> None:
    # A module that is None cannot be imported.
    program = """
import sys
sys.modules["torch"] = None
import dtwave
print(dtwave.distance([0.0], [2.0]))
try:
    dtwave.torch
except ImportError as error:
    print(error)
"""
    assert run(program) == "4.0\ndtwave.torch needs PyTorch: pip install torch (2.5 or newer)\n"


def test_parts_are_imported_when_they_are_used() -> None:
    program = """
import dtwave, sys
print(any(name.startswith("dtwave.compat") for name in sys.modules))
print(dtwave.compat.tslearn.dtw([0.0], [2.0]), "dtwave.compat.aeon" in sys.modules)
"""
    assert run(program) == "False\n2.0 False\n"
