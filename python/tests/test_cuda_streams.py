"""On an NVIDIA GPU: calls go to PyTorch's current stream, make nothing, wait for nothing, and can be recorded."""

import re
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from optional import need_gpu, waiting_is_an_error

import dtwave

torch = need_gpu()

GPU = "cuda:0"

# Points of many channels, of which some series have fewer: on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::dtwave.LayoutWarning")


def series(count, length, seed=0, number=torch.float32):
    made = torch.Generator(device=GPU).manual_seed(seed)
    return torch.randn(count, length, 1, device=GPU, generator=made, dtype=number).cumsum(1) / 4


def calls():
    """Some of each kind: without tables, with a table of lengths, with one of a band, with weights, with two sweeps."""
    x, y = series(40, 96), series(30, 96, 1)
    lengths = [int(n) for n in np.random.default_rng(3).integers(80, 97, 40)]
    itakura = dtwave.Itakura(2.0)
    return {
        "plain": lambda: dtwave.pairwise(x, y),
        "symmetric": lambda: dtwave.pairwise(x, measure="msm"),
        "zipped": lambda: dtwave.zipped(x[:30], y, measure="twed"),
        "lengths": lambda: dtwave.pairwise(x, y, lengths=(lengths, None)),
        "band": lambda: dtwave.pairwise(x, y, band=itakura),
        "lengths, band": lambda: dtwave.pairwise(x, y, lengths=(lengths, None), band=itakura),
        "weights": lambda: dtwave.pairwise(x, y, measure="wdtw"),
        "soft": lambda: dtwave.pairwise(x, y, measure="soft_dtw"),
        "divergence": lambda: dtwave.pairwise(x, y, measure="soft_dtw_divergence"),
        "divergence, lengths, band": lambda: dtwave.pairwise(
            x, y, measure="soft_dtw_divergence", lengths=(lengths, None), band=itakura
        ),
        "channels": lambda: dtwave.pairwise(x.view(40, 32, 3), y.view(30, 32, 3), measure="msm"),
        "many channels": lambda: dtwave.pairwise(x.view(40, 6, 16), y.view(30, 6, 16), measure="soft_dtw"),
        "halves": lambda: dtwave.pairwise(x.half(), y.half()),
        "long": lambda: dtwave.pairwise(LONG, LONG[:3]),
        "nearest": lambda: dtwave.nearest(x, y, k=3).distances,
        "search": lambda: dtwave.pairwise(x[:, :20], y, measure="subsequence_dtw"),
        "normalize": lambda: dtwave.normalize(x),
    }


LONG = series(6, 3000, 2)
NAMES = list(calls())


@pytest.mark.parametrize("name", NAMES)
def test_other_streams(name):
    call = calls()[name]
    expected = call()
    torch.cuda.synchronize()
    for _ in range(3):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            found = call()
            copy = found.clone()
        stream.synchronize()
        assert torch.equal(copy, expected)


@pytest.mark.parametrize("name", NAMES)
def test_work_is_in_the_order_of_the_stream(name):
    call = calls()[name]
    expected = call().clone()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
        torch.cuda.synchronize()
        source = series(40, 96)
        x = torch.zeros_like(source)
        torch.cuda.synchronize()
        torch.cuda._sleep(100_000_000)
        x.copy_(source)  # late
        found = dtwave.pairwise(x, measure="msm")
        x.zero_()
    stream.synchronize()
    assert torch.equal(found, dtwave.pairwise(source, measure="msm"))
    assert torch.equal(call(), expected)


@pytest.mark.parametrize("name", NAMES)
def test_a_loop_makes_nothing_and_waits_for_nothing(name):
    call = calls()[name]
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    free, _ = torch.cuda.mem_get_info()
    stats = torch.cuda.memory_stats()
    began = torch.cuda.Event()
    with waiting_is_an_error(torch):
        for _ in range(1000):
            call()
    torch.cuda.synchronize()
    after = torch.cuda.memory_stats()
    for key in ("num_device_alloc", "num_device_free", "num_sync_all_streams"):
        assert after.get(key, 0) == stats.get(key, 0), key
    assert torch.cuda.mem_get_info()[0] == free
    # Behind work that takes a second, calls return at once.
    torch.cuda._sleep(2_000_000_000)
    began.record()
    # Fewer launches than a stream takes before its host waits.
    for _ in range(3 if name == "search" else 30):
        call()
    assert not began.query(), "a call waited for the stream"
    torch.cuda.synchronize()


@pytest.mark.parametrize("name", ["plain", "lengths, band", "soft", "divergence"])
def test_a_profile_shows_launches_alone(name):
    call = calls()[name]
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the profiler's, about itself
        with torch.profiler.profile(activities=activities) as profile:
            for _ in range(1000):
                call()
    names = {event.key: event.count for event in profile.key_averages()}
    driver = {name: count for name, count in names.items() if re.match("cu(da)?[A-Z]", name)}
    print(driver)
    wrong = [name for name in driver if any(part in name for part in ("Malloc", "MemAlloc", "Free", "Synchronize"))]
    # The profiler itself waits once, at its end.
    assert all(driver[name] <= 1 and name == "cudaDeviceSynchronize" for name in wrong), driver


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("halves",)])
def test_a_call_is_recorded_and_played(name):
    call = calls()[name]
    stream = torch.cuda.Stream()
    # Its series are made on the current stream.
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        expected = call().clone()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        found = call()
    for _ in range(3):
        found.zero_()
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(found, expected)
    # Calls in between change nothing in the graph, nor do plans that go.
    for other in calls().values():
        other()
    dtwave._resident.gpu_of.cache_clear()
    found.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(found, expected)


def test_a_first_call_is_not_recorded():
    x = series(17, 53, 5)
    graph = torch.cuda.CUDAGraph()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the graph is empty
        with torch.cuda.graph(graph):
            with pytest.raises(ValueError, match="call it once before recording"):
                dtwave.pairwise(x, band=dtwave.Itakura(3.0))
    torch.cuda.synchronize()
    assert torch.isfinite(dtwave.pairwise(x, band=dtwave.Itakura(3.0))).all()


def test_threads_with_streams_of_their_own():
    expected = {name: call().clone() for name, call in calls().items()}
    wrong = []

    def work():
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            mine = calls()
            for _ in range(10):
                for name, call in mine.items():
                    found = call()
                    stream.synchronize()
                    if not torch.equal(found, expected[name]):
                        wrong.append(name)

    torch.cuda.synchronize()
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_lengths_that_change_in_every_call():
    x, y = series(20, 60), series(20, 60, 1)
    rng = np.random.default_rng(7)
    for _ in range(30):
        lengths = [int(n) for n in rng.integers(30, 61, 20)]
        expected = dtwave.zipped(x.cpu().numpy(), y.cpu().numpy(), lengths=(lengths, None))
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            found = dtwave.zipped(x, y, lengths=(lengths, None))
        stream.synchronize()
        assert np.allclose(found.cpu().numpy(), expected, rtol=1e-4)


def test_the_current_device_stays():
    before = torch.cuda.current_device()
    dtwave.pairwise(series(4, 10))
    assert torch.cuda.current_device() == before


FREED = """
import ctypes, torch, dtwave
x = torch.ones(3, 10, device="cuda")
dtwave.pairwise(x)
cuda = ctypes.CDLL("libcuda.so.1")
stream = ctypes.c_void_p()
assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
assert cuda.cuStreamDestroy_v2(stream) == 0
with torch.cuda.stream(torch.cuda.ExternalStream(stream.value)):
    try:
        dtwave.pairwise(x)
    except (dtwave.DeviceError, ValueError) as error:
        print("refused:", error)
"""


def test_a_stream_that_is_gone():
    # The driver decides what becomes of it: a process of its own.
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0 or "refused:" in done.stdout, done.stdout + done.stderr
