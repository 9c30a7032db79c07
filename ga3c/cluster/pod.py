"""A pod: one agent and its predictor in a process on any machine, with a copy of the weights (Ray runs it as an actor).

It plays ahead until `LIMIT_TRANSITIONS` wait to be fetched. Weights are in the object store: it takes the newest that
it was told of when it has played `PULL_FRAMES` since the last, so who is slow is sent none that it does not use (Horgan
et al. 2018, section 4.1: both numbers, and batches of 50).
"""

import platform
import queue
import threading
import time
import traceback
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import ray

from ga3c.devices.device import set_up_device  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms, environments
from ga3c.agent import play
from ga3c.cluster.connection import versions
from ga3c.cluster.packing import Packed, pack, summary
from ga3c.cluster.shard import Address
from ga3c.model import Model
from ga3c.prediction_queue import Order
from ga3c.rollout import EnvironmentSpec, rollout_dtype
from ga3c.settings.run import Settings
from ga3c.training_queue import Episode
from ga3c.transport.agent_memory import AgentMemory

BATCH_TRANSITIONS, LIMIT_TRANSITIONS = 50, 100
PULL_FRAMES = 400
WAIT_SECONDS = 1.0  # for something to send, before it says that there is nothing yet
SLOTS = 3


class Newest(NamedTuple):
    """Weights that the learner has put into the object store."""

    version: int
    steps: int  # of play that the run has learnt from
    arrays: list  # one reference: in a list it is not fetched before it is asked for


class Taken(NamedTuple):
    """What a pod has to say, and what it was like by then."""

    rollouts: list[Packed]
    made: int  # transitions, so far
    predicted: int  # states, since the last
    core_seconds: float
    version: int  # of its weights
    pulls: int  # that it has fetched weights, so far
    bytes: int  # of experience that it has sent, so far
    shard_size: int  # transitions that can be drawn from its shard, where it has one
    lost: int  # transitions that did not come there
    over: bool  # nothing comes any more


class Pod:
    """Its methods are called one at a time, by its place in the pool."""

    def __init__(self, settings: Settings, spec: EnvironmentSpec, number: int, place: int, pods: int):
        """`place`: of so many pods; its games explore as their numbers say."""
        learning, envs = settings.learning, settings.schedule.envs_per_agent
        set_up_device("cpu", 1)
        self._settings, self._spec, self._number = settings, spec, number
        self._algorithm = algorithms.make(settings, spec.actions)
        seed = learning.seed + 1_000_003 * (number + 1)  # what it samples is its own
        self.model = Model(spec, learning, self._algorithm, seed, xla=False, games=pods * envs)
        self._games = [place * envs + np.arange(envs, dtype=np.int32)] * self.model.per_game
        self.memory = AgentMemory(rollout_dtype(spec, learning.t_max, envs), SLOTS)
        self._shipped: queue.Queue = queue.Queue(max(2, LIMIT_TRANSITIONS // (learning.t_max * envs)))
        self._player = threading.Thread(target=self._play, name="player", daemon=True)
        self._finish = self._over = False
        self._newest: Newest | None = None
        self._version, self._rows, self._predicted, self._pulls, self._failed = -1, 0, 0, 0, ""
        self._bytes = self._sent = 0

    def about(self) -> tuple[str, dict[str, str]]:
        """Its node, and the versions of its programs."""
        return platform.node(), versions()

    def take(self, newest: Newest, finish: bool, shard: Address | None = None) -> Taken:
        """What it has played, `BATCH_TRANSITIONS` at once. `newest`: weights that it may fetch. `finish`: it shall end.
        `shard`: it goes there, and what is returned says that alone.

        Raises RuntimeError, with the traceback, where its games have failed.
        """
        self._newest, self._finish = newest, self._finish or finish
        if not self._player.ident:
            self._player.start()
        rollouts, transitions, until = [], 0, time.monotonic() + WAIT_SECONDS
        while transitions < BATCH_TRANSITIONS and not (self._over and self._shipped.empty()):
            try:
                rollouts.append(self._shipped.get(timeout=min(0.1, max(0.0, until - time.monotonic()))))
                transitions += rollouts[-1].transitions
            except queue.Empty:
                if time.monotonic() >= until:
                    break
        if self._failed and not rollouts:
            raise RuntimeError(self._failed)
        predicted, self._predicted = self._predicted, 0
        core_seconds, over = time.process_time(), self._over and self._shipped.empty()
        self._bytes += sum(packed.size for packed in rollouts)
        size = 0
        if shard and rollouts:
            rollouts, size = self._send(rollouts, shard)
        lost = transitions - sum(packed.transitions for packed in rollouts)
        counts = self._version, self._pulls, self._bytes, size, lost
        return Taken(rollouts, self.memory.steps, predicted, core_seconds, *counts, over)

    def _send(self, rollouts: list[Packed], shard: Address) -> tuple[list[Packed], int]:
        """To its shard: what came there, without the payload, and how many transitions can be drawn there."""
        first, self._sent = self._sent, self._sent + len(rollouts)
        try:
            size = ray.get(shard.actor.add.remote(shard.group, self._number, first, rollouts))
        except ray.exceptions.RayActorError:  # it has died: the next call says where another one is
            return [], 0
        return [summary(packed) for packed in rollouts], size

    def _play(self) -> None:
        settings, envs = self._settings, self._settings.schedule.envs_per_agent
        seed = environments.first_seed(settings.learning.seed, self._number)
        try:
            self._pull()
            games = environments.make_for_player(settings.environment, envs, seed)
            at_once = algorithms.learns_at_once(self._algorithm)
            play(games, self.memory, _Answers(self), _Shipping(self), settings.environment, seed, at_once)
            games.close()
        except BaseException:
            self._failed = traceback.format_exc()
        self._over = True

    def _pull(self) -> None:
        """Takes the newest weights."""
        newest = self._newest
        if newest.version != self._version:
            self.model.restore(ray.get(newest.arrays[0]))
            self.model.explore(newest.steps)
            self._version = newest.version
            self._pulls += 1
        self._rows = 0

    def predict(self, slot: int, row: int) -> Order:
        if self._rows * self._spec.frames_per_step >= PULL_FRAMES:
            self._pull()
        slots = self.memory.slots
        fields, version = self.model.predict(slots["observation"][slot, row], *self._games)
        for name, values in fields.items():
            slots[name][slot, row] = values
        slots["version"][slot, row] = version
        self._rows += 1
        self._predicted += self._settings.schedule.envs_per_agent
        return Order.FINISH if self._finish else Order.GO_ON

    def ship(self, slot: int, length: int, transitions: int, episodes: Sequence[Episode]) -> None:
        packed = pack(self.memory.slots[slot], length, transitions, episodes, self._spec.stacked_frames)
        self._shipped.put(packed)


class _Answers:
    """In the place of an agent's `PredictionClient`."""

    def __init__(self, pod: Pod):
        self._pod = pod

    def ask(self, slot: int, row: int) -> None:
        self._place = slot, row

    def wait(self) -> Order:
        return self._pod.predict(*self._place)


class _Shipping:
    """In the place of an agent's `TrainingClient`: what is shipped is copied, and its slot free again."""

    def __init__(self, pod: Pod):
        self._pod, self._free = pod, deque(range(SLOTS))

    def free_slot(self) -> int:
        return self._free.popleft()

    def ship(self, slot: int, length: int, transitions: int, episodes: Sequence[Episode]) -> None:
        self._pod.ship(slot, length, transitions, episodes)
        self._free.append(slot)
