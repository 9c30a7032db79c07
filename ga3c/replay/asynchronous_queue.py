"""A replay memory that nobody waits for (Horgan et al. 2018, section 3)."""

import math
import threading
import time
from collections import deque

from ga3c.replay.replay_memory import Replay
from ga3c.replay.replay_queue import Listeners, ReplayQueue, Updates
from ga3c.rollout import Batch


class Drawing:
    """Counts draws in one thread; another reads the figures."""

    def __init__(self):
        self._drawn = 0, 0.0  # transitions; and steps that were played between them and their draws, summed
        self._row_before = 0, 0.0, time.monotonic()

    def drawn(self, transitions: int, age_steps: float) -> None:
        """Counts a draw. `age_steps`: the mean age of its transitions, in steps of play."""
        before, steps = self._drawn
        self._drawn = before + transitions, steps + transitions * age_steps

    def watched(self, size: int) -> dict[str, float]:
        """Returns figures for a row of the log, since the last row. `size`: transitions that can be drawn."""
        (drawn_before, steps_before, before), now = self._row_before, time.monotonic()
        drawn, steps = self._drawn
        self._row_before = drawn, steps, now
        count = drawn - drawn_before
        return {
            "drawn_per_second": count / max(now - before, 1e-3),
            "experience_age_steps": (steps - steps_before) / count if count else math.nan,
            "replay_size": float(size),
        }


class AsynchronousReplayQueue(ReplayQueue):
    """Serves one trainer, and one thread that stores: agents get their slots back as soon as these are read."""

    def __init__(self, replay: Replay, updates: Updates, steps: int, tell: Listeners, ahead: int = 0):
        """As `ReplayQueue`. Of the pace only the minimum counts, where there are no steps between two updates.
        `ahead`: batches that a thread draws in `draw_ahead` while the model learns; 0: there is no such thread."""
        super().__init__(replay, updates, len, steps, tell)
        self._ahead, self._drawn_ahead = ahead, deque()
        self._stored = threading.Condition()
        self._drawing = Drawing()

    def store(self) -> None:
        """Stores what agents ship, until the queue is closed and empty."""
        while rollouts := self._inbox.take(self._choose):
            self._store(rollouts)
            self._offer()
            for rollout in rollouts:
                rollout.release()
            with self._stored:
                self._stored.notify_all()
        with self._stored:
            self._stored.notify_all()

    def close(self) -> None:
        super().close()
        with self._stored:  # who waits for transitions leaves, even where the thread that stores has failed
            self._stored.notify_all()

    def next_batch(self) -> Batch | None:
        with self._stored:
            self._stored.wait_for(lambda: self._inbox.closed or (self._drawn_ahead if self._ahead else self._may_draw))
            if self._inbox.closed:
                return None
            if self._ahead:
                self._stored.notify_all()
                return self._drawn_ahead.popleft()
        return self._draw()

    @property
    def _may_draw(self) -> bool:
        return self._pace.due and self.replay.size > 0

    def draw_ahead(self) -> None:
        """Draws batches that the trainer takes later, until the queue is closed. The errors of batches that the trainer
        has not learned from do not count yet."""
        while True:
            with self._stored:
                self._stored.wait_for(
                    lambda: self._inbox.closed or (len(self._drawn_ahead) < self._ahead and self._may_draw)
                )
                if self._inbox.closed:
                    return
            batch = self._draw()
            with self._stored:
                self._drawn_ahead.append(batch)
                self._stored.notify_all()

    def _draw(self) -> Batch:
        batch = super()._draw()
        self._drawing.drawn(self._batch, batch.buffer.age_steps)
        return batch

    def watched(self) -> dict[str, float]:
        """Returns figures for a row of the log, since the last row."""
        return self._drawing.watched(self.replay.size)
