"""A replay whose shards are processes of their own: the learner draws from them in turn."""

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ga3c.cluster.connection import as_actor
from ga3c.cluster.control_plane import ControlPlane, RayletDied
from ga3c.cluster.packing import Packed, field_of
from ga3c.cluster.shard import Address, Given, Shard, Shards
from ga3c.replay.asynchronous_queue import Drawing
from ga3c.replay.replay_queue import Listeners, Updates
from ga3c.rollout import Batch

AHEAD = 2  # batches are asked of each shard before they are needed
THREADS = 8  # of a shard: one waits for its end, one adds at a time
LOOK_SECONDS = 0.2
PAUSE_SECONDS = 0.005  # between two looks, for those who wait to use Ray: pods, and who watches


class Sender:
    """A pod: both its client and the learner's handle of it."""

    gone = False
    trained_steps = 0  # steps that are stored

    def __init__(self, number: int, position: int):
        self.number, self.position = number, position

    @property
    def settled(self) -> bool:
        return self.gone

    def close(self) -> None:
        self.gone = True


class _Stored(NamedTuple):
    """A rollout that a shard has, for `systems.learner.Learner.stored`."""

    agent: Sender
    length: int
    transitions: int
    episodes: tuple
    record: dict[str, np.ndarray]


class _ShardHandle:
    """A shard as the learner sees it."""

    def __init__(self, number: int):
        self.number, self.generation = number, 0
        self.actor = self.life = None
        self.forget()

    def forget(self) -> None:
        self.asked: list = []
        self.learned: list[tuple[int, np.ndarray]] = []  # tickets and errors for its next request
        self.size = self.came = 0  # transitions: that can be drawn, as far as the learner has heard; that have come


class ShardedReplay:
    """An `Experience` for one trainer, as an `AsynchronousReplayQueue` is."""

    def __init__(
        self,
        shards: Shards,
        updates: Updates,
        beta: Callable[[], float],
        steps: int,
        tell: Listeners,
        control: ControlPlane,
        say: Callable[[str], None],
    ):
        """`control`: of the cluster that is joined. Before the first update each shard must have its share of the
        pace's minimum."""
        self._plan, self._shards = shards, [_ShardHandle(number) for number in range(shards.count)]
        self._each = -(-updates.pace.minimum_steps // shards.count)
        self._batch, self._target_updates = updates.batch, updates.target_updates
        self._beta, self._tell, self._control, self._say, self.steps = beta, tell, control, say, steps
        self._updates, self._turn = updates.made % updates.target_updates, 0
        self._drawing, self._closed = Drawing(), False
        self._changed = threading.Condition()  # the sizes, the steps, or the end
        self._using = threading.Lock()  # held while Ray is in use and must not be left
        self.lost_transitions = 0  # on their way to a shard that died
        self._held: Given | None = None  # the newest batch: letting go of it uses the object store, too

    def start(self) -> None:
        with self._using:
            for shard in self._shards:
                self._start(shard)

    def _start(self, shard: _ShardHandle) -> None:
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        options = {"num_cpus": 0, "max_concurrency": THREADS, "scheduling_strategy": here}
        shard.forget()
        shard.generation += 1
        shard.actor = as_actor(Shard, **options).remote(self._plan, shard.number)
        shard.life = shard.actor.live.remote()

    def connect(self, number: int, memory, slots: int, position: int = 0) -> tuple[Sender, Sender]:
        """As `Experience.connect`; the memory is not used."""
        sender = Sender(number, position)
        return sender, sender

    def address(self, position: int) -> Address:
        """Returns where the pod in this position sends."""
        group, number = divmod(position, len(self._shards))
        with self._using:
            shard = self._shards[number]
            return Address(shard.actor, number, shard.generation, group)

    def took(self, sender: Sender, rollouts: list[Packed], to: Address, size: int, lost: int) -> None:
        """Counts what a pod says: the rollouts that its shard has, the transitions that can be drawn there (`size`),
        and those that did not come there."""
        stored = [
            _Stored(sender, one.length, one.transitions, one.episodes, {"version": field_of(one, "version", np.int64)})
            for one in rollouts
        ]
        sender.trained_steps += sum(one.transitions for one in stored)
        if stored:
            self._tell.stored(stored)
        with self._changed:
            self.steps += sum(one.transitions for one in stored)
            self.lost_transitions += lost
            if stored and self._shards[to.shard].generation == to.generation:
                self._shards[to.shard].size = size
                self._shards[to.shard].came += self._plan.recipe.copies * sum(one.transitions for one in stored)
            self._changed.notify_all()

    @property
    def size(self) -> int:
        """Transitions that can be drawn, as far as the learner has heard."""
        return sum(shard.size for shard in self._shards)

    @property
    def has_minimum(self) -> bool:
        return all(shard.size and shard.came >= self._each for shard in self._shards)

    def next_batch(self) -> Batch | None:
        began = time.monotonic()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self.has_minimum)
            if self._closed:
                return None
            shard = self._shards[self._turn % len(self._shards)]
            with self._using:
                # One that has died since, or before, has an empty successor.
                if not self._closed and self.has_minimum and (given := self._given(shard)):
                    self._turn, self._held = self._turn + 1, given
                    self._drawing.drawn(self._batch, given.age_steps * len(self._shards))
                    origin = shard, shard.generation, given.ticket
                    return Batch.drawn(given.arrays, began, origin, self.steps)
            time.sleep(PAUSE_SECONDS)

    def _given(self, shard: _ShardHandle) -> Given | None:
        """Returns the batch that a shard was asked for first; None: it has not come yet, or the shard has died."""
        while len(shard.asked) < AHEAD:
            shard.asked.append(shard.actor.draw.remote(self._batch, self._beta(), shard.learned))
            shard.learned = []
        if not ray.wait(shard.asked[:1], timeout=LOOK_SECONDS, fetch_local=False)[0]:
            return None
        try:
            given = self._control.get(shard.asked[0])
        except RayletDied:
            time.sleep(LOOK_SECONDS)  # until the run ends
            return None
        except ray.exceptions.RayActorError:
            self._replace(shard)
            return None
        shard.asked.pop(0)
        shard.size = given.size
        return given

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        shard, generation, ticket = batch.buffer
        with self._using:
            if shard.generation == generation:
                shard.learned.append((ticket, errors))
        self._updates += 1
        if self._updates == self._target_updates:
            self._updates = 0
            self._tell.target(self.steps)

    def watch(self) -> None:
        """Replaces shards that have died."""
        with self._using:
            for shard in self._shards:
                if not self._closed and ray.wait([shard.life], timeout=0)[0]:
                    self._replace(shard)

    def _replace(self, shard: _ShardHandle) -> None:
        held = shard.size
        self._start(shard)
        self._say(
            f"Replay shard {shard.number} died, with {held:,} transitions in it; a new one takes its place, and "
            f"learning goes on when that has {self._each:,}."
        )

    def leave(self) -> None:
        """Ends the shards, before Ray is left: nothing is drawn any more."""
        self.close()
        with self._using:
            for shard in self._shards:
                if shard.actor:
                    ray.kill(shard.actor)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def drop(self) -> None:
        """Does nothing: nothing waits."""

    def waiting(self) -> int:
        return 0

    def watched(self) -> dict[str, float]:
        return self._drawing.watched(self.size)

    def shards(self) -> list[dict]:
        """Returns the shards, for JSON."""
        return [{"number": one.number, "size": one.size, "starts": one.generation} for one in self._shards]
