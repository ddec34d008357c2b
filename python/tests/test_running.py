"""How calls run: Ctrl-C, progress, threads, forked and spawned processes, what an import brings along."""

import faulthandler
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import dtwave

RNG = np.random.default_rng(41)
#: Matrices of these would take hours.
MANY = RNG.normal(size=(2000, 2000))
LONG = RNG.normal(size=500_000)

ENDLESS = {
    "distance": lambda: dtwave.distance(LONG, LONG[::-1]),
    "zipped": lambda: dtwave.zipped([LONG] * 2, [LONG] * 2),
    "pairwise": lambda: dtwave.pairwise(MANY),
    "condensed": lambda: dtwave.pairwise(MANY, condensed=True),
    "out": lambda: dtwave.pairwise(MANY, out=np.empty((2000, 2000))),
    "nearest": lambda: dtwave.nearest(MANY, MANY),
    "graph": lambda: dtwave.pairwise(MANY, k=3),
    "align": lambda: dtwave.align(LONG, LONG[::-1]),
    "search": lambda: dtwave.search(LONG, LONG[::-1]),
    "windows": lambda: dtwave.search(MANY[0], LONG, normalized_window=2000),
    "gradients of one pair": lambda: dtwave.gradients(LONG[None, :12_000], LONG[None, -12_000:]),
    "gradients": lambda: dtwave.gradients(MANY, MANY[::-1]),
    "classify": lambda: dtwave.classify(MANY, [0, 1] * 1000, MANY),
    "barycenter": lambda: dtwave.barycenter(MANY, start="mean", max_iterations=10**6, tolerance=0.0),
    "soft barycenter": lambda: dtwave.barycenter(MANY, measure="soft_dtw"),
    "kmeans": lambda: dtwave.kmeans(MANY, 5),
    "kmedoids": lambda: dtwave.kmedoids(MANY, 5),
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent to a process of its own there")
@pytest.mark.parametrize("call", ENDLESS)
def test_ctrl_c_stops_a_long_call(call):
    # A call that does not hear it would run for hours.
    faulthandler.dump_traceback_later(300, exit=True)
    timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ENDLESS[call]()
    faulthandler.cancel_dump_traceback_later()
    timer.join()
    assert dtwave.distance([0.0, 1.0], [0.0, 3.0]) == 4.0


def test_a_handler_of_the_users_decides():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        timer = threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT])
        timer.start()
        x = RNG.normal(size=(60, 1500))
        found = dtwave.pairwise(x, threads=1)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT] and found.shape == (60, 60)


def test_progress_tells_of_all_cells(monkeypatch):
    from contextlib import contextmanager

    from dtwave import _progress

    seen = []

    @contextmanager
    def shown(progress, what, cells):
        assert progress
        seen.append((what, cells()))
        yield lambda done: seen.append(done)

    monkeypatch.setattr(_progress, "shown", shown)
    x = RNG.normal(size=(100, 1000))
    dtwave.pairwise(x, progress=True, threads=1)
    (what, cells), *told = seen
    assert what == "pairwise" and cells == 100 * 101 // 2 * 1000 * 1000
    assert told == sorted(told) and told and 0 < told[-1] <= cells


def test_a_bar_is_shown_and_taken_away():
    code = "import dtwave; print(dtwave.pairwise([[0.0, 1.0], [1.0, 1.0]], progress=True).sum())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "2.0\n"


def test_an_error_in_a_callback_stops_the_work():
    from dtwave import _native

    def stop(done):
        raise RuntimeError("enough")

    batch = MANY[:, :, None], None, None
    engine = _native.Engine("cpu", 1, 1 << 30)
    with pytest.raises(RuntimeError, match="enough"):
        _native.distances(batch, None, _native.Spec("dtw"), engine, False, np.empty((2000, 2000)), stop)


def test_threads_share_the_package():
    x = RNG.normal(size=(8, 30, 40))
    expected = [dtwave.pairwise(own, measure="msm") for own in x]
    found = [[] for _ in range(8)]

    def work(own):
        for _ in range(20):
            found[own].append(dtwave.pairwise(x[own], measure="msm", threads=None if own % 2 else 2))
            found[own].append(dtwave.distance(x[own, 0], x[own, 1]))

    threads = [threading.Thread(target=work, args=(own,)) for own in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for own in range(8):
        assert len(found[own]) == 40
        assert all(np.array_equal(matrix, expected[own]) for matrix in found[own][::2])
        assert set(found[own][1::2]) == {dtwave.distance(x[own, 0], x[own, 1])}


def test_an_array_has_one_use_at_a_time():
    x, out = RNG.normal(size=(150, 400)), np.zeros((150, 150))
    told = []

    def interfere(done):
        for call in (
            lambda: dtwave.pairwise(x, out=out),
            lambda: dtwave.pairwise(out, threads=1),
            lambda: dtwave.distance(out[0], out[1]),
        ):
            try:
                call()
            except ValueError as error:
                told.append(str(error))
        raise StopIteration

    from dtwave import _native

    batch = x[:, :, None], None, None
    with pytest.raises(StopIteration):
        _native.pairwise_into(batch, None, _native.Spec("dtw"), _native.Engine("cpu", 1, 1 << 30), out, interfere)
    assert told == [
        "out is an input or the out of another call, which has not ended yet",
        *["an input is the out of another call, which has not ended yet"] * 2,
    ]


def test_other_threads_run_meanwhile():
    stopped, counted = threading.Event(), []

    def count():
        while not stopped.is_set():
            counted.append(None)

    thread = threading.Thread(target=count)
    thread.start()
    before = len(counted)
    dtwave.pairwise(RNG.normal(size=(60, 1000)), threads=1)
    meanwhile = len(counted) - before
    stopped.set()
    thread.join()
    # The interpreter lock is free: the other thread turned far more often than switches alone would let it.
    assert meanwhile > 1000


def child(x, queue):
    queue.put(dtwave.pairwise(x))


@pytest.mark.parametrize("method", [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()])
def test_processes_compute_the_same(method):
    x = RNG.normal(size=(40, 50))
    expected = dtwave.pairwise(x)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=child, args=(x, queue))
    with warnings.catch_warnings():
        # Python warns of forks with threads; those of this package wait for work, and a child makes its own.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    assert np.array_equal(queue.get(timeout=60), expected)
    process.join()
    assert process.exitcode == 0


def test_an_import_brings_nothing_heavy():
    code = (
        "import sys, dtwave, dtwave.plots\n"
        "assert dtwave.distance([0.0], [2.0]) == 4.0\n"
        "heavy = {'torch', 'scipy', 'sklearn', 'matplotlib', 'pandas', 'tqdm', 'jax'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_the_tour_runs():
    from pathlib import Path

    tour = Path(__file__).parents[1] / "examples" / "tour.py"
    command = [sys.executable, "-W", "error", str(tour)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "classified right: 1.0" in done.stdout and "the same in a file: True" in done.stdout
