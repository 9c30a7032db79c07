"""Exports an array, in a GPU's or in main memory, by DLPack, without a copy.

tf.experimental.dlpack.from_dlpack(capsule(array)) is a tensor of the same memory, and so is
torch.from_dlpack(Shared(array)).
"""

import ctypes

import numpy as np

_CPU, _CUDA = 1, 2
_KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}


class _Tensor(ctypes.Structure):
    """The struct DLManagedTensor of dlpack.h, which begins with a DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("kind", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("delete", ctypes.c_void_p),
    )


_lent = {}  # by the tensor's address: the objects that must live until it is released


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _release(address):
    _lent.pop(address, None)


def capsule(array, device: int = 0):
    """Returns a DLPack capsule of a contiguous array. `device` is the number of its GPU."""
    on_gpu = getattr(array, "__cuda_array_interface__", None)
    address = (on_gpu or array.__array_interface__)["data"][0]
    dtype, shape = np.dtype(array.dtype), (ctypes.c_int64 * len(array.shape))(*array.shape)
    tensor = _Tensor(
        address, _CUDA if on_gpu else _CPU, device if on_gpu else 0, len(array.shape), _KINDS[dtype.kind],
        8 * dtype.itemsize, 1, shape, None, 0, None, ctypes.cast(_release, ctypes.c_void_p),
    )  # fmt: skip
    _lent[ctypes.addressof(tensor)] = tensor, shape, array
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(tensor), b"dltensor", None)


class Shared:
    """An array that other libraries take without a copy, by DLPack or `__cuda_array_interface__`; NumPy copies it."""

    def __init__(self, array, device: int = 0):
        self._array, self._device = array, device
        self.shape, self.dtype = array.shape, array.dtype
        if hasattr(array, "__cuda_array_interface__"):
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    def __dlpack__(self, **_):
        return capsule(self._array, self._device)

    def __dlpack_device__(self) -> tuple[int, int]:
        is_on_gpu = hasattr(self, "__cuda_array_interface__")
        return (_CUDA, self._device) if is_on_gpu else (_CPU, 0)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self._array, dtype)

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index) -> np.ndarray:
        return np.array(self._array)[index]
