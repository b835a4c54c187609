# SPDX-License-Identifier: Apache-2.0
"""elementwise: the functions of the original Numba kernels on f32 arrays; mean and sigma are one element each,
broadcast."""

import functools
import math

import contenders as of
import torch
from timing import Case, Expected

cuda = of.numba_cuda  # a global, which Numba's simulator needs

LARGE = 2**27
SIZES = [LARGE, 10**3, 10**4, 10**5, 10**6, 10**7]
MEAN, SIGMA = 0.25, 1.5
ROOT_2PI = math.sqrt(2 * math.pi)
INPUTS = {"add": 2, "hypot": 2, "gaussian_pdf": 1, "polar_distance": 4}  # arrays of n elements


def case(function, n):
    broadcast = " b=1 c=1" if function == "gaussian_pdf" else ""
    goals = "apart <= 1 best peer; cold <= 1 best peer"
    if function != "polar_distance":
        goals = "apart <= 1 CUB; " + goals
    elif n == LARGE:  # not compared with CUB, whose kernel is bound by arithmetic
        goals = "apart <= 1.02 same traffic; " + goals
    size = "2^27" if n == LARGE else f"10^{round(math.log10(n))}"
    return Case(
        name=f"{function}, n={size}",
        problem=f"function={function} shape={n}{broadcast}",
        goals=goals,
        function=function,
        n=n,
    )


CASES = [case(function, n) for function in INPUTS for n in SIZES]


def inputs(case):
    count = INPUTS[case.function]
    if case.function == "polar_distance":  # radius and angle, twice
        ranges = [(0.5, 1.5), (-math.pi, math.pi)] * 2
    else:
        ranges = [(-3.0, 3.0)] * count
    flat = of.random(case, (count, case.n), 0.0, 1.0)
    return tuple(flat[i].mul(high - low).add_(low) for i, (low, high) in enumerate(ranges))


def scalars(case):
    """mean and sigma, as arrays."""
    values = (MEAN, SIGMA) if case.function == "gaussian_pdf" else ()
    return [torch.tensor([value], device="cuda") for value in values]


def tunesmith(case, *arrays):
    output = of.poisoned((case.n,))
    given = [*arrays, *scalars(case)]
    unused = [None] * (6 - len(given))  # the op takes up to six inputs
    return [*given, *unused, output], output, None


# The functions that PyTorch and CuPy compute. The peers get mean and sigma as numbers.
def add(x, y):
    return x + y


def hypot(x, y):
    return torch.hypot(x, y)


def gaussian_pdf(x):
    return torch.exp(-0.5 * ((x - MEAN) / SIGMA) ** 2) / (SIGMA * ROOT_2PI)


def polar_distance(rho1, theta1, rho2, theta2):
    x = rho1 * torch.cos(theta1) - rho2 * torch.cos(theta2)
    y = rho1 * torch.sin(theta1) - rho2 * torch.sin(theta2)
    return torch.sqrt(x**2 + y**2)


FUNCTIONS = {"add": add, "hypot": hypot, "gaussian_pdf": gaussian_pdf, "polar_distance": polar_distance}


def expected(case, *arrays):
    exact = [array.double() for array in arrays]
    value = FUNCTIONS[case.function](*exact)
    if case.function == "add":
        roundings = value.abs()
    elif case.function == "hypot":
        roundings = value * 8
    elif case.function == "gaussian_pdf":  # error of the exponent, of exp (2 ulp), and of the rest
        roundings = value * (6 * ((exact[0] - MEAN) / SIGMA) ** 2 / 2 + 10)
    else:  # sin and cos to 2 ulp, and a difference of nearly equal numbers
        roundings = (exact[0] + exact[2]) * 16
    return Expected(value, roundings * (2.0**-24 * (1 + 2.0**-20)))


def pytorch(case, *arrays):
    return of.pytorch(FUNCTIONS[case.function], *arrays)


def compiled(case, *arrays):
    return of.compiled(FUNCTIONS[case.function], *arrays)


def with_cupy(case, *arrays):
    """The function as it is usually written, with arrays."""
    if of.cupy is None:
        return None
    cp, given = of.cupy, [of.as_cupy(array) for array in arrays]
    functions = {
        "add": lambda x, y: x + y,
        "hypot": cp.hypot,
        "gaussian_pdf": lambda x: cp.exp(-0.5 * ((x - MEAN) / SIGMA) ** 2) / (SIGMA * ROOT_2PI),
        "polar_distance": lambda rho1, theta1, rho2, theta2: cp.sqrt(
            (rho1 * cp.cos(theta1) - rho2 * cp.cos(theta2)) ** 2
            + (rho1 * cp.sin(theta1) - rho2 * cp.sin(theta2)) ** 2
        ),
    }
    return of.with_cupy(lambda: functions[case.function](*given), keep=arrays)


KERNELS = {
    "add": ("T x, T y", "out = x + y"),
    "hypot": ("T x, T y", "out = hypotf(x, y)"),
    "gaussian_pdf": (
        "T x",
        f"T t = (x - {MEAN}f) / {SIGMA}f; out = expf(-0.5f * t * t) / ({SIGMA * ROOT_2PI}f)",
    ),
    "polar_distance": (
        "T rho1, T theta1, T rho2, T theta2",
        "T x = rho1 * cosf(theta1) - rho2 * cosf(theta2); "
        "T y = rho1 * sinf(theta1) - rho2 * sinf(theta2); out = sqrtf(x * x + y * y)",
    ),
}


@functools.cache
def cupy_kernel(function):
    arguments, text = KERNELS[function]
    return of.cupy.ElementwiseKernel(arguments, "T out", text, f"bench_{function}")


def with_cupy_kernel(case, *arrays):
    if of.cupy is None:
        return None
    output = of.poisoned((case.n,))
    kernel, given = cupy_kernel(case.function), [of.as_cupy(array) for array in (*arrays, output)]
    return of.with_cupy(lambda: kernel(*given), output=lambda: output, keep=arrays)


def with_cub(case, *arrays):
    if of.peers is None:
        return None
    return of.peers.transform(case.function, arrays, (MEAN, SIGMA) if case.function == "gaussian_pdf" else ())


@functools.cache
def original(function):
    """The original function, in a kernel as numba.vectorize makes it: one thread per element."""
    root_2pi = torch.tensor(ROOT_2PI).numpy()[()]  # a float32, as in the original

    def polar_to_cartesian(rho, theta):
        return rho * math.cos(theta), rho * math.sin(theta)

    polar_to_cartesian = cuda.jit(polar_to_cartesian, device=True)

    def add_function(x, y):
        return x + y

    def hypot_function(x, y):
        x = abs(x)
        y = abs(y)
        t = min(x, y)
        x = max(x, y)
        t = t / x
        return x * math.sqrt(1 + t * t)

    def gaussian_function(x, mean, sigma):
        return math.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * root_2pi)

    def polar_function(rho1, theta1, rho2, theta2):
        x1, y1 = polar_to_cartesian(rho1, theta1)
        x2, y2 = polar_to_cartesian(rho2, theta2)
        return ((x1 - x2) ** 2 + (y1 - y2) ** 2) ** 0.5

    of_element = cuda.jit(
        {
            "add": add_function,
            "hypot": hypot_function,
            "gaussian_pdf": gaussian_function,
            "polar_distance": polar_function,
        }[function],
        device=True,
    )

    def of_two(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = of_element(x[i], y[i])

    def of_gaussian(x, mean, sigma, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = of_element(x[i], mean[0], sigma[0])

    def of_four(x, y, z, w, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = of_element(x[i], y[i], z[i], w[i])

    return cuda.jit({"gaussian_pdf": of_gaussian, "polar_distance": of_four}.get(function, of_two))


def with_numba(case, *arrays):
    if of.numba_cuda is None:
        return None
    output = of.poisoned((case.n,))
    given = of.as_numba(*arrays, *scalars(case), output)
    return of.with_numba(original(case.function), (case.n + 255) // 256, 256, given, output)


PEERS = {
    "PyTorch": pytorch,
    "PyTorch compiled": compiled,
    "CuPy": with_cupy,
    "CuPy kernel": with_cupy_kernel,
    "CUB": with_cub,
    "original": with_numba,
}
LIMITS = {"same traffic": lambda case, *arrays: of.traffic(arrays)}
