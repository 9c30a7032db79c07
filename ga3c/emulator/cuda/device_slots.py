"""Rollout slots in a GPU's memory: Numba writes the observations, TensorFlow reads them without a copy.

Numba and TensorFlow have a CUDA stream each, and neither waits for the other's. So the host waits twice for each write:
before it, until TensorFlow has read the old observations, and after it, until the new ones are written.
"""

from collections.abc import Callable

import numpy as np

from ga3c.emulator.cuda import arrays, dlpack


class SlotField:
    """A field of the slots: for each slot an array [row, game, ...], or one without rows.

    field[slot] and field[slot, row] are tensors of this memory, valid until it is written to.
    """

    def __init__(
        self, slots: int, shape: tuple[int, ...], dtype: np.dtype, as_tensor: Callable, one_for_all: bool = False
    ):
        """`as_tensor` makes a tensor of a DLPack capsule. `one_for_all`: all slots share one array."""
        made = [arrays.empty(shape, dtype) for _ in range(1 if one_for_all else slots)]
        self._arrays, self._as_tensor = made * slots if one_for_all else made, as_tensor

    def __getitem__(self, index: int | tuple[int, int]):
        # A new tensor each time: TensorFlow may keep copies of an old one on other devices.
        slot, *row = index if isinstance(index, tuple) else (index,)
        tensor = self._as_tensor(dlpack.capsule(self._arrays[slot]))
        return tensor[row[0]] if row else tensor

    def __setitem__(self, index: int | tuple[int, int], states) -> None:
        slot, *row = index if isinstance(index, tuple) else (index,)
        arrays.finish()
        arrays.write(self._arrays[slot][row[0]] if row else self._arrays[slot], states)
        arrays.finish()
