"""The tests of ray_cluster.py in a process of their own: Ray ends the process that called it when its own node fails."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from optional import need

need("ray")

FOLDER = Path(__file__).parent


@pytest.mark.filterwarnings("default:ray ended the process")
def test_by_the_workers_of_ray():
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "ray_cluster.py"]
    for _ in range(3):
        ended = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=600, check=False)
        said = ended.stdout + ended.stderr
        # Pytest's last line: without it, it was not pytest that ended the process.
        if re.search(r"\d+ (passed|failed|error).* in \d", said):
            assert ended.returncode == 0, said[-20_000:]
            assert re.search(r"= 7 passed in \d", said), said[-20_000:]
            return
        warnings.warn(f"ray ended the process that called it: {said[-2_000:]}", RuntimeWarning, stacklevel=1)
    raise AssertionError("ray ended the process three times")
