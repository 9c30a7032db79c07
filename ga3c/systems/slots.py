"""The slots of a player in the server's process. Nobody shares them; observations may lie in a GPU's memory."""

import numpy as np

from ga3c.devices.tensors import as_tensor  # isort: skip (first: it loads TensorFlow)
from ga3c.transport.agent_memory import AgentMemory
from ga3c.transport.recurrent_states import RecurrentStates

OBSERVATION, LAST = "observation", "last_observation"


class _Record:
    """A rollout's fields by name, as they lie in its slot."""

    def __init__(self, fields: dict, slot: int):
        self._fields, self._slot = fields, slot

    def __getitem__(self, name: str):
        return self._fields[name][self._slot]


class Slots:
    """An array of rollouts, by field or by number, that only this process sees.

    Only the newest rollout has a last observation: that of an older one is the first observation of the next.
    """

    def __init__(self, dtype: np.dtype, slots: int, on_gpu: bool):
        """`on_gpu`: observations lie in a GPU's memory, written from arrays on that GPU and read as tensors."""
        self.dtype, self._slots, self._fields = dtype, slots, {}
        for name in dtype.names:
            shape, kind = dtype[name].shape, dtype[name].base
            if on_gpu and name in (OBSERVATION, LAST):
                from ga3c.emulator.cuda.device_slots import SlotField  # loads numba-cuda: nothing else needs it

                self._fields[name] = SlotField(slots, shape, kind, as_tensor, one_for_all=name == LAST)
            elif name == LAST:  # each slot shows the same
                one = np.zeros(shape, kind)
                self._fields[name] = np.lib.stride_tricks.as_strided(one, (slots, *shape), (0, *one.strides))
            else:
                self._fields[name] = np.zeros((slots, *shape), kind)

    def __getitem__(self, which: str | int):
        return self._fields[which] if isinstance(which, str) else _Record(self._fields, which)

    def __len__(self) -> int:
        return self._slots


class OwnMemory(AgentMemory):
    """The memory of a player in this process."""

    def __init__(self, slots: Slots):
        super().__init__(np.dtype(np.int8), 1)
        self.slots, self.recurrent = slots, RecurrentStates.of(slots.dtype)
