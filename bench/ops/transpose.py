# SPDX-License-Identifier: Apache-2.0
"""transpose: f32, out of place."""

import functools

import contenders as of
from timing import Case, Expected

cuda = of.numba_cuda  # a global, which Numba's simulator needs


def case(height, width, goals):
    return Case(
        name=f"{height}×{width}",
        problem=f"height={height} width={width} dtype=b32",
        goals=goals + f"; {goals.split()[0]} <= 1.02 best peer",
        height=height,
        width=width,
    )


CASES = [
    case(4096, 4096, "apart <= 1.03 copy"),
    case(8192, 8192, "apart <= 1.03 copy"),
    case(10007, 9973, "cold <= 1.05 copy; apart <= 1.05 copy"),
    case(100000, 64, "cold <= 1.08 copy"),
    case(64, 100000, "cold <= 1.08 copy"),
]


def inputs(case):
    return (of.random(case, (case.height, case.width)),)


def output(case):
    return of.poisoned((case.width, case.height))


def tunesmith(case, image):
    target = output(case)
    return [image, target], target, None


def expected(case, image):
    return Expected(image.t())


def pytorch(case, image):
    target = output(case)
    return of.pytorch(lambda: target.copy_(image.t()))


def with_cupy(case, image):
    if of.cupy is None:
        return None
    target = output(case)
    source, written = of.as_cupy(image).T, of.as_cupy(target)
    return of.with_cupy(lambda: of.cupy.copyto(written, source), output=lambda: target, keep=(image, target))


def with_cublas(case, image):
    return of.cublas.transpose(image, output(case)) if of.cublas else None


@functools.cache
def original():
    """The original Numba kernel with a padded tile, and with the bounds checks that it lacked."""
    import numba

    tile_dim, tile_dim_padded, block_rows = 32, 33, 8

    @cuda.jit
    def tile_transpose(a_in, a_out):
        tile = cuda.shared.array((tile_dim, tile_dim_padded), numba.float32)
        x = cuda.blockIdx.x * tile_dim + cuda.threadIdx.x
        y = cuda.blockIdx.y * tile_dim + cuda.threadIdx.y
        for j in range(0, tile_dim, block_rows):
            if x < a_in.shape[1] and y + j < a_in.shape[0]:
                tile[cuda.threadIdx.y + j, cuda.threadIdx.x] = a_in[y + j, x]
        cuda.syncthreads()
        x = cuda.blockIdx.y * tile_dim + cuda.threadIdx.x
        y = cuda.blockIdx.x * tile_dim + cuda.threadIdx.y
        for j in range(0, tile_dim, block_rows):
            if x < a_out.shape[1] and y + j < a_out.shape[0]:
                a_out[y + j, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + j]

    return tile_transpose


def with_numba(case, image):
    if of.numba_cuda is None:
        return None
    target = output(case)
    blocks = ((case.width + 31) // 32, (case.height + 31) // 32)
    return of.with_numba(original(), blocks, (32, 8), of.as_numba(image, target), target)


PEERS = {"PyTorch": pytorch, "CuPy": with_cupy, "cuBLAS geam": with_cublas, "original": with_numba}
LIMITS = {"copy": lambda case, image: of.copy(8 * image.numel())}
