"""Rollout slots in a GPU's memory: Numba writes the observations, TensorFlow reads them without a copy.

Numba and TensorFlow have a CUDA stream each, and neither waits for the other's. So the host waits twice for each write:
before it, until TensorFlow has read the old observations, and after it, until the new ones are written.
"""

from collections.abc import Callable, Sequence
from functools import cache

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

    def games(self, slot: int, row: int | None, begin: int, end: int):
        """Returns an array in the GPU's memory [game, ...]: some games of a row, or of an array without rows."""
        array = self._arrays[slot]
        return array[begin:end] if row is None else array[row, begin:end]

    def joined(self, rows: int, columns: int) -> "JoinedRows":
        """Returns memory for so many rows of so many games."""
        array = self._arrays[0]
        return JoinedRows(self, arrays.empty((rows, columns, *array.shape[2:]), array.dtype), self._as_tensor)


class JoinedRows:
    """Rows of some games, from several slots, one after the other: an array [row, game, ...]."""

    def __init__(self, field: SlotField, array, as_tensor: Callable):
        self._array, self._as_tensor = array, as_tensor
        self._source = cache(field.games)  # a view takes Numba longer than the copy
        self._targets = [array[row] for row in range(len(array))]

    def join(self, played: Sequence[tuple[int, int]], columns: slice, last: SlotField):
        """Copies rows (slot, row) of some games here, and into what is left the state after the last step. Returns a
        tensor of this memory, valid until the next call."""
        arrays.finish()
        sources = [self._source(slot, row, columns.start, columns.stop) for slot, row in played]
        sources += [last.games(0, None, columns.start, columns.stop)] * (len(self._targets) - len(sources))
        for target, source in zip(self._targets, sources, strict=True):
            arrays.write(target, source)
        arrays.finish()
        return self._as_tensor(dlpack.capsule(self._array))
