"""Arrays in a GPU's memory. Numba's simulator has none of its own: there they lie in the main memory."""

import numpy as np
from numba import cuda
from numba.cuda.core import config

ALIGNED_BYTES = 64  # TensorFlow wants arrays to begin at a multiple of this; in a GPU's memory they do


def put(arrays):
    """A named tuple with its arrays, and those of its named tuples, copied there."""
    if isinstance(arrays, tuple):
        return type(arrays)(*map(put, arrays))
    if not isinstance(arrays, np.ndarray):
        return arrays
    return arrays.copy() if config.ENABLE_CUDASIM else cuda.to_device(arrays)


def room(arrays):
    """As much room there as a named tuple of arrays takes."""
    return type(arrays)(*(empty(one.shape, one.dtype) for one in arrays))


def empty(shape: tuple[int, ...], dtype: np.dtype):
    """Room for one array."""
    return aligned(shape, dtype) if config.ENABLE_CUDASIM else cuda.device_array(shape, dtype)


def aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Room in the main memory that TensorFlow can take for its own."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    found = np.empty(size + ALIGNED_BYTES, np.uint8)
    start = -found.ctypes.data % ALIGNED_BYTES
    return found[start : start + size].view(dtype).reshape(shape)


def write(target, source) -> None:
    """Puts an array of the same shape, from there or from the main memory, in the place of another one."""
    if isinstance(target, np.ndarray):
        target[...] = source
    else:
        target.copy_to_device(source if hasattr(source, "__cuda_array_interface__") else np.asarray(source))


def finish() -> None:
    """Waits until the GPU has done all that it was given, whoever gave it: Numba and TensorFlow have one context."""
    cuda.synchronize()


def free_bytes() -> int:
    """That nobody has taken yet."""
    return cuda.current_context().get_memory_info()[0]
