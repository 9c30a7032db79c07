"""Accelerated methods (Stooke and Abbeel 2018, section 4.1): synchronised and alternating sampling.

The stations and wires are GA3C's. What is new are the turns in which its queues hand out.
"""

import time

from ga3c.errors import ConfigError
from ga3c.prediction_queue import PredictionQueue
from ga3c.rollout import slots_needed
from ga3c.scheduling.turns import Turns
from ga3c.systems.ga3c import GA3C
from ga3c.training_queue import TrainingQueue

GROUPS = {"asynchronous": 0, "synchronised": 1, "alternating": 2}
START_SECONDS = 60.0  # that agents which play wait for those that cannot be started


class Synchronous(GA3C):
    """In lockstep where the algorithm can learn from a rollout as soon as that is complete; else it plays on."""

    def _connect(self) -> int:
        learning, schedule = self._settings.learning, self._settings.schedule
        agents = self.counts.agents
        self.counts = self.counts._replace(predictors=self._devices, trainers=1)
        self._max_requests = max(self._max_requests, agents)
        self._turns = turns = Turns(agents, self._groups(), lockstep=self._at_once)
        self._predictions = PredictionQueue(turns.choose_requests)
        self._waits_since: float | None = None
        if not self._at_once:
            slots = slots_needed(learning.t_max, schedule.envs_per_agent, learning.minimum_batch_steps)
            self._rollouts_per_batch = slots - 2
            self._training = TrainingQueue(self._dtype, self._rollouts_per_batch, self._algorithm.learns_from)
            return slots
        self._rollouts_per_batch = agents

        def after() -> None:
            turns.updated()
            self._predictions.look_again()

        self._training = TrainingQueue(self._dtype, agents, self._algorithm.learns_from, turns.choose_rollouts, after)
        turns.on_change = self._training.look_again
        return 3

    def _groups(self) -> int:
        """Of agents that are predicted for together: as many on each device. Raises ConfigError."""
        groups = GROUPS[self._settings.schedule.sampling] * self._devices
        if self.counts.agents < groups and self._devices > 1:
            envs = self._settings.schedule.envs_per_agent * self.counts.agents // groups
            raise ConfigError(
                f"--devices {self._settings.run.devices} needs {groups} agents at the least, and there are "
                f"{self.counts.agents}: use --agents {groups} --envs-per-agent {max(1, envs)}."
            )
        return groups

    @property
    def _why_no_controller(self) -> str:
        return f"with {self._settings.schedule.sampling} sampling all agents wait for each other"

    def watch(self) -> None:
        super().watch()
        self._waits_since = (self._waits_since or time.monotonic()) if self._turns.waits_for_agents else None
        if self._waits_since and time.monotonic() - self._waits_since > START_SECONDS and not self._agents.starting():
            self._turns.begin()
            self._predictions.look_again()

    def stop(self) -> None:
        self._turns.ending = True
        super().stop()
