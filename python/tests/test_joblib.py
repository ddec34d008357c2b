"""Matrices, neighbours and searches by the workers of joblib: its own processes and threads, and those of Dask."""

from __future__ import annotations

import os
import signal

import pytest
from machines import LONG, X, check_calls, check_happening, check_learning, same, same_means, stopped
from optional import need

joblib = need("joblib")

import dtwave


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_calls_are_those_without_a_client(backend, tmp_path):
    with joblib.parallel_config(backend, n_jobs=2):
        check_calls(joblib, tmp_path)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_what_is_learned_is_that_without_a_client(backend):
    with joblib.parallel_config(backend, n_jobs=2):
        check_learning(joblib)


@pytest.mark.parametrize("form", ["list", "generator", "generator_unordered"])
def test_a_parallel_of_any_form(form):
    client = joblib.Parallel(n_jobs=2, return_as=form)
    assert same(dtwave.pairwise(LONG[:60], client=client), dtwave.pairwise(LONG[:60]))
    assert same(dtwave.pairwise(X, client=joblib.Parallel(n_jobs=1)), dtwave.pairwise(X))


def test_one_worker_is_no_engine():
    with pytest.raises(ValueError, match="joblib has one worker here: write `with joblib.parallel_config"):
        dtwave.pairwise(X, client=joblib)


def test_workers_of_dask(tmp_path, monkeypatch):
    distributed = need("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        with joblib.parallel_config("dask", client=client):
            check_calls(joblib, tmp_path)
            # The series are scattered: tasks have their name only.
            scattered = []
            scatter = client.scatter

            def noted(data, **options):
                scattered.append(data)
                return scatter(data, **options)

            monkeypatch.setattr(client, "scatter", noted)
            check_happening(joblib, monkeypatch, {})
            assert len(scattered) == 1


def killed_by_itself():
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_is_a_clear_error(monkeypatch, tmp_path):
    with joblib.parallel_config("loky", n_jobs=2):
        pids = set(joblib.Parallel()(joblib.delayed(os.getpid)() for _ in range(20)))
        with pytest.raises(RuntimeError, match="a worker of joblib was killed, .* use Dask or Ray"):
            check_happening(joblib, monkeypatch, {1: lambda: [os.kill(pid, signal.SIGKILL) for pid in pids]})
        assert same(dtwave.pairwise(X, client=joblib), dtwave.pairwise(X))


def test_an_error_cancels_what_is_under_way(monkeypatch, tmp_path):
    with joblib.parallel_config("loky", n_jobs=2):
        stopped(joblib, monkeypatch, tmp_path)
        assert same(dtwave.pairwise(X, client=joblib), dtwave.pairwise(X))


def test_series_are_written_once_for_all_rounds(monkeypatch):
    from dtwave.distributed import _joblib

    written, mapped = [], _joblib._mapped

    def noted(*args):
        written.append(args)
        return mapped(*args)

    monkeypatch.setattr(_joblib, "_mapped", noted)
    client = joblib.Parallel(n_jobs=2, return_as="list")
    found = dtwave.kmeans(X, 3, restarts=1, max_iterations=3, client=client)
    assert same_means(found, dtwave.kmeans(X, 3, restarts=1, max_iterations=3)) and found.iterations == 3
    assert len(written) == 1


def test_series_are_mapped_and_not_sent_with_tiles(monkeypatch):
    import pickle

    from dtwave.distributed import _joblib

    works = []
    on_worker = _joblib.on_worker

    with joblib.parallel_config("loky", n_jobs=2):
        delayed = joblib.delayed

        def noted(function):
            assert function is on_worker

            def called(*args):
                works.append(args[1])
                return delayed(function)(*args)

            return called

        monkeypatch.setattr(joblib, "delayed", noted)
        assert same(dtwave.pairwise(LONG, client=joblib), dtwave.pairwise(LONG))
    values = [side[0] for work in works for side in work.sides]
    assert values and all(type(each).__name__ == "memmap" for each in values)
    assert len(pickle.dumps(works[0].given)) < 1000
