# SPDX-License-Identifier: Apache-2.0
"""Draws forms of calls: shapes, element types, layouts, numbers; and finds the fault of a result."""

import math
from typing import Any, NamedTuple

import numpy as np

integers = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
reals = ("float16", "float32", "float64")
real_types = ("bool", *integers, *reals)
all_types = (*real_types, "complex64", "complex128")
units = {
    "float16": 2.0**-11,
    "float32": 2.0**-24,
    "float64": 2.0**-53,
    "complex64": 2.0**-24,
    "complex128": 2.0**-53,
}


def poisoned(made: np.ndarray) -> np.ndarray:
    """A new array, full of NaN or of an unlikely integer."""
    made.reshape(-1).view(np.uint8)[...] = 0xFF if made.dtype.kind in "fc" else 0x6D
    return made


class Numbers(NamedTuple):
    """The parts of a call's array, whose elements are drawn anew in each call."""

    shape: tuple[int, ...]
    dtype: str
    kinds: tuple[str, ...] = ("few", "wide", "ends", "time")


class Call(NamedTuple):
    """A form of a call. expected() and error(), the permitted error of a result, get the same arrays and settings."""

    arrays: dict[str, Numbers]
    settings: dict[str, Any]
    expected: Any
    error: Any = None  # None: no error is permitted
    out: str | None = None  # the name of that parameter
    ours: Any = None
    same: Any = None  # the part of a result that is compared


class Draw:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def one_of(self, *values):
        return values[int(self.random.integers(len(values)))]

    def chance(self, part):
        return bool(self.random.random() < part)

    def between(self, least, most):
        return int(self.random.integers(least, most, endpoint=True))

    def dtype(self, *among):
        # Arrays of these types are read in place.
        usual = [one for one in among if one in ("float32", "float64", "int32", "int64")]
        return self.one_of(*(usual if usual and self.chance(0.6) else among))

    def shape(self, least=1, most=4, empty=True):
        found = [self.one_of(1, 1, 2, 3, 4, 5, 7, 8) for _ in range(self.between(least, most))]
        if found and self.chance(0.15):
            found[self.between(0, len(found) - 1)] = self.one_of(17, 32, 65)
        if found and empty and self.chance(0.05):
            found[self.between(0, len(found) - 1)] = 0
        return tuple(found)

    def axis(self, dimensions):
        return self.between(-dimensions, dimensions - 1)

    def axes(self, dimensions):
        if dimensions == 0:
            return self.one_of(None, ())
        count = self.between(0, dimensions)
        some = tuple(
            int(k) - dimensions * self.chance(0.3) for k in self.random.permutation(dimensions)[:count]
        )
        return self.one_of(None, some, some, self.axis(dimensions))

    def values(self, numbers, kind):
        """Elements of one kind."""
        random, shape, dtype = self.random, numbers.shape, np.dtype(numbers.dtype)
        if dtype.kind == "b":
            return random.random(shape) < self.one_of(0.1, 0.5, 0.9)
        if dtype.kind == "c":
            return (random.standard_normal(shape) * 30 + 1j * random.standard_normal(shape)).astype(dtype)
        if dtype.kind == "f":
            if kind == "few":
                # The zeros have both signs.
                return random.integers(-3, 4, shape).astype(dtype) * random.choice([-1, 1], shape).astype(
                    dtype
                )
            if kind == "time":
                return (
                    (1.7e9 + random.random(shape)).astype(dtype)
                    if dtype.itemsize > 2
                    else (random.random(shape) + 7).astype(dtype)
                )
            found = (random.standard_normal(shape) * 30).astype(dtype)
            limits = np.finfo(dtype)
            if kind == "ends":
                special = random.choice(
                    [
                        limits.max,
                        limits.min,
                        limits.tiny,
                        limits.smallest_subnormal,
                        0,
                        np.inf,
                        -np.inf,
                        np.nan,
                    ],
                    shape,
                )
                return np.where(random.random(shape) < self.one_of(0.1, 0.5), special, found).astype(dtype)
            if kind == "infinite":
                special = random.choice([np.inf, -np.inf], shape)
                return np.where(random.random(shape) < 0.1, special, found).astype(dtype)
            return found
        limits = np.iinfo(dtype)
        if kind == "few":
            return random.integers(0 if dtype.kind == "u" or self.chance(0.3) else -4, 5, shape).astype(dtype)
        if kind == "time" and dtype.itemsize == 8:
            return (1_700_000_000_000_000_000 + random.integers(0, 2000, shape)).astype(dtype)
        if kind == "ends":
            ends = [limits.min, limits.min + 1, limits.max - 1, limits.max, 0, 1]
            return np.array(ends, dtype)[random.integers(0, len(ends), shape)]
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


class Layout:
    """The layout of an array's elements: the same in both calls, except sometimes the address."""

    def __init__(self, draw: Draw, dimensions: int, is_out: bool = False):
        plain = draw.chance(0.5)
        self.order = (
            tuple(range(dimensions))
            if plain or draw.chance(0.4)
            else tuple(int(k) for k in draw.random.permutation(dimensions))
        )
        self.steps = [1 if plain else draw.one_of(1, 1, 1, 1, 2, 3, -1, -2) for _ in range(dimensions)]
        self.more = [0 if plain else draw.one_of(0, 0, 0, 1, 2) for _ in range(dimensions)]
        self.repeated = (
            None if plain or is_out or not dimensions or draw.chance(0.9) else draw.between(0, dimensions - 1)
        )
        self.place = None  # bytes off an aligned address
        self.offset = draw.one_of("aligned", "aligned", "aligned", "elements", "bytes")

    def made(self, draw: Draw, values: np.ndarray):
        """The array, and the memory that it is a part of."""
        if self.repeated is not None and values.shape[self.repeated]:
            shape, values = values.shape, values.take([0], self.repeated)
        else:
            shape = values.shape
        extents = [
            extent * abs(step) + more for extent, step, more in zip(values.shape, self.steps, self.more)
        ]
        item = values.dtype.itemsize
        count = math.prod(extents)
        places = {"aligned": (0,), "elements": range(0, 16, item), "bytes": range(16)}[self.offset]
        self.place = draw.one_of(*places) if self.place is None or draw.chance(0.3) else self.place
        offset = self.place
        memory = poisoned(np.empty(count + 64 // item, values.dtype)).view(np.uint8)
        offset += -memory.ctypes.data % 16
        base = (
            memory[offset : offset + count * item]
            .view(values.dtype)
            .reshape([extents[k] for k in self.order])
        )
        base = base.transpose(np.argsort(self.order)) if self.order else base
        part = tuple(
            slice(None, extent * abs(step), abs(step)) for extent, step in zip(values.shape, self.steps)
        )
        mirrored = tuple(slice(None, None, -1 if step < 0 else 1) for step in self.steps)
        array = base[(*part, ...)][(*mirrored, ...)]
        array[...] = values
        return array if array.shape == shape else np.broadcast_to(array, shape), memory


def exact(x):
    """Reals with more digits."""
    x = np.asarray(x)
    return x.astype({"f": np.longdouble, "c": np.clongdouble}.get(x.dtype.kind, x.dtype))


def magnitude(x):
    x = np.asarray(x)
    return np.abs(x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble))


def parts(found):
    """The arrays of tuples, lists and dicts within each other."""
    if isinstance(found, (tuple, list)):
        return [one for part in found for one in parts(part)]
    if isinstance(found, np.ndarray) and found.dtype == object:
        return [one for part in found.reshape(-1) for one in parts(part)]
    return [found]


def difference(found, expected, error) -> str | None:
    """The fault of a result, if there is one."""
    if found is None or expected is None:
        return None if found is expected else f"{found!r}, not {expected!r}"
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{found.shape}, not {expected.dtype}{expected.shape}"
    if found.dtype.kind == "b":
        # SciPy's truth values may be other bytes than 0 and 1.
        wrong = found.view(np.uint8) != (expected.view(np.uint8) != 0)
    elif found.dtype.kind in "iu":
        # The difference counts also if one of the two has wrapped around.
        apart = np.subtract(found, expected).view(found.dtype.str.replace("u", "i"))
        with np.errstate(over="ignore"):
            wrong = ~(np.abs(apart) <= (0 if error is None else np.asarray(error))) | (
                apart == np.iinfo(apart.dtype).min
            )
    else:
        both, theirs = exact(found), exact(expected)
        with np.errstate(all="ignore"):
            near = np.abs(both - theirs) <= (0 if error is None else np.asarray(error, np.longdouble))
        wrong = ~(near | (both == theirs) | np.isnan(both) & np.isnan(theirs))
        if found.dtype.kind == "f":
            wrong |= np.isnan(both) != np.isnan(theirs)
    if not wrong.any():
        return None
    place = tuple(int(k) for k in np.argwhere(np.atleast_1d(wrong))[0])
    at = (lambda array: np.atleast_1d(array)[place]) if wrong.shape else (lambda array: array[()])
    allowed = (
        ""
        if error is None
        else f" within {np.broadcast_to(error, found.shape)[place if found.shape else ()]:.3g}"
    )
    return f"{int(wrong.sum())} of {wrong.size} elements, as {at(found)!r} at {place}, not {at(expected)!r}{allowed}"
