"""Modules that tests compare with, and that need not be there.

Where one is missing, its tests are skipped with its name. With `DTWAVE_TESTS=all` in the environment, as in the CI, a
missing module fails them. A missing GPU is told of, and fails nothing.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

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


def need_gpu() -> ModuleType:
    """PyTorch, if it and dtwave can use an NVIDIA GPU."""
    torch = need("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no NVIDIA GPU", allow_module_level=True)
    import dtwave

    found = [device for device in dtwave.devices() if device.backend == "cuda"]
    if not any(device.available for device in found):
        pytest.skip(f"dtwave can use no GPU: {found[0].unavailable}", allow_module_level=True)
    return torch


#: Numbers of channels that GPUs treat in different ways: whole and broken groups, with and without matrix units.
MANY_CHANNELS = [8, 16, 17, 33, 64, 100]


@contextmanager
def waiting_is_an_error(torch: Any) -> Iterator[None]:
    """Whatever makes PyTorch wait for the GPU raises in here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is a prototype
        torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")
