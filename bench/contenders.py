# SPDX-License-Identifier: Apache-2.0
"""The libraries that are compared, all optional except PyTorch, and the limits. All of them launch on PyTorch's
current stream."""

import ctypes
import ctypes.util
import glob
import importlib
import os
import re
import sys
import warnings
import zlib
from pathlib import Path

import torch
from timing import Contender, sentence

# CuPy and Numba warn about their own code, about small grids and about the streams that a capture needs.
warnings.filterwarnings("ignore")

missing = {}  # library -> why it is not measured


def optional(name, load):
    """Returns the result of load(), or None; then `missing` has the reason."""
    try:
        return load()
    except Exception as error:
        missing[name] = sentence(error)
        return None


def import_numba():
    import numpy

    if not hasattr(numpy, "row_stack"):
        numpy.row_stack = numpy.vstack  # removed in NumPy 2.5, but Numba still imports it
    return importlib.import_module("numba.cuda")


def import_cupy():
    for name in ("cupyx.scipy.ndimage", "cupyx.scipy.signal"):
        importlib.import_module(name)
    return importlib.import_module("cupy")


cupy = optional("CuPy", import_cupy)
numba_cuda = optional("Numba", import_numba)


def stream():
    return torch.cuda.current_stream().cuda_stream


def multiprocessors():
    return torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count


def poisoned(shape, dtype=torch.float32):
    """A new output, filled with NaN, -1 or 255, so that elements that a launch does not write are noticed."""
    unwritten = float("nan") if dtype.is_floating_point else -1 if dtype.is_signed else 255
    return torch.full(shape, unwritten, dtype=dtype, device="cuda")


def random(case, shape, low=-1.0, high=1.0):
    """Uniform in [low, high), the same in every run for a case and a shape. Not from PyTorch's own generator, which a
    failed capture can leave unusable."""
    generator = torch.Generator(device="cuda").manual_seed(zlib.crc32(f"{case.name} {shape}".encode()))
    return torch.rand(shape, generator=generator, device="cuda").mul_(high - low).add_(low)


def find_library(name, folder=""):
    """lib<name>.so from the folder, from what PyTorch has loaded, the toolkit, Python packages or the loader's path."""
    patterns = [f"{folder}/lib{name}.so*"] if folder else []
    patterns += re.findall(rf"/\S*/lib{name}\.so\S*", Path("/proc/self/maps").read_text())[:1]
    patterns += [f"/usr/local/cuda/lib64/lib{name}.so*"]
    patterns += [f"{path}/nvidia/*/lib/lib{name}.so*" for path in sys.path if path]
    found = [file for pattern in patterns for file in sorted(glob.glob(pattern))]
    for file in found + [ctypes.util.find_library(name) or f"lib{name}.so"]:
        try:
            for common in sorted(glob.glob(os.path.join(os.path.dirname(file) or ".", "libnppc.so*")))[-1:]:
                ctypes.CDLL(common, mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(file)
        except OSError as error:
            reason = error
    raise reason


# --- Tunesmith ---------------------------------------------------------------------------------------------------


class Tunesmith:
    def __init__(self, library, database, device, at_once=False):
        loaded = ctypes.CDLL(str(library))
        text, pointer = ctypes.c_char_p, ctypes.c_void_p
        for name, result, arguments in [
            ("error", text, []),
            ("open", pointer, [text, text, ctypes.c_int]),
            ("plan", pointer, [pointer, text, text]),
            ("release", None, [pointer]),
            ("problems", text, [text, ctypes.c_int, ctypes.c_ulonglong]),
            ("describe", text, [pointer]),
            ("workspace_bytes", ctypes.c_longlong, [pointer]),
            ("launch", ctypes.c_int, [pointer, pointer, ctypes.c_int, pointer, pointer]),
            ("spacer", pointer, [ctypes.c_int]),
            ("space", ctypes.c_int, [pointer, pointer, ctypes.c_longlong, pointer]),
        ]:
            function = getattr(loaded, "tunesmith_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.dispatcher = self.open(database.encode(), device.encode(), at_once)
        self.spacing = self.spacer(int(device.removeprefix("cuda:")))
        if not self.dispatcher or not self.spacing:
            raise RuntimeError(self.error().decode())

    def drawn(self, op, count, seed):
        """Problems of the op's usual range, as texts."""
        lines = self.problems(op.encode(), count, seed)
        if lines is None:
            raise RuntimeError(self.error().decode())
        return lines.decode().splitlines()

    def launch_spacer(self, memory, count):
        """The spacer in the form that timing.Runs takes."""
        if self.space(self.spacing, memory, count, stream()) != 0:
            raise RuntimeError(self.error().decode())

    def contender(self, op, problem, arrays, output, prepare=None):
        """`arrays`: the op's arguments in its order, None for one without elements; `output`: the array that is checked."""
        plan = self.plan(self.dispatcher, op.encode(), problem.encode())
        if not plan:
            raise RuntimeError(self.error().decode())
        workspace = torch.zeros(max(1, self.workspace_bytes(plan)), dtype=torch.uint8, device="cuda")
        pointers = (ctypes.c_void_p * len(arrays))(
            *[None if array is None else array.data_ptr() for array in arrays]
        )

        def launch():
            if self.launch(plan, pointers, len(arrays), stream(), workspace.data_ptr()) != 0:
                raise RuntimeError(self.error().decode())

        return Contender(
            launch, lambda: output, prepare, note=self.describe(plan).decode(), keep=(*arrays, workspace)
        )


# --- PyTorch -----------------------------------------------------------------------------------------------------

compiles = True  # False: torch.compile is not measured


def pytorch(function, *arrays, **facts):
    """A contender that calls function(*arrays); its result is the output."""
    results = {}

    def launch():
        results["last"] = function(*arrays)

    return Contender(launch, lambda: results["last"], keep=arrays, **facts)


compiled_functions = {}


def compiled(function, *arrays):
    """The same as pytorch(), through torch.compile, which compiles for the first size and once more for all other sizes."""
    if not compiles:
        return None
    if function not in compiled_functions:
        compiled_functions[function] = torch.compile(function)
    return pytorch(compiled_functions[function], *arrays)


# --- CuPy --------------------------------------------------------------------------------------------------------


def as_cupy(array):
    return cupy.from_dlpack(array)


def with_cupy(function, **facts):
    """function() returns a CuPy array, or None if `output` in `facts` gives the output."""
    if cupy is None:
        return None
    results = {}

    def launch():
        with cupy.cuda.ExternalStream(stream()):
            results["last"] = function()

    facts.setdefault("output", lambda: torch.from_dlpack(results["last"]))
    return Contender(launch, **facts)


# --- Numba -------------------------------------------------------------------------------------------------------


def as_numba(*arrays):
    """Numba keeps PyTorch's arrays alive."""
    return [numba_cuda.as_cuda_array(array) for array in arrays]


def with_numba(kernel, blocks, threads, arguments, output, before=None):
    """before: called before each launch and timed with it."""

    def launch():
        if before:
            before()
        current = stream()
        kernel[blocks, threads, numba_cuda.external_stream(current) if current else 0](*arguments)

    return Contender(launch, lambda: output, keep=arguments)


# --- C libraries -------------------------------------------------------------------------------------------------


def address(array):
    return ctypes.c_void_p(array.data_ptr())


def c_launch(function, *arguments):
    """A launch of a C function that takes the stream last and returns 0."""

    def launch():
        status = function(*arguments, ctypes.c_void_p(stream()))
        if status != 0:
            raise RuntimeError(f"{function.__name__} returned {status}")

    return launch


class Peers:
    """libcub_peers.so."""

    def __init__(self, path):
        if not Path(path).exists():
            raise FileNotFoundError(f"{path} does not exist; the preset bench builds it if nvcc is installed")
        self.library = ctypes.CDLL(str(path))
        version = self.library.peers_cub_version()
        self.version = f"{version // 100000}.{version // 100 % 1000}.{version % 100}"

    def transform(self, name, inputs, scalars=()):
        output = poisoned(inputs[0].shape)
        launch = c_launch(
            self.library["peers_" + name],
            *map(address, inputs),
            *map(ctypes.c_float, scalars),
            address(output),
            ctypes.c_longlong(output.numel()),
        )
        return Contender(launch, lambda: output, keep=(*inputs, output))

    def with_temporary(self, name, array, output, *arguments):
        """arguments: those between the output and the number of elements."""
        function = self.library["peers_" + name]
        rest = (address(array), address(output), *arguments, ctypes.c_longlong(array.numel()))
        bytes_wanted = ctypes.c_size_t(0)
        c_launch(function, ctypes.c_void_p(None), ctypes.byref(bytes_wanted), *rest)()
        temporary = torch.empty(max(1, bytes_wanted.value), dtype=torch.uint8, device="cuda")
        launch = c_launch(function, address(temporary), ctypes.byref(bytes_wanted), *rest)
        return Contender(launch, lambda: output, keep=(array, output, temporary, bytes_wanted))


peers = npp = cublas = None  # set by bench.py


class CuBlas:
    def __init__(self):
        self.library = find_library("cublas")
        self.handle = ctypes.c_void_p()
        status = self.library.cublasCreate_v2(ctypes.byref(self.handle))
        if status != 0:
            raise RuntimeError(f"cublasCreate returned {status}")

    def transpose(self, image, output):
        """cublasSgeam. cuBLAS stores matrices by columns: to it the image has `width` rows, the output `height`."""
        height, width = image.shape
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        transposed, plain = ctypes.c_int(1), ctypes.c_int(0)  # CUBLAS_OP_T, CUBLAS_OP_N
        arguments = (
            self.handle,
            transposed,
            plain,
            ctypes.c_int(height),
            ctypes.c_int(width),
            ctypes.byref(one),
            address(image),
            ctypes.c_int(width),
            ctypes.byref(zero),
            address(output),
            ctypes.c_int(height),
            address(output),
            ctypes.c_int(height),
        )

        def launch():
            status = self.library.cublasSetStream_v2(self.handle, ctypes.c_void_p(stream()))
            status = status or self.library.cublasSgeam(*arguments)
            if status != 0:
                raise RuntimeError(f"cuBLAS returned {status}")

        return Contender(launch, lambda: output, keep=(image, output, one, zero))


# --- Limits ------------------------------------------------------------------------------------------------------


def copy(total_bytes):
    """A copy that reads and writes `total_bytes` in all, half each."""
    source = torch.rand(max(1, total_bytes // 8), device="cuda")
    target = torch.empty_like(source)
    return Contender(
        lambda: target.copy_(source), note=f"device to device, {total_bytes} bytes read and written"
    )


def read(array):
    """CUB's sum of the array's bytes as floats: no kernel is known to read faster."""
    if peers is None:
        return None
    made = peers.with_temporary("sum", array.view(torch.float32), poisoned((1,)))
    made.output, made.note = None, "CUB's sum of the same bytes"
    return made


def traffic(inputs):
    """CUB's transform with a function that only adds its inputs."""
    if peers is None:
        return None
    made = peers.transform(f"traffic{len(inputs)}", inputs)
    made.output, made.note = None, "CUB's transform that only adds its inputs"
    return made


def ffma(count):
    """`count` f32 multiply-adds in registers."""
    if peers is None:
        return None
    never = torch.zeros(1, device="cuda")
    launch = c_launch(
        peers.library.peers_ffma, address(never), ctypes.c_double(count), ctypes.c_int(multiprocessors())
    )
    return Contender(launch, note=f"{count:.4g} multiply-adds in registers", keep=(never,))


def empty_kernel():
    if cupy is None:
        return None
    kernel = cupy.RawKernel('extern "C" __global__ void empty() {}', "empty")
    return with_cupy(lambda: kernel((1,), (32,), ()), output=None)
