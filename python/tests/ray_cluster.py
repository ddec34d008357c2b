"""Matrices, neighbours and searches by the workers of Ray: processes of this machine, which are killed and replaced."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from machines import LONG, check_calls, check_happening, check_learning, same, stopped
from optional import need

ray = need("ray")

import dtwave

pytestmark = pytest.mark.filterwarnings("ignore")  # Of its own making.


@pytest.fixture(scope="module", autouse=True)
def _cluster():
    with pytest.raises(ValueError, match="ray is not connected to a cluster"):
        dtwave.pairwise(LONG[:3], client=ray)
    ray.init(num_cpus=2, num_gpus=0, include_dashboard=False, logging_level="error", log_to_driver=False)
    yield
    ray.shutdown()


def test_calls_are_those_without_a_client(tmp_path):
    check_calls(ray, tmp_path, no_gpu=ValueError)


def test_what_is_learned_is_that_without_a_client(monkeypatch):
    stored = []
    put = ray.put

    def noted(data):
        stored.append(data)
        return put(data)

    monkeypatch.setattr(ray, "put", noted)
    check_learning(ray)
    # The series of a call once: of two clusterings, of one that is an error, and of a choice of a band.
    assert len(stored) == 4


@ray.remote
def own_pid(seconds):
    time.sleep(seconds)
    return os.getpid()


def test_a_killed_worker_loses_nothing(monkeypatch):
    before = set(ray.get([own_pid.remote(0.5) for _ in range(2)]))
    assert len(before) == 2

    def kill():
        if os.path.exists("/proc"):
            # A worker's name is that of its task.
            assert any("on_worker" in Path(f"/proc/{pid}/cmdline").read_text() for pid in before)
        for pid in before:
            os.kill(pid, signal.SIGKILL)

    check_happening(ray, monkeypatch, {2: kill})
    after = set(ray.get([own_pid.remote(0.5) for _ in range(2)]))
    assert not before & after


def test_an_error_cancels_what_is_under_way(monkeypatch, tmp_path):
    stopped(ray, monkeypatch, tmp_path)
    deadline = time.monotonic() + 30
    while ray.available_resources().get("CPU", 0) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert ray.available_resources()["CPU"] == 2
    assert same(dtwave.pairwise(LONG[:9], client=ray), dtwave.pairwise(LONG[:9]))


def test_ctrl_c():
    import threading

    timer = threading.Timer(2.0, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        dtwave.pairwise(np.zeros((5000, 500)), measure="soft_dtw", client=ray)
    timer.join()


def test_a_task_has_as_many_processors_as_threads(monkeypatch):
    asked = []
    remote = ray.remote

    def noted(**options):
        asked.append(options)
        return remote(**options)

    monkeypatch.setattr(ray, "remote", noted)
    for threads in (None, 2):
        assert same(dtwave.pairwise(LONG[:9], client=ray, threads=threads), dtwave.pairwise(LONG[:9]))
    assert [options["num_cpus"] for options in asked] == [1, 2]


def test_what_no_machine_has_is_refused():
    for options, text in [
        ({"threads": 99}, "a tile needs 99 of CPU, and no machine of ray's cluster has more than 2"),
        ({"device": "hip"}, "a tile needs 1 of GPU, and no machine"),
        ({"device": "hip:1"}, "ray gives every task a GPU of its own: pass device='hip'"),
    ]:
        with pytest.raises(ValueError, match=text):
            dtwave.pairwise(LONG[:9], client=ray, **options)
