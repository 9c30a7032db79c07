"""Ape-X (Horgan et al. 2018) on one machine: agents play, one trainer learns from a replay, and nobody waits.

The stations are GA3C's; a replay memory stands in the training queue's place, and a thread stores what agents ship. An
agent is answered with the newest weights, where the paper's actors have copies that are up to 400 frames old. New
transitions get the priorities that the values say by which they were played.

The paper lets its replay grow beyond its size and takes the oldest out every 100 updates. Here they go one by one as
new ones come, which amounts to the same: nobody waits for room, and what can be drawn was played last. It is that of
each agent, and of all as much. With `--replay-eviction priority`, as the paper's DPG has it, what is above the size
goes every 100 updates by priority; the rows of what went are written over in turn, so none outlives twice the size.
"""

from collections.abc import Sequence

import numpy as np

from ga3c.systems.ga3c import GA3C  # isort: skip (first: it loads TensorFlow)
from ga3c.machine import agent_bytes
from ga3c.prediction_queue import PredictionQueue
from ga3c.replay.asynchronous_queue import AsynchronousReplayQueue
from ga3c.scheduling.pace import Pace
from ga3c.systems.replay_of import Filling, beta_of, count_stored, recipe_of, replay_of

SLOTS = 3  # of an agent: one to fill, and what is on its way


class Apex(GA3C):
    """Agents explore each game as its number says, where `--exploration per-game` says so."""

    _why_no_controller = "agents and trainer keep no pace with each other"

    def _connect(self) -> int:
        replay, steps = self._settings.replay, self._begun.totals.trained_steps
        self.counts = self.counts._replace(trainers=1)
        self._rollouts_per_batch = 1
        self._predictions = PredictionQueue()
        self._pace = Pace(replay.replay_minimum_transitions, replay.steps_per_update)
        if replay.replay_shards:
            self._training = self._shards = self._sharded(steps)
        else:
            self._training = self._in_this_process(steps)
        self._training.on_stored = self._count
        self._training.on_target = lambda steps: self.model.copy_to_target(steps)
        return SLOTS

    def _count(self, rollouts: Sequence) -> None:
        count_stored(self.stats, self.model, rollouts, self._settings.schedule.envs_per_agent)
        if self._shards:
            self._pace.played(sum(rollout.transitions for rollout in rollouts))

    def _in_this_process(self, steps: int) -> AsynchronousReplayQueue:
        settings, envs, replay = self._settings, self._settings.schedule.envs_per_agent, self._settings.replay
        agents_bytes = self.counts.agents * agent_bytes(SLOTS * self._dtype.itemsize, envs)
        self.replay = replay_of(
            settings, self._spec, self.counts.agents, envs, agents_bytes, lambda: self._training.steps,
            initial_errors=self._algorithm.initial_errors,
        )  # fmt: skip
        queue = self.replay, self._pace, len, replay.batch, replay.target_updates, steps
        return AsynchronousReplayQueue(*queue, ahead=replay.prefetch_batches)

    def _sharded(self, steps: int):
        from ga3c.cluster.sharded import ShardedReplay  # here alone: it loads Ray

        settings, replay = self._settings, self._settings.replay
        envs, own = settings.schedule.envs_per_agent, self._algorithm.initial_errors
        recipe = recipe_of(settings, self._spec, self.counts.agents, envs, own)
        sizes = replay.replay_shards, replay.replay_minimum_transitions, replay.batch, replay.target_updates
        return ShardedReplay(recipe, *sizes, beta_of(settings, lambda: self._training.steps), steps, self._say)

    def start(self, arrays: dict[str, np.ndarray] | None) -> None:
        trained = self._begun.totals.updates > 0
        self._filling = Filling(self._settings, self.replay or self._shards, self._pace, trained, self._say)
        if self._shards:
            self._shards.start()
        super().start(arrays)
        if not self._shards:
            self._add_thread("storing", self._training.store)
            if self._settings.replay.prefetch_batches:
                self._add_thread("drawing", self._training.draw_ahead)

    def watched(self) -> dict[str, float]:
        return self._training.watched() | super().watched()

    def watch(self) -> None:
        super().watch()
        if self._shards:
            self._shards.watch()
        self._filling.look()
