"""Pods instead of agents: starts, watches, replaces and ends them, and ships what they play."""

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
from ga3c.cluster.pod import Pod, Taken
from ga3c.cluster.pod_handle import PodHandle, reason
from ga3c.cluster.published_weights import Weights
from ga3c.cluster.sharded import ShardedReplay
from ga3c.cluster.watching import Seen, Watch
from ga3c.errors import TrainingFailed
from ga3c.progress import Progress
from ga3c.rollout import EnvironmentSpec, rollout_dtype
from ga3c.settings.run import Settings
from ga3c.stats import EndedAgents, Stats, Timings
from ga3c.transport.agent_memory import AgentMemory
from ga3c.transport.experience import Experience

DEATHS_LIMIT = 6  # so many in a row, without a rollout of any pod in between, end the run
SILENCE_SECONDS = 120.0  # of a pod that was asked: a network may be cut for a minute
WATCH_SECONDS = 10.0  # between two looks at the pods; if it was longer, the learner itself had been stopped


class PodPool:
    """Starts, feeds from, replaces and ends pods: a `processes.agents.Agents`."""

    def __init__(
        self,
        settings: Settings,
        spec: EnvironmentSpec,
        begun: Progress,
        training: Experience,
        slots: int,
        control: ControlPlane,
        say: Callable[[str], None],
    ):
        """`control`: of the cluster that is joined. Where `training` is a `ShardedReplay`, pods send to its shards."""
        self._settings, self._spec, self._training, self._slots = settings, spec, training, slots
        learning, envs = settings.learning, settings.schedule.envs_per_agent
        self._dtype = rollout_dtype(spec, learning.t_max, envs, learning.recurrent_size)
        self._pods, self._control, self._say = begun.counts.agents, control, say
        self._shards = training if isinstance(training, ShardedReplay) else None
        self.next_number = begun.next_agent
        self._all: dict[int, PodHandle] = {}  # by number
        self._ended = EndedAgents()
        self._deaths, self._bytes_ended = 0, 0
        self._dropped = 0  # transitions that were too old
        self._wanted, self._closed = 0, False
        self._watched = time.monotonic()
        self._lock = threading.RLock()
        self._weights: Weights | None = None
        self._watch, self._watched_before = Watch(control.nodes, say), (0, time.monotonic())

    def begin(self, model, stats: Stats) -> None:
        self._stats = stats
        self._weights = Weights(model, stats.trained_steps, self._control)

    def scale(self, count: int) -> None:
        with self._lock:
            self._wanted = 0 if self._closed else count
            while len(self._all) < self._wanted:
                self._start()

    def _start(self) -> None:
        number, taken = self.next_number, {one.position for one in self._all.values()}
        self.next_number += 1
        position = next(one for one in itertools.count() if one not in taken)
        memory = AgentMemory(self._dtype, self._slots)
        training, client = self._training.connect(number, memory, self._slots, position)
        options = {"num_cpus": 1, "scheduling_strategy": "SPREAD", "max_restarts": 0}
        actor = connection.as_actor(Pod, **options).remote(self._settings, self._spec, number, position, self._pods)
        one = self._all[number] = PodHandle(number, position, actor, training, client, memory)
        one.thread = threading.Thread(target=self._feed, args=(one,), name=f"pod {number}", daemon=True)
        one.thread.start()

    def _feed(self, one: PodHandle) -> None:
        """Fetches what a pod has played, and ships it as an agent of this machine would. One request at a time."""
        try:
            one.node, theirs = ray.get(one.actor.about.remote())
            one.mismatch = connection.difference(theirs, one.node)
            over = bool(one.mismatch)
            while not over:
                if self._weights is None:
                    over = one.leaving
                    time.sleep(0.1)
                else:
                    shard = self._shards and self._shards.address(one.position)
                    newest, one.asked = self._weights.newest(), time.monotonic()
                    taken = self._control.get(one.actor.take.remote(newest, one.leaving, shard))
                    with self._lock:  # or `watch` would say that it was asked, and is silent
                        one.asked, over = None, taken.over
                    self._ship(one, taken, shard)
        except (ray.exceptions.RayError, RayletDied) as error:
            one.fault = one.fault or reason(error)
        except Exception:
            if not self._closed:  # else nobody waits for it any more, and Ray may have gone
                raise
        one.client.close()  # all that it has shipped is read before its end
        one.ended = True

    def _ship(self, one: PodHandle, taken: Taken, shard) -> None:
        predicted = taken.predicted - one.last.predicted
        one.heard, one.last = time.monotonic(), taken._replace(rollouts=())
        one.begun |= bool(predicted)
        one.messages += 1
        if predicted:
            self._stats.predicted(predicted, Timings(), predicted // self._settings.schedule.envs_per_agent)
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
        """Returns whether even the newest row of a rollout is too old."""
        limit = self._settings.schedule.experience_age_limit_updates
        return limit > 0 and self._weights.version - field_of(packed, "version", np.int64).max() > limit

    def watch(self) -> None:
        """Replaces pods that have died. Raises TrainingFailed where that does not help, where versions differ, and
        where Ray's own processes are gone."""
        if fault := self._control.fault():
            raise TrainingFailed(f"{fault} Without it pods cannot go on: the run ends.")
        with self._lock:
            now, before, self._watched = time.monotonic(), self._watched, time.monotonic()
            for one in self._all.values():
                if one.asked and now - before > WATCH_SECONDS:
                    one.asked = now
                if one.asked and now - one.asked > SILENCE_SECONDS and not one.fault:
                    one.fault = f"it did not answer for {SILENCE_SECONDS:.0f} s"
                    ray.kill(one.actor)
            for one in [one for one in self._all.values() if one.ended]:
                if one.mismatch:
                    raise TrainingFailed(one.mismatch)
                self._remove(one)
                if one.leaving:
                    continue
                self._deaths += 1
                cause = one.fault.splitlines()[-1] if one.fault else "ended"
                if self._deaths >= DEATHS_LIMIT:
                    raise TrainingFailed(f"Pods keep dying. The last, pod {one.number} on {one.node}: {one.fault}")
                self._say(f"Pod {one.number} on {one.node} died ({cause}); a new one takes its place.")
            self.scale(self._wanted)

    def _remove(self, one: PodHandle) -> None:
        del self._all[one.number]
        with contextlib.suppress(Exception):  # it is dead, or its node is
            ray.kill(one.actor)
        self._ended.add(one.last.made, one.last.core_seconds, one.training)
        self._bytes_ended += one.last.bytes

    def end(self, seconds: float) -> None:
        with self._lock:
            self._wanted, self._closed = 0, True
            for one in self._all.values():
                one.leaving = True
        deadline = time.monotonic() + seconds
        for one in list(self._all.values()):
            one.thread.join(max(0.0, deadline - time.monotonic()))
        with self._lock:
            for one in list(self._all.values()):
                self._remove(one)
        if self._dropped:
            limit = self._settings.schedule.experience_age_limit_updates
            self._say(f"{self._dropped:,} steps of pods were played more than {limit} updates ago: they count as lost.")
        if self._shards:
            self._shards.leave()
        self._control.end()
        connection.leave()

    def keep_books(self, stats: Stats, final: bool = False) -> None:
        # Steps that a pod had played and nobody has fetched are lost.
        with self._lock:
            self._ended.count(stats, final)

    def core_seconds(self) -> float:
        with self._lock:
            return self._ended.core_seconds + sum(one.last.core_seconds for one in self._all.values())

    def missing(self) -> int:
        with self._lock:
            return max(0, self._wanted - sum(one.begun and not one.ended for one in self._all.values()))

    starting = missing

    def seen(self) -> list[Seen]:
        """Returns each pod as it was heard of last."""
        with self._lock:
            age = self._weights.age_seconds if self._weights else lambda _: math.nan
            return [one.seen(age(one.last.version)) for one in self._all.values()]

    def state(self) -> dict:
        """Returns pods and nodes, for JSON."""
        shards = self._shards.shards() if self._shards else []
        weights_bytes = self._weights.bytes if self._weights else 0
        state = self._watch.look(self._control.nodes, self.seen(), self._wanted, weights_bytes)
        lost = self._shards.lost_transitions if self._shards else 0
        return state | {"shards": shards, "lost_to_shards": lost, "lost_to_age": self._dropped}

    def watched(self) -> dict[str, float]:
        pods, (bytes_before, before) = self.seen(), self._watched_before
        came, now = self._bytes_ended + sum(pod.bytes for pod in pods), time.monotonic()
        self._watched_before = came, now
        ages = [pod.weights_age_seconds for pod in pods if pod.weights_age_seconds == pod.weights_age_seconds]
        return {
            "pods_bytes_per_second": (came - bytes_before) / max(now - before, 1e-3),
            "weights_age_seconds": sum(ages) / len(ages) if ages else math.nan,
        }

    def report(self) -> list[str]:
        with self._lock:
            now = time.monotonic()
            return [
                f"Pod {one.number} on {one.node}: heard of {now - one.heard:.1f} s ago; {one.last.made} steps, "
                f"weights of update {one.last.version}"
                for one in self._all.values()
            ]
