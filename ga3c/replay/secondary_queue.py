"""A queue that draws from the replay of another queue, for a secondary learner."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ga3c.replay.replay_queue import ReplayQueue, Updates
from ga3c.replay.score_queue import ScoreQueue
from ga3c.rollout import Batch
from ga3c.training_queue import Rollout


@dataclass(frozen=True)
class SecondaryListeners:
    """Calls that tell what happens."""

    own: Callable[[list[Rollout]], None]  # its own agent has played these rollouts
    offered: Callable[[list[Rollout]], None]  # the primary's agents have played these, and they can be drawn now
    target: Callable[[int], None]  # as in `replay_queue.Listeners`


class SecondaryQueue(ScoreQueue):
    """Serves one trainer, whose pace goes by what the primary's agents play.

    Its own agent gets a slot back for each round of the primary's agents, so it plays as many steps as one of them.
    """

    def __init__(self, primary: ReplayQueue, updates: Updates, seed: int, tell: SecondaryListeners):
        super().__init__(tell.own)
        self._primary, self._tell = primary, tell
        self._pace, self._batch, self._target_updates = updates.pace, updates.batch, updates.target_updates
        self._random = np.random.default_rng([seed, 1])  # its own: the primary draws what it would draw alone
        self._updates, self._rounds = updates.made, 0
        self._made = threading.Condition()  # an update, or the end
        primary.share_with(self)

    def offered(self, rollouts: list[Rollout]) -> None:
        """Hears that what these rollouts brought can be drawn from the primary now."""
        self._tell.offered(rollouts)
        self._pace.played(sum(rollout.transitions for rollout in rollouts))
        self._rounds += 1
        if not self._inbox.closed:
            self.look_again()

    def wait(self) -> None:
        """Waits until all updates that are due are made, or none is made any more."""
        with self._made:
            self._made.wait_for(lambda: self._inbox.closed or not self._due)

    @property
    def _due(self) -> bool:
        return self._pace.due and self._primary.replay.size > 0

    @property
    def _agent_is_due(self) -> bool:
        return self._released < self._rounds

    def _draw(self) -> Batch:
        began = time.monotonic()
        drawn = self._primary.replay.draw(self._batch, self._random)
        return Batch.drawn(drawn.arrays, began, drawn, self._primary.steps)

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        """As `Experience.done`; the errors change no priorities, which are the primary's."""
        self._updates += 1
        if self._updates % self._target_updates == 0:
            self._tell.target(self._primary.steps)
        with self._made:
            self._pace.updated()
            self._made.notify_all()

    def close(self) -> None:
        super().close()
        with self._made:
            self._made.notify_all()
