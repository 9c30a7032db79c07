"""Arrays in a GPU's memory. In Numba's simulator they lie in main memory."""

import numpy as np
from numba import cuda
from numba.cuda.core import config

ALIGNED_BYTES = 64  # TensorFlow requires this alignment; arrays in a GPU's memory have it


def put(arrays):
    """Returns a named tuple whose arrays, at any depth, are copied to the GPU."""
    if isinstance(arrays, tuple):
        return type(arrays)(*map(put, arrays))
    if not isinstance(arrays, np.ndarray):
        return arrays
    return arrays.copy() if config.ENABLE_CUDASIM else cuda.to_device(arrays)


def room(arrays):
    """Returns a named tuple of uninitialised arrays in the GPU's memory, of the same shapes and dtypes."""
    return type(arrays)(*(empty(one.shape, one.dtype) for one in arrays))


def empty(shape: tuple[int, ...], dtype: np.dtype):
    """Returns an uninitialised array in the GPU's memory."""
    return aligned(shape, dtype) if config.ENABLE_CUDASIM else cuda.device_array(shape, dtype)


def aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Returns an uninitialised array in main memory, aligned so that TensorFlow need not copy it."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    found = np.empty(size + ALIGNED_BYTES, np.uint8)
    start = -found.ctypes.data % ALIGNED_BYTES
    return found[start : start + size].view(dtype).reshape(shape)


def write(target, source) -> None:
    """Copies `source`, in the GPU's or in main memory, to `target`, which has the same shape."""
    if isinstance(target, np.ndarray):
        target[...] = source
    else:
        target.copy_to_device(source if hasattr(source, "__cuda_array_interface__") else np.asarray(source))


def finish() -> None:
    """Waits until the GPU has finished all work, of Numba and of TensorFlow: they share one context."""
    cuda.synchronize()


def free_bytes() -> int:
    """Returns the number of free bytes of the GPU's memory."""
    return cuda.current_context().get_memory_info()[0]
