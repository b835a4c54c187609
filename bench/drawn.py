#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares dispatch on random problems with PyTorch's eager ops (for rank_filter with CuPy's).

The problems are drawn from each op's usual range by a seed, checked against each other, and timed apart in one run.
Prints each problem and a summary of each op; the exit code is 1 if a result is wrong or dispatch takes more than 1.1
times as long as PyTorch. With --at-once the other side is not PyTorch but the kernel that dispatch starts with if
nothing may be compiled and no binary is in the cache; the exit code is 1 if that takes more than 2.5 times as long as
the chosen kernel."""

import argparse
import csv
import math
import re
import shlex
import statistics
import sys
import time
from pathlib import Path

import contenders as of
import ops
import timing
import torch
import torch.nn.functional as functional

DTYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i32": torch.int32,
    "i64": torch.int64,
    "i8": torch.int8,
    "u8": torch.uint8,
    "b8": torch.uint8,
    "b16": torch.int16,
    "i16": torch.int16,
    "u16": torch.uint16,
    "b32": torch.int32,
    "b64": torch.int64,
    "b128": torch.complex128,
}
BEHIND = 1.1  # a time this many times PyTorch's is a fault
SLOW, TOO_SLOW = 1.5, 2.5  # a first launch this many times slower than the chosen kernel: counted, a fault


class Problem(dict):
    """name -> integer or word, of "batch=1 function=\\"a + b\\" …"."""

    def __init__(self, text):
        super().__init__()
        self.text = text
        for pair in shlex.split(text):
            name, value = pair.split("=", 1)
            self[name] = int(value) if re.fullmatch(r"\d+", value) else value
        self.dtype = DTYPES[self["dtype"]]


def random(shape, dtype):
    if dtype.is_complex:
        return torch.randn(shape, dtype=dtype, device="cuda")
    if dtype.is_floating_point:
        return (torch.rand(shape, device="cuda") * 2 - 1).to(dtype)
    return torch.randint(0, 100, shape, device="cuda").to(dtype)


# Each function returns the op's arguments in its order, the output, PyTorch's call, and a function that
# restores the output before the checked launch; None if PyTorch has no op for it.


def sides(samples, weights, size, turned):
    """The overhang of the outputs' windows over an axis: before its first sample, and behind its last."""
    if size == "full":
        return weights - 1, weights - 1
    if size == "valid":
        return 0, 0
    before = weights - 1 - weights // 2 if turned else weights // 2
    return before, weights - 1 - before


def padded(x, before_after, boundary, value):
    """Pads the last dimensions with PyTorch, the last one first; None if it has no op. scipy's reflect, which it lacks, takes two indexings."""
    reach = all(max(both) < size for both, size in zip(before_after, reversed(x.shape)))
    if (
        boundary in ("mirror", "wrap")
        and not reach
        or boundary == "reflect"
        and not all(max(both) <= size for both, size in zip(before_after, reversed(x.shape)))
    ):
        return None
    flat = [one for both in before_after for one in both]
    if boundary in ("zero", "constant"):
        return lambda: functional.pad(x, flat, value=value)
    if boundary != "reflect":
        mode = {"nearest": "replicate", "mirror": "reflect", "wrap": "circular"}[boundary]
        return lambda: functional.pad(x, flat, mode=mode)
    places = []
    for (before, after), size in zip(before_after, reversed(x.shape)):
        at = torch.arange(-before, size + after, device="cuda")
        at = torch.where(at < 0, -1 - at, at)
        places.append(torch.where(at >= size, 2 * size - 1 - at, at))

    def by_places():
        y = x
        for k, at in enumerate(places):
            y = y.index_select(y.dim() - 1 - k, at)
        return y

    return by_places


def convolved(p, dimensions, turned, size):
    """conv1d and conv2d: `dimensions` are the names of an axis and its weights, from the first on."""
    image = random((p["batch"], *(p[axis] for axis, _ in dimensions)), p.dtype)
    sums = torch.float64 if p.dtype == torch.float64 else torch.float32
    mask = random(tuple(p[weights] for _, weights in dimensions), sums)
    if size == "valid" and any(p[weights] > p[axis] for axis, weights in dimensions):
        return None
    both = [sides(p[axis], p[weights], size, turned) for axis, weights in dimensions]
    weights = (torch.flip(mask, tuple(range(mask.dim()))).contiguous() if turned else mask)[None, None]
    output = of.poisoned(
        (
            p["batch"],
            *(p[axis] + sum(reach) - p[weights] + 1 for (axis, weights), reach in zip(dimensions, both)),
        ),
        sums,
    )
    op = functional.conv2d if len(dimensions) == 2 else functional.conv1d
    boundary = p["boundary"] if size != "valid" else "zero"
    if boundary == "zero":
        # An even mask gives one more row or column: the last one, or the first if it is reversed.
        most = [max(reach) for reach in both]
        parts = tuple(
            slice(top - reach[0], top - reach[0] + extent)
            for top, reach, extent in zip(most, both, output.shape[1:])
        )
        eager = lambda: op(image.to(sums)[:, None], weights, padding=most)[(slice(None), 0, *parts)]  # noqa: E731
    else:
        pad = padded(image[:, None], both[::-1], boundary, float(p["value"]))
        if pad is None or image.dtype in (torch.uint16, torch.int16) and boundary not in ("zero", "constant"):
            return None
        eager = lambda: op(pad().to(sums), weights)[:, 0]  # noqa: E731
    return [image, mask, output], output, eager, None


def conv2d(p):
    return convolved(
        p, (("height", "mask_height"), ("width", "mask_width")), p["mode"] == "convolution", p["size"]
    )


def conv1d(p):
    length, taps = p["length"], p["taps"]
    if p["boundary"] != "zero" and p["mode"] != "valid":
        return convolved(p, (("length", "taps"),), p["function"] == "convolve", p["mode"])
    if taps > length and p["mode"] != "full":
        return None  # numpy exchanges the two
    sums = torch.float64 if p.dtype == torch.float64 else torch.float32
    signal, kernel = random((p["batch"], length), p.dtype), random((taps,), sums)
    weights = (torch.flip(kernel, (0,)).contiguous() if p["function"] == "convolve" else kernel)[None, None]
    padding = {"full": taps - 1, "same": taps // 2, "valid": 0}[p["mode"]]
    size = {"full": length + taps - 1, "same": length, "valid": length - taps + 1}[p["mode"]]
    output = of.poisoned((p["batch"], size), sums)
    return (
        [signal, kernel, output],
        output,
        lambda: functional.conv1d(signal.to(sums)[:, None], weights, padding=padding)[:, 0, :size],
        None,
    )


def transpose(p):
    height, width = p["height"], p["width"]
    memory = random((p["batch"], height, p["input_pitch"] or width), p.dtype)
    target = torch.zeros((p["batch"], width, p["output_pitch"] or height), dtype=p.dtype, device="cuda")
    other = torch.zeros_like(target)

    def eager():
        return other[:, :, :height].copy_(memory[:, :, :width].transpose(1, 2))

    return [memory, target], target[:, :, :height], eager, None


def reduced(p):
    """The array that reduce and scan read: its memory, and its view as outer × length × inner."""
    stride = p["stride"] or p["inner"]
    outer_stride = p["outer_stride"] or p["length"] * stride
    memory = random(((p["outer"] - 1) * outer_stride + (p["length"] - 1) * stride + p["inner"],), p.dtype)
    return memory, memory.as_strided((p["outer"], p["length"], p["inner"]), (outer_stride, stride, 1))


def reduce(p):
    if p.dtype == torch.uint16:  # which PyTorch cannot add or compare
        return None
    memory, x = reduced(p)
    same, whole, ddof = x.dtype, torch.int64, p["ddof"]
    known = {  # PyTorch's function, and the output's type for floating-point numbers and for integers
        "sum": (lambda: x.sum(1), same, whole),
        "prod": (lambda: x.prod(1), same, whole),
        "mean": (lambda: x.mean(1), same, None),
        "norm2": (lambda: torch.linalg.vector_norm(x, 2, 1), same, None),
        "var": (lambda: x.var(1, correction=ddof), same, None),
        "std": (lambda: x.std(1, correction=ddof), same, None),
        "min": (lambda: x.amin(1), same, same),
        "max": (lambda: x.amax(1), same, same),
        "argmin": (lambda: x.argmin(1), whole, whole),
        "argmax": (lambda: x.argmax(1), whole, whole),
        "any": (lambda: x.any(1), torch.bool, torch.bool),
        "all": (lambda: x.all(1), torch.bool, torch.bool),
        "count_nonzero": (lambda: torch.count_nonzero(x, 1), whole, whole),
    }
    eager, *types = known.get(p["function"], (None, None, None))
    dtype = types[0 if x.is_floating_point() else 1]
    if dtype is None or p["sum_dtype"] != "same":
        return None
    output = torch.empty((p["outer"], p["inner"]), dtype=dtype, device="cuda")
    return [memory, output], output, eager, None


def scan(p):
    if p.dtype == torch.uint16:
        return None
    memory, x = reduced(p)
    known = {
        "sum": torch.cumsum,
        "product": torch.cumprod,
        "max": lambda x, axis: x.cummax(axis).values,
        "min": lambda x, axis: x.cummin(axis).values,
    }
    if (
        p["function"] not in known
        or p["kind"] != "inclusive"
        or p["direction"] == "reverse"
        or p["expression"] != "none"
    ):
        return None
    function = known[p["function"]]

    dtype = {"dtype": torch.float64} if p["sum_dtype"] == "f64" else {}

    def eager():
        return function(x, 1, **dtype)

    widens = p["function"] in ("sum", "product") and not x.is_floating_point()
    if x.is_floating_point() and x.element_size() == 2:  # PyTorch rounds each sum
        eager.exact = lambda: function(x.double(), 1).to(x.dtype)
    output = of.poisoned(
        x.shape, dtype.get("dtype", torch.int64 if widens else x.dtype)
    )  # unsigned where x is: the same bits
    return [memory, output], output, eager, None


# The words that PyTorch has one op for; all others are computed as they are written.
ROWS_WORDS = {
    "y0 = exp(x0-max(x0))/sum(exp(x0-max(x0)))": lambda x, *_: torch.softmax(x, 1),
    "y0 = x0-max(x0)-log(sum(exp(x0-max(x0))))": lambda x, *_: torch.log_softmax(x, 1),
    "y0 = log(sum(exp(x0-max(x0))))+max(x0)": lambda x, *_: torch.logsumexp(x, 1, keepdim=True),
    "y0 = (x0-mean(x0))*rsqrt(mean((x0-mean(x0))**2)+1e-5)*x1+x2": lambda x, gamma, beta: (
        functional.layer_norm(x, x.shape[1:], gamma[0], beta[0])
    ),
    "y0 = x0*rsqrt(mean(x0**2)+1e-5)*x1": lambda x, gamma: functional.rms_norm(
        x, x.shape[1:], gamma[0], 1e-5
    ),
    "y0 = x0/max(sqrt(sum(x0**2)),1e-12)": lambda x, *_: functional.normalize(x, dim=1),
}


def of_rows(torch_function, pairwise=None):
    """A reduction of rows, or for two values the elementwise function of the same name."""
    return lambda a, *b: either(*pairwise)(a, *b) if b else torch_function(a, dim=1, keepdim=True)


ROWS_FUNCTIONS = {
    "sum": of_rows(torch.sum),
    "mean": of_rows(torch.mean),
    "prod": of_rows(torch.prod),
    "max": of_rows(torch.amax, (torch.maximum, "min")),
    "min": of_rows(torch.amin, (torch.minimum, "max")),
}
ROWS_FUNCTIONS |= {name: getattr(torch, name) for name in ("exp", "log", "sqrt", "rsqrt", "abs", "tanh")}


def rows(p):
    shape = (p["rows"], p["columns"])
    memories, values = [], []
    for k in range(6):
        if not re.search(rf"\bx{k}\b", p["expression"]):
            memories.append(None)
            continue
        kind, _, pitch = str(p[f"x{k}"]).partition(":")
        extents = {"matrix": shape, "per_column": (1, shape[1]), "per_row": (shape[0], 1), "scalar": (1, 1)}[
            kind
        ]
        pitch = int(pitch or extents[1])
        # Positive, so that no sum is a small difference.
        memories.append(random(((extents[0] - 1) * pitch + extents[1],), p.dtype).abs_().add_(0.1))
        values.append(memories[-1].as_strided(extents, (pitch, 1)))
    word = ROWS_WORDS.get(p["expression"])
    code = compile(p["expression"].partition("=")[2].strip(), "expression", "eval")
    computed = torch.float64 if p.dtype == torch.float64 else torch.float32

    def eager():
        if word:
            return word(*values)
        return eval(code, ROWS_FUNCTIONS, {f"x{k}": value.to(computed) for k, value in enumerate(values)}).to(
            p.dtype
        )

    output = of.poisoned(eager().shape, p.dtype)
    return [*memories, output, None, None, None], output, eager, None


def rank_filter(p):
    """Compared with CuPy, since PyTorch computes medians of windows only by a copy of each window."""
    if of.cupy is None or p.dtype == torch.bfloat16:
        return None
    from cupyx.scipy import ndimage

    image = random((p["depth"], p["height"], p["width"]), p.dtype)
    output = torch.empty_like(image)
    flat = p["depth"] == 1 and p["window_depth"] == 1  # a window in fewer dimensions takes CuPy less time
    dimensions = "yx" if flat else "zyx"
    given = of.as_cupy(image[0] if flat else image)
    size = tuple(p["window_" + {"z": "depth", "y": "height", "x": "width"}[d]] for d in dimensions)
    footprint = None
    if p["footprint"] != "box":
        bits = [place == "x" for place in p["footprint"] if place != "/"]
        footprint = of.cupy.array(bits).reshape(size)
    boundary = "constant" if p["boundary"] == "zero" else p["boundary"]
    words = {
        "size": None if footprint is not None else size,
        "footprint": footprint,
        "mode": boundary,
        "cval": float(p["value"]),
        "origin": tuple(p["origin_" + d] for d in dimensions),
    }
    count = sum(bits) if footprint is not None else math.prod(size)

    def eager():
        with of.cupy.cuda.ExternalStream(of.stream()):
            if p["rank"] == 0:
                found = ndimage.minimum_filter(given, **words)
            elif p["rank"] == count - 1:
                found = ndimage.maximum_filter(given, **words)
            else:
                found = ndimage.rank_filter(given, p["rank"], **words)
            return torch.from_dlpack(found).reshape(image.shape)

    return [image, output], output, eager, None


def histogram(p):
    if p.dtype == torch.uint16:
        return None
    low, high = float(p["lo"]), float(p["hi"])
    size = ((p["length"] - 1) * p["stride"] + 1,)
    if p["function"] == "bincount":
        memory = torch.randint(0, p["bins"], size, device="cuda").clamp_(
            max={"u8": 255, "i16": 32767}.get(p["dtype"], p["bins"])
        )
    else:
        memory = torch.rand(size, device="cuda") * (high - low) + low
    memory = memory.to(p.dtype)
    values = memory[:: p["stride"]]
    counts = torch.zeros((p["bins"],), dtype=torch.int64, device="cuda")
    if p["function"] == "bincount":
        return [memory, counts], counts, lambda: torch.bincount(values, minlength=p["bins"]), None
    if not p.dtype.is_floating_point:
        return None
    return [memory, counts], counts, lambda: torch.histc(values, p["bins"], low, high), None


def extents(text):
    return [int(extent) for extent in str(text).split("x")]


def operand(text, shape, dtype):
    """An input's memory, and the tensor for PyTorch."""
    if text == "dense":
        memory = random(shape, dtype)
        return memory, memory
    text, _, strides = str(text).partition(":")
    sizes = extents(text)
    if not strides:
        memory = random(sizes, dtype)
        return memory, memory
    strides = extents(strides)
    memory = random((1 + sum((size - 1) * stride for size, stride in zip(sizes, strides)),), dtype)
    return memory, memory.as_strided(sizes, strides)


def either(torch_function, number_bound):
    """max or min of two tensors, or of a tensor and a number."""
    return lambda a, b: torch_function(a, b) if torch.is_tensor(b) else a.clamp(**{number_bound: b})


NAMED = {
    "add": "a + b",
    "hypot": "hypot(a, b)",
    "gaussian_pdf": "exp(-0.5 * ((a - b) / c) ** 2) / (c * math.sqrt(2 * math.pi))",
    "polar_distance": "sqrt((a * cos(b) - c * cos(d)) ** 2 + (a * sin(b) - c * sin(d)) ** 2)",
}
WORDS = {
    name: getattr(torch, name)
    for name in ("hypot", "exp", "log", "sin", "cos", "tanh", "sqrt", "abs", "where")
}
WORDS |= {"math": math, "max": either(torch.maximum, "min"), "min": either(torch.minimum, "max")}


def elementwise(p):
    shape = extents(p["shape"])
    text = NAMED.get(p["function"], p["function"])
    text = re.sub(r"^(.*?)\?(.*):(.*)$", r"where(\1, \2, \3)", text)
    used = sorted(set(re.findall(r"\b[a-f]\b", text)))
    operands = {name: operand(p[name], shape, p.dtype) for name in used}
    values = {name: tensor for name, (_, tensor) in operands.items()}
    if p["function"] == "gaussian_pdf":
        values["c"].abs_().add_(0.5)
    if not p.dtype.is_floating_point and "/" in text:  # for integers, as C++ divides them
        text = text.replace("/", "//")
        for tensor in values.values():
            tensor.clamp_(min=1)
    code = compile(text, "function", "eval")
    output = torch.empty(shape, dtype=p.dtype, device="cuda")
    arguments = [operands[name][0] if name in operands else None for name in "abcdef"]
    return [*arguments, output], output, lambda: eval(code, WORDS, values), None


def conv_covariance(p):
    batch, out, inner, height, width = (
        p[name] for name in ("batch", "channels_out", "channels_in", "height", "width")
    )
    rows, columns = height - p["mask_height"] + 1, width - p["mask_width"] + 1
    before = random((batch, out, rows, columns, out, rows, columns), p.dtype)
    gamma = random((batch, inner, height, width, inner, height, width), p.dtype)
    mu, c = random((batch, inner, height, width), p.dtype), random((out,), p.dtype)
    ours, other = before.clone(), before.clone()

    def diagonal(blocks):
        return torch.diagonal(blocks, dim1=1, dim2=4)

    def add_to(output, gamma, mu, c):
        pairs = torch.einsum("bcij,bckl->bijkl", mu, mu) + diagonal(gamma).sum(-1)
        total = 0
        for i in range(p["mask_height"]):
            for j in range(p["mask_width"]):
                y, x = slice(i, i + rows), slice(j, j + columns)
                total = total + pairs[:, y, x, y, x]
        diagonal(output).add_(total[..., None] * c)
        return output

    def eager():
        return add_to(other, gamma, mu, c)

    # PyTorch rounds each partial sum of halves to a half, so the right result is computed in floats.
    if p.dtype.itemsize == 2:
        eager.exact = lambda: add_to(*(array.float() for array in (before, gamma, mu, c)))

    def restore():
        ours.copy_(before)
        other.copy_(before)

    return [ours, gamma, mu, c], ours, eager, restore


MAKERS = {
    "conv2d": conv2d,
    "conv1d": conv1d,
    "transpose": transpose,
    "reduce": reduce,
    "histogram": histogram,
    "elementwise": elementwise,
    "conv_covariance": conv_covariance,
    "scan": scan,
    "rank_filter": rank_filter,
    "rows": rows,
}


def agree(a, b, dtype):
    """Roundings differ, and sums are in another order; wrong results differ by far more."""
    if not dtype.is_floating_point:
        return bool(
            (a.view(torch.int16) == b.view(torch.int16)).all() if dtype == torch.uint16 else (a == b).all()
        )
    a, b = a.double(), b.double().expand_as(a) if b.dim() <= a.dim() else b.double().reshape(a.shape)
    finite = b[b.isfinite()].abs()
    scale = (finite.mean() if len(finite) else 0) + b.abs()
    near = (a - b).abs() <= {2: 0.05, 4: 2e-3, 8: 1e-9}[dtype.itemsize] * scale + 1e-30
    return bool((near & b.isfinite() | (a == b) | a.isnan() & b.isnan()).all())


def measured(op, text, tunesmith, given, say):
    """(verdict, dispatch's us, PyTorch's us, the variant that dispatch launched)."""
    p = Problem(text)
    made = MAKERS[op](p) if op in MAKERS else None
    if made is None:
        return "PyTorch has no op for it", None, None, ""
    arrays, output, eager, restore = made
    ours = tunesmith.contender(op, text, arrays, output, restore)
    ours.name, ours.kind = "Tunesmith", "ours"
    peer = of.pytorch(eager, capture=p.get("function") != "bincount")
    peer.name = "PyTorch"
    if restore:
        restore()
    ours.launch()
    peer.launch()
    torch.cuda.synchronize()
    # A rounding may move a histogram's edges, so its counts are compared as a whole.
    found, wanted = output, eager.exact() if hasattr(eager, "exact") else peer.output()
    if op == "histogram":
        right = (
            int((found.double().cumsum(0) - wanted.double().cumsum(0)).abs().max())
            <= 1 + found.sum().item() * 1e-4
        )
    else:
        right = agree(found, wanted, found.dtype)
    timing.measure([ours, peer], given.rounds, given.seconds, tunesmith.launch_spacer, say)
    return "ok" if right else "they differ", ours.us("apart"), peer.us("apart"), ours.note


def first_launch(op, text, tunesmith, first, given):
    """(verdict, the chosen kernel's us, the first launch's us, the variant of the first launch)."""
    p = Problem(text)
    made = MAKERS[op](p) if op in MAKERS else None
    if made is None:
        return "PyTorch has no op for it", None, None, ""
    arrays, output, _, restore = made
    chosen = tunesmith.contender(op, text, arrays, output, restore)
    chosen.name, chosen.kind = "chosen", "ours"
    try:
        start = first.contender(op, text, arrays, output, restore)
    except RuntimeError as error:
        return "needs a compiler" if "can be loaded" in str(error) else timing.sentence(error), None, None, ""
    start.name, start.kind = "first", "ours"
    results = []
    for one in (chosen, start):
        if restore:
            restore()
        one.launch()
        torch.cuda.synchronize()
        results.append(output.clone())
    right = agree(*results, output.dtype)
    timing.measure([chosen, start], given.rounds, given.seconds, tunesmith.launch_spacer, lambda words: None)
    return "ok" if right else "they differ", chosen.us("apart"), start.us("apart"), start.note


def summary(ratios, at_once):
    """A line on the ratios of first launches' times to the chosen kernels', or of PyTorch's to ours."""
    mean = f"{len(ratios)} problems, {statistics.geometric_mean(ratios):.2f} times"
    if at_once:
        return (
            f"{mean} the chosen kernel's time, {sum(ratio > SLOW for ratio in ratios)} above {SLOW}, "
            f"{sum(ratio > TOO_SLOW for ratio in ratios)} above {TOO_SLOW}, at worst {max(ratios):.2f}"
        )
    return f"{mean} as fast as PyTorch, at worst {min(ratios):.2f} times"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--op", action="append", choices=ops.NAMES, help="only this op; may be repeated")
    parser.add_argument("--problems", type=int, default=20, help="of each op (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which are drawn (default: %(default)s)")
    parser.add_argument(
        "--total", type=float, default=0, help="seconds for all; what is not reached is left out"
    )
    parser.add_argument(
        "--library", default="build/bench/bench/libtunesmith_bench.so", help="default: %(default)s"
    )
    parser.add_argument("--database", "--db", default="", help="a tuned database (default: what is built in)")
    parser.add_argument("--device", type=int, default=0, help="the number of the GPU (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="at most (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=0.3, help="of timing a problem (default: %(default)s)"
    )
    parser.add_argument("--csv", type=Path, help="a line for each problem")
    parser.add_argument(
        "--at-once",
        nargs="?",
        const="",
        metavar="LIBRARY",
        help="beside what starts without a compiler and a cache, instead of PyTorch; of this library, if another",
    )
    given = parser.parse_args()
    torch.cuda.set_device(given.device)
    torch.manual_seed(given.seed)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    tunesmith = of.Tunesmith(Path(given.library).resolve(), given.database, f"cuda:{given.device}")
    label, columns, behind = "PyTorch", "pytorch_us", BEHIND
    if given.at_once is not None:
        library = Path(given.at_once or given.library).resolve()
        first = of.Tunesmith(library, given.database, f"cuda:{given.device}", at_once=True)
        label, columns, behind = "the chosen", "first_us", TOO_SLOW
    begin, faults, rows, all_ratios = time.monotonic(), 0, [], []
    names = given.op or ops.NAMES
    for number, op in enumerate(names, 1):
        ratios = []
        for text in tunesmith.drawn(op, given.problems, given.seed):
            if given.total and time.monotonic() - begin > given.total * number / len(names):
                break
            try:
                if given.at_once is not None:
                    verdict, ours, peer, launched = first_launch(op, text, tunesmith, first, given)
                else:
                    verdict, ours, peer, launched = measured(op, text, tunesmith, given, lambda words: None)
            except Exception as error:
                verdict, ours, peer, launched = timing.sentence(error), None, None, ""
            ratio = peer / ours if ours and peer else None
            slower = ratio if given.at_once is not None else ratio and 1 / ratio
            faults += verdict == "they differ" or (ratio is not None and slower > behind)
            if ratio is not None:
                ratios.append(ratio)
            rows.append([op, text, verdict, ours, peer, ratio, launched])
            print(
                f"{op:16} {'' if ratio is None else f'{ratio:6.2f} times {label}':20} {verdict:12} {text}",
                flush=True,
            )
            torch.cuda.empty_cache()
        all_ratios += ratios
        if ratios:
            print(f"{op}: {summary(ratios, given.at_once is not None)}")
    if given.at_once is not None and all_ratios:
        print(f"all: {summary(all_ratios, True)}")
    if given.csv:
        with open(given.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["op", "problem", "verdict", "tunesmith_us", columns, "ratio", "launched"])
            writer.writerows(rows)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
