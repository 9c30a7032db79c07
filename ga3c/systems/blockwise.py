"""Concurrent training in one thread (`serial`): first a block is played, then its updates are made."""

from ga3c.replay.replay_queue import ConcurrentReplayQueue
from ga3c.rollout import Batch
from ga3c.training_queue import Rollout


class Block:
    """Stands in for `pace.Blocks`."""

    def __init__(self, rows: int):
        self.rows = self.left = rows

    @property
    def played(self) -> bool:
        return self.left <= 0

    def begin(self) -> None:
        """Begins the next block."""
        self.left = self.rows


class BlockwiseReplayQueue(ConcurrentReplayQueue):
    """Makes the updates of a block when it is played: the network that plays does not change within a block."""

    def next_batch(self) -> Batch | None:
        self._take(wait=lambda: False)
        if self._inbox.closed or not self._blocks.played:
            return None
        if self._left:
            self._left -= 1
            return self._draw()
        self._next_block()
        return None

    def _store(self, rollouts: list[Rollout]) -> None:
        super()._store(rollouts)
        self._blocks.left -= sum(rollout.length for rollout in rollouts)
