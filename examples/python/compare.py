# SPDX-License-Identifier: Apache-2.0
"""Shared by the examples: arrays on a GPU if there is one, else NumPy's; a check that prints its times; and pictures in files."""

import struct
import time
import zlib

import numpy as np
import tunesmith

on_gpu = tunesmith.first_device() == "cuda"


def gpu_library():
    for name in ("cupy", "torch"):
        try:
            library = __import__(name)
        except ImportError:
            continue
        return library if name == "cupy" or library.cuda.is_available() else None
    return None


library = gpu_library() if on_gpu else None


def to_device(array: np.ndarray):
    """Returns the array on the GPU, by CuPy or PyTorch; without a GPU unchanged."""
    if library is None:
        return array
    return library.asarray(array) if library.__name__ == "cupy" else library.from_numpy(array).cuda()


def to_numpy(array) -> np.ndarray:
    if isinstance(array, (np.ndarray, np.generic)):
        return np.asarray(array)
    return array.get() if library.__name__ == "cupy" else array.cpu().numpy()


def _seconds(function, finish) -> float:
    function()
    finish()
    repeats, best = 1, float("inf")
    while True:
        begin = time.perf_counter()
        for _ in range(repeats):
            function()
        finish()
        taken = time.perf_counter() - begin
        best = min(best, taken / repeats)
        if taken > 0.2 or repeats > 10_000:
            return best
        repeats *= 4


def compare(what: str, ours, theirs, tolerance: float, than: str = "NumPy") -> None:
    """Runs both, compares their results, times both, and prints this. Exits with 1 if they differ."""
    found, expected = to_numpy(ours()), np.asarray(theirs())
    off = float(
        np.max(np.abs(found.astype(np.float64) - expected) / np.maximum(np.abs(expected), 1), initial=0)
    )
    if found.shape != expected.shape or not off <= tolerance:
        raise SystemExit(f"{what}: differs from {than} by {off:.2g}, more than {tolerance:.2g}.")
    finish = (
        (lambda: None)
        if library is None
        else library.cuda.Device().synchronize
        if library.__name__ == "cupy"
        else library.cuda.synchronize
    )
    mine, other = _seconds(ours, finish), _seconds(theirs, lambda: None)
    where = (
        f"{library.__name__} on the GPU" if library is not None else "an emulator of a GPU on the processor"
    )
    print(
        f"{what}: agrees with {than} within {off:.1e}; {mine * 1e6:.1f} us ({where}), {than} {other * 1e6:.1f} us: {other / mine:.2f} times as fast"
    )


def save_gray(path: str, picture: np.ndarray) -> None:
    """Writes a PNG; values from 0, black, to 255."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in picture.astype(np.uint8))
    size = struct.pack(">IIBBBBB", picture.shape[1], picture.shape[0], 8, 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(
            b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", size)
            + chunk(b"IDAT", zlib.compress(rows, 9))
            + chunk(b"IEND", b"")
        )
