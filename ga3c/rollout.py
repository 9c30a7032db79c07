"""The fields of a rollout, of a batch, and of what an agent may do.

An agent owns a few slots in shared memory, each with room for one rollout. It writes observations and rewards; the
predictor writes action, log-probability, value and policy version into the row that asked. Arrays are [time, env, ...].
"""

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ga3c.layout import PICTURE, Layout

FORBIDDEN = -1e9  # the logit or the value of an action that is not allowed. It is finite: 0 times it is 0


class Actions(NamedTuple):
    """The actions of a game: one of `count` discrete actions; several choices at once; or a vector within bounds."""

    shape: tuple[int, ...]  # of one action: () if discrete, else (n,)
    dtype: str
    count: int  # discrete actions 0..count-1; 0: they are of another kind
    low: tuple[float, ...] = ()  # bounds of each element, finite
    high: tuple[float, ...] = ()
    sizes: tuple[int, ...] = ()  # the number of options 0..size-1 of each choice, where an action is several
    masked: bool = False  # not all of them are allowed in each state; the observation says which

    @property
    def kind(self) -> str:
        """The word of the catalogue of algorithms: discrete, multidiscrete or continuous."""
        return "discrete" if self.count else "multidiscrete" if self.sizes else "continuous"

    @property
    def continuous(self) -> bool:
        return self.kind == "continuous"

    @property
    def policy_size(self) -> int:
        """The number of values of a policy in a state: logits of actions or options, or means and log deviations."""
        return 2 * self.shape[0] if self.continuous else self.count or sum(self.sizes)

    @property
    def largest_entropy(self) -> float:
        """The entropy where all actions are as likely; 0 for a vector, which has none."""
        return sum(math.log(size) for size in (self.sizes or [self.count]) if size)

    def by_choice(self, policy: np.ndarray) -> list[np.ndarray]:
        """Returns the parts of policies [batch, policy_size] that belong to each choice, [batch, size] each."""
        return np.split(policy, np.cumsum(self.sizes)[:-1], axis=1) if self.sizes else [policy]

    def probabilities(self, policy: np.ndarray) -> np.ndarray:
        """Returns those of the options of each choice, side by side: [batch, policy_size], of logits of that shape."""
        odds = [np.exp(logits - logits.max(axis=1, keepdims=True)) for logits in self.by_choice(policy)]
        return np.hstack([one / one.sum(axis=1, keepdims=True) for one in odds])

    def most_likely(self, policy: np.ndarray) -> np.ndarray:
        """Returns the most probable actions [batch, *shape] of policies [batch, policy_size]: means, if Gaussian."""
        if self.continuous:
            return policy[:, : self.shape[0]].astype(self.dtype)
        best = np.stack([logits.argmax(axis=1) for logits in self.by_choice(policy)], axis=1)
        return best.reshape(-1, *self.shape).astype(self.dtype)

    def allowed(self, actions: np.ndarray) -> bool:
        """Returns whether all of the actions [..., *shape] can have been taken."""
        if self.continuous:
            return bool(np.isfinite(actions).all())
        return bool(((actions >= 0) & (actions < (self.count or np.array(self.sizes)))).all())

    def random(self, random: np.random.Generator, count: int, allowed: np.ndarray | None = None) -> np.ndarray:
        """Returns random actions [count, *shape], all as likely. allowed: bool [count, policy_size], those of them that
        may be returned; None: all."""
        if allowed is not None:
            return self.most_likely(np.where(allowed, random.random(allowed.shape), FORBIDDEN))
        if self.continuous:
            return random.uniform(self.low, self.high, (count, *self.shape)).astype(self.dtype)
        return random.integers(self.count or self.sizes, size=(count, *self.shape), dtype=self.dtype)

    def __str__(self) -> str:
        several = " x ".join(map(str, self.sizes))
        return f"{self.shape[0]} continuous" if self.continuous else several or f"{self.count}"


def discrete(count: int) -> Actions:
    """Actions 0..count-1."""
    return Actions((), "int32", count)


def multidiscrete(sizes: Sequence[int]) -> Actions:
    """Several choices at once, one of 0..size-1 for each."""
    return Actions((len(sizes),), "int32", 0, sizes=tuple(map(int, sizes)))


def continuous(low: Sequence[float], high: Sequence[float]) -> Actions:
    """Vectors between `low` and `high`, element by element."""
    return Actions((len(low),), "float32", 0, tuple(map(float, low)), tuple(map(float, high)))


class EnvironmentSpec(NamedTuple):
    """The facts about an environment that the rest of the program needs."""

    name: str  # canonical name, also the folder under results/
    observation_shape: tuple[int, ...]  # of one state; images are [height, width, channels]
    observation_dtype: str
    actions: Actions
    frames_per_step: int
    stacked_frames: int = 1  # the last axis of a state holds so many pictures, the newest last
    layout: Layout | None = None  # where a state is a row of bytes: its parts
    players: int = 1  # of one game: they stand next to each other in a batch, and each counts as a game

    @property
    def has_pictures(self) -> bool:
        """True if a state is a picture, or has one among its parts."""
        return self.layout.has(PICTURE) if self.layout else len(self.observation_shape) == 3

    def random_actions(self, random: np.random.Generator, observations: np.ndarray) -> np.ndarray:
        """Returns a random action for each of some states, one that is allowed there."""
        allowed = self.layout.mask(observations) if self.layout else None
        return self.actions.random(random, len(observations), allowed)


class Episode(NamedTuple):
    """A finished game: its true score, its length, and which of its agent's games it was."""

    score: float
    length_steps: int
    game: int = 0


RECURRENT_STATE, RESTART = "recurrent_state", "restart"  # fields of networks with a memory


def rollout_dtype(spec: EnvironmentSpec, t_max: int, envs: int, recurrent_size: int = 0) -> np.dtype:
    """Returns the fields of one rollout of `t_max` steps in `envs` environments, as a NumPy record.

    `recurrent_size`: numbers that the network remembers of each game; 0 where it has no memory.
    """
    rows = (t_max, envs)
    remembered = [
        (RECURRENT_STATE, np.float32, (envs, recurrent_size)),  # what the network remembers before the first row
        (RESTART, np.bool_, rows),  # the row is no transition, and a new game begins in the row after it
    ]
    return np.dtype(
        [
            ("observation", spec.observation_dtype, (*rows, *spec.observation_shape)),  # s_t
            ("action", spec.actions.dtype, (*rows, *spec.actions.shape)),  # a_t, as sampled: within no bounds
            ("log_probability", np.float32, rows),  # log pi(a_t | s_t) when it was sampled
            ("value", np.float32, rows),  # V(s_t) at that time; of action values the largest
            ("action_value", np.float32, rows),  # Q(s_t, a_t) at that time, where there are action values
            ("reward", np.float32, rows),  # r_t, clipped if the settings say so
            ("terminated", np.bool_, rows),  # s_{t+1} is the end: no future reward
            # The episode was cut at s_{t+1}: bootstrap from its value. Where the row is not valid: at s_t.
            ("truncated", np.bool_, rows),
            ("valid", np.bool_, rows),  # False: no transition, but a restart, a step that failed, or padding
            ("bootstrap_value", np.float32, (envs,)),  # V of the state after the last row
            ("last_observation", spec.observation_dtype, (envs, *spec.observation_shape)),  # that state itself
            ("version", np.int64, (t_max,)),  # model updates made before row t was predicted
            *(remembered if recurrent_size else ()),
        ],
        align=True,
    )


def transition_dtype(spec: EnvironmentSpec, count: int) -> np.dtype:
    """Returns the fields of `count` transitions from a replay memory, as a NumPy record; [1, count, ...] each."""
    row = (1, count)
    return np.dtype(
        [
            ("observation", spec.observation_dtype, (*row, *spec.observation_shape)),  # s_t
            ("action", spec.actions.dtype, (*row, *spec.actions.shape)),
            ("return", np.float32, row),  # r_t + gamma r_{t+1} + ..., of n steps, or to the end of the game
            ("discount", np.float32, row),  # gamma^n, for the value of s_{t+n}; 0 where the game has ended
            ("next_observation", spec.observation_dtype, (*row, *spec.observation_shape)),  # s_{t+n}
            ("weight", np.float32, row),  # of its loss, against the bias of priorities
        ],
        align=True,
    )


def column_axis(field: str) -> int:
    """Returns the axis of a field that is the environment: [time, env, ...], or [env, ...] where it has no rows."""
    return 0 if field in ("bootstrap_value", "last_observation", RECURRENT_STATE) else 1


FEW_SLOTS = 3  # of an agent whose rollouts need not fill a batch: one to fill, and what is on its way


def slots_needed(t_max: int, envs: int, minimum_batch_steps: int) -> int:
    """Returns how many slots let a single agent fill a batch: with fewer, agent and trainer wait for each other."""
    return math.ceil(minimum_batch_steps / (t_max * envs)) + 2


class Buffer:
    """Holds the rollouts of one batch side by side, in the fixed shape that a model learns from.

    Fields are [t_max, columns, ...], or [columns, ...] where they have no rows.
    """

    def __init__(self, dtype: np.dtype, rollouts: int, fields: Sequence[str]):
        self._envs = dtype["action"].shape[1]
        self._arrays: dict[str, np.ndarray] = {}
        for name in fields:
            shape = list(dtype[name].shape)
            shape[column_axis(name)] *= rollouts
            self._arrays[name] = np.zeros(shape, dtype[name].base)

    def fill(self, rollouts: list[tuple[np.void, int]]) -> dict[str, np.ndarray]:
        """Returns the arrays of (record, length in steps) pairs: as many pairs as there is room for, or fewer.

        Rows that no rollout filled are not `valid`. A single rollout that fills all is not copied.
        """
        record, length = rollouts[0]
        if record["valid"].shape == self._arrays["valid"].shape and length == len(record["valid"]):
            return {name: record[name] for name in self._arrays}
        for name in {"valid", RESTART} & self._arrays.keys():
            self._arrays[name][:] = False
        for index, (record, length) in enumerate(rollouts):
            columns = slice(index * self._envs, (index + 1) * self._envs)
            for name, array in self._arrays.items():
                if column_axis(name) == 0:
                    array[columns] = record[name]
                else:
                    array[:length, columns] = record[name][:length]
            # The last row reads the value of the row after it: NaN, where the network shall say what that is.
            for name, after in (("value", "bootstrap_value"), ("observation", "last_observation")):
                if length < len(record["valid"]) and name in self._arrays:
                    if after in self._arrays:
                        self._arrays[name][length:, columns] = record[after]
                    elif name == "value":
                        self._arrays[name][length:, columns] = np.nan
        return self._arrays


class Batch(NamedTuple):
    """Experience for one update."""

    arrays: dict[str, np.ndarray]  # by field; they are the trainer's until the batch is done
    versions: np.ndarray  # int64 [rows]: model updates made before each row was predicted
    rollouts: Sequence  # what is in it: `training_queue.Rollout`
    columns: int  # rollouts of one environment each: the paper's
    taken: float  # time.monotonic() when it was taken from the queue
    assembled: float  # and when its arrays were complete
    buffer: object  # goes back to the experience when the batch is done
    steps: int | None = None  # of play so far, by which schedules go; None: they go by the steps trained on

    @classmethod
    def drawn(cls, arrays: dict[str, np.ndarray], began: float, buffer: object, steps: int) -> "Batch":
        """Returns a batch that was drawn from a replay from `began` until now: its rollouts are counted elsewhere."""
        return cls(arrays, np.zeros(0, np.int64), (), 0, began, time.monotonic(), buffer, steps)
