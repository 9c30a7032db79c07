"""The replay of a learner whose shards are processes of their own: it draws from them in turn."""

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
from ga3c.replay.drawn import Drawing
from ga3c.replay.replay_queue import Listeners, Updates
from ga3c.rollout import Batch

AHEAD = 2  # batches that are asked of each shard before they are needed
THREADS = 8  # of a shard: one waits for its end, one adds at a time
LOOK_SECONDS = 0.2
_NONE = np.zeros(0, np.int64)


class Sender:
    """A pod: its end of this, as it would have one of the training queue, and the learner's handle of it."""

    gone = False
    trained_steps = 0  # that are stored

    def __init__(self, number: int, place: int):
        self.number, self.place = number, place

    @property
    def settled(self) -> bool:
        return self.gone

    def close(self) -> None:
        self.gone = True


class _Stored(NamedTuple):
    """A rollout that a shard has, as `systems.learner.Learner.stored` reads one."""

    agent: Sender
    length: int
    transitions: int
    episodes: tuple
    record: dict[str, np.ndarray]


class _Place:
    """A shard as the learner sees it."""

    def __init__(self, number: int):
        self.number, self.generation = number, 0
        self.actor = self.life = None
        self.forget()

    def forget(self) -> None:
        self.asked: list = []
        self.learned: list[tuple[int, np.ndarray]] = []  # what it is told with the next request
        self.size = 0


class ShardedReplay:
    """For one trainer, as an `AsynchronousReplayQueue`."""

    def __init__(
        self,
        shards: Shards,
        updates: Updates,
        beta: Callable[[], float],
        steps: int,
        tell: Listeners,
        say: Callable[[str], None],
    ):
        """Before the first update each shard has to have its share of the pace's minimum."""
        self._shards, self._places = shards, [_Place(number) for number in range(shards.count)]
        self._each = -(-updates.pace.minimum_steps // shards.count)
        self._batch, self._target_updates = updates.batch, updates.target_updates
        self._beta, self._tell, self._say, self.steps = beta, tell, say, steps
        self._updates = self._turn = 0
        self._drawing, self._closed = Drawing(), False
        self._changed = threading.Condition()  # of what follows, and of the sizes
        self._using = threading.Lock()  # Ray: held for as long as it must not be left
        self.lost_transitions = 0  # on their way to a shard that died
        self.control: ControlPlane | None = None  # of the cluster that is joined; set before the start
        self._held: Given | None = None  # the newest batch: to let go of it is a use of the object store, too

    def start(self) -> None:
        with self._using:
            for place in self._places:
                self._start(place)

    def _start(self, place: _Place) -> None:
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        options = {"num_cpus": 0, "max_concurrency": THREADS, "scheduling_strategy": here}
        place.forget()
        place.generation += 1
        place.actor = as_actor(Shard, **options).remote(self._shards, place.number)
        place.life = place.actor.live.remote()

    def connect(self, number: int, memory, slots: int, place: int = 0) -> tuple[Sender, Sender]:
        """As a training queue; the memory is not used."""
        sender = Sender(number, place)
        return sender, sender

    def address(self, place: int) -> Address:
        """Of the pod in this place of the pool."""
        group, shard = divmod(place, len(self._places))
        with self._using:
            own = self._places[shard]
            return Address(own.actor, shard, own.generation, group)

    def took(self, sender: Sender, rollouts: list[Packed], to: Address, size: int, lost: int) -> None:
        """What a pod says: which rollouts its shard has, how many transitions can be drawn there, and how many did not
        come there."""
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
            if stored and self._places[to.shard].generation == to.generation:
                self._places[to.shard].size = size
            self._changed.notify_all()

    @property
    def size(self) -> int:
        """Transitions that can be drawn, as far as it was heard."""
        return sum(place.size for place in self._places)

    @property
    def has_minimum(self) -> bool:
        return all(place.size >= max(1, self._each) for place in self._places)

    def next_batch(self) -> Batch | None:
        began = time.monotonic()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self.has_minimum)
            if self._closed:
                return None
            place = self._places[self._turn % len(self._places)]
            with self._using:
                if not self._closed and (given := self._given(place)):
                    self._turn, self._held = self._turn + 1, given
                    self._drawing.drawn(self._batch, given.age_steps * len(self._places))
                    buffer = place, place.generation, given.ticket
                    return Batch(given.arrays, _NONE, (), 0, began, time.monotonic(), buffer, self.steps)

    def _given(self, place: _Place) -> Given | None:
        """What it was asked for first; None: not yet, or it has died."""
        while len(place.asked) < AHEAD:
            place.asked.append(place.actor.draw.remote(self._batch, self._beta(), place.learned))
            place.learned = []
        if not ray.wait(place.asked[:1], timeout=LOOK_SECONDS, fetch_local=False)[0]:
            return None
        try:
            given = self.control.get(place.asked[0])
        except RayletDied:
            time.sleep(LOOK_SECONDS)  # until the run ends
            return None
        except ray.exceptions.RayActorError:
            self._replace(place)
            return None
        place.asked.pop(0)
        place.size = given.size
        return given

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        place, generation, ticket = batch.buffer
        with self._using:
            if place.generation == generation:
                place.learned.append((ticket, errors))
        self._updates += 1
        if self._updates == self._target_updates:
            self._updates = 0
            self._tell.target(self.steps)

    def watch(self) -> None:
        """Replaces shards that have died."""
        with self._using:
            for place in self._places:
                if not self._closed and ray.wait([place.life], timeout=0)[0]:
                    self._replace(place)

    def _replace(self, place: _Place) -> None:
        held = place.size
        self._start(place)
        self._say(
            f"Replay shard {place.number} died, with {held:,} transitions in it; a new one takes its place, and "
            f"learning goes on when that has {self._each:,}."
        )

    def leave(self) -> None:
        """Before Ray is left: nothing is drawn any more."""
        self.close()
        with self._using:
            for place in self._places:
                if place.actor:
                    ray.kill(place.actor)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def drop(self) -> None:
        """There is nothing that waits."""

    def waiting(self) -> int:
        return 0

    def watched(self) -> dict[str, float]:
        return self._drawing.watched(self.size)

    def shards(self) -> list[dict]:
        """For JSON."""
        return [{"number": one.number, "size": one.size, "starts": one.generation} for one in self._places]
