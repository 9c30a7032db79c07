"""The rows of a replay: rings of what was played, one ring for each group of games that step together.

A row is a state and what was done in it, for each game of the group; the state that follows is in the next row. Each
picture is stored once: a row has the newest of a stack, and the rows before it have the others.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from ga3c.replay.gather import Outcomes, Ring, fours, n_step_returns, stacks
from ga3c.replay.jit import compile_now
from ga3c.replay.pictures import COMPRESSED_SHARE, CompressedPictures, Pictures
from ga3c.rollout import EnvironmentSpec


class Rows:
    """`groups` rings of `length` rows of `envs` games. A place in them is (group * length + row % length) * envs + env.

    Rows are numbered through: row 0 is the first that a group ever played, `head[group]` the next. The last `length` of
    them are kept.
    """

    _BOOKS = "head", "_newest", "_next_age", "age", "action", "reward", "terminated", "truncated", "valid"
    _PREDICTED = "value", "action_value"

    def __init__(
        self, spec: EnvironmentSpec, groups: int, length: int, envs: int, compressed: bool = False,
        predictions: bool = False,
    ):  # fmt: skip
        """`predictions`: the rows also have the values that were predicted as they were played."""
        self.length, self.envs, self.stack = length, envs, spec.stacked_frames
        self._ring = Ring(length * envs, envs)
        places = groups * length * envs
        pixels = math.prod(spec.observation_shape) // self.stack
        self.head = np.zeros(groups, np.int64)
        self._observation_shape = spec.observation_shape
        self._dtype = np.dtype(spec.observation_dtype)
        self._frames = (CompressedPictures if compressed else Pictures)(places, pixels, self._dtype)
        self._newest = np.zeros((groups, envs, *spec.observation_shape), spec.observation_dtype)  # of the next row
        self._next_age = np.zeros((groups, envs), np.uint8)
        self.age = np.zeros(places, np.uint8)  # rows before this one that are of the same game, at most stack - 1
        self._actions = spec.actions
        self.action = np.zeros((places, *spec.actions.shape), spec.actions.dtype)
        self.reward = np.zeros(places, np.float32)
        self.terminated = np.zeros(places, np.bool_)
        self.truncated = np.zeros(places, np.bool_)
        self.valid = np.zeros(places, np.bool_)  # a transition, and not the restart of a game
        self.predictions = self._PREDICTED if predictions else ()
        for name in self.predictions:
            setattr(self, name, np.zeros(places, np.float32))

    @staticmethod
    def bytes_of(
        spec: EnvironmentSpec, groups: int, length: int, envs: int, compressed: bool = False, predictions: bool = False
    ) -> int:
        """Returns the memory that such rows take; compressed, an estimate."""
        state = math.prod(spec.observation_shape) * np.dtype(spec.observation_dtype).itemsize
        picture = state // spec.stacked_frames
        if compressed:
            picture = round(COMPRESSED_SHARE * picture)
        action = math.prod(spec.actions.shape) * np.dtype(spec.actions.dtype).itemsize
        row = picture + action + (16 if predictions else 8)
        return groups * envs * (length * row + state + 1)

    def compile(self) -> None:
        """Compiles the loops of its methods."""
        none, states = np.zeros(0, np.int64), np.zeros((0, *self._observation_shape), self._dtype)
        compile_now(lambda: self.observations(none, none, states, states), lambda: self.returns(none, 1, 1.0))

    @property
    def books(self) -> list[np.ndarray]:
        """All arrays but the pictures."""
        return [getattr(self, name) for name in (*self._BOOKS, *self.predictions)]

    def pictures(self, group: int, head: int) -> Iterator[np.ndarray]:
        """Yields the pictures of a group that has written `head` rows, [places, pixels] each."""
        return self._frames.parts(*self._written(group, head))

    def restore_pictures(self, group: int, head: int, read: Callable[[np.ndarray], None]) -> None:
        """Restores what `pictures` gave: `read` fills an array with the next of it."""
        self._frames.restore(*self._written(group, head), read)

    def _written(self, group: int, head: int) -> tuple[int, int]:
        """Returns the first place of a group, and how many are written."""
        return group * self.length * self.envs, min(head, self.length) * self.envs

    def restore(self, books: list[np.ndarray]) -> None:
        """Takes in books of other rows. Raises ValueError where these make no sense."""
        new = dict(zip((*self._BOOKS, *self.predictions), books, strict=True))
        for name in ("terminated", "truncated", "valid"):
            new[name] = new[name].view(np.uint8) != 0  # of any bytes
        if not self._actions.allowed(new["action"]) or not np.isfinite(new["reward"]).all():
            raise ValueError("its actions or rewards make no sense")
        for name, book in new.items():
            getattr(self, name)[:] = book

    def places(self, group: int, first: int, last: int) -> np.ndarray:
        """Returns the places of the rows first <= row < last, int64 [rows, envs]."""
        rows = (group * self.length + np.arange(first, last) % self.length) * self.envs
        return rows[:, None] + np.arange(self.envs)

    def begin(self, group: int, observation: np.ndarray) -> None:
        """Begins a sequence that does not follow the group's last rows. `observation` [env, ...]: its first state."""
        if self.head[group]:
            # Those games were cut: the state after the last row gets a row of its own.
            self.truncated[self.places(group, self.head[group] - 1, self.head[group])] = True
            self._add_rest(group, self._newest[group], self._next_age[group])
        for picture in range(self.stack - 1):  # the older ones: their rows were never seen
            self._add_rest(group, observation[..., : picture + 1], np.uint8(self.stack - 1))
        self._next_age[group] = self.stack - 1

    def _add_rest(self, group: int, observation: np.ndarray, age: np.ndarray) -> None:
        places = self.places(group, self.head[group], self.head[group] + 1)[0]
        self._frames.store(places, self._picture(observation))
        self.age[places] = age
        self.valid[places] = self.terminated[places] = self.truncated[places] = False
        for name in self.predictions:
            getattr(self, name)[places] = np.nan
        self.head[group] += 1

    def _picture(self, observation: np.ndarray) -> np.ndarray:
        return (observation[..., -1] if self.stack > 1 else observation).reshape(self.envs, -1)

    def add(self, group: int, record: np.void, length: int) -> None:
        """Adds the rows of a rollout, the group's next."""
        places = self.places(group, self.head[group], self.head[group] + length)
        age, last = self._next_age[group], self.stack - 1
        for row in range(length):
            self._frames.store(places[row], self._picture(record["observation"][row]))
            self.age[places[row]] = age
            age = np.where(record["valid"][row], np.minimum(age + 1, last), 0).astype(np.uint8)
        for name in ("action", "reward", "terminated", "truncated", "valid", *self.predictions):
            getattr(self, name)[places] = record[name][:length]
        self._newest[group], self._next_age[group] = record["last_observation"], age
        self.head[group] += length
        kept, end = min(length, self.length - 1), self.head[group]  # the first rows of a long rollout are written over
        self._cut_before(places[-kept:], self.places(group, end - kept - 1, end - 1))

    def _cut_before(self, places: np.ndarray, before: np.ndarray) -> None:
        """Cuts a game at the state before a step that was none."""
        cut = self.truncated[places] & ~self.valid[places]
        self.truncated[before[cut]] = True
        self.truncated[places[cut]] = False

    def drawn(self, first: np.ndarray, last: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
        """Draws int64 [count] places uniformly, with replacement, from the rows first <= row < last of each group.

        `first` and `last` are int64 [groups]. What is no transition is drawn again: there must be one.
        """
        found, ends = np.empty(0, np.int64), np.cumsum(last - first)
        while len(found) < count:
            number = random.integers(ends[-1] * self.envs, size=count - len(found))
            row, env = np.divmod(number, self.envs)
            group = np.searchsorted(ends, row, side="right")
            row = last[group] - (ends[group] - row)
            place = (group * self.length + row % self.length) * self.envs + env
            found = np.concatenate([found, place[self.valid[place]]])
        return found

    def observations(self, places: np.ndarray, following: np.ndarray, out: np.ndarray, next_out: np.ndarray) -> None:
        """Writes the states at int64 [n] places, and those that follow, into two arrays [n, *observation_shape]."""
        pixels = math.prod(self._observation_shape) // self.stack
        states = [array.reshape(len(places), pixels, self.stack) for array in (out, next_out)]
        sources = self._frames.sources(self.age, places, following, self._ring, self.stack)
        if self.stack == 4 and out.dtype == np.uint8:
            state, next_state = (array.view(np.uint32)[..., 0] for array in states)
            fours(sources, state, next_state)
        else:
            state, next_state = states
            stacks(sources, state, next_state)

    def returns(self, places: np.ndarray, steps: int, discount: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns the n-step returns of the transitions at int64 [n] places, over fewer steps where a game ends before.

        They are the discounted sums of rewards, float32 [n]; the discounts of the values of the states that follow,
        float32 [n], 0 where the game has ended (one that was cut goes on); and the places of those states, int64 [n].
        """
        outcomes = Outcomes(self.reward, self.terminated, self.truncated)
        return n_step_returns(outcomes, places, self._ring, steps, discount)

    def errors(self, places: np.ndarray, steps: int, discount: float) -> np.ndarray | None:
        """Returns R + discount max_a Q(s', a) - Q(s, a) of the transitions at int64 [n] places, float32 [n].

        The values are those that were predicted as the rows were played (Horgan et al. 2018, appendix F). NaN: one is
        missing. None: values are not kept.
        """
        if not self.predictions:
            return None
        returns, discounts, following = self.returns(places, steps, discount)
        after = np.where(discounts > 0, self.value[following], np.float32(0))
        return returns + discounts * after - self.action_value[places]
