# SPDX-License-Identifier: Apache-2.0
"""filter_bank(): against SciPy's correlate() with the products of the masks."""

import numpy as np
import pytest
import scipy.ndimage
import tunesmith

boundaries = ("reflect", "constant", "nearest", "mirror", "wrap", "zero")


@pytest.mark.parametrize("seed", range(24))
def test_each_sum_and_norm_are_scipys(seed):
    random = np.random.default_rng(seed)
    channels_last = bool(seed % 3 == 0)
    dtype = ("float32", "float64", "uint8", "int16", "int32", "float16")[seed % 6]
    leading = [int(one) for one in random.integers(1, 3, random.integers(0, 2))]
    image = (
        random.standard_normal([*leading, *random.integers(1, 20, 2), *([3] if channels_last else [])]) * 50
    ).astype(dtype)
    filters, taps_y, taps_x = (
        int(random.integers(1, 5)),
        int(random.integers(1, 8)),
        int(random.integers(1, 8)),
    )
    columns, rows = random.standard_normal((filters, taps_y)), random.standard_normal((filters, taps_x))
    origin = tuple(int(random.integers(-(taps // 2), (taps - 1) // 2 + 1)) for taps in (taps_y, taps_x))
    boundary, value = boundaries[seed % len(boundaries)], 1.5
    axis = image.ndim - (3 if channels_last else 2)
    mask_shape = (*[1] * axis, taps_y, taps_x, *([1] if channels_last else []))
    origins = [*[0] * axis, *origin, *([0] if channels_last else [])]
    mode, cval = ("constant", 0.0) if boundary == "zero" else (boundary, value)
    each = np.stack(
        [
            scipy.ndimage.correlate(
                image.astype("d"), np.outer(c, r).reshape(mask_shape), mode=mode, cval=cval, origin=origins
            )
            for c, r in zip(columns, rows)
        ]
    )
    expected = {"each": each, "sum": each.sum(0), "norm": np.sqrt((each**2).sum(0))}
    wide = dtype in ("float64", "int32")
    for results, value_of in expected.items():
        found = tunesmith.filter_bank(
            image,
            columns,
            rows,
            results,
            boundary=boundary,
            value=value,
            origin=origin,
            channels_last=channels_last,
        )
        assert found.dtype == (np.float64 if wide else np.float32) and found.shape == value_of.shape
        size = np.abs(columns).sum() * np.abs(rows).sum() * 200
        np.testing.assert_allclose(found, value_of, rtol=0, atol=size * (1e-14 if wide else 1e-6))


def test_a_second_call_takes_other_weights_and_values():
    image = np.random.default_rng(1).random((9, 11), np.float32)
    for weights in ([[1.0, 2.0, 1.0]], [[0.5, 0.0, -0.5]]):
        for value in (0.0, 2.0):
            found = tunesmith.filter_bank(image, weights, np.array(weights), boundary="constant", value=value)
            expected = scipy.ndimage.correlate(
                image.astype("d"), np.outer(weights, weights), mode="constant", cval=value
            )
            np.testing.assert_allclose(found[0], expected, atol=1e-5)


def test_squares_neither_overflow_nor_vanish():
    image, one = np.array([[1e-30, 1e30]], np.float32), np.ones((2, 1))
    found = tunesmith.filter_bank(image, one, one, "norm")
    np.testing.assert_allclose(found, np.sqrt(2) * image.astype("d"), rtol=1e-6)


def test_what_cannot_be_is_refused():
    image, mask = np.zeros((5, 6), np.float32), np.ones((2, 3))
    with pytest.raises(ValueError, match="results is 'all'; allowed are each, sum, norm"):
        tunesmith.filter_bank(image, mask, mask, "all")
    with pytest.raises(ValueError, match="There are 2 column masks and 1 row masks"):
        tunesmith.filter_bank(image, mask, mask[:1])
    with pytest.raises(ValueError, match="There are 5 filters"):
        tunesmith.filter_bank(image, np.ones((5, 3)), np.ones((5, 3)))
    with pytest.raises(ValueError, match="row_masks has the shape"):
        tunesmith.filter_bank(image, mask, mask[0])
    with pytest.raises(ValueError, match="3 dimensions are needed"):
        tunesmith.filter_bank(image, mask, mask, channels_last=True)
    with pytest.raises(ValueError, match="Invalid origin"):
        tunesmith.filter_bank(image, mask, mask, origin=2)
    with pytest.raises(RuntimeError, match="boundary mode not supported"):
        tunesmith.filter_bank(image, mask, mask, boundary="edge")
    with pytest.raises(TypeError, match="Complex images"):
        tunesmith.filter_bank(image.astype("F"), mask, mask)
    assert tunesmith.filter_bank(np.zeros((0, 6), np.float32), mask, mask).shape == (2, 0, 6)
