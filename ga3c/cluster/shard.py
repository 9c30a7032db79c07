"""A shard: a part of the replay in a process of its own, on the learner's node (Ray runs it as an actor).

Pods send to it, the learner draws from it. It unpacks what comes, and keeps nothing in the object store.
"""

import itertools
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ga3c.cluster.packing import Packed, unpack
from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Drawn, Replay
from ga3c.rollout import rollout_dtype


class Shards(NamedTuple):
    """The shards of one replay: each is made from the recipe with a seed of its own."""

    recipe: Recipe
    t_max: int  # rows of a rollout at the most
    count: int


class Given(NamedTuple):
    """A batch that a shard has drawn."""

    ticket: int  # names the batch when its errors come
    arrays: dict[str, np.ndarray]
    age_steps: float
    size: int  # transitions that can be drawn


class Address(NamedTuple):
    """The shard and the group of its replay that a pod sends to."""

    actor: object
    shard: int
    generation: int  # higher once the shard was replaced
    group: int


class Shard:
    """The replay of one shard. Its methods are called from several threads."""

    def __init__(self, shards: Shards, number: int):
        recipe, self._beta = shards.recipe, 1.0
        self._spec = recipe.spec
        self._replay = Replay(replace(recipe, seed=recipe.seed + number), lambda: self._beta)
        self._record = np.zeros((), rollout_dtype(recipe.spec, shards.t_max, recipe.envs))
        self._next: dict[int, tuple[int, int]] = {}  # group: the pod and the rollout that would go on there
        self._drawn: dict[int, Drawn] = {}  # by ticket, until its errors come
        self._tickets, self._adding = itertools.count(), threading.Lock()

    def add(self, group: int, pod: int, first: int, rollouts: Sequence[Packed]) -> int:
        """Adds rollouts `first`, ... of a pod that plays for a group. Returns how many transitions can be drawn."""
        with self._adding:
            for number, packed in enumerate(rollouts, start=first):
                unpack(packed, self._record, self._spec.stacked_frames)
                if self._next.get(group) != (pod, number):  # another pod's, or some were lost
                    self._replay.begin(group, self._record["observation"][0])
                self._replay.add(group, self._record, packed.length)
                self._next[group] = pod, number + 1
            self._replay.offer()
        return self._replay.size

    def draw(self, count: int, beta: float, learned: Sequence[tuple[int, np.ndarray]]) -> Given:
        """Draws a batch; the shard must not be empty. `learned`: tickets of earlier batches, and their errors."""
        for ticket, errors in learned:
            self._replay.learned(self._drawn.pop(ticket), errors)
        self._beta = beta
        drawn, ticket = self._replay.draw(count), next(self._tickets)
        self._drawn[ticket] = drawn
        return Given(ticket, drawn.arrays, drawn.age_steps, self._replay.size)

    def live(self) -> None:
        """Never returns: a call to it fails when the shard dies."""
        threading.Event().wait()
