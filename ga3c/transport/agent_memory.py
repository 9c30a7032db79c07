"""The memory that an agent shares with the server: its slots, and what the agent does."""

import time
from enum import IntEnum
from multiprocessing.sharedctypes import RawArray

import numpy as np

from ga3c.rollout import RECURRENT_STATE
from ga3c.transport.recurrent_states import RecurrentStates


class Doing(IntEnum):
    """The states of an agent; their texts are for people."""

    STARTING = 0
    STEPPING = 1
    WAITING_FOR_ANSWER = 2
    WAITING_FOR_SLOT = 3
    PAUSING = 4

    def __str__(self) -> str:
        return (
            *("starting its games", "stepping its games", "waiting for actions", "waiting for a free slot"),
            "pausing, because fewer agents are wanted",
        )[self]


class AgentMemory:
    """The slots of one agent and the signs of its life, in anonymous shared memory.

    A RawArray is unlinked from the start, so nothing stays behind however the processes end.
    """

    _LIFE = np.dtype(
        [
            ("doing", np.int64),
            ("since_ns", np.int64),  # time.monotonic_ns() of that
            ("steps", np.int64),
            ("core_ns", np.int64),
            ("requests", np.int64),  # sent to the prediction queue
            ("shipments", np.int64),  # rollouts sent to the training queue
            ("trained", np.int64),  # of these, those that the server is done with
            ("last_words", "S8192"),  # UTF-8
        ]
    )

    @classmethod
    def bytes_of(cls, dtype: np.dtype, slots: int) -> int:
        """Returns the bytes that the slots of an agent and the signs of its life take: all but a few."""
        return dtype.itemsize * slots + cls._LIFE.itemsize

    def __init__(self, dtype: np.dtype, slots: int):
        self._dtype, self._slots = dtype, slots
        self.recurrent = RecurrentStates.of(dtype)
        self._rollouts = RawArray("b", dtype.itemsize * slots)
        self._raw_life = RawArray("b", self._LIFE.itemsize)
        self._map()
        self.now(Doing.STARTING)

    def _map(self) -> None:
        self.slots = np.frombuffer(self._rollouts, self._dtype)
        self._life = np.frombuffer(self._raw_life, self._LIFE)[0]

    def __getstate__(self):
        return self._dtype, self._slots, self.recurrent, self._rollouts, self._raw_life

    def __setstate__(self, state):
        self._dtype, self._slots, self.recurrent, self._rollouts, self._raw_life = state
        self._map()

    def answer(self, slot: int, row: int, fields: dict[str, np.ndarray], version: int) -> None:
        """Writes an answer into a row: its fields, [env, ...] each, and the version of the weights. What the network
        remembers after the row is no field of it, and goes to `recurrent`."""
        slots = self.slots
        if self.recurrent:
            self.recurrent.after[:] = fields.pop(RECURRENT_STATE)
        for name, values in fields.items():
            slots[name][slot, row] = values
        slots["version"][slot, row] = version

    @property
    def steps(self) -> int:
        """Transitions that the agent has made, shipped or not."""
        return int(self._life["steps"])

    @property
    def core_seconds(self) -> float:
        """CPU time that the agent's process has used."""
        return float(self._life["core_ns"]) / 1e9

    @property
    def requests(self) -> int:
        """Requests for a prediction that were sent."""
        return int(self._life["requests"])

    @property
    def shipments(self) -> int:
        """Rollouts that were sent."""
        return int(self._life["shipments"])

    @property
    def untrained(self) -> int:
        """Rollouts that were sent, and that the server is not done with."""
        return self.shipments - int(self._life["trained"])

    def done(self) -> None:
        """Counts one more rollout that the server is done with. Only the server calls it."""
        self._life["trained"] += 1

    @property
    def doing(self) -> tuple[Doing, float]:
        """The agent's state, and since when: time.monotonic(), which all processes of a machine share."""
        return Doing(int(self._life["doing"])), float(self._life["since_ns"]) / 1e9

    @property
    def last_words(self) -> str:
        """The traceback of an agent that failed, if it could write one."""
        return self._life["last_words"].decode(errors="replace")

    # Only the agent calls these:

    def now(self, doing: Doing) -> None:
        """Notes what the agent does now: a sign of life."""
        self._life["doing"] = doing
        self._life["since_ns"] = time.monotonic_ns()

    def requested(self) -> None:
        self._life["requests"] += 1

    def shipped(self) -> None:
        self._life["shipments"] += 1

    def add_steps(self, steps: int) -> None:
        """Counts steps, after each step."""
        self._life["steps"] += steps
        self._life["core_ns"] = time.process_time_ns()

    def say_last_words(self, text: str) -> None:
        """Leaves a text for the server; a long one is cut at its beginning."""
        self._life["last_words"] = text.encode(errors="replace")[-self._LIFE["last_words"].itemsize :]
