"""The recording that comes with the package: whole, in millivolts, a new array each time."""

from pathlib import Path

import numpy as np

import dtwave


def test_the_recording_is_whole():
    recording = dtwave.datasets.ecg()
    assert recording.dtype == np.float32 and recording.shape == (43_081,)
    assert np.all(np.abs(recording) < 5) and recording[0] == np.float32(0.185)
    assert "10.1161/01.CIR.101.23.e215" in dtwave.datasets.ecg.__doc__
    recording[:] = 0
    assert dtwave.datasets.ecg().any()
    file = Path(__file__).parents[2] / "crates/dtwave-cli/data/ecg_aami3a.csv"
    if file.exists():
        assert np.array_equal(np.loadtxt(file, dtype=np.float32), dtwave.datasets.ecg())


def test_a_beat_is_found_where_it_is():
    recording = dtwave.datasets.ecg()
    (found,) = dtwave.search(recording[500:1050], recording[:8000], k=1)
    # The last values are equal: a shorter match is as good.
    assert found.start == 500 and 1045 <= found.end <= 1049 and found.distance == 0.0


def test_only_what_is_public_is_listed():
    assert dir(dtwave.datasets) == dtwave.datasets.__all__
    assert "datasets" in dir(dtwave)
