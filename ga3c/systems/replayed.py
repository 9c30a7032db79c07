"""Q-learning from a replay memory: DQN, and fast DQN's concurrent training (Daley and Amato 2021).

The stations are those of `synchronous`; a replay memory stands in the training queue's place.
"""

import numpy as np

from ga3c.algorithms import schedules
from ga3c.machine import check_replay_fits
from ga3c.prediction_queue import PredictionQueue
from ga3c.replay.priorities import Priorities
from ga3c.replay.replay import Replay
from ga3c.replay.replay_queue import ConcurrentReplayQueue, ReplayQueue
from ga3c.replay.rows import Rows
from ga3c.scheduling.pace import Blocks, Pace
from ga3c.scheduling.turns import Turns
from ga3c.systems.synchronous import GROUPS, Synchronous

BETA_STEPS = 50_000_000  # Rainbow's 200 million frames: until beta is 1, where the run has no end


class Replayed(Synchronous):
    """Agents wait for the updates that are due, or with concurrent training for those of a block."""

    def _connect(self) -> int:
        settings, agents, envs = self._settings, self.counts.agents, self._settings.schedule.envs_per_agent
        replay, t_max, steps = settings.replay, settings.learning.t_max, self._begun.totals.trained_steps
        self.counts = self.counts._replace(predictors=1, trainers=1)
        self._max_requests, self._rollouts_per_batch = max(self._max_requests, agents), 1
        self._waits_since: float | None = None
        check_replay_fits(replay.replay_transitions, Rows.bytes_of(self._spec))
        concurrent = replay.concurrent_training
        self._turns = turns = Turns(agents, GROUPS[settings.schedule.sampling], lockstep=not concurrent)
        pace = Pace(replay.replay_minimum_transitions, replay.steps_per_update)
        if not concurrent:
            self._predictions = PredictionQueue(turns.choose_requests)
            self._training = ReplayQueue(
                self._replay(agents), pace, turns.choose_rollouts, replay.batch, replay.target_updates, steps
            )
            turns.on_change = self._training.look_again
        else:
            # Blocks of whole rollouts, and at least as long as the updates in them need.
            rows = -(-replay.target_updates * replay.steps_per_update // (agents * envs))
            rows = -(-rows // t_max) * t_max
            self._blocks = Blocks(turns.choose_requests, rows * agents * envs, envs)
            self._predictions = PredictionQueue(self._blocks.choose_requests)
            self._training = ConcurrentReplayQueue(
                self._replay(agents, rows), pace, len, replay.batch, replay.target_updates, steps,
                blocks=self._blocks, rows=rows,
            )  # fmt: skip
        self._training.on_stored, self._training.on_target = self._count_stored, self._copy_to_target
        self._training.on_free = self._go_on
        return 3

    def _replay(self, agents: int, reserved_rows: int = 0) -> Replay:
        replay, learning, envs = self._settings.replay, self._settings.learning, self._settings.schedule.envs_per_agent
        priorities = Priorities(replay.priority_alpha, self._beta) if replay.priority_alpha else None
        sizes = agents, envs, replay.replay_transitions, replay.n_steps
        return Replay(self._spec, *sizes, learning.discount, priorities, self._seed, reserved_rows)

    def _beta(self) -> float:
        start, end = self._settings.replay.priority_beta, self._settings.run.steps or BETA_STEPS
        return schedules.linear(self._training.steps, start, 1.0, end)

    def _count_stored(self, rollouts: list) -> None:
        if rollouts:
            versions = np.concatenate([rollout.record["version"][: rollout.length] for rollout in rollouts])
            columns = len(rollouts) * self._settings.schedule.envs_per_agent
            self.stats.stored(rollouts, columns, self.model.version - versions)

    def _copy_to_target(self, steps: int) -> None:
        self.model.copy_to_target(steps)

    def _go_on(self) -> None:
        self._turns.updated()
        self._predictions.look_again()

    @property
    def _why_no_controller(self) -> str:
        return "updates keep pace with play"

    def stop(self) -> None:
        if self._settings.replay.concurrent_training:
            self._blocks.ending = True
        super().stop()
