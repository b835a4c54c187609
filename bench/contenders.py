"""What conv2d.py compares: Tunesmith's dispatch, PyTorch, CuPy, NPP, and two limits. Each launches on PyTorch's
current stream, on the same image and mask."""

import ctypes
import ctypes.util
import glob
import os
import statistics
import sys

import torch
import torch.nn.functional as functional

try:
    import cupy
    import cupyx.scipy.ndimage
    import cupyx.scipy.signal
except ImportError:
    cupy = None


class Contender:
    def __init__(self, name, launch, output=None, peer=True, note="", keep=()):
        self.name, self.launch, self.output, self.peer, self.note = name, launch, output, peer, note
        self.keep = keep  # what the launch points to
        self.graph = None
        self.hot_samples, self.cold_samples = [], []  # us a launch
        self.error = None  # the largest |error| in units of the error bound of a plain f32 sum

    @property
    def hot(self):
        return statistics.median(self.hot_samples)

    @property
    def cold(self):
        return statistics.median(self.cold_samples)


class Tunesmith:
    def __init__(self, library, database, device):
        loaded = ctypes.CDLL(str(library))
        text, pointer = ctypes.c_char_p, ctypes.c_void_p
        for name, result, arguments in [
            ("error", text, []),
            ("open", pointer, [text, text]),
            ("plan", pointer, [pointer, text, text]),
            ("describe", text, [pointer]),
            ("workspace_bytes", ctypes.c_longlong, [pointer]),
            ("launch", ctypes.c_int, [pointer, pointer, ctypes.c_int, pointer, pointer]),
        ]:
            function = getattr(loaded, "tunesmith_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.dispatcher = self.open(database.encode(), device.encode())
        if not self.dispatcher:
            sys.exit(self.error().decode())

    def contender(self, case, image, mask):
        plan = self.plan(self.dispatcher, b"conv2d", case.problem.encode())
        if not plan:
            sys.exit(self.error().decode())
        output = torch.empty_like(image)
        workspace = torch.empty(max(1, self.workspace_bytes(plan)), dtype=torch.uint8, device=image.device)
        pointers = (ctypes.c_void_p * 3)(image.data_ptr(), mask.data_ptr(), output.data_ptr())

        def launch():
            stream = torch.cuda.current_stream().cuda_stream
            if self.launch(plan, pointers, 3, stream, workspace.data_ptr()) != 0:
                raise RuntimeError(self.error().decode())

        note = self.describe(plan).decode()
        return Contender("Tunesmith", launch, lambda: output, peer=False, note=note, keep=(image, mask, workspace))


def as_correlation(case, mask):
    return torch.flip(mask, (0, 1)).contiguous() if case.mode == "convolution" else mask


def pytorch(case, image, mask):
    weights = as_correlation(case, mask)[None, None]
    results = {}

    def launch():
        results["batch"] = functional.conv2d(image[:, None], weights, padding=case.mask // 2)

    contenders = [Contender("PyTorch", launch, lambda: results["batch"][:, 0])]
    if case.batch > 1:
        each = weights.expand(case.batch, 1, case.mask, case.mask).contiguous()

        def launch_depthwise():
            results["depthwise"] = functional.conv2d(image[None], each, padding=case.mask // 2, groups=case.batch)

        contenders.append(Contender("PyTorch depthwise", launch_depthwise, lambda: results["depthwise"][0]))
    return contenders


def on_current_stream(function):
    """CuPy's work on PyTorch's stream."""

    def launch():
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            function()

    return launch


def with_cupy(case, image, mask):
    if cupy is None:
        return []
    source, weights = cupy.from_dlpack(image), cupy.from_dlpack(mask)[None]
    output = torch.empty_like(image)
    target = cupy.from_dlpack(output)
    convolves = case.mode == "convolution"
    apply = cupyx.scipy.ndimage.convolve if convolves else cupyx.scipy.ndimage.correlate
    direct = on_current_stream(lambda: apply(source, weights, output=target, mode="constant", cval=0.0))
    contenders = [Contender("CuPy", direct, lambda: output)]
    if case.mask >= 7:
        turned = weights if convolves else cupy.ascontiguousarray(weights[:, ::-1, ::-1])
        results = {}

        def transform():
            results["fft"] = cupyx.scipy.signal.fftconvolve(source, turned, mode="same", axes=(1, 2))

        contenders.append(
            Contender("CuPy FFT", on_current_stream(transform), lambda: torch.from_dlpack(results["fft"])))
    return contenders


class Size(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]


class NppContext(ctypes.Structure):
    _fields_ = [
        ("stream", ctypes.c_void_p), ("device", ctypes.c_int), ("multiprocessors", ctypes.c_int),
        ("threads_per_multiprocessor", ctypes.c_int), ("threads_per_block", ctypes.c_int),
        ("shared_per_block", ctypes.c_size_t), ("major", ctypes.c_int), ("minor", ctypes.c_int),
        ("stream_flags", ctypes.c_uint), ("reserved", ctypes.c_int),
    ]


def find_npp(folder):
    """libnppif from the folder, the toolkit, Python packages or the loader's path; None where there is none."""
    patterns = [f"{folder}/libnppif.so*"] if folder else []
    patterns += ["/usr/local/cuda/lib64/libnppif.so*"]
    patterns += [f"{path}/nvidia/*/lib/libnppif.so*" for path in sys.path if path]
    found = [file for pattern in patterns for file in sorted(glob.glob(pattern))]
    for name in found + [ctypes.util.find_library("nppif") or "libnppif.so"]:
        try:
            for common in sorted(glob.glob(os.path.join(os.path.dirname(name) or ".", "libnppc.so*")))[-1:]:
                ctypes.CDLL(common, mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def with_npp(library, case, image, mask):
    """NPP repeats the border, so the image stands in a frame of zeros. A batch is not one call of NPP."""
    if library is None or case.batch > 1:
        return []
    properties = torch.cuda.get_device_properties(image.device)
    frame = case.mask // 2
    framed = functional.pad(image[0], (frame,) * 4).contiguous()
    output = torch.empty_like(image)
    weights = torch.flip(as_correlation(case, mask), (0, 1)).contiguous()  # NPP convolves
    step_bytes = framed.shape[1] * 4
    origin = framed.data_ptr() + frame * step_bytes + frame * 4
    repeat_border = 2
    function = library.nppiFilterBorder_32f_C1R_Ctx
    function.argtypes = [
        ctypes.c_void_p, ctypes.c_int, Size, Point, ctypes.c_void_p, ctypes.c_int, Size, ctypes.c_void_p, Size, Point,
        ctypes.c_int, NppContext
    ]

    def launch():
        context = NppContext(torch.cuda.current_stream().cuda_stream, image.device.index or 0,
                             properties.multi_processor_count, properties.max_threads_per_multi_processor, 1024,
                             48 * 1024, properties.major, properties.minor, 0, 0)
        status = function(origin, step_bytes, Size(framed.shape[1], framed.shape[0]), Point(frame, frame),
                          output.data_ptr(), case.width * 4, Size(case.width, case.height), weights.data_ptr(),
                          Size(case.mask, case.mask), Point(frame, frame), repeat_border, context)
        if status != 0:
            raise RuntimeError(f"NPP answers {status}")

    return [Contender("NPP", launch, lambda: output, keep=(framed, weights))]


def limits(image):
    target = torch.empty_like(image)
    contenders = [Contender("copy", lambda: target.copy_(image), peer=False, note="device to device, the image's size")]
    if cupy is not None:
        empty = cupy.RawKernel('extern "C" __global__ void empty() {}', "empty")
        contenders.append(Contender("empty kernel", on_current_stream(lambda: empty((1,), (32,), ())), peer=False))
    return contenders
