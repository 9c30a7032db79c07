"""A replay memory: stores every transition once, and draws batches uniformly or by priority."""

import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ga3c.replay.eviction import Eviction
from ga3c.replay.priorities import Priorities
from ga3c.replay.recipe import Recipe
from ga3c.replay.rows import Rows
from ga3c.rollout import EnvironmentSpec


class Drawn(NamedTuple):
    """A batch: `arrays` by name (see `rollout.transition_dtype`), and where they came from."""

    arrays: dict[str, np.ndarray]
    places: np.ndarray  # int64 [n]
    rows: np.ndarray  # int64 [n]: tell `Replay.learned` whether the place still holds the same transition
    age_steps: float  # mean steps that were played by all since


class Buffers:
    """Pairs of arrays [1, count, ...]: states, and those that follow. Keeps at most `most` pairs that nobody uses."""

    def __init__(self, spec: EnvironmentSpec, most: int):
        self._shape, self._dtype, self._most = spec.observation_shape, spec.observation_dtype, most
        self._free: list[tuple[np.ndarray, np.ndarray]] = []

    def take(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        if self._free and self._free[-1][0].shape[1] == count:
            return self._free.pop()
        shape = 1, count, *self._shape
        return np.empty(shape, self._dtype), np.empty(shape, self._dtype)

    def give_back(self, states: np.ndarray, following: np.ndarray) -> None:
        self._free = [*self._free, (states, following)][-self._most :]


class Replay:
    """The replay. Safe to call from every thread.

    A transition can be drawn from when the `n_steps` that follow it are there until a picture of its state is written
    over.
    """

    def __init__(self, recipe: Recipe, beta: Callable[[], float] = lambda: 1.0):
        """`beta()`: the part of the bias of priorities that is corrected now, 0 to 1."""
        self.groups, self.copies, self._recipe = recipe.groups, recipe.copies, recipe
        self._n_steps, self._discount = recipe.n_steps, recipe.discount
        length, compressed = recipe.rows, recipe.compressed
        self._rows = Rows(recipe.spec, recipe.rings, length, recipe.envs, compressed, recipe.predictions)
        self._first = np.zeros(recipe.rings, np.int64)  # rows from _first to before _last can be drawn
        self._last = np.zeros(recipe.rings, np.int64)
        self._priorities = self._eviction = None
        if recipe.priority_alpha:
            self._priorities = Priorities(recipe.places, recipe.priority_alpha, beta)
        if recipe.eviction_alpha is not None:
            alpha = recipe.eviction_alpha
            self._eviction = Eviction(recipe.transitions, alpha, recipe.priority_alpha, recipe.seed)
        self._rows.compile()
        self._random = np.random.default_rng(recipe.seed)
        self._lock = threading.Lock()
        self._buffers = Buffers(recipe.spec, recipe.kept_buffers)
        self.size, self.capacity = 0, recipe.transitions  # transitions that can be drawn, and how many at the most
        self.stored = 0  # ever

    def begin(self, group: int, observation: np.ndarray) -> None:
        """Begins anew after lost rollouts or with another agent for the group. `observation` [env, ...]: its first."""
        with self._lock:
            for ring in self._rings(group):
                self._make_way(ring, self._rows.stack)
                self._rows.begin(ring, observation)

    def add(self, group: int, record: np.void, length: int) -> None:
        """Adds a rollout (`rollout.rollout_dtype`) with `length` rows in use. It can be drawn after `offer`."""
        with self._lock:
            for ring in self._rings(group):
                self._make_way(ring, length)
                self._rows.add(ring, record, length)
            self.stored += self.copies * int(record["valid"][:length].sum())

    def _rings(self, group: int) -> range:
        """Returns the numbers of the rings that hold what a group plays."""
        return range(group * self.copies, (group + 1) * self.copies)

    def reserve(self, rows: int) -> None:
        """Removes now what the next `rows` of each group will write over."""
        with self._lock:
            for ring in range(self._recipe.rings):
                self._make_way(ring, rows)

    def offer(self) -> None:
        """Lets transitions be drawn that were added and have their successors now."""
        with self._lock:
            for ring in range(self._recipe.rings):
                self._offer(ring)

    def _make_way(self, ring: int, rows: int) -> None:
        """Removes what the next `rows` will write over."""
        first = self._rows.head[ring] + rows - self._rows.length + self._rows.stack - 1
        if first > self._first[ring]:
            gone = self._valid(ring, self._first[ring], min(first, self._last[ring]))
            self.size -= len(gone)
            if self._priorities:
                self._priorities.forget(gone)
            self._first[ring] = first
            self._last[ring] = max(first, self._last[ring])

    def _offer(self, ring: int) -> None:
        last = self._rows.head[ring] - self._n_steps
        if last > self._last[ring]:
            new = self._valid(ring, self._last[ring], last)
            self.size += len(new)
            if self._priorities:
                self._priorities.enter(new, self._rows.errors(new, self._n_steps, self._discount))
            self._last[ring] = last

    def _valid(self, ring: int, first: int, last: int) -> np.ndarray:
        places = self._rows.places(ring, first, last).ravel()
        return places[self._rows.valid[places]]

    @property
    def length(self) -> int:
        """The number of rows that are kept of each group."""
        return self._rows.length

    def places(self) -> np.ndarray:
        """Returns the places of all that can be drawn, int64 [size]."""
        rings = range(self._recipe.rings)
        return np.concatenate([self._valid(ring, self._first[ring], self._last[ring]) for ring in rings])

    def draw(self, count: int, random: np.random.Generator | None = None) -> Drawn:
        """Draws a batch; the replay must not be empty. `random`: of another learner; it changes no other draw."""
        rows, random = self._rows, random or self._random
        with self._lock:
            if self._priorities:
                places, weights = self._priorities.draw(count, self.size, random)
            else:
                places = rows.drawn(self._first, self._last, count, random)
                weights = np.ones(count, np.float32)
            returns, discounts, following = rows.returns(places, self._n_steps, self._discount)
            observation, next_observation = self._buffers.take(count)
            rows.observations(places, following, observation[0], next_observation[0])
            arrays = {
                "observation": observation,
                "action": rows.action[places][None],
                "return": returns[None],
                "discount": discounts[None],
                "next_observation": next_observation,
                "weight": weights[None],
            }
            written, age = self._written(places)
            return Drawn(arrays, places, written, float(age.mean()) * rows.envs * self.groups)

    def _written(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the row that each place holds, and how many rows its ring has played since."""
        ring, row = np.divmod(places // self._rows.envs, self._rows.length)
        head = self._rows.head[ring]
        age = (head - 1 - row) % self._rows.length
        return head - 1 - age, age

    def learned(self, drawn: Drawn, errors: np.ndarray | None) -> None:
        """Sets new priorities from float32 [n] errors, where what was drawn is not written over yet.

        The next draw writes over the arrays of `drawn`.
        """
        with self._lock:
            if self._priorities:
                ring = drawn.places // (self._rows.length * self._rows.envs)
                there = (drawn.rows >= self._first[ring]) & self._rows.valid[drawn.places]
                there &= np.isfinite(errors)  # an update may have been left out
                self._priorities.set(drawn.places[there], errors[there])
            self._buffers.give_back(drawn.arrays["observation"], drawn.arrays["next_observation"])
            if self._eviction and self._eviction.due():
                self._evict()

    def _evict(self) -> None:
        """Removes what is above the capacity. Its rows stay, as others share their states."""
        places = self.places()
        gone = places[self._eviction.chosen(self._priorities.of(places))]
        self._rows.valid[gone] = False
        self._priorities.forget(gone)
        self.size -= len(gone)

    @property
    def layout(self) -> dict:
        """The sizes and kinds that another replay must have to take this one's rows; for JSON."""
        spec, rows = self._recipe.spec, self._rows
        sizes = {"agents": self.groups, "envs": rows.envs, "rows": self.length, "n_steps": self._n_steps}
        kind = {"shape": list(spec.observation_shape), "dtype": str(np.dtype(spec.observation_dtype))}
        kind |= {"stack": rows.stack, "actions": spec.actions.count or list(spec.actions.shape)}
        kind |= {"initial_errors": True} if rows.predictions else {}  # older files do not know it
        kind |= {"copies": self.copies} if self.copies > 1 else {}
        return sizes | kind | {"prioritised": self._priorities is not None}

    def parts(self) -> Iterator[np.ndarray]:
        """Yields all that the replay holds at the first part, for `restore`; play may go on meanwhile.

        The last part says what was written over before all were taken, and cannot be drawn any more.
        """
        with self._lock:
            parts = [self._last.copy(), *(book.copy() for book in self._rows.books)]
            if self._priorities:
                parts += [self._priorities.of(self._all), np.array([self._priorities.largest])]
            heads = self._rows.head.tolist()
        yield from parts
        for ring, head in enumerate(heads):
            yield from self._rows.pictures(ring, head)
        with self._lock:
            yield self._first.copy()

    @property
    def _all(self) -> np.ndarray:
        return np.arange(self._recipe.places)

    def restore(self, read: Callable[[np.ndarray], None], check: Callable[[], None]) -> None:
        """Restores `parts` into an empty replay of the same layout. `read` fills an array with the next of the parts;
        `check` raises an error where they are not as they were written.

        Raises ValueError where they make no sense. Then the replay stays empty.
        """
        rows, first, last = self._rows, self._first.copy(), self._last.copy()
        priorities, largest = np.zeros(len(self._all) if self._priorities else 0), np.zeros(1)
        books = [np.empty_like(book) for book in rows.books]
        for array in (last, *books, *((priorities, largest) if self._priorities else ())):
            read(array)
        head = books[0]
        for ring in range(self._recipe.rings):
            rows.restore_pictures(ring, max(0, int(head[ring])), read)
        read(first)
        check()
        kept = np.maximum(0, head - self.length + rows.stack - 1)
        in_order = (kept <= first) & (first <= last) & (last <= np.maximum(head - self._n_steps, first))
        if not (in_order & (head >= 0) & (head < 2**53)).all():
            raise ValueError("its rows make no sense")
        Priorities.check(priorities, float(largest[0]))
        rows.restore(books)
        self._first, self._last = first, last
        places = self.places()
        self.size = len(places)
        if self._priorities:
            self._priorities.restore(places, priorities[places], float(largest[0]))
