"""The recurrent states of the games of one agent: what the network remembers between two of their steps."""

from multiprocessing.sharedctypes import RawArray

import numpy as np

from ga3c.rollout import RECURRENT_STATE, RESTART


class RecurrentStates:
    """The recurrent states of one agent's games, in memory that agent and server share: queues carry none of them.

    `before`: float32 [env, size], the states from which the agent's row is predicted. `after`: those that come back.
    They become `before` when the agent has stepped, so a row that is predicted twice, because the agent was told to
    pause, is predicted from the same states. They end with their agent: one that replaces it begins new games, and all
    new games begin with zeros.
    """

    def __init__(self, shape: tuple[int, int]):
        self._shape, self._raw = shape, RawArray("f", 2 * shape[0] * shape[1])
        self._map()

    def _map(self) -> None:
        self.before, self.after = np.frombuffer(self._raw, np.float32).reshape(2, *self._shape)

    def __getstate__(self):
        return self._shape, self._raw

    def __setstate__(self, state):
        self._shape, self._raw = state
        self._map()

    @classmethod
    def of(cls, dtype: np.dtype) -> "RecurrentStates | None":
        """Returns the states for rollouts of a `dtype`; None where the network remembers nothing."""
        return cls(dtype[RECURRENT_STATE].shape) if RECURRENT_STATE in (dtype.names or ()) else None

    # Only the agent calls these:

    def begin(self, slots, slot: int) -> None:
        """Begins a rollout: its slot keeps the states before its first row."""
        slots[RECURRENT_STATE][slot] = self.before

    def stepped(self, slots, slot: int, row: int) -> None:
        """Carries the states over a row that was stepped. A row that is no transition is the last of its game."""
        slots[RESTART][slot, row] = restart = ~slots["valid"][slot, row]
        self.before[:] = np.where(restart[:, None], np.float32(0), self.after)
