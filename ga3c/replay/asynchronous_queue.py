"""A replay memory that nobody waits for (Horgan et al. 2018, section 3)."""

import math
import threading
import time

from ga3c.replay.replay_queue import ReplayQueue
from ga3c.rollout import Batch


class AsynchronousReplayQueue(ReplayQueue):
    """For one trainer, and one thread that stores: agents get their slots back as soon as these are read."""

    def __init__(self, *arguments):
        """As `ReplayQueue`; of its pace the minimum alone counts, where it asks for no steps between two updates."""
        super().__init__(*arguments)
        self._stored = threading.Condition()
        self._drawn = 0, 0.0  # transitions; and steps that were played between them and their draws, summed
        self._row_before = 0, 0.0, time.monotonic()

    def store(self) -> None:
        """Puts away what agents ship, until the queue is closed and empty."""
        while rollouts := self._inbox.take(self._choose):
            self._store(rollouts)
            self._offer()
            for rollout in rollouts:
                rollout.release()
            with self._stored:
                self._stored.notify_all()
        with self._stored:
            self._stored.notify_all()

    def next_batch(self) -> Batch | None:
        with self._stored:
            self._stored.wait_for(lambda: self._inbox.closed or (self._pace.due and self._replay.size))
        return None if self._inbox.closed else self._draw()

    def _draw(self) -> Batch:
        batch, (drawn, steps) = super()._draw(), self._drawn
        self._drawn = drawn + self._batch, steps + self._batch * batch.buffer.age_steps
        return batch

    def watched(self) -> dict[str, float]:
        """For a row of the log: since the one before."""
        (drawn_before, steps_before, before), now = self._row_before, time.monotonic()
        drawn, steps = self._drawn
        self._row_before = drawn, steps, now
        count = drawn - drawn_before
        return {
            "drawn_per_second": count / max(now - before, 1e-3),
            "experience_age_steps": (steps - steps_before) / count if count else math.nan,
            "replay_size": float(self._replay.size),
        }
