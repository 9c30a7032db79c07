"""What was played, row by row, each picture once: rings of rows, one ring for each group of games that step together.

A row is a state and what was done in it; the state that follows is in the next row. Of a state that is a stack of
pictures, a row holds the newest; the others are in the rows before. A group's row is one of each of its games.
"""

import contextlib
import math
from collections.abc import Callable, Iterator

import numpy as np
from numba import njit

from ga3c.replay.jit import compiled
from ga3c.replay.pictures import COMPRESSED_SHARE, CompressedPictures, Pictures
from ga3c.rollout import EnvironmentSpec


class Rows:
    """`groups` rings of `length` rows of `envs` games; a place in them is (group * length + row % length) * envs + env.

    Rows are counted through: row 0 is the first that a group ever played, `head[group]` the one that comes next. The
    last `length` of them are kept.
    """

    _BOOKS = "head", "_newest", "_next_age", "age", "action", "reward", "terminated", "truncated", "valid"
    _PREDICTED = "value", "action_value"

    def __init__(
        self, spec: EnvironmentSpec, groups: int, length: int, envs: int, compressed: bool = False,
        predictions: bool = False,
    ):  # fmt: skip
        """`predictions`: the values that were predicted as a row was played are kept, too."""
        self.length, self.envs, self.stack = length, envs, spec.stacked_frames
        places = groups * length * envs
        pixels = math.prod(spec.observation_shape) // self.stack
        self.head = np.zeros(groups, np.int64)
        self._observation_shape = spec.observation_shape
        self._dtype = np.dtype(spec.observation_dtype)
        self._frames = (CompressedPictures if compressed else Pictures)(places, pixels, self._dtype)
        self._newest = np.zeros((groups, envs, *spec.observation_shape), spec.observation_dtype)  # of the next row
        self._next_age = np.zeros((groups, envs), np.uint8)
        self.age = np.zeros(places, np.uint8)  # rows before this one that are of the same game; stack - 1 at the most
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
        """What that takes; compressed, about."""
        state = math.prod(spec.observation_shape) * np.dtype(spec.observation_dtype).itemsize
        picture = state // spec.stacked_frames
        if compressed:
            picture = round(COMPRESSED_SHARE * picture)
        action = math.prod(spec.actions.shape) * np.dtype(spec.actions.dtype).itemsize
        row = picture + action + (16 if predictions else 8)
        return groups * envs * (length * row + state + 1)

    def compile(self) -> None:
        """Before the first is drawn: it takes seconds, unless an earlier start has left the code behind."""
        none, states = np.zeros(0, np.int64), np.zeros((0, *self._observation_shape), self._dtype)
        for call in (lambda: self.observations(none, none, states, states), lambda: self.returns(none, 1, 1.0)):
            with contextlib.suppress(OSError):  # compiled, but the disk does not take the code
                call()

    @property
    def books(self) -> list[np.ndarray]:
        """All but the pictures."""
        return [getattr(self, name) for name in (*self._BOOKS, *self.predictions)]

    def pictures(self, group: int, head: int) -> Iterator[np.ndarray]:
        """Those that were ever written, [places, pixels] each, when so many rows were."""
        return self._frames.parts(*self._written(group, head))

    def restore_pictures(self, group: int, head: int, read: Callable[[np.ndarray], None]) -> None:
        """`read` fills an array with the next of what `pictures` gave."""
        self._frames.restore(*self._written(group, head), read)

    def _written(self, group: int, head: int) -> tuple[int, int]:
        """The first place, and how many."""
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
        """Of the rows first <= row < last: int64 [rows, envs]."""
        rows = (group * self.length + np.arange(first, last) % self.length) * self.envs
        return rows[:, None] + np.arange(self.envs)

    def begin(self, group: int, observation: np.ndarray) -> None:
        """What follows does not go on where the group's last rows ended. `observation` [env, ...]: its first state."""
        if self.head[group]:
            # Those games were cut: where the last row led stands in a row of its own.
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
        """The rows of a rollout, the group's next."""
        places = self.places(group, self.head[group], self.head[group] + length)
        age, last = self._next_age[group], self.stack - 1
        for row in range(length):
            self._frames.store(places[row], self._picture(record["observation"][row]))
            self.age[places[row]] = age
            age = np.where(record["valid"][row], np.minimum(age + 1, last), 0).astype(np.uint8)
        for name in ("action", "reward", "terminated", "truncated", "valid", *self.predictions):
            getattr(self, name)[places] = record[name][:length]
        self._cut_before(places, self.places(group, self.head[group] - 1, self.head[group] + length - 1))
        self._newest[group], self._next_age[group] = record["last_observation"], age
        self.head[group] += length

    def _cut_before(self, places: np.ndarray, before: np.ndarray) -> None:
        """Where a step was none, the game was cut at the state before it."""
        cut = self.truncated[places] & ~self.valid[places]
        self.truncated[before[cut]] = True
        self.truncated[places[cut]] = False

    def observations(self, places: np.ndarray, following: np.ndarray, out: np.ndarray, next_out: np.ndarray) -> None:
        """The states at int64 [n] places, and at those that follow, into two arrays [n, *observation_shape]."""
        pixels = math.prod(self._observation_shape) // self.stack
        states = [array.reshape(len(places), pixels, self.stack) for array in (out, next_out)]
        ring = self.length * self.envs
        pictures = self._frames.of_states(self.age, places, following, ring, self.envs, self.stack)
        if self.stack == 4 and out.dtype == np.uint8:
            _fours(*pictures, *(array.view(np.uint32)[..., 0] for array in states))
        else:
            _stacks(*pictures, *states)

    def returns(self, places: np.ndarray, steps: int, discount: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the transitions at int64 [n] places, `steps` of each, or fewer where a game ends before.

        Returns: the discounted sum of their rewards, float32 [n]; the discount of the value of the state that follows,
        float32 [n], 0 where the game has ended (one that was cut goes on); and that state's place, int64 [n].
        """
        games = self.length * self.envs, self.envs
        return _returns(self.reward, self.terminated, self.truncated, places, *games, steps, discount)

    def errors(self, places: np.ndarray, steps: int, discount: float) -> np.ndarray | None:
        """R + discount max_a Q(s', a) - Q(s, a) of the transitions at int64 [n] places, with the values that were
        predicted as they were played, float32 [n] (Horgan et al. 2018, appendix F). NaN: one was not. None: none is
        kept."""
        if not self.predictions:
            return None
        returns, discounts, following = self.returns(places, steps, discount)
        after = np.where(discounts > 0, self.value[following], np.float32(0))
        return returns + discounts * after - self.action_value[places]


@njit(nogil=True)
def _moved(place, rows, ring, envs):
    """The place so many rows later in the same game's ring."""
    start = place // ring * ring
    return start + (place - start + rows * envs) % ring


@njit(nogil=True)
def _four(frames, known, place, nothing, ring, envs, packed):
    """Four bytes in one number each, which takes a third of the time."""
    newest = frames[place]
    second = frames[_moved(place, -1, ring, envs)] if known >= 1 else nothing
    third = frames[_moved(place, -2, ring, envs)] if known >= 2 else nothing
    oldest = frames[_moved(place, -3, ring, envs)] if known >= 3 else nothing
    for pixel in range(packed.size):
        packed[pixel] = (
            np.uint32(oldest[pixel])
            | np.uint32(third[pixel]) << np.uint32(8)
            | np.uint32(second[pixel]) << np.uint32(16)
            | np.uint32(newest[pixel]) << np.uint32(24)
        )


@compiled
def _fours(frames, age, places, following, ring, envs, out, next_out):
    nothing = np.zeros(frames.shape[1], frames.dtype)
    for index in range(places.size):  # both states of a transition at once: they share pictures
        _four(frames, age[places[index]], places[index], nothing, ring, envs, out[index])
        _four(frames, age[following[index]], following[index], nothing, ring, envs, next_out[index])


@njit(nogil=True)
def _stack(frames, known, place, ring, envs, state):
    stack = state.shape[1]
    for picture in range(stack):
        back = stack - 1 - picture
        if back <= known:
            state[:, picture] = frames[_moved(place, -back, ring, envs)]
        else:
            state[:, picture] = 0


@compiled
def _stacks(frames, age, places, following, ring, envs, out, next_out):
    for index in range(places.size):
        _stack(frames, age[places[index]], places[index], ring, envs, out[index])
        _stack(frames, age[following[index]], following[index], ring, envs, next_out[index])


@compiled
def _returns(reward, terminated, truncated, places, ring, envs, steps, discount):
    returns, discounts = np.zeros(places.size, np.float32), np.zeros(places.size, np.float32)
    following = np.empty(places.size, np.int64)
    for index in range(places.size):
        place, factor = places[index], 1.0
        for _ in range(steps):
            returns[index] += factor * reward[place]
            factor *= discount
            ended, cut = terminated[place], truncated[place]
            place = _moved(place, 1, ring, envs)
            if ended:
                factor = 0.0
            if ended or cut:
                break
        discounts[index], following[index] = factor, place
    return returns, discounts, following
