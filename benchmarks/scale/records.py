"""Records of the simulator: rows with the day, the CPU and the commit, as benchmarks/python/peers.py has them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

PEERS = Path(__file__).resolve().parents[1] / "python"


def written(rows: Sequence[Sequence[str]], columns: Sequence[str], kind: str) -> str:
    """Adds rows to the file of today and this CPU, and returns its path."""
    if str(PEERS) not in sys.path:
        sys.path.insert(0, str(PEERS))
    # Only here: it imports dtwave, which the simulator does not need.
    return str(import_module("peers").record([[*row] for row in rows], [*columns], kind))
