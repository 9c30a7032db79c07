"""A replay memory that nobody waits for (Horgan et al. 2018, section 3)."""

import threading

from ga3c.replay.replay_queue import ReplayQueue
from ga3c.rollout import Batch


class AsynchronousReplayQueue(ReplayQueue):
    """For one trainer, and one thread that stores: agents get their slots back as soon as these are read."""

    def __init__(self, *arguments):
        """As `ReplayQueue`; of its pace the minimum alone counts, where it asks for no steps between two updates."""
        super().__init__(*arguments)
        self._stored = threading.Condition()

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
