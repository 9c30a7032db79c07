"""Behaviour cloning: the trainer learns from recorded games, and an agent plays beside it for its scores alone."""

import itertools
import time
from collections.abc import Iterator

import numpy as np

from ga3c.systems.wiring import Context, Wiring  # isort: skip (first: it loads TensorFlow)
from ga3c.datasets import demonstrations
from ga3c.datasets.demonstrations import Demonstrations
from ga3c.prediction_queue import PredictionQueue
from ga3c.replay.score_queue import ScoreQueue
from ga3c.rollout import FEW_SLOTS, Batch
from ga3c.systems.learner import Learner
from ga3c.text import count

STEPS_A_STEP = 8  # learned from for each step that the agent plays: it takes little of the machine


def wire(context: Context) -> Wiring:
    """Steps are those that are learned from: the data set has so many, and each pass over it counts them again."""
    settings = context.settings
    games = demonstrations.read(settings, context.spec)
    context.say(f"Recorded games: {count(len(games), 'step')}.")
    before, batch = context.begun.totals.steps, settings.learning.minimum_batch_steps
    queue = DemonstrationQueue(games, batch, settings.learning.seed, context.learner, before, settings.run.steps)
    return Wiring(
        predictions=PredictionQueue(),
        experience=queue,
        slots=FEW_SLOTS,
        columns=batch,
        rows=1,
        counts=context.counts._replace(trainers=1),
        max_requests=context.max_requests,
        no_controller_because="recorded games are learned from",
        ending=queue.end,
        ends_at_once=False,
    )


class DemonstrationQueue(ScoreQueue):
    """Serves one trainer with batches of recorded steps: each step once, in an order of its own in each pass.

    The agent gets its slots back at the trainer's pace.
    """

    def __init__(self, games: Demonstrations, batch: int, seed: int, learner: Learner, before: int, limit: int | None):
        """before: steps that the run has learned from. limit: at which it ends; None: there is none."""
        super().__init__(learner.count_games)
        self._games, self._learner, self._learned, self._limit = games, learner, before, limit
        self._order = _in_batches(len(games), batch, seed, before)
        self._start = before

    @property
    def _due(self) -> bool:
        return not self._ending and (self._limit is None or self._learned < self._limit)

    @property
    def _agent_is_due(self) -> bool:
        return self._released_steps * STEPS_A_STEP <= self._learned - self._start

    def _draw(self) -> Batch:
        left = None if self._limit is None else self._limit - self._learned
        began, which = time.monotonic(), next(self._order)[:left]
        return Batch.drawn(self._games.rows(which), began, len(which), self._learned)

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        """Counts the steps of a batch that was learned from."""
        self._learned += batch.buffer
        self._learner.stats.learned(batch.buffer)


def _in_batches(steps: int, batch: int, seed: int, before: int) -> Iterator[np.ndarray]:
    """Yields numbers of steps without end, `batch` at a time: all in a random order, then all in another one. The
    first `before` of them are left out: what is resumed goes on in the middle of a pass."""
    passes, done = divmod(before, steps)
    orders = (np.random.default_rng([seed, 1, number]).permutation(steps) for number in itertools.count(passes))
    left = next(orders)[done:]
    while True:
        while len(left) < batch:
            left = np.append(left, next(orders))
        yield left[:batch]
        left = left[batch:]
