"""Run with warnings as errors (pyproject.toml); the examples in docstrings are tests too."""

import os
import signal

import pytest

# Compiling the libraries that tests compare with takes longer than running them as Python on such short series.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")


@pytest.fixture(autouse=True, scope="session")
def _interrupts_are_heard():
    """Shells start what runs in the background with SIGINT ignored, and Python leaves it so."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
