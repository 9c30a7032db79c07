"""A replay memory in the training queue's place: rollouts go into it as they come, batches are drawn from it."""

import time
from collections.abc import Callable

import numpy as np

from ga3c.replay.replay import Replay
from ga3c.rollout import Batch
from ga3c.scheduling.pace import Blocks, Pace
from ga3c.training_queue import Experience, Rollout

_NONE = np.zeros(0, np.int64)


class ReplayQueue(Experience):
    """For one trainer. An agent gets its slot back when all updates that are due by then are made.

    Attributes that a system sets: `on_stored(rollouts)`, `on_target(steps)`: the network is to be copied to the target
    network now, `on_free()`: agents that wait for updates may go on.
    """

    def __init__(
        self,
        replay: Replay,
        pace: Pace,
        choose: Callable[[list[Rollout]], int],
        batch: int,
        target_updates: int,
        steps: int,
    ):
        """`choose(waiting)`: how many rollouts are stored together, once it has sorted them. `batch`: transitions in
        an update. `target_updates`: between two copies. `steps`: that the run has played before."""
        super().__init__()
        self._replay, self._pace, self._choose, self._batch = replay, pace, choose, batch
        self._target_updates, self.steps = target_updates, steps
        self._updates = 0  # since the last copy
        self._groups: dict = {}  # agent -> its number in the replay
        self._held: list[Rollout] = []
        self.on_stored = self.on_target = lambda _: None
        self.on_free = lambda: None

    def next_batch(self) -> Batch | None:
        while True:
            if self._pace.due and not self._inbox.closed:
                return self._draw(self.steps)
            self._release()
            rollouts = self._inbox.take(self._choose)
            if not rollouts:
                return None
            self._store(rollouts)
            self._replay.offer()

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        self._replay.learned(batch.buffer, errors)
        self._pace.updated()
        self._updates += 1
        if self._updates == self._target_updates:
            self._copy()

    def _copy(self) -> None:
        self._updates = 0
        self.on_target(self.steps)

    def _store(self, rollouts: list[Rollout]) -> None:
        for rollout in rollouts:
            group = self._group(rollout)
            self._replay.add(group, rollout.record, rollout.length)
            self._pace.played(rollout.transitions)
            self.steps += rollout.transitions
        self.on_stored(rollouts)
        self._held += rollouts

    def _group(self, rollout: Rollout) -> int:
        """The ring of its agent: a new agent takes over that of one that is gone."""
        agent = rollout.agent
        if agent not in self._groups:
            taken = {group: one for one, group in self._groups.items()}
            free = (group for group in range(self._replay.groups) if group not in taken or taken[group].gone)
            group = next(free)
            self._groups.pop(taken.get(group), None)
            self._groups[agent] = group
            self._replay.begin(group, rollout.record["observation"][0])
        return self._groups[agent]

    def _release(self) -> None:
        for rollout in self._held:
            rollout.release()
        if self._held:
            self._held = []
            self.on_free()

    def _draw(self, steps: int) -> Batch:
        began = time.monotonic()
        drawn = self._replay.draw(self._batch)
        return Batch(drawn.arrays, _NONE, (), 0, began, time.monotonic(), drawn, steps)


class ConcurrentReplayQueue(ReplayQueue):
    """Updates are made while agents play, block by block: the same seed gives the same replay and weights, whatever
    the timing, if all agents are predicted for together (Daley and Amato 2021, algorithm 1).

    What is played in a block can be drawn from the next one on.
    """

    def __init__(self, *arguments, blocks: Blocks, rows: int):
        """`rows`: of each agent in a block, at the most. Its updates are `target_updates`."""
        super().__init__(*arguments)
        self._blocks, self._rows, self._block_steps = blocks, rows, self.steps
        self._left = 0  # updates of this block
        blocks.on_change = self.look_again

    def next_batch(self) -> Batch | None:
        while not self._inbox.closed:
            self._take(wait=lambda: False)
            if self._left:
                self._left -= 1
                return self._draw(self._block_steps)
            if self._blocks.played:
                self._begin_block()
            else:
                self._take(wait=lambda: not self._blocks.played)
        while self._take(wait=lambda: True):
            pass
        return None

    def _take(self, wait: Callable[[], bool]) -> bool:
        rollouts = self._inbox.take(len, wait)
        self._store(rollouts)
        self._release()
        return bool(rollouts)

    def _begin_block(self) -> None:
        self._replay.offer()
        self._replay.reserve(self._rows)
        self._block_steps = self.steps
        self._copy()
        self._left = self._target_updates if self._pace.has_minimum else 0
        self._blocks.begin()
        self.on_free()

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        self._replay.learned(batch.buffer, errors)
