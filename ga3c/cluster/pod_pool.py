"""Pods in the agents' place: started, fed into the training queue, replaced, told to end; and their books."""

import contextlib
import itertools
import math
import threading
import time
from collections.abc import Callable

import numpy as np
import ray

from ga3c.cluster import connection
from ga3c.cluster.control_plane import ControlPlane, RayletDied
from ga3c.cluster.packing import Packed, field_of, unpack
from ga3c.cluster.place import Place, reason
from ga3c.cluster.pod import Pod, Taken
from ga3c.cluster.published_weights import Weights
from ga3c.cluster.sharded import ShardedReplay
from ga3c.cluster.watching import Seen, Watch
from ga3c.errors import TrainingFailed
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.run import Settings
from ga3c.stats import Stats, Timings
from ga3c.training_queue import Experience
from ga3c.transport.agent_memory import AgentMemory

# So many in a row, without a rollout of any pod in between, end the run.
DEATHS_LIMIT = 6
SILENCE_SECONDS = 120.0  # of a pod that was asked: a network may be cut for a minute
WATCH_SECONDS = 10.0  # between two looks at the pods; if it was longer, the learner itself had been stopped


class PodPool:
    """What `processes.agent_pool.AgentPool` is to agents. A pod's agent number is its own."""

    def __init__(
        self,
        settings: Settings,
        spec: EnvironmentSpec,
        training: Experience,
        dtype: np.dtype,
        slots: int,
        first_number: int,
        pods: int,
        say: Callable[[str], None],
    ):
        """Joins the cluster. `training`: of a `ShardedReplay` pods send to the shards. Raises ConfigError."""
        self._settings, self._spec, self._training, self._dtype = settings, spec, training, dtype
        self._slots, self._pods, self._say = slots, pods, say
        self._shards = training if isinstance(training, ShardedReplay) else None
        self.next_number = first_number
        self._places: dict[int, Place] = {}  # by number
        self._ended: list[tuple[int, object]] = []  # steps made, and the handle: not all it shipped is done yet
        self._deaths, self._core_seconds_ended, self._bytes_ended = 0, 0.0, 0
        self._dropped = 0  # transitions that were too old: of what is lost at the end
        self._wanted, self._closed = 0, False
        self._watched = time.monotonic()
        self._lock = threading.RLock()
        self._weights: Weights | None = None
        say(connection.join(settings.schedule.cluster, pods))
        self._control = ControlPlane()
        if self._shards:
            self._shards.control = self._control
        self._watch, self._watched_before = Watch(self._control.nodes, say), (0, time.monotonic())

    def begin(self, model, stats: Stats) -> None:
        """Lets pods play that are there, with the weights of a `model.Model`."""
        self._stats = stats
        self._weights = Weights(model, stats.trained_steps, self._control)

    def scale(self, count: int) -> None:
        """Starts what is missing."""
        with self._lock:
            self._wanted = 0 if self._closed else count
            while len(self._places) < self._wanted:
                self._start()

    def _start(self) -> None:
        number, taken = self.next_number, {one.place for one in self._places.values()}
        self.next_number += 1
        place = next(place for place in itertools.count() if place not in taken)
        memory = AgentMemory(self._dtype, self._slots)
        training, client = self._training.connect(number, memory, self._slots, place)
        options = {"num_cpus": 1, "scheduling_strategy": "SPREAD", "max_restarts": 0}
        actor = connection.as_actor(Pod, **options).remote(self._settings, self._spec, number, place, self._pods)
        one = self._places[number] = Place(number, place, actor, training, client, memory)
        one.thread = threading.Thread(target=self._feed, args=(one,), name=f"pod {number}", daemon=True)
        one.thread.start()

    def _feed(self, one: Place) -> None:
        """Fetches what a pod has played, and ships it as an agent of this machine would. One request is under way."""
        try:
            one.node, theirs = ray.get(one.actor.about.remote())
            one.mismatch = connection.difference(theirs, one.node)
            over = bool(one.mismatch)
            while not over:
                if self._weights is None:
                    over = one.leaving
                    time.sleep(0.1)
                else:
                    shard = self._shards and self._shards.address(one.place)
                    newest, one.asked = self._weights.newest(), time.monotonic()
                    taken = self._control.get(one.actor.take.remote(newest, one.leaving, shard))
                    one.asked, over = None, taken.over
                    self._ship(one, taken, shard)
        except (ray.exceptions.RayError, RayletDied) as error:
            one.fault = one.fault or reason(error)
        except Exception:
            if not self._closed:  # else nobody waits for it any more, and Ray may have gone
                raise
        one.client.close()  # all that it has shipped is read before its end
        one.ended = True

    def _ship(self, one: Place, taken: Taken, shard) -> None:
        one.heard, one.version, one.core_seconds = time.monotonic(), taken.version, taken.core_seconds
        one.begun |= bool(taken.predicted)
        one.made, one.pulls = taken.made, taken.pulls
        one.messages += 1
        one.bytes = taken.bytes
        if taken.predicted:
            self._stats.predicted(taken.predicted, Timings())
        if shard:
            self._shards.took(one.client, taken.rollouts, shard, taken.shard_size, taken.lost)
        for packed in taken.rollouts if not shard else ():
            if self._is_too_old(packed):
                with self._lock:
                    self._dropped += packed.transitions
                continue
            slot = one.client.free_slot()
            unpack(packed, one.memory.slots[slot], self._spec.stacked_frames)
            one.client.ship(slot, packed.length, packed.transitions, list(packed.episodes))
            one.memory.shipped()
        if taken.rollouts:
            self._deaths = 0

    def _is_too_old(self, packed: Packed) -> bool:
        """All of it: its newest row counts."""
        limit = self._settings.schedule.experience_age_limit_updates
        return limit > 0 and self._weights.version - field_of(packed, "version", np.int64).max() > limit

    def watch(self) -> None:
        """Replaces pods that have died. Raises TrainingFailed where that does not help, versions differ, or Ray's own
        processes are gone."""
        if fault := self._control.fault():
            raise TrainingFailed(f"{fault} Without it pods cannot go on: the run ends.")
        with self._lock:
            now, before, self._watched = time.monotonic(), self._watched, time.monotonic()
            for one in self._places.values():
                if one.asked and now - before > WATCH_SECONDS:
                    one.asked = now
                if one.asked and now - one.asked > SILENCE_SECONDS and not one.fault:
                    one.fault = f"it did not answer for {SILENCE_SECONDS:.0f} s"
                    ray.kill(one.actor)
            for one in [one for one in self._places.values() if one.ended]:
                if one.mismatch:
                    raise TrainingFailed(one.mismatch)
                self._see_off(one)
                if one.leaving:
                    continue
                self._deaths += 1
                cause = one.fault.splitlines()[-1] if one.fault else "ended"
                if self._deaths >= DEATHS_LIMIT:
                    raise TrainingFailed(f"Pods keep dying. The last, pod {one.number} on {one.node}: {one.fault}")
                self._say(f"Pod {one.number} on {one.node} died ({cause}); a new one takes its place.")
            self.scale(self._wanted)

    def _see_off(self, one: Place) -> None:
        del self._places[one.number]
        with contextlib.suppress(Exception):  # it is dead, or its node is
            ray.kill(one.actor)
        self._ended.append((one.made, one.training))
        self._core_seconds_ended += one.core_seconds
        self._bytes_ended += one.bytes

    def end(self, seconds: float) -> None:
        """Lets all pods ship what they have and end; leaves those behind that have not after so many seconds."""
        with self._lock:
            self._wanted, self._closed = 0, True
            for one in self._places.values():
                one.leaving = True
        deadline = time.monotonic() + seconds
        for one in list(self._places.values()):
            one.thread.join(max(0.0, deadline - time.monotonic()))
        with self._lock:
            for one in list(self._places.values()):
                self._see_off(one)
        if self._dropped:
            limit = self._settings.schedule.experience_age_limit_updates
            self._say(f"{self._dropped:,} steps of pods were played more than {limit} updates ago: they count as lost.")
        if self._shards:
            self._shards.leave()
        self._control.end()
        connection.leave()

    def keep_books(self, stats: Stats, final: bool = False) -> None:
        """As an `AgentPool`. What a pod had played when it was last heard of, and nobody fetched, is lost."""
        with self._lock:
            for made, training in [pair for pair in self._ended if final or pair[1].settled]:
                self._ended.remove((made, training))
                stats.agent_ended(made, made - training.trained_steps)

    def core_seconds(self) -> float:
        """CPU time that all pods of this start have used, their predictions included."""
        with self._lock:
            return self._core_seconds_ended + sum(one.core_seconds for one in self._places.values())

    def missing(self) -> int:
        """Pods that are wanted and do not play yet."""
        with self._lock:
            return max(0, self._wanted - sum(one.begun and not one.ended for one in self._places.values()))

    starting = missing

    def seen(self) -> list[Seen]:
        """Each pod as it was heard of last."""
        with self._lock:
            age = self._weights.age_seconds if self._weights else lambda _: math.nan
            return [one.seen(age(one.version)) for one in self._places.values()]

    def state(self) -> dict:
        """Pods and nodes, for JSON."""
        shards = self._shards.shards() if self._shards else []
        weights_bytes = self._weights.bytes if self._weights else 0
        state = self._watch.look(self._control.nodes, self.seen(), self._wanted, weights_bytes)
        lost = self._shards.lost_transitions if self._shards else 0
        return state | {"shards": shards, "lost_to_shards": lost, "lost_to_age": self._dropped}

    def watched(self) -> dict[str, float]:
        """For a row of the log: since the one before."""
        pods, (bytes_before, before) = self.seen(), self._watched_before
        came, now = self._bytes_ended + sum(pod.bytes for pod in pods), time.monotonic()
        self._watched_before = came, now
        ages = [pod.weights_age_seconds for pod in pods if pod.weights_age_seconds == pod.weights_age_seconds]
        return {
            "pods_bytes_per_second": (came - bytes_before) / max(now - before, 1e-3),
            "weights_age_seconds": sum(ages) / len(ages) if ages else math.nan,
        }

    def report(self) -> list[str]:
        """A line for each pod."""
        with self._lock:
            now = time.monotonic()
            return [
                f"Pod {one.number} on {one.node}: heard of {now - one.heard:.1f} s ago; {one.made} steps, weights of "
                f"update {one.version}"
                for one in self._places.values()
            ]
