"""A secondary learner (Stooke and Abbeel 2018, section 5.4.2): a second network that learns from the replay of a run.

It has the same weights at first, batches of its own, and the same rate of data consumption.
"""

from collections.abc import Callable

import numpy as np

from ga3c.systems.ga3c import GA3C  # isort: skip (first: it loads TensorFlow)
from ga3c.prediction_queue import PredictionQueue
from ga3c.replay.secondary_queue import SecondaryQueue
from ga3c.rollout import EnvironmentSpec
from ga3c.scheduling.pace import Pace
from ga3c.settings.run import Settings
from ga3c.systems.replayed import Replayed

_NO_LAGS = np.zeros(0, np.int64)


class Secondary(GA3C):
    """Starts before the primary and stops before it. Its agent plays for its scores alone.

    Its steps are those of the primary, and its games are counted at as many; `made_steps` are its own agent's.
    """

    def __init__(
        self,
        primary: Replayed,
        settings: Settings,
        spec: EnvironmentSpec,
        begun,
        say: Callable[[str], None],
        log_decisions: Callable[[list[list]], None],
    ):
        """`settings`: as `batches.of_secondary` makes them."""
        self._primary = primary.experience
        super().__init__(settings, spec, begun, say, log_decisions)

    def _connect(self) -> int:
        replay = self._settings.replay
        self._rollouts_per_batch = 1
        self._predictions = PredictionQueue()
        self._pace = Pace(replay.replay_minimum_transitions, replay.steps_per_update)
        self._training = SecondaryQueue(self._primary, self._pace, replay.batch, replay.target_updates, self._seed)
        self._training.on_played = self._count_games
        self._training.on_target = lambda steps: self.model.copy_to_target(steps)
        self._primary.on_offered, self._primary.before_free = self._count_steps, self._training.wait
        return 3

    def start(self, arrays: dict[str, np.ndarray] | None) -> None:
        self._pace.played(min(self._primary.replay.size, self._settings.replay.replay_minimum_transitions))
        super().start(arrays)

    def _count_games(self, rollouts: list) -> None:
        self.stats.stored([rollout._replace(transitions=0) for rollout in rollouts], 0, _NO_LAGS)

    def _count_steps(self, rollouts: list) -> None:
        columns = len(rollouts) * self._settings.schedule.envs_per_agent
        self.stats.stored([rollout._replace(episodes=()) for rollout in rollouts], columns, _NO_LAGS)
        self._training.round(sum(rollout.transitions for rollout in rollouts))

    @property
    def _ends_at_once(self) -> bool:
        return False  # the steps that end the run are the primary's

    def stop(self) -> None:
        self._training.ending = True
        self._training.look_again()
        super().stop()
