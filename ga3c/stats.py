"""Counters of a run: every thread of the server reports here, and `stats_writer` reads it every few seconds."""

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass
class Totals:
    """What a run has done since its first start; they are saved and go on over a resume."""

    seconds: float = 0.0  # of training, without the time between a stop and a resume
    steps: int = 0  # transitions that agents made and shipped
    trained_steps: int = 0  # transitions that entered an update; equal to steps but for what waits
    predictions: int = 0  # states predicted
    rollouts: int = 0  # one for each environment of a shipped rollout: the paper's training batches
    updates: int = 0  # model updates
    episodes: int = 0  # finished games
    made_steps: int = 0  # transitions that agents made, by their own count, once they have ended
    lost_steps: int = 0  # of those, what died with an agent; the rest is trained_steps
    prediction_batches: int = 0
    lag_sum: float = 0.0  # policy lag in updates, summed over the rows trained on
    lag_rows: int = 0
    predictor_wait_seconds: float = 0.0  # all predictors together, for requests
    trainer_wait_seconds: float = 0.0  # all trainers together, for rollouts


class Stats:
    """Safe to call from every thread."""

    def __init__(self, totals: Totals, recent_scores: Sequence[float] = ()):
        self._lock = threading.Lock()
        self._started = time.monotonic() - totals.seconds
        self._totals = totals
        self._window = Window()
        self._new_episodes: list[tuple] = []
        self._recent_scores: deque[float] = deque(recent_scores, maxlen=100)
        self.last_score = float("nan")

    def predicted(self, states: int, waited_seconds: float = 0.0) -> None:
        """One prediction, and how long its predictor had waited for requests."""
        with self._lock:
            self._totals.predictions += states
            self._totals.prediction_batches += 1
            self._totals.predictor_wait_seconds += waited_seconds
            self._window.predictions += 1

    def trained(self, rollouts, envs: int, update, lags: np.ndarray, waited_seconds: float = 0.0) -> None:
        """One update: the rollouts in it (training_queue.Rollout), the model's Update, and each row's lag.

        `waited_seconds`: how long its trainer had waited for rollouts.
        """
        steps, lag_sum = sum(rollout.transitions for rollout in rollouts), float(lags.sum())
        with self._lock:
            totals, window = self._totals, self._window
            totals.rollouts += len(rollouts) * envs
            totals.updates += 1
            totals.lag_sum += lag_sum
            totals.lag_rows += lags.size
            totals.trainer_wait_seconds += waited_seconds
            for rollout in rollouts:
                totals.steps += rollout.transitions
                for episode in rollout.episodes:
                    totals.episodes += 1
                    self.last_score = episode.score
                    self._recent_scores.append(episode.score)
                    row = (f"{self._now():.2f}", totals.steps, f"{episode.score:g}", episode.length_steps)
                    self._new_episodes.append((*row, rollout.agent.number))
            totals.trained_steps += steps
            window.updates.append(update)
            window.trained_steps += steps
            window.lag_sum += lag_sum
            window.lag_rows += lags.size
            window.lag_max = max(window.lag_max, int(lags.max()))

    def agent_ended(self, made_steps: int, lost_steps: int) -> None:
        """Transitions that an agent made in its life, and those that it never shipped."""
        with self._lock:
            self._totals.made_steps += made_steps
            self._totals.lost_steps += lost_steps

    def _now(self) -> float:
        return time.monotonic() - self._started

    def totals(self) -> Totals:
        """A copy, with the seconds as of now."""
        with self._lock:
            self._totals.seconds = self._now()
            return Totals(**vars(self._totals))

    def take_window(self) -> "tuple[Totals, Window, list[tuple]]":
        """Totals, what happened since the last call, and the rows of the episodes that ended in it."""
        totals = self.totals()
        with self._lock:
            window, self._window = self._window, Window()
            episodes, self._new_episodes = self._new_episodes, []
        return totals, window, episodes

    def recent_scores(self) -> list[float]:
        """Of the last 100 games."""
        with self._lock:
            return list(self._recent_scores)

    def mean_score(self) -> float:
        """Of the last 100 games; NaN before the first."""
        scores = self.recent_scores()
        return float(np.mean(scores)) if scores else float("nan")


class Window:
    """Counts since the last row."""

    def __init__(self):
        self.predictions = 0  # batches
        self.updates: list = []
        self.trained_steps = 0
        self.lag_sum, self.lag_rows, self.lag_max = 0.0, 0, 0

    def mean(self, name: str) -> float:
        """Mean of a field of the updates."""
        return float(np.mean([getattr(update, name) for update in self.updates])) if self.updates else float("nan")
