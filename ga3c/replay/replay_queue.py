"""A replay memory in the training queue's place: rollouts go into it as they come, batches are drawn from it."""

import time
from collections.abc import Callable

import numpy as np

from ga3c.replay.replay import Replay
from ga3c.rollout import Batch
from ga3c.scheduling.pace import Blocks, Pace
from ga3c.training_queue import Experience, Rollout
from ga3c.transport.inbox import Inbox

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
        inbox: Inbox | None = None,
    ):
        """`choose(waiting)`: how many rollouts are stored together, once it has sorted them. `batch`: transitions in
        an update. `target_updates`: between two copies. `steps`: that the run has played before."""
        super().__init__(inbox)
        self._replay, self._pace, self._rule, self._batch = replay, pace, choose, batch
        self._target_updates, self._played_steps = target_updates, steps
        self.steps = steps  # of play that can be learned from; schedules go by them
        self._updates = 0  # since the last copy
        self._groups: dict = {}  # agent -> its number in the replay
        self._held: list[Rollout] = []
        self.on_stored = self.on_target = self.on_offered = lambda _: None
        self.on_free = self.before_free = lambda: None

    @property
    def replay(self) -> Replay:
        return self._replay

    def next_batch(self) -> Batch | None:
        while True:
            if self._pace.due and self._replay.size and not self._inbox.closed:
                return self._draw()
            self.before_free()
            self._release()
            rollouts = self._inbox.take(self._choose)
            if not rollouts:
                return None
            self._store(rollouts)
            self._held = rollouts
            self._offer()
            self.on_offered(rollouts)

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        self._replay.learned(batch.buffer, errors)
        self._pace.updated()
        self._updates += 1
        if self._updates == self._target_updates:
            self._copy()

    def _copy(self) -> None:
        self._updates = 0
        self.on_target(self.steps)

    def _choose(self, waiting: list[Rollout]) -> int:
        """As the rule says; but all that is there of an agent that is gone is read before one takes its place."""
        agents = {*self._groups, *(rollout.agent for rollout in waiting)}
        return self._rule(waiting) if sum(not agent.gone for agent in agents) <= self._replay.groups else 0

    def _store(self, rollouts: list[Rollout]) -> None:
        for rollout in sorted(rollouts, key=lambda one: one.agent.number):  # one that is gone before its successor
            group = self._group(rollout)
            self._replay.add(group, rollout.record, rollout.length)
            self._pace.played(rollout.transitions)
            self._played_steps += rollout.transitions
        self.on_stored(rollouts)

    def _offer(self) -> None:
        self._replay.offer()
        self.steps = self._played_steps

    def _group(self, rollout: Rollout) -> int:
        """The ring of its agent: by its number, that no timing decides; or that of one that is gone."""
        agent, groups = rollout.agent, self._replay.groups
        if agent not in self._groups:
            taken = {group for one, group in self._groups.items() if not one.gone}
            group = next(one for one in np.roll(range(groups), -agent.number) if one not in taken)
            self._groups = {one: of for one, of in self._groups.items() if of != group} | {agent: group}
            self._replay.begin(group, rollout.record["observation"][0])
        return self._groups[agent]

    def _release(self) -> None:
        for rollout in self._held:
            rollout.release()
        if self._held:
            self._held = []
            self.on_free()

    def _draw(self) -> Batch:
        began = time.monotonic()
        drawn = self._replay.draw(self._batch)
        return Batch(drawn.arrays, _NONE, (), 0, began, time.monotonic(), drawn, self.steps)


class ConcurrentReplayQueue(ReplayQueue):
    """Updates are made while agents play, block by block: the same seed gives the same replay and weights, whatever
    the timing, if all agents are predicted for together (Daley and Amato 2021, algorithm 1).

    What is played in a block can be drawn from the next one on. `ended`: the last block is over, updates and all.
    """

    def __init__(self, *arguments, blocks: Blocks, rows: int, last_step: int | None, inbox: Inbox | None = None):
        """`rows`: of each agent in a block, at the most. Its updates are `target_updates`. `last_step`: of the run; no
        block begins after it."""
        super().__init__(*arguments, inbox)
        self._blocks, self._rows, self._last_step = blocks, rows, last_step
        self._left = 0  # updates of this block
        self.ended = False
        blocks.on_change = self.look_again

    def next_batch(self) -> Batch | None:
        while not self._inbox.closed:
            self._take(wait=lambda: False)
            if self._left and self._replay.size:
                self._left -= 1
                return self._draw()
            if self._blocks.played and not self.ended:
                self._next_block()
            else:
                self._take(wait=lambda: self.ended or not self._blocks.played)
        while self._take(wait=lambda: True):
            pass
        return None

    def _take(self, wait: Callable[[], bool]) -> bool:
        rollouts = self._inbox.take(self._choose, wait)
        self._store(rollouts)
        for rollout in rollouts:
            rollout.release()
        return bool(rollouts)

    def _next_block(self) -> None:
        self._offer()
        self.ended = self._last_step is not None and self.steps >= self._last_step
        if not self.ended:
            self._replay.reserve(self._rows)
            self._copy()
            self._left = self._target_updates if self._pace.has_minimum else 0
            self._blocks.begin()
            self.on_free()

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        self._replay.learned(batch.buffer, errors)
