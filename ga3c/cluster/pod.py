"""A pod: one agent and its predictor in a process on any machine, with a copy of the weights (Ray runs it as an actor).

It plays ahead until `LIMIT_TRANSITIONS` wait to be fetched. The weights are in the object store. A pod fetches the
newest that it was told of each time it has played `PULL_FRAMES`, so a slow pod fetches none that it does not use.
Horgan et al. 2018, section 4.1, have both numbers, and batches of 50.
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
from ga3c.environments.games_in_play import Games
from ga3c.model import Acting, Model
from ga3c.prediction_queue import Order
from ga3c.rollout import FEW_SLOTS, EnvironmentSpec, Episode, rollout_dtype
from ga3c.settings.run import Settings
from ga3c.transport.agent_memory import AgentMemory

BATCH_TRANSITIONS, LIMIT_TRANSITIONS = 50, 100
PULL_FRAMES = 400
WAIT_SECONDS = 1.0  # for something to send, before the answer says that there is nothing yet


class Newest(NamedTuple):
    """The newest weights that the learner has put into the object store."""

    version: int
    steps: int  # of play that the run has learnt from
    arrays: list  # of one reference: within a list, Ray does not fetch it by itself


class Taken(NamedTuple):
    """A pod's answer: what it has played, and its counts by then."""

    rollouts: Sequence[Packed] = ()
    made: int = 0  # transitions, so far
    predicted: int = 0  # states, so far
    core_seconds: float = 0.0
    version: int = -1  # of its weights
    pulls: int = 0  # times that it has fetched weights, so far
    bytes: int = 0  # of experience that it has sent, so far
    shard_size: int = 0  # transitions that can be drawn from its shard, where it has one
    lost: int = 0  # transitions that did not reach the shard
    over: bool = False  # this is the last answer


class Pod:
    """Plays in a thread of its own; its methods for the learner are called one at a time, by its `PodHandle`.

    For `agent.play` it is both a `PredictionClient`, which predicts by itself, and a `TrainingClient`, which copies
    what is shipped.
    """

    def __init__(self, settings: Settings, spec: EnvironmentSpec, number: int, position: int, pods: int):
        """`position`: among so many pods; its games explore as their numbers say."""
        learning, envs = settings.learning, settings.schedule.envs_per_agent
        set_up_device("cpu", 1)
        self._settings, self._spec, self._number, self._envs = settings, spec, number, envs
        self._algorithm = algorithms.make(settings, spec.actions)
        seed = (learning.seed + 1_000_003 * (number + 1)) % 2**31  # what it samples is its own
        self.model = Model(spec, learning, self._algorithm, seed, xla=False, acting=Acting(games=pods * envs))
        games = position * envs + np.arange(envs, dtype=np.int32)
        self._games = games if self.model.per_game else None
        self.memory = AgentMemory(rollout_dtype(spec, learning.t_max, envs, learning.recurrent_size), FEW_SLOTS)
        self._free = deque(range(FEW_SLOTS))
        self._shipped: queue.Queue = queue.Queue(max(2, LIMIT_TRANSITIONS // (learning.t_max * envs)))
        self._player = threading.Thread(target=self._play, name="player", daemon=True)
        self._finish = self._over = False
        self._newest: Newest | None = None
        self._version, self._rows, self._predicted, self._pulls, self._failed = -1, 0, 0, 0, ""
        self._bytes = self._sent = 0

    def about(self) -> tuple[str, dict[str, str]]:
        """Returns its node, and the versions of its programs."""
        return platform.node(), versions()

    def take(self, newest: Newest, finish: bool, shard: Address | None = None) -> Taken:
        """Returns what it has played, `BATCH_TRANSITIONS` at once. `newest`: weights that it may fetch. `finish`: it
        shall end. `shard`: it sends its rollouts there, and returns only summaries of them.

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
        # Where its games have failed, the next call says why.
        core_seconds, over = time.process_time(), self._over and self._shipped.empty() and not self._failed
        self._bytes += sum(packed.size for packed in rollouts)
        size = 0
        if shard and rollouts:
            rollouts, size = self._send(rollouts, shard)
        return Taken(
            rollouts=rollouts,
            made=self.memory.steps,
            predicted=self._predicted,
            core_seconds=core_seconds,
            version=self._version,
            pulls=self._pulls,
            bytes=self._bytes,
            shard_size=size,
            lost=transitions - sum(packed.transitions for packed in rollouts),
            over=over,
        )

    def _send(self, rollouts: list[Packed], shard: Address) -> tuple[list[Packed], int]:
        """Sends rollouts to its shard. Returns summaries of what came there, and how many transitions can be drawn."""
        first, self._sent = self._sent, self._sent + len(rollouts)
        try:
            size = ray.get(shard.actor.add.remote(shard.group, self._number, first, rollouts))
        except ray.exceptions.RayActorError:  # it has died: the next call says where another one is
            return [], 0
        return [summary(packed) for packed in rollouts], size

    def _play(self) -> None:
        settings = self._settings
        seed = environments.first_seed(settings.learning.seed, self._number)
        try:
            self._pull()
            envs = environments.make_for_player(settings.environment, self._envs, seed)
            games = Games(envs, self._envs, settings.environment)
            play(games, self.memory, self, self, seed, algorithms.learns_at_once(self._algorithm))
            envs.close()
        except BaseException:
            self._failed = traceback.format_exc()
        self._over = True

    def _pull(self) -> None:
        """Fetches the newest weights."""
        newest = self._newest
        if newest.version != self._version:
            self.model.restore(ray.get(newest.arrays[0]))
            self.model.explore(newest.steps)
            self._version = newest.version
            self._pulls += 1
        self._rows = 0

    def ask(self, slot: int, row: int) -> None:
        """As `PredictionClient.ask`: predicts at once."""
        if self._rows * self._spec.frames_per_step >= PULL_FRAMES:
            self._pull()
        recurrent, observations = self.memory.recurrent, self.memory.slots["observation"][slot, row]
        before = recurrent.before if recurrent else None
        fields, version = self.model.predict(observations, games=self._games, recurrent_states=before)
        self.memory.answer(slot, row, fields, version)
        self._rows += 1
        self._predicted += self._envs

    def wait(self) -> Order:
        """As `PredictionClient.wait`."""
        return Order.FINISH if self._finish else Order.GO_ON

    def free_slot(self) -> int:
        """As `TrainingClient.free_slot`."""
        return self._free.popleft()

    def ship(self, slot: int, length: int, transitions: int, episodes: Sequence[Episode]) -> None:
        """As `TrainingClient.ship`: copies the rollout; its slot is free again."""
        self._shipped.put(pack(self.memory.slots[slot], length, transitions, episodes, self._spec.stacked_frames))
        self._free.append(slot)
