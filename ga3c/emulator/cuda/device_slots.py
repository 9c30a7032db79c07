"""What games show, kept in a GPU's memory until it is learned from: Numba writes it, TensorFlow reads it where it lies.

On a GPU each of the two has a stream of work of its own, and neither waits for the other's. Who hands a tensor over by
DLPack has to see that what is in it is there. So the host waits twice for each write: before it, until TensorFlow has
read what is written over, and after it, until all is written.
"""

from collections.abc import Callable

import numpy as np

from ga3c.emulator.cuda import arrays, dlpack


class SlotField:
    """A field of slots: an array [row, game, ...], or one without rows, for each of them.

    field[slot] and field[slot, row] are tensors of the memory itself, good until it is written to; whatever TensorFlow
    makes of them before that is made of what is there now.
    """

    def __init__(
        self, slots: int, shape: tuple[int, ...], dtype: np.dtype, as_tensor: Callable, one_for_all: bool = False
    ):
        """`as_tensor` makes one of a DLPack capsule. `one_for_all`: all slots have the same array."""
        made = [arrays.empty(shape, dtype) for _ in range(1 if one_for_all else slots)]
        self._arrays, self._as_tensor = made * slots if one_for_all else made, as_tensor

    def __getitem__(self, place: int | tuple[int, int]):
        # Made anew each time: of one that it has, TensorFlow may keep copies on other devices.
        slot, *row = place if isinstance(place, tuple) else (place,)
        tensor = self._as_tensor(dlpack.capsule(self._arrays[slot]))
        return tensor[row[0]] if row else tensor

    def __setitem__(self, place: int | tuple[int, int], states) -> None:
        slot, *row = place if isinstance(place, tuple) else (place,)
        arrays.finish()
        arrays.write(self._arrays[slot][row[0]] if row else self._arrays[slot], states)
        arrays.finish()
