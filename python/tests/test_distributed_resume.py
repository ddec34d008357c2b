"""Files that the workers of a client fill: a call that was stopped is continued, by workers or without them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from machines import LONG, RNG, Stop, same, told
from optional import need

joblib = need("joblib")

import dtwave

SERIES = RNG.normal(size=(60, 50))
WANTED = {"measure": "msm", "c": 0.5}


@pytest.fixture(autouse=True)
def two_workers():
    with joblib.parallel_config("threading", n_jobs=2):
        yield


def stop_after(count, monkeypatch, **call):
    """A call with a client that ends when so many of its tiles are done."""

    def heard(done, cells):
        if done == count:
            raise Stop

    with told(monkeypatch, heard), pytest.raises(Stop):
        dtwave.pairwise(client=joblib, progress=True, **call)


def test_a_stopped_call_is_continued_by_workers(tmp_path, monkeypatch):
    path = tmp_path / "m.npy"
    stop_after(3, monkeypatch, x=LONG[:200], out=path)
    assert sorted(os.listdir(tmp_path)) == ["m.npy.partial", "m.npy.progress"]
    with pytest.raises(OSError, match="unfinished result; pass resume=True to continue it"):
        dtwave.pairwise(LONG[:200], out=path, client=joblib)
    # As many tiles as other workers would have: what is there counts all the same.
    with joblib.parallel_config("threading", n_jobs=3), pytest.warns(UserWarning, match="[1-9][0-9]* of .* were done already"):
        found = dtwave.pairwise(LONG[:200], out=path, client=joblib, resume=True)
    assert same(found, dtwave.pairwise(LONG[:200]))
    assert os.listdir(tmp_path) == ["m.npy"]


def test_a_call_with_workers_is_continued_without(tmp_path, monkeypatch):
    call = {"x": LONG[:150], "y": LONG[150:198], "out": tmp_path / "m.npy", "sqrt": True}
    stop_after(18, monkeypatch, **call)
    with pytest.raises(OSError, match="sqrt was True and is now False"):
        dtwave.pairwise(**{**call, "sqrt": False}, resume=True)
    with pytest.warns(UserWarning, match="[1-9][0-9]* of .* were done already"):
        found = dtwave.pairwise(**call, resume=True, memory_limit=1 << 16)
    assert same(found, dtwave.pairwise(call["x"], call["y"], sqrt=True))


def test_a_call_without_workers_is_continued_with_them(tmp_path, monkeypatch):
    call = {"x": LONG[:120], "measure": "soft_dtw", "out": tmp_path / "m.npy", "resume": True}

    def heard(count, cells):
        if cells > 600_000_000:
            raise Stop

    with told(monkeypatch, heard), pytest.raises(Stop):
        dtwave.pairwise(**call, progress=True, threads=1, memory_limit=1 << 16)
    with pytest.warns(UserWarning, match="[1-9][0-9]* of .* were done already"):
        found = dtwave.pairwise(**call, client=joblib)
    assert same(found, dtwave.pairwise(LONG[:120], measure="soft_dtw"))


def test_another_call_does_not_continue_it(tmp_path, monkeypatch):
    path, call = tmp_path / "m.npy", {"out": tmp_path / "m.npy", "client": joblib, "resume": True}
    stop_after(2, monkeypatch, x=LONG[:150], out=path, **WANTED)
    for x, options, expected in [
        (LONG[1:151], WANTED, "the content of x was"),
        (LONG[:150], {"measure": "msm", "c": 1.0}, "c was"),
        (LONG[:150], {}, "measure was msm and is now dtw"),
        (LONG[:150], {**WANTED, "band": 3}, "band was"),
        (LONG[:150], {**WANTED, "device": "cuda"}, "device was cpu and is now cuda"),
        (LONG[:150], {**WANTED, "dtype": "float64"}, "dtype was f32 and is now f64"),
    ]:
        with pytest.raises(OSError, match=expected):
            dtwave.pairwise(x, **options, **call)
    with pytest.warns(UserWarning, match="done already"):
        assert same(dtwave.pairwise(LONG[:150], **WANTED, **call), dtwave.pairwise(LONG[:150], **WANTED))


@pytest.mark.parametrize("y", [None, SERIES[:37, :40]])
def test_a_finished_file_is_judged_by_a_sample(tmp_path, y):
    path = tmp_path / "m.npy"
    expected = np.array(dtwave.pairwise(SERIES, y, out=path, client=joblib))
    assert same(expected, dtwave.pairwise(SERIES, y))
    call = {"out": path, "client": joblib, "resume": True}
    with pytest.warns(UserWarning, match="is finished already: .* a sample of [1-9][0-9]+ computed again"):
        assert same(dtwave.pairwise(SERIES, y, **call), expected)
    with pytest.raises(OSError, match="a result of another job"):
        dtwave.pairwise(SERIES + SERIES[::-1], y, **call)
    assert same(np.load(path), expected)


def test_plans_of_files_are_continued_while_the_files_are_as_they_were(tmp_path):
    series, path = tmp_path / "x.npy", tmp_path / "m.npy"
    np.save(series, SERIES)
    plan = dtwave.distributed.tiles(series, tile=7, **WANTED)
    whole = np.array(dtwave.distributed.compute(plan, joblib, out=tmp_path / "whole.npy"))
    assert same(whole, dtwave.pairwise(SERIES, **WANTED))
    os.replace(tmp_path / "whole.npy", path)
    with pytest.warns(UserWarning, match="is finished already"):
        assert same(dtwave.distributed.compute(plan, joblib, out=path, resume=True), whole)
    os.unlink(path)

    def fails(plan_, tile):
        raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dtwave.distributed._matrices, "distances", fails)
        with pytest.raises(Stop):
            dtwave.distributed.compute(plan, joblib, out=path)
    np.save(series, SERIES + 1.0)
    os.utime(series, ns=(1, 1))
    with pytest.raises(OSError, match="the content of x was"):
        dtwave.distributed.compute(plan, joblib, out=path, resume=True)


def test_only_files_of_one_kind_are_continued(tmp_path):
    for out, expected in [
        (None, "resume continues a .npy file: pass out=PATH"),
        (np.empty((60, 60)), "resume continues a .npy file: pass out=PATH"),
        (tmp_path / "m.zarr", "resume continues a .npy file, got .*m.zarr"),
    ]:
        with pytest.raises(ValueError, match=expected):
            dtwave.pairwise(SERIES, out=out, client=joblib, resume=True)


#: A call whose process is killed.
CALL = """
import sys
import joblib
import numpy as np
import dtwave

if __name__ == "__main__":
    with joblib.parallel_config("threading", n_jobs=2):
        dtwave.pairwise(np.load("x.npy"), measure="soft_dtw", out="m.npy", client=joblib, resume=True)
"""


@pytest.mark.filterwarnings("ignore:.*m.npy")
def test_a_killed_call_is_continued(tmp_path):
    (tmp_path / "call.py").write_text(CALL, encoding="utf-8")
    np.save(tmp_path / "x.npy", LONG[:160])
    kept = []
    for _ in range(3):
        call = subprocess.Popen([sys.executable, "-W", "ignore", "call.py"], cwd=tmp_path)
        progress, before = tmp_path / "m.npy.progress", kept[-1] if kept else 0
        # Until something new is on the disk.
        while call.poll() is None and not (progress.exists() and progress.stat().st_size > before):
            time.sleep(0.02)
        time.sleep(float(RNG.uniform(0.0, 0.4)))
        if call.poll() is None:
            call.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        call.wait()
        kept.append(progress.stat().st_size if progress.exists() else 0)
    found = dtwave.pairwise(LONG[:160], measure="soft_dtw", out=tmp_path / "m.npy", client=joblib, resume=True)
    assert same(found, dtwave.pairwise(LONG[:160], measure="soft_dtw"))
    assert kept[0] > 0, "nothing was killed in the middle"


def test_tiles_of_others_count_where_they_fit(tmp_path, monkeypatch):
    x, path = RNG.normal(size=(240, 150)).astype(np.float32), tmp_path / "m.npy"
    computed = []

    def counted(work, tile):
        computed.append(tile.shape[0] * tile.shape[1] // (1 + tile.is_own))
        return found(work, tile)

    found = dtwave.distributed._matrices.distances
    with joblib.parallel_config("threading", n_jobs=5):
        stop_after(30, monkeypatch, x=x, out=path)
    monkeypatch.setattr(dtwave.distributed._matrices, "distances", counted)
    before = np.load(path.with_name("m.npy.partial"), mmap_mode="r")
    on_disk = np.count_nonzero(np.triu(before))
    del before
    with pytest.warns(UserWarning, match="done already"):
        assert same(dtwave.pairwise(x, out=path, client=joblib, resume=True), dtwave.pairwise(x))
    assert on_disk > 4000
    # Of the triangle of a tile on the diagonal both halves may count.
    assert sum(computed) < 240 * 241 // 2 - on_disk + 2000


def test_what_follows_of_a_file_that_is_there_is_cut_along_it(tmp_path, monkeypatch):
    x, path = LONG[:200], tmp_path / "m.npy"
    stop_after(25, monkeypatch, x=x, out=path)
    with pytest.warns(UserWarning, match=r"[1-9][0-9]* of .* tiles were done already"):
        assert same(dtwave.pairwise(x, out=path, resume=True), dtwave.pairwise(x))


@pytest.mark.parametrize("kind", ["npy", "zarr", "url"])
def test_other_content_under_the_same_name_is_noticed(tmp_path, monkeypatch, kind):
    path = tmp_path / "m.npy"
    if kind == "npy":
        name = str(tmp_path / "x.npy")
        np.save(name, SERIES)
    elif kind == "zarr":
        zarr = need("zarr")
        name = str(tmp_path / "x.zarr")
        array = zarr.open_array(name, mode="w", shape=SERIES.shape, chunks=(10, 50), dtype="f8")
        array[:] = SERIES
    else:
        fsspec = need("fsspec")
        name = "memory://resume/x.npy"
        with fsspec.open(name, "wb") as file:
            np.save(file, SERIES)
    plan = dtwave.distributed.tiles(name, tile=7)

    def fails(work, tile):
        if tile.index > 3:
            raise Stop
        return found(work, tile)

    found = dtwave.distributed._matrices.distances
    with monkeypatch.context() as patch, pytest.raises(Stop):
        patch.setattr(dtwave.distributed._matrices, "distances", fails)
        dtwave.distributed.compute(plan, joblib.Parallel(n_jobs=1, return_as="generator"), out=path)
    other = SERIES.copy()
    other[40, 3] += 1.0
    if kind == "npy":
        times = os.stat(name)
        np.save(name, other)
        os.utime(name, ns=(times.st_atime_ns, times.st_mtime_ns))
    elif kind == "zarr":
        array[40:41] = other[40:41]
    else:
        with fsspec.open(name, "wb") as file:
            np.save(file, other)
    with pytest.raises(OSError, match="the content of x was"):
        dtwave.distributed.compute(plan, joblib, out=path, resume=True)


def test_plans_of_files_differ_by_what_is_done_to_them(tmp_path):
    np.save(tmp_path / "x.npy", SERIES)
    path = tmp_path / "m.npy"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dtwave.distributed._matrices, "distances", lambda work, tile: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            dtwave.distributed.compute(dtwave.distributed.tiles(tmp_path / "x.npy", normalize="z"), joblib, out=path)
    with pytest.raises(OSError, match="normalize was z and is now none"):
        dtwave.distributed.compute(dtwave.distributed.tiles(tmp_path / "x.npy"), joblib, out=path, resume=True)


def test_the_folder_is_that_of_the_call(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)

    def heard(done, cells):
        os.chdir(tmp_path / "other")

    with told(monkeypatch, heard):
        dtwave.pairwise(SERIES, out="m.npy", client=joblib, progress=True)
    assert same(np.load(tmp_path / "m.npy"), dtwave.pairwise(SERIES))
    assert not os.listdir(tmp_path / "other")


def test_a_note_that_is_an_error_lets_go_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "m.npy"
    stop_after(2, monkeypatch, x=LONG[:120], out=path)
    with pytest.raises(UserWarning, match="done already") as held, warnings.catch_warnings():
        warnings.simplefilter("error")
        dtwave.pairwise(LONG[:120], out=path, client=joblib, resume=True)
    assert held.value
    with pytest.warns(UserWarning, match="done already"):
        dtwave.pairwise(LONG[:120], out=path, client=joblib, resume=True)


def test_what_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.where(np.arange(60)[:, np.newaxis] == 41, np.nan, SERIES))
    for call, expected in [
        (lambda: dtwave.distributed.tiles(SERIES, tile=(3, 5)), "has square tiles: pass tile=3 or tile=5"),
        (lambda: dtwave.distributed.tiles(tmp_path / "x.npy", tile=(3, 5)), "has square tiles"),
        (
            lambda: dtwave.pairwise(SERIES, out=tmp_path / "m.npy", cutoff=3.0, client=joblib),
            "out as a file and cutoff exclude each other",
        ),
        (
            lambda: dtwave.distributed.compute(
                dtwave.distributed.tiles(tmp_path / "x.npy", tile=4), joblib, out=tmp_path / "m.npy"
            ),
            r"series 41 of .*x\.npy has NaN",
        ),
    ]:
        with pytest.raises(ValueError, match=expected):
            call()
    with pytest.raises(TypeError, match="resume must be True or False, got 1"):
        dtwave.pairwise(SERIES, out=tmp_path / "m.npy", resume=1, client=joblib)
    assert dtwave.distributed.tiles(SERIES, SERIES[:9], tile=(3, 5)).tiles[0].shape == (3, 5)


def test_bad_series_leave_no_file_without_workers(tmp_path):
    with pytest.raises(ValueError, match="series 2 of x has NaN"):
        dtwave.pairwise([[0.0, 1.0], [1.0, 2.0], [np.nan, 1.0]], out=tmp_path / "m.npy")
    assert not os.listdir(tmp_path)
