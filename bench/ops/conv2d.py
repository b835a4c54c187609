# SPDX-License-Identifier: Apache-2.0
"""conv2d with masks of odd size and zeros beyond the edges."""

import ctypes
import functools

import contenders as of
import torch
import torch.nn.functional as functional
from timing import Case, Contender, Expected

cuda = of.numba_cuda  # a global, which Numba's simulator needs


def case(height, width, mask, goals, mode="correlation", batch=1):
    if mask >= 7:
        goals += "; apart <= 0.333 best peer"
    return Case(
        name=(f"{batch}×" if batch > 1 else "") + f"{height}×{width}, {mask}×{mask}",
        problem=f"batch={batch} height={height} width={width} mask_height={mask} mask_width={mask} mode={mode}",
        goals=goals + "; apart <= 1 best peer",
        height=height,
        width=width,
        mask=mask,
        mode=mode,
        batch=batch,
    )


CASES = [
    case(200, 200, 13, "apart <= 2 us", mode="convolution"),
    case(1000, 2000, 3, "apart <= 0.6 NPP; cold <= 0.75 copy"),
    case(1080, 1920, 7, "apart <= 5.6 us"),
    case(4096, 4096, 3, "apart <= 1.02 copy"),
    case(4096, 4096, 5, "apart <= 1.04 copy"),
    case(4096, 4096, 7, "apart <= 1.12 copy"),
    case(4096, 4096, 13, "apart <= 60 us"),
    case(4096, 4096, 31, "apart <= 150 us"),
    case(512, 512, 5, "apart <= 1.04 copy", batch=64),
]


def inputs(case):
    image = of.random(case, (case.batch, case.height, case.width))
    return image, of.random(case, (case.mask, case.mask))


def tunesmith(case, image, mask):
    output = of.poisoned(image.shape)
    return [image, mask, output], output, None


def as_correlation(case, mask):
    return torch.flip(mask, (0, 1)).contiguous() if case.mode == "convolution" else mask


def expected(case, image, mask):
    """The bound is that of a plain f32 sum: (taps + 1) u sum|w x|."""
    weights = as_correlation(case, mask).double()[None, None]
    value = torch.empty_like(image, dtype=torch.double)
    size = torch.empty_like(value)
    half, rows = case.mask // 2, 256  # band by band, because some libraries copy every window of the image
    for b in range(case.batch):
        framed = functional.pad(image[b], (0, 0, half, half)).double()[None, None]
        for y in range(0, case.height, rows):
            band = framed[:, :, y : y + rows + 2 * half]
            value[b, y : y + rows] = functional.conv2d(band, weights, padding=(0, half))[0, 0]
            size[b, y : y + rows] = functional.conv2d(band.abs(), weights.abs(), padding=(0, half))[0, 0]
    return Expected(value, size * (case.mask**2 + 1) * 2.0**-24)


def pytorch(case, image, mask):
    weights = as_correlation(case, mask)[None, None]
    return of.pytorch(lambda: functional.conv2d(image[:, None], weights, padding=case.mask // 2))


def pytorch_depthwise(case, image, mask):
    if case.batch == 1:
        return None
    each = as_correlation(case, mask).expand(case.batch, 1, case.mask, case.mask).contiguous()
    return of.pytorch(lambda: functional.conv2d(image[None], each, padding=case.mask // 2, groups=case.batch))


def with_cupy(case, image, mask):
    if of.cupy is None:
        return None
    import cupyx.scipy.ndimage

    source, weights = of.as_cupy(image), of.as_cupy(mask)[None]
    output = of.poisoned(image.shape)
    target = of.as_cupy(output)
    apply = cupyx.scipy.ndimage.convolve if case.mode == "convolution" else cupyx.scipy.ndimage.correlate
    return of.with_cupy(
        lambda: apply(source, weights, output=target, mode="constant", cval=0.0),
        output=lambda: output,
        keep=(image, mask),
    )


def with_cupy_fft(case, image, mask):
    if of.cupy is None or case.mask < 7:
        return None
    import cupyx.scipy.signal

    source = of.as_cupy(image)
    turned = mask if case.mode == "convolution" else torch.flip(mask, (0, 1)).contiguous()
    weights = of.as_cupy(turned)[None]
    return of.with_cupy(
        lambda: cupyx.scipy.signal.fftconvolve(source, weights, mode="same", axes=(1, 2)),
        keep=(image, turned),
    )


class Size(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]


class NppContext(ctypes.Structure):
    _fields_ = [
        ("stream", ctypes.c_void_p),
        ("device", ctypes.c_int),
        ("multiprocessors", ctypes.c_int),
        ("threads_per_multiprocessor", ctypes.c_int),
        ("threads_per_block", ctypes.c_int),
        ("shared_per_block", ctypes.c_size_t),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("stream_flags", ctypes.c_uint),
        ("reserved", ctypes.c_int),
    ]


def with_npp(case, image, mask):
    """NPP repeats the border, so the image gets a frame of zeros. NPP has no call for a batch."""
    if of.npp is None or case.batch > 1:
        return None
    properties = torch.cuda.get_device_properties(image.device)
    frame = case.mask // 2
    framed = functional.pad(image[0], (frame,) * 4).contiguous()
    output = of.poisoned(image.shape)
    weights = torch.flip(as_correlation(case, mask), (0, 1)).contiguous()  # NPP convolves
    step_bytes = framed.shape[1] * 4
    origin = framed.data_ptr() + frame * step_bytes + frame * 4
    repeat_border = 2
    function = of.npp.nppiFilterBorder_32f_C1R_Ctx
    function.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int,
        Size,
        Point,
        ctypes.c_void_p,
        ctypes.c_int,
        Size,
        ctypes.c_void_p,
        Size,
        Point,
        ctypes.c_int,
        NppContext,
    ]

    def launch():
        context = NppContext(
            of.stream(),
            image.device.index or 0,
            properties.multi_processor_count,
            properties.max_threads_per_multi_processor,
            1024,
            48 * 1024,
            properties.major,
            properties.minor,
            0,
            0,
        )
        status = function(
            origin,
            step_bytes,
            Size(framed.shape[1], framed.shape[0]),
            Point(frame, frame),
            output.data_ptr(),
            case.width * 4,
            Size(case.width, case.height),
            weights.data_ptr(),
            Size(case.mask, case.mask),
            Point(frame, frame),
            repeat_border,
            context,
        )
        if status != 0:
            raise RuntimeError(f"NPP returned {status}")

    return Contender(launch, lambda: output, keep=(framed, weights))


@functools.cache
def original():
    @cuda.jit
    def conv2d_k(m, f, out, r):
        row, col = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            val = 0
            for i in range(f.shape[0]):
                for j in range(f.shape[1]):
                    in_row = row - r + i
                    in_col = col - r + j
                    if m.shape[0] > in_row >= 0 and m.shape[1] > in_col >= 0:
                        val += m[in_row, in_col] * f[i, j]
            out[row, col] = val

    return conv2d_k


def with_numba(case, image, mask):
    """The original Numba kernel, the one without shared memory."""
    if of.numba_cuda is None or case.batch > 1:
        return None
    output = of.poisoned(image[0].shape)
    arrays = of.as_numba(image[0], as_correlation(case, mask), output)
    blocks = ((case.height + 31) // 32, (case.width + 31) // 32)
    return of.with_numba(original(), blocks, (32, 32), (*arrays, case.mask // 2), output)


PEERS = {
    "PyTorch": pytorch,
    "PyTorch depthwise": pytorch_depthwise,
    "CuPy": with_cupy,
    "CuPy FFT": with_cupy_fft,
    "NPP": with_npp,
    "original": with_numba,
}
LIMITS = {
    "copy": lambda case, image, mask: of.copy(8 * image.numel()),
    "FFMA": lambda case, image, mask: of.ffma(image.numel() * case.mask**2),
    "empty kernel": lambda case, image, mask: of.empty_kernel(),
}
