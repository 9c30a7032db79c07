"""What one rollout holds, and where it lies in shared memory.

An agent owns a few slots, each with room for one rollout. It writes observations and rewards; the predictor
writes action, log-probability, value and policy version into the row that asked. Only slot and row numbers
travel on the queues. All arrays carry [time, env, ...].
"""

import math
import time
from enum import IntEnum
from multiprocessing.sharedctypes import RawArray
from typing import NamedTuple

import numpy as np


class EnvironmentSpec(NamedTuple):
    """What the rest of the program must know of an environment."""

    name: str  # canonical name, also the folder under results/
    observation_shape: tuple[int, ...]  # of one state; images are [height, width, channels]
    observation_dtype: str
    actions: int  # discrete actions 0..actions-1
    frames_per_step: int


def rollout_dtype(spec: EnvironmentSpec, t_max: int, envs: int) -> np.dtype:
    """The fields of one rollout of `t_max` steps in `envs` environments, as a NumPy record."""
    rows = (t_max, envs)
    return np.dtype(
        [
            ("observation", spec.observation_dtype, (*rows, *spec.observation_shape)),  # s_t
            ("action", np.int32, rows),  # a_t, sampled from the policy
            ("log_probability", np.float32, rows),  # log pi(a_t | s_t) when it was sampled
            ("value", np.float32, rows),  # V(s_t) at that time
            ("reward", np.float32, rows),  # r_t, clipped if the settings say so
            ("terminated", np.bool_, rows),  # s_{t+1} is the end: no future reward
            ("truncated", np.bool_, rows),  # the episode was cut at s_{t+1}: bootstrap from its value
            ("valid", np.bool_, rows),  # False: no transition, but the restart of a game, or padding
            ("bootstrap_value", np.float32, (envs,)),  # V of the state after the last row
            ("version", np.int64, (t_max,)),  # model updates made before row t was predicted
        ],
        align=True,
    )


def slots_needed(t_max: int, envs: int, minimum_batch_steps: int) -> int:
    """Slots with which a single agent can fill a training batch: else agent and trainer wait for each other."""
    return math.ceil(minimum_batch_steps / (t_max * envs)) + 2


class Doing(IntEnum):
    """What an agent is at; its names are for people."""

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
    """The slots of one agent, and what else it lets the server see, in anonymous shared memory.

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
            ("last_words", "S8192"),  # UTF-8
        ]
    )

    def __init__(self, dtype: np.dtype, slots: int):
        self._dtype, self._slots = dtype, slots
        self._rollouts = RawArray("b", dtype.itemsize * slots)
        self._raw_life = RawArray("b", self._LIFE.itemsize)
        self._map()
        self.now(Doing.STARTING)

    def _map(self) -> None:
        self.slots = np.frombuffer(self._rollouts, self._dtype)
        self._life = np.frombuffer(self._raw_life, self._LIFE)[0]

    def __getstate__(self):
        return self._dtype, self._slots, self._rollouts, self._raw_life

    def __setstate__(self, state):
        self._dtype, self._slots, self._rollouts, self._raw_life = state
        self._map()

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
        """For a prediction; counted once they are sent."""
        return int(self._life["requests"])

    @property
    def shipments(self) -> int:
        """Rollouts; counted once they are sent."""
        return int(self._life["shipments"])

    @property
    def doing(self) -> tuple[Doing, float]:
        """What the agent is at, and since when: time.monotonic(), which all processes of a machine share."""
        return Doing(int(self._life["doing"])), float(self._life["since_ns"]) / 1e9

    @property
    def last_words(self) -> str:
        """Why the agent ended, if it could say so: a traceback."""
        return self._life["last_words"].decode(errors="replace")

    # Called by the agent alone:

    def now(self, doing: Doing) -> None:
        """Each change is a sign of life."""
        self._life["doing"] = doing
        self._life["since_ns"] = time.monotonic_ns()

    def requested(self) -> None:
        self._life["requests"] += 1

    def shipped(self) -> None:
        self._life["shipments"] += 1

    def add_steps(self, steps: int) -> None:
        """After each step."""
        self._life["steps"] += steps
        self._life["core_ns"] = time.process_time_ns()

    def say_last_words(self, text: str) -> None:
        """Of a long text its end."""
        self._life["last_words"] = text.encode(errors="replace")[-self._LIFE["last_words"].itemsize :]


class Batch:
    """Rollouts side by side, in the fixed shape that Model.train was compiled for.

    `arrays` has the fields of a rollout: [t_max, columns, ...], bootstrap_value [columns]. Rows that no rollout
    filled are not `valid`. One trainer reuses one Batch.
    """

    def __init__(self, dtype: np.dtype, rollouts: int):
        self.envs = dtype["action"].shape[1]
        self._own: dict[str, np.ndarray] = {}
        self.arrays = self._own
        for name in dtype.names:
            shape = list(dtype[name].shape)
            if name != "version":  # that is a matter of rows, not of columns
                shape[0 if name == "bootstrap_value" else 1] *= rollouts
                self._own[name] = np.zeros(shape, dtype[name].base)

    def fill(self, rollouts: "list[tuple[np.void, int]]") -> None:
        """Takes (record, length in steps) pairs in; at most as many as the batch has room for.

        A single rollout that fills the batch is not copied: the arrays are the record's own until the next call.
        """
        record, length = rollouts[0]
        if record["valid"].shape == self._own["valid"].shape and length == len(record["valid"]):
            self.arrays = {name: record[name] for name in self._own}
            return
        self.arrays = self._own
        self.arrays["valid"][:] = False
        for index, (record, length) in enumerate(rollouts):
            columns = slice(index * self.envs, (index + 1) * self.envs)
            for name, array in self.arrays.items():
                if name == "bootstrap_value":
                    array[columns] = record[name]
                else:
                    array[:length, columns] = record[name][:length]
            # A truncation in the last row reads the value of the row after it.
            self.arrays["value"][length:, columns] = record["bootstrap_value"]

    @staticmethod
    def versions(rollouts: "list[tuple[np.void, int]]") -> np.ndarray:
        """Model updates made before each row was predicted: int64 [rows]."""
        return np.concatenate([record["version"][:length] for record, length in rollouts])
