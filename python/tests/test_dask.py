"""Matrices, neighbours and searches by the workers of Dask: processes of this machine, which are killed and replaced."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from machines import LONG, X, check_calls, check_happening, check_learning, same, same_means, stopped, told
from optional import need

distributed = need("distributed")

import dtwave


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    cluster.scale(2)
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


def test_calls_are_those_without_a_client(client, tmp_path):
    check_calls(client, tmp_path)


def test_what_is_learned_is_that_without_a_client(client):
    check_learning(client)


def pids(client):
    return set(client.run(os.getpid).values())


def test_a_killed_and_an_added_worker_lose_nothing(client, cluster, monkeypatch):
    before = pids(client)
    address, killed = min(client.run(os.getpid).items())

    def kill():
        assert client.processing()[address]
        os.kill(killed, signal.SIGKILL)

    check_happening(client, monkeypatch, {2: kill, 5: lambda: cluster.scale(3)})
    client.wait_for_workers(3)
    after = pids(client)
    assert killed not in after and len(after - before) >= 2


def test_series_are_sent_again_if_all_workers_are_killed(client, monkeypatch):
    before = pids(client)
    check_happening(client, monkeypatch, {3: lambda: [os.kill(pid, signal.SIGKILL) for pid in before]})
    client.wait_for_workers(2)
    assert not before & pids(client)


def test_all_workers_are_killed_between_rounds(client, monkeypatch):
    before = pids(client)
    events = {2: lambda: [os.kill(pid, signal.SIGKILL) for pid in before]}

    def heard(count, done):
        events.pop(count, lambda: None)()

    options = {"restarts": 1, "max_iterations": 4, "seed": 1}
    with told(monkeypatch, heard):
        found = dtwave.kmeans(X, 4, client=client, progress=True, **options)
    assert not events and same_means(found, dtwave.kmeans(X, 4, **options))
    client.wait_for_workers(2)
    assert not before & pids(client)


def test_from_round_to_round_only_centres_travel(client, monkeypatch):
    import pickle

    sent, scattered = [], []
    submit, scatter = client.submit, client.scatter

    def submitted(*args, **options):
        sent.append(args[3])
        return submit(*args, **options)

    def scattering(data, **options):
        scattered.append(options)
        return scatter(data, **options)

    monkeypatch.setattr(client, "submit", submitted)
    monkeypatch.setattr(client, "scatter", scattering)
    found = dtwave.kmeans(LONG, 2, band=0.05, restarts=1, max_iterations=3, center_iterations=2, client=client)
    assert len(scattered) == 1 and scattered[0]["broadcast"]
    # Two centres of 400 points, or one and the numbers of its members: no job has more.
    centres = sum(center.nbytes for center in found.centers)
    assert len(sent) > 20 and max(len(pickle.dumps(job)) for job in sent) < centres + 300 * 20 + 2000


def test_series_are_scattered_and_not_sent_with_tiles(client, monkeypatch):
    sent, scattered = [], []
    submit, scatter = client.submit, client.scatter

    def submitted(*args, **options):
        sent.append(args)
        return submit(*args, **options)

    def scattering(data, **options):
        scattered.append((data, options))
        return scatter(data, **options)

    monkeypatch.setattr(client, "submit", submitted)
    monkeypatch.setattr(client, "scatter", scattering)
    dtwave.pairwise(LONG[:100], client=client)
    assert len(scattered) == 1 and scattered[0][1]["broadcast"] and len(sent) > 4
    assert all(isinstance(args[2], distributed.Future) for args in sent)


def test_an_error_cancels_what_is_under_way(client, monkeypatch, tmp_path):
    stopped(client, monkeypatch, tmp_path)
    # What is computed ends; what waited is not begun.
    deadline = time.monotonic() + 30
    while any(client.processing().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(client.processing().values()) and not any(client.has_what().values())
    assert same(dtwave.pairwise(LONG[:9], client=client), dtwave.pairwise(LONG[:9]))


def test_ctrl_c(client):
    import threading

    timer = threading.Timer(1.0, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        dtwave.pairwise(np.zeros((5000, 500)), measure="soft_dtw", client=client)
    timer.join()


def test_threads_of_a_worker(cluster):
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=3, processes=False, dashboard_address=":0") as own,
        distributed.Client(own) as client,
    ):
        from dtwave import _options

        asked = []
        engine = _options._engine

        def opened(name, threads, limit):
            asked.append(threads)
            return engine(name, threads, limit)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_options, "_engine", opened)
            dtwave.pairwise(LONG[:5], client=client)
            assert asked[-1] == 3
            dtwave.pairwise(LONG[:5], client=client, threads=2)
            assert asked[-1] == 2


def test_an_asynchronous_client_is_refused():
    import asyncio

    async def call():
        async with (
            distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0", asynchronous=True) as own,
            distributed.Client(own, asynchronous=True) as client,
        ):
            with pytest.raises(ValueError, match="client is asynchronous"):
                dtwave.pairwise(LONG[:5], client=client)

    asyncio.run(call())
