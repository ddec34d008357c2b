"""Distances: worked numbers, shapes, options, and one line for each mistake."""

import pickle

import numpy as np
import pytest

import dtwave

RNG = np.random.default_rng(17)
X = np.array([0.0, 1.0, 2.0])
Y = np.array([0.0, 2.0, 2.0])


def test_worked_numbers():
    assert dtwave.distance(X, Y) == 1.0
    assert dtwave.distance(X, Y, measure="dtw", cost="euclidean") == 1.0
    # (1 - 2)^2 is matched with a radius of 0 only.
    assert dtwave.distance([0.0, 0.0, 3.0], [0.0, 3.0, 3.0], band=0) == 9.0
    assert dtwave.distance([0.0, 0.0, 3.0], [0.0, 3.0, 3.0], band=1) == 0.0
    assert dtwave.distance(X, Y, measure="frechet") == 1.0
    assert dtwave.distance([1.0, 2.0], [1.0, 2.0, 3.0], measure="edr", epsilon=0.5) == 1.0


def test_objects_and_keys_are_the_same():
    for measure, parameters in [
        (dtwave.Msm(c=0.5), {"measure": "msm", "c": 0.5}),
        (dtwave.Twed(nu=0.1, lambda_=0.5), {"measure": "twed", "nu": 0.1, "lambda_": 0.5}),
        (dtwave.SoftDtw(gamma=0.1), {"measure": "soft-dtw", "gamma": 0.1}),
    ]:
        assert dtwave.distance(X, Y, measure=measure) == dtwave.distance(X, Y, **parameters)


def test_measures_are_values():
    twed = dtwave.Twed(lambda_=0.5)
    assert twed == dtwave.Twed(lambda_=0.5) != dtwave.Twed()
    assert hash(twed) == hash(dtwave.Twed(lambda_=0.5))
    assert repr(twed) == "dtwave.Twed(nu=0.001, lambda_=0.5, degree=2.0)"
    assert twed.lambda_ == 0.5
    assert pickle.loads(pickle.dumps(twed)) == twed
    with pytest.raises(AttributeError):
        twed.nu = 1.0
    assert set(dtwave.MEASURES) >= {"dtw", "msm", "subsequence_dtw"}


def test_a_matrix_holds_the_distances_of_its_pairs():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(4, 7, 2)), rng.normal(size=(3, 9, 2))
    matrix = dtwave.pairwise(x, y, measure="adtw", band=0.5)
    assert matrix.shape == (4, 3) and matrix.dtype == np.float64
    for i in range(4):
        for j in range(3):
            assert matrix[i, j] == dtwave.distance(x[i], y[j], measure="adtw", band=0.5)
    square = dtwave.pairwise(x)
    assert np.array_equal(square, square.T) and not square.diagonal().any()
    assert np.array_equal(dtwave.zipped(x[:3], y), np.diag(dtwave.pairwise(x[:3], y)))


def test_subsequences_have_a_full_matrix():
    x = [[0.0, 1.0], [5.0, 0.0, 1.0, 5.0]]
    assert dtwave.pairwise(x, measure="subsequence_dtw").tolist() == [[0.0, 0.0], [33.0, 0.0]]


@pytest.mark.parametrize("dtype", ["float32", np.float64, "f32", np.dtype("<f8")])
def test_number_types(dtype):
    expected = np.dtype({"f32": "float32"}.get(dtype, dtype) if isinstance(dtype, str) else dtype)
    assert dtwave.pairwise(np.eye(3), dtype=dtype).dtype == expected


def test_the_smaller_type_is_kept():
    small = np.eye(3, dtype=np.float32)
    assert dtwave.pairwise(small).dtype == np.float32
    assert dtwave.pairwise(small, np.eye(3)).dtype == np.float64
    assert dtwave.pairwise(small.astype(np.float16)).dtype == np.float32


def test_threads_and_memory_do_not_change_a_bit():
    x = np.random.default_rng(2).normal(size=(20, 30))
    expected = dtwave.pairwise(x)
    for options in [{"threads": 1}, {"threads": 3}, {"memory_limit": 1 << 20}, {"device": "cpu"}]:
        assert np.array_equal(dtwave.pairwise(x, **options), expected)


def test_bands():
    x, y = np.arange(8.0), np.arange(8.0) ** 1.5
    everywhere = dtwave.Ranges([[0, 8]] * 8)
    assert dtwave.distance(x, y, band=everywhere) == dtwave.distance(x, y)
    assert dtwave.distance(x, y, band=dtwave.SakoeChiba(2)) == dtwave.distance(x, y, band=2)
    assert dtwave.distance(x, y, band=0.25) == dtwave.distance(x, y, band=2)
    for band in [dtwave.Slanted(1), dtwave.Slanted(0.1), dtwave.Itakura(2)]:
        assert dtwave.distance(x, y, band=band) >= dtwave.distance(x, y)
    assert repr(dtwave.Slanted(3)) == "Slanted(radius=3)"


def test_times_are_for_twed():
    x, y = [1.0, 2.0, 3.0], [1.0, 3.0, 3.0]
    even = ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert dtwave.distance(x, y, measure="twed", times=even) == dtwave.distance(x, y, measure="twed")
    apart = ([1.0, 2.0, 3.0], [1.0, 20.0, 30.0])
    assert dtwave.distance(x, y, measure="twed", times=apart) > dtwave.distance(x, y, measure="twed")
    with pytest.raises(ValueError, match="twed only"):
        dtwave.distance(x, y, times=even)


def test_devices_say_why_not():
    cpu, cuda, *_ = dtwave.devices()
    assert cpu.backend == "cpu" and cpu.available and "core" in cpu.description
    assert cuda.backend == "cuda"


def test_other_channels_say_which_layout_to_pass():
    wide = [np.zeros((2, 50)), np.ones((2, 40))]  # [channels, length]
    with pytest.raises(ValueError, match='x has 50 channels, y has 40 .* pass layout="channels_first"'):
        dtwave.distance(*wide)
    assert dtwave.distance(*wide, layout="channels_first") == 100.0


@pytest.mark.skipif(any(d.backend == "cuda" and d.available for d in dtwave.devices()), reason="there is a GPU")
def test_a_missing_gpu_is_a_device_error():
    with pytest.raises(dtwave.DeviceError) as caught:
        dtwave.distance(X, Y, device="cuda")
    assert "\n" not in str(caught.value) and "--" not in str(caught.value)
    assert 'use device="cpu"' in str(caught.value)
    assert not any("--" in (device.unavailable or "") for device in dtwave.devices())
    assert not any("Device::" in (device.unavailable or "") for device in dtwave.devices())


@pytest.mark.parametrize(
    ("options", "exception", "text"),
    [
        ({"measure": "mms"}, ValueError, "did you mean 'msm'"),
        ({"measure": 3}, TypeError, "a key such as 'dtw'"),
        ({"measure": dtwave.Msm}, TypeError, r"write dtwave.Msm\(...\)"),
        ({"measure": dtwave.Msm(), "c": 1.0}, ValueError, "has its parameters already"),
        ({"measure": "msm", "cc": 1.0}, ValueError, "no parameter 'cc': it takes c"),
        ({"bnad": 1}, ValueError, "did you mean 'band'"),
        ({"padding": 0.0}, ValueError, "this function does not take padding, which others have"),
        ({"band": dtwave.SakoeChiba}, TypeError, r"band is a class: write dtwave.SakoeChiba\(...\)"),
        ({"gamma": 0.1}, ValueError, "a parameter of soft_dtw, soft_dtw_divergence: .* measure='soft_dtw' or another"),
        ({"degree": 2.0}, ValueError, "; it is a parameter of twed: with it pass measure='twed'$"),
        ({"measure": "Euclidean"}, ValueError, "'dtw' with band=0 is the squared Euclidean distance"),
        ({"window": 0.1}, ValueError, "'window' is no option, .* did you mean 'band'"),
        ({"measure": dtwave.Msm(), "n_jobs": 2}, ValueError, "did you mean 'threads'"),
        ({"measure": "msm", "c": -1.0}, ValueError, "msm needs c >= 0, got -1"),
        ({"measure": "msm", "c": "x"}, TypeError, "c must be a number"),
        ({"measure": "msm", "c": True}, TypeError, "c must be a number"),
        ({"measure": "edr"}, ValueError, "edr needs epsilon >= 0, which has no default"),
        ({"measure": "sdtw"}, ValueError, "did you mean 'soft_dtw'"),
        ({"measure": "dtw", "cost": "city"}, ValueError, "unknown cost `city`"),
        ({"band": -1}, ValueError, "a whole number of points >= 0"),
        ({"band": 1.5}, ValueError, "between 0 and 1"),
        ({"band": 10.0}, ValueError, "got 10.0; whole points are an int: 10"),
        ({"band": "wide"}, ValueError, "'wide' is no band: expected 'full', '10'"),
        ({"band": "120%"}, ValueError, "between 0 and 1"),
        ({"sqrt": 1}, TypeError, "sqrt must be True or False"),
        ({"sqrt": True, "measure": "soft_dtw"}, ValueError, "sqrt is no option of soft_dtw; it belongs to dtw"),
        ({"normalize": True}, ValueError, 'normalize must be "none" or "z"'),
        ({"memory_limit": "lots"}, ValueError, "no memory size"),
        ({"band": True}, TypeError, "band must be"),
        ({"device": "gpu"}, ValueError, "unknown device"),
        ({"device": "cuda:x"}, ValueError, 'a device like "cuda:0"'),
        ({"device": "hip:x"}, ValueError, 'a device like "hip:0"'),
        ({"device": "wgpu:"}, ValueError, 'a device like "wgpu:0"'),
        ({"dtype": "int32"}, ValueError, "float32 or float64"),
        ({"dtype": "nothing"}, ValueError, "float32 or float64"),
        ({"threads": -1}, ValueError, "of at least 1, got -1; leave it out for all cores"),
        ({"threads": 60_000}, ValueError, "60000 threads are too many: ask for at most"),
        ({"threads": 1.5}, TypeError, "threads must be a whole number"),
        ({"memory_limit": -1}, ValueError, "memory_limit must be a whole number of bytes"),
        ({"layout": "rows"}, ValueError, "layout must be"),
        ({"times": 3}, TypeError, "a tuple of two"),
    ],
)
def test_bad_options_are_one_line(options, exception, text):
    with pytest.raises(exception, match=text) as caught:
        dtwave.distance(np.arange(50.0), np.arange(60.0), **options)
    assert "\n" not in str(caught.value)


def test_the_native_soft_dtw_of_padded_batches():
    from dtwave import _native

    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 5, 2)), rng.normal(size=(2, 6, 2))
    lengths_x, lengths_y = np.array([5, 3]), np.array([4, 6])
    what = _native.Spec("soft_dtw", {"gamma": 0.5}, None), _native.Engine("cpu", 1, 1 << 30)
    values, grad_x, grad_y = _native.soft_dtw(x, y, *what, lengths_x=lengths_x, lengths_y=lengths_y)
    assert grad_x.shape == x.shape and grad_y.shape == y.shape
    assert not grad_x[1, 3:].any() and not grad_y[0, 4:].any()
    for s in range(2):
        own = x[s, : lengths_x[s]], y[s, : lengths_y[s]]
        assert values[s] == dtwave.distance(*own, measure="soft_dtw", gamma=0.5)
    step = 1e-6
    moved = x.copy()
    moved[1, 1, 0] += step
    higher = dtwave.distance(moved[1, :3], y[1], measure="soft_dtw", gamma=0.5)
    assert (higher - values[1]) / step == pytest.approx(grad_x[1, 1, 0], rel=1e-4)
    only_values = _native.soft_dtw(x, y, *what, gradients=False)
    assert only_values[1] is None and only_values[2] is None
    with pytest.raises(ValueError, match="series 1 of x must be from 1 to 5, got 6"):
        _native.soft_dtw(x, y, *what, lengths_x=np.array([5, 6]))


def test_a_point_is_not_the_whole():
    x, y = RNG.normal(size=(2, 20))
    for kind in (dtwave.SakoeChiba, dtwave.Slanted):
        # One call after the other: what is kept of the first must not serve the second.
        near, whole = (dtwave.distance(x, y, band=kind(radius)) for radius in (1, 1.0))
        assert near > whole == dtwave.distance(x, y)
        assert kind(1) != kind(1.0) and kind(2) == kind(2) and hash(kind(2)) == hash(kind(2))
    assert dtwave.SakoeChiba(2) != dtwave.Slanted(2)
    assert dtwave.distance(x, y, band=np.int64(1)) == dtwave.distance(x, y, band=1)
    assert dtwave.distance(x, y, band=np.float32(1)) == dtwave.distance(x, y)


def test_equal_parameters_of_other_types():
    x, y = RNG.normal(size=(2, 20))
    dtwave.distance(x, y, measure="msm", c=1)
    with pytest.raises(TypeError, match="c must be a number, got True"):
        dtwave.distance(x, y, measure="msm", c=True)
    with pytest.raises(ValueError, match="lambda_ is given twice"):
        dtwave.distance(x, y, measure="twed", lambda_=1.0, **{"lambda": 2.0})


class OwnMsm(dtwave.Msm):
    """A class of a user's."""


def test_a_subclass_keeps_its_class():
    found = pickle.loads(pickle.dumps(OwnMsm(c=0.25)))
    assert type(found) is OwnMsm and found.c == 0.25


def test_roots_have_the_number_type_of_the_call():
    x, y = np.float32([0.0, 1.1, 2.3]), np.float32([0.3, 2.0, 2.9])
    root = float(np.sqrt(np.float32(dtwave.distance(x, y))))
    assert dtwave.distance(x, y, sqrt=True) == root == dtwave.distance(x, y, sqrt=True, cutoff=100.0)
    assert dtwave.align(x, y, sqrt=True).distance == root == dtwave.zipped([x], [y], sqrt=True)[0]
    assert dtwave.align_pairs([x], [y], sqrt=True)[0].distance == root
    assert dtwave.distance(x.astype(float), y, sqrt=True) == dtwave.distance(x.astype(float), y) ** 0.5
