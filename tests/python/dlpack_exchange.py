# SPDX-License-Identifier: Apache-2.0
"""An array library in Python whose type has DLPack's table of functions, __dlpack_c_exchange_api__."""

import ctypes as c

import numpy as np


class Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("ndim", c.c_int32),
        ("code", c.c_uint8),
        ("bits", c.c_uint8),
        ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


class Managed(c.Structure):
    pass


Deleter = c.CFUNCTYPE(None, c.POINTER(Managed))
Managed._fields_ = [
    ("major", c.c_uint32),
    ("minor", c.c_uint32),
    ("context", c.c_void_p),
    ("deleter", Deleter),
    ("flags", c.c_uint64),
    ("tensor", Tensor),
]
SetError = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p, c.c_char_p)
Allocate = c.PYFUNCTYPE(c.c_int, c.POINTER(Tensor), c.POINTER(c.POINTER(Managed)), c.c_void_p, SetError)
FromObject = c.PYFUNCTYPE(c.c_int, c.py_object, c.POINTER(c.POINTER(Managed)))
ToObject = c.PYFUNCTYPE(c.c_int, c.POINTER(Managed), c.POINTER(c.c_void_p))
Stream = c.PYFUNCTYPE(c.c_int, c.c_int32, c.c_int32, c.POINTER(c.c_void_p))


class Table(c.Structure):
    _fields_ = [
        ("major", c.c_uint32),
        ("minor", c.c_uint32),
        ("older", c.c_void_p),
        ("allocate", Allocate),
        ("from_object", FromObject),
        ("to_object", ToObject),
        ("tensor_from_object", c.c_void_p),
        ("current_stream", Stream),
    ]


lent = {}  # what is kept for whoever reads an array, by its address; the deleter takes it out
state = {"flags": 0, "refuse": ""}
codes = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Foreign:
    """Its array: NumPy's within, which may claim to lie on a GPU."""

    def __init__(self, array, device_type=1):
        self.array, self.device_type = array, device_type


@Deleter
def delete(managed):
    del lent[c.addressof(managed.contents)]


def lend(array, device_type):
    managed = Managed(1, 3, None, delete, state["flags"])
    shape = (c.c_int64 * array.ndim)(*array.shape)
    strides = (c.c_int64 * array.ndim)(*(one // array.itemsize for one in array.strides))
    dtype = array.dtype
    managed.tensor = Tensor(
        array.ctypes.data,
        device_type,
        0,
        array.ndim,
        codes[dtype.kind],
        8 * dtype.itemsize,
        1,
        shape,
        strides,
    )
    lent[c.addressof(managed)] = (managed, array, shape, strides)
    return c.pointer(managed)


@Allocate
def allocate(wanted, out, context, set_error):
    if state["refuse"]:
        set_error(context, b"MemoryError", state["refuse"].encode())
        return -1
    wanted = wanted.contents
    kind = next(kind for kind, code in codes.items() if code == wanted.code)
    array = np.empty(wanted.shape[: wanted.ndim], f"{kind}{wanted.bits // 8}")
    out[0] = lend(array, wanted.device_type)
    return 0


@FromObject
def from_object(given, out):
    out[0] = lend(given.array, given.device_type)
    return 0


@ToObject
def to_object(managed, out):
    _, array, _, _ = lent[c.addressof(managed.contents)]
    made = Foreign(array, managed.contents.tensor.device_type)
    delete(managed)
    c.pythonapi.Py_IncRef(c.py_object(made))
    out[0] = id(made)
    return 0


@Stream
def current_stream(device_type, device, out):
    out[0] = 4096 + device
    return 0


table = Table(1, 3, None, allocate, from_object, to_object, None, current_stream)
newer = Table(2, 0, c.addressof(table), allocate, from_object, to_object, None, current_stream)
_capsule = c.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
_name = b"dlpack_exchange_api"
Foreign.__dlpack_c_exchange_api__ = _capsule(c.addressof(table), _name, None)


class Newer(Foreign):
    """Its type has functions of a later version, which name those of this one."""

    __dlpack_c_exchange_api__ = _capsule(c.addressof(newer), _name, None)
