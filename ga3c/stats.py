"""Counters of a run: every thread of the server reports here, and `records/stats_writer` reads them."""

import math
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

RECENT_GAMES = 100  # in the mean score


@dataclass
class Totals:
    """Counts since the first start of a run; they are saved and go on over a resume."""

    seconds: float = 0.0  # of training: from the first prediction of each start to its stop
    steps: int = 0  # transitions that entered an update, a skipped update or a replay
    trained_steps: int = 0  # transitions that entered an update, or a replay
    predictions: int = 0  # states predicted
    rollouts: int = 0  # one for each environment of a shipped rollout: the paper's training batches
    updates: int = 0  # model updates
    episodes: int = 0  # finished games that have a score
    made_steps: int = 0  # transitions that agents made, by their own count, once they have ended
    lost_steps: int = 0  # of those, what died with an agent; the rest is trained_steps and skipped_steps
    skipped_updates: int = 0  # left out, because a loss or gradient was not finite
    skipped_steps: int = 0  # transitions in them
    prediction_batches: int = 0
    lag_sum: float = 0.0  # policy lag in updates, summed over the rows trained on
    lag_rows: int = 0


@dataclass
class Timings:
    """Sums of seconds by what they were spent on, since this start."""

    requests: int = 0  # for a prediction
    request_queue: float = 0.0  # from asking until a predictor took it
    request_queue_model: float = 0.0  # of that, while the predictor's last prediction kept the model at work
    request_assembly: float = 0.0  # copying the states of a batch together
    request_model: float = 0.0  # Model.predict
    replies: int = 0
    request_reply: float = 0.0  # from the end of Model.predict until the agent was awake
    predictor_waiting: float = 0.0  # of all predictors, for requests
    rollouts: int = 0
    rollout_queue: float = 0.0  # from shipping until a trainer took it
    updates: int = 0
    update_assembly: float = 0.0  # copying the rollouts of a batch together
    update_model: float = 0.0  # Model.train
    update_records: float = 0.0  # counting it
    trainer_waiting: float = 0.0  # of all trainers, for rollouts

    def add(self, other: "Timings") -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def since(self, before: "Timings") -> "Timings":
        return Timings(**{name: value - getattr(before, name) for name, value in vars(self).items()})


class Stats:
    """Counts what a run does. Safe to call from every thread."""

    def __init__(self, totals: Totals, recent_scores: Sequence[float] = (), scored: np.ndarray | None = None):
        """`scored`: bool [agents, games of each], whose finished games count, with their scores. None: all."""
        self._lock = threading.Lock()
        self.steps_before, self.seconds_before = totals.steps, totals.seconds  # those before this start
        self._started = math.inf  # time.monotonic() of the first prediction
        self._totals = totals
        self._window, self._timings = Window(), Timings()
        self._new_episodes: list[tuple] = []
        self._scored = scored
        self._recent_scores: deque[float] = deque(recent_scores, maxlen=RECENT_GAMES)
        self.last_score = float("nan")
        self.skipped_in_a_row = 0  # updates
        self.unchanged_in_a_row, self.unchanged_since = 0, 0.0  # updates that changed no weight; time of the first
        self.updating = threading.Lock()  # held from an update of the model until it is counted

    def predicted(self, states: int, timings: Timings, batches: int = 1) -> None:
        """Counts predictions of so many states together, in `batches`."""
        with self._lock:
            self._started = min(self._started, time.monotonic())
            self._timings.add(timings)
            self._totals.predictions += states
            self._totals.prediction_batches += batches

    def trained(self, batch, update, timings: Timings) -> None:
        """Counts one update: its `rollout.Batch` and its `model.Update`."""
        steps = sum(rollout.transitions for rollout in batch.rollouts)
        with self._lock:
            totals, window = self._totals, self._window
            self._timings.add(timings)
            self._count(batch.rollouts, batch.columns, update.version - batch.versions)
            if update.applied:
                totals.updates += 1
                totals.trained_steps += steps
                window.add(update.numbers)
                self.skipped_in_a_row = 0
                self._look_for_change(update.numbers)
            else:
                totals.skipped_updates += 1
                totals.skipped_steps += steps
                self.skipped_in_a_row += 1

    def _look_for_change(self, numbers: dict[str, float]) -> None:
        if numbers.get("update_norm") != 0:  # an algorithm that learns nothing has none
            self.unchanged_in_a_row = 0
            return
        if not self.unchanged_in_a_row:
            self.unchanged_since = time.monotonic()
        self.unchanged_in_a_row += 1

    def stored(self, rollouts: Sequence, columns: int, lags: np.ndarray) -> None:
        """Counts rollouts of `columns` games that a replay has taken in. `lags`: of their rows, in updates."""
        with self._lock:
            self._count(rollouts, columns, lags)
            self._totals.trained_steps += sum(rollout.transitions for rollout in rollouts)

    def learned(self, steps: int) -> None:
        """Counts steps that were learned from, of games that are not the agents'."""
        with self._lock:
            self._totals.steps += steps
            self._totals.trained_steps += steps

    def _count(self, rollouts: Sequence, columns: int, lags: np.ndarray) -> None:
        totals, window, lag_sum = self._totals, self._window, float(lags.sum())
        totals.rollouts += columns
        totals.lag_sum += lag_sum
        totals.lag_rows += lags.size
        window.lag_sum += lag_sum
        window.lag_rows += lags.size
        window.lag_max = max(window.lag_max, int(lags.max(initial=0)))
        for rollout in rollouts:
            totals.steps += rollout.transitions
            for episode in rollout.episodes:
                if not self._is_scored(rollout.agent, episode):
                    continue
                totals.episodes += 1
                self.last_score = episode.score
                self._recent_scores.append(episode.score)
                row = (f"{self._now():.2f}", totals.steps, f"{episode.score:g}", episode.length_steps)
                self._new_episodes.append((*row, rollout.agent.number))

    def _is_scored(self, agent, episode) -> bool:
        return self._scored is None or bool(self._scored[agent.position % len(self._scored), episode.game])

    def agent_ended(self, made_steps: int, lost_steps: int) -> None:
        """Counts the transitions that an agent made in its life, and those that it never shipped."""
        with self._lock:
            self._totals.made_steps += made_steps
            self._totals.lost_steps += lost_steps

    def _now(self) -> float:
        return self.seconds_before + max(0.0, time.monotonic() - self._started)

    def totals(self) -> Totals:
        """Returns a copy, with the seconds as of now."""
        with self._lock:
            return self._copy()

    def _copy(self) -> Totals:
        self._totals.seconds = self._now()
        return Totals(**vars(self._totals))

    def trained_steps(self) -> int:
        """Returns the transitions of the whole run that entered an update."""
        with self._lock:
            return self._totals.trained_steps

    def timings(self) -> Timings:
        """Returns a copy."""
        with self._lock:
            return Timings(**vars(self._timings))

    def take_window(self) -> "tuple[Totals, Window]":
        """Returns the totals, and what happened since the last call."""
        with self._lock:
            window, self._window = self._window, Window()
            return self._copy(), window

    def take_episodes(self) -> list[tuple]:
        """Returns rows of episodes.csv: the games that ended since the last call."""
        with self._lock:
            episodes, self._new_episodes = self._new_episodes, []
        return episodes

    def recent_scores(self) -> list[float]:
        """Returns the scores of the last 100 games."""
        with self._lock:
            return list(self._recent_scores)

    def mean_score(self) -> float:
        """Returns the mean score of the last 100 games; NaN before the first."""
        scores = self.recent_scores()
        return float(np.mean(scores)) if scores else float("nan")


class EndedAgents:
    """The agents that have ended. One is counted once all that it shipped is trained on."""

    def __init__(self):
        self._waiting: list[tuple[int, object]] = []  # steps made, and the training queue's handle
        self._counted_steps = 0
        self.core_seconds = 0.0  # CPU time of all

    def add(self, made_steps: int, core_seconds: float, training) -> None:
        """`training`: the handle that `Experience.connect` gave."""
        self._waiting.append((made_steps, training))
        self.core_seconds += core_seconds

    @property
    def trained_steps(self) -> int:
        """Steps of these agents that were trained on."""
        return self._counted_steps + sum(training.trained_steps for _, training in list(self._waiting))

    def count(self, stats: Stats, final: bool = False) -> None:
        """Tells what each made and what of it was lost. `final`: nothing is trained on any more."""
        for made, training in [pair for pair in self._waiting if final or pair[1].settled]:
            self._waiting.remove((made, training))
            self._counted_steps += training.trained_steps
            stats.agent_ended(made, made - training.trained_steps)


class Window:
    """Counts since the last row."""

    def __init__(self):
        self.updates, self._sums = 0, {}  # of the updates' numbers, by name
        self.lag_sum, self.lag_rows, self.lag_max = 0.0, 0, 0

    def add(self, numbers: Mapping[str, float]) -> None:
        """Adds an update's numbers."""
        self.updates += 1
        for name, number in numbers.items():
            self._sums[name] = self._sums.get(name, 0.0) + float(number)

    def mean(self, name: str) -> float:
        """Returns the mean of one of the updates' numbers; NaN without an update."""
        return self._sums[name] / self.updates if self.updates else float("nan")
