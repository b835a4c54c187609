# SPDX-License-Identifier: Apache-2.0
"""Tests rank filters against SciPy: types, dimensions, footprints, boundaries, origins, and refusals."""

import itertools

import numpy as np
import pytest
import scipy.ndimage
from drawn_forms import real_types
from tunesmith._arrays import InputArray
from tunesmith._ranks import rank_all

random = np.random.default_rng(5)
boundaries = ["reflect", "constant", "nearest", "mirror", "wrap"]


def made(dtype, shape):
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype.startswith("float"):
        return random.uniform(-9, 9, shape).astype(dtype)
    return random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def expected(image, footprint, rank, boundary, value, origins):
    """The expected result by the definition, for an image that is continued far enough."""
    padding = {
        "reflect": "symmetric",
        "nearest": "edge",
        "mirror": "reflect",
        "wrap": "wrap",
        "constant": "constant",
    }[boundary]
    settings = {"constant_values": value} if boundary == "constant" else {}
    before = [size // 2 + origin for size, origin in zip(footprint.shape, origins)]
    around = [(b, size - 1 - b) for b, size in zip(before, footprint.shape)]
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(image, around, padding, **settings), footprint.shape
    )
    return np.sort(windows[..., footprint], axis=-1)[..., rank]


def agree(image, footprint, rank, boundary="reflect", value=0.0, origins=None):
    origins = origins or [0] * image.ndim
    found = rank_all(InputArray(image), footprint, rank, boundary=boundary, value=value, origins=origins)
    assert type(found) is np.ndarray and found.dtype == image.dtype
    np.testing.assert_array_equal(found, expected(image, footprint, rank, boundary, value, origins))
    return found


@pytest.mark.parametrize("dtype", real_types)
def test_every_type(dtype):
    image = made(dtype, (9, 14))
    for boundary, rank in itertools.product(boundaries, (0, 4, 8)):
        agree(image, np.ones((3, 3), bool), rank, boundary, 1)


@pytest.mark.parametrize("boundary", boundaries)
def test_dimensions_footprints_and_origins(boundary):
    for shape, size in (
        ((30,), (5,)),
        ((9, 8), (4, 3)),
        ((5, 6, 7), (3, 2, 3)),
        ((2, 3, 6, 7), (1, 1, 3, 4)),
        ((6, 5, 4, 2), (3, 3, 1, 1)),
    ):
        image = made("float32", shape)
        footprint = random.random(size) < 0.6
        footprint[(0,) * len(size)] = True
        last = int(footprint.sum()) - 1
        for origins in (
            [0] * len(size),
            [-(extent // 2) for extent in size],
            [(extent - 1) // 2 for extent in size],
        ):
            agree(image, footprint, last // 2, boundary, 0.5, origins)
            agree(image, np.ones(size, bool), 0, boundary, -0.5, origins)


def test_what_scipy_gives():
    image = made("uint8", (40, 50))
    disc = np.hypot(*np.mgrid[-4:5, -4:5]) <= 4
    for boundary in boundaries:
        for rank in (0, 11, int(disc.sum()) - 1):
            found = rank_all(InputArray(image), disc, rank, boundary=boundary, value=7.0, origins=[1, -2])
            wanted = scipy.ndimage.rank_filter(
                image, rank, footprint=disc, mode=boundary, cval=7, origin=(1, -2)
            )
            np.testing.assert_array_equal(found, wanted)


def test_extremes_of_boxes_go_axis_by_axis():
    image = made("int16", (4, 5, 6, 5))
    for rank in (0, 15):
        agree(image, np.ones((2, 2, 2, 2), bool), rank, "nearest", origins=[0, -1, 0, -1])
    agree(image, np.ones((3, 1, 1, 3), bool), 8, "wrap")


def test_nan_is_after_all_numbers_and_minus_zero_before_zero():
    image = np.array([np.nan, 1, 2, np.nan, np.nan, np.nan, 0.0, -0.0], "f4")
    window = np.ones(3, bool)

    def found(rank):
        return rank_all(InputArray(image), window, rank, boundary="nearest", value=0.0, origins=[0])

    np.testing.assert_array_equal(found(0), np.array([1, 1, 1, 2, np.nan, 0, -0.0, -0.0], "f4"))
    np.testing.assert_array_equal(found(1), np.array([np.nan, 2, 2, np.nan, np.nan, np.nan, 0, -0.0], "f4"))
    assert list(np.signbit(found(1)[-2:])) == [False, True]


def test_what_is_refused():
    image = InputArray(np.zeros((3, 3, 3, 3), "f4"))
    settings = {"boundary": "reflect", "value": 0.0, "origins": [0] * 4}
    with pytest.raises(NotImplementedError, match="more than three axes"):
        rank_all(image, np.ones((3, 3, 3, 3), bool), 40, **settings)
    with pytest.raises(ValueError, match="rank is 81"):
        rank_all(image, np.ones((3, 3, 3, 3), bool), 81, **settings)
    large = np.ones((1, 1, 64, 64), bool)
    large[0, 0, 0, 0] = False
    with pytest.raises(NotImplementedError, match="4096 places"):
        rank_all(image, large, 40, **settings)
    with pytest.raises(NotImplementedError, match="no order"):
        rank_all(
            InputArray(np.zeros(3, "c8")), np.ones(3, bool), 1, boundary="reflect", value=0.0, origins=[0]
        )
