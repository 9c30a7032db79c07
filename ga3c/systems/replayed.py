"""Q-learning from a replay memory: DQN, and fast DQN's concurrent training (Daley and Amato 2021).

The stations are those of `synchronous`; a replay memory stands in the training queue's place.
"""

import numpy as np

from ga3c.systems.synchronous import Synchronous  # isort: skip (first: it loads TensorFlow)
from ga3c.machine import agent_bytes
from ga3c.prediction_queue import PredictionQueue
from ga3c.replay.replay import Replay
from ga3c.replay.replay_queue import ConcurrentReplayQueue, ReplayQueue
from ga3c.scheduling.pace import Blocks, Pace
from ga3c.scheduling.turns import Turns
from ga3c.systems.replay_of import Filling, block_rows, count_stored, replay_of


class Replayed(Synchronous):
    """Agents wait for the updates that are due, or with concurrent training for those of a block."""

    def _connect(self) -> int:
        settings, agents, envs = self._settings, self.counts.agents, self._settings.schedule.envs_per_agent
        replay, steps = settings.replay, self._begun.totals.trained_steps
        self.counts = self.counts._replace(predictors=self._devices, trainers=1)
        self._max_requests, self._rollouts_per_batch = max(self._max_requests, agents), 1
        self._waits_since: float | None = None
        concurrent = replay.concurrent_training
        self._turns = turns = Turns(agents, self._groups(), lockstep=not concurrent)
        self._pace = pace = Pace(replay.replay_minimum_transitions, replay.steps_per_update)
        if not concurrent:
            self._predictions = PredictionQueue(turns.choose_requests)
            self._training = ReplayQueue(
                self._replay(agents), pace, turns.choose_rollouts, replay.batch, replay.target_updates, steps
            )
            turns.on_change = self._training.look_again
        else:
            rows = block_rows(settings, agents * envs)
            self._blocks = Blocks(turns.choose_requests, rows * agents * envs, envs)
            self._predictions = PredictionQueue(self._blocks.choose_requests)
            self._training = ConcurrentReplayQueue(
                self._replay(agents, rows), pace, len, replay.batch, replay.target_updates, steps,
                blocks=self._blocks, rows=rows, last_step=settings.run.steps,
            )  # fmt: skip
        self._training.on_stored, self._training.on_target = self._count_stored, self._copy_to_target
        self._training.on_free = self._go_on
        return 3

    @property
    def experience(self) -> ReplayQueue:
        """What a secondary learner learns from, too."""
        return self._training

    def _replay(self, agents: int, rows: int = 0) -> Replay:
        envs = self._settings.schedule.envs_per_agent
        taken = agents * agent_bytes(3 * self._dtype.itemsize, envs)
        self.replay = replay_of(self._settings, self._spec, agents, envs, taken, self._played_steps, rows)
        return self.replay

    def _played_steps(self) -> int:
        """Of the run: what falls or grows with them, as the bias of priorities does, goes by that."""
        return self._training.steps

    def start(self, arrays: dict[str, np.ndarray] | None) -> None:
        self._filling = Filling(self._settings, self.replay, self._pace, self._begun.totals.updates > 0, self._say)
        super().start(arrays)

    def watch(self) -> None:
        super().watch()
        self._filling.look()

    def _count_stored(self, rollouts: list) -> None:
        count_stored(self.stats, self.model, rollouts, self._settings.schedule.envs_per_agent)

    def _copy_to_target(self, steps: int) -> None:
        self.model.copy_to_target(steps)

    def _go_on(self) -> None:
        self._turns.updated()
        self._predictions.look_again()

    @property
    def _ends_at_once(self) -> bool:
        return not self._settings.replay.concurrent_training

    @property
    def may_end(self) -> bool:
        """With concurrent training not before the end of a block: it is the same one each time."""
        return not self._settings.replay.concurrent_training or self._training.ended

    @property
    def _why_no_controller(self) -> str:
        return "updates keep pace with play"

    def stop(self) -> None:
        if self._settings.replay.concurrent_training:
            self._blocks.ending = True
        super().stop()
