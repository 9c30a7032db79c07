"""Queues with a replay memory: rollouts go into it as they come, batches are drawn from it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ga3c.replay.replay_memory import Replay
from ga3c.rollout import Batch
from ga3c.scheduling.pace import Blocks, Pace
from ga3c.training_queue import ExperienceQueue, Rollout
from ga3c.transport.inbox import Inbox


@dataclass(frozen=True)
class Updates:
    """The pace and the size of updates from a replay."""

    pace: Pace
    batch: int  # transitions in an update
    target_updates: int  # between two copies of the network to the target network
    made: int = 0  # updates that the run has made before


@dataclass(frozen=True)
class Listeners:
    """Calls that tell what happens to a replay."""

    stored: Callable[[list[Rollout]], None]  # these rollouts are in it
    target: Callable[[int], None]  # copy the network to the target network, after so many steps of play
    updated: Callable[[], None] = lambda: None  # agents that wait for updates will soon go on
    free: Callable[[], None] = lambda: None  # they may go on


class ReplayQueue(ExperienceQueue):
    """Serves one trainer. An agent gets its slot back when all updates that are due by then are made."""

    def __init__(
        self,
        replay: Replay,
        updates: Updates,
        choose: Callable[[list[Rollout]], int],
        steps: int,
        tell: Listeners,
        inbox: Inbox | None = None,
    ):
        """`choose(waiting)` may sort the rollouts that wait, and returns how many are stored together. `steps`: those
        that the run has played before."""
        super().__init__(inbox)
        self.replay, self._rule, self._tell = replay, choose, tell
        self._pace, self._batch, self._target_updates = updates.pace, updates.batch, updates.target_updates
        self._played_steps = steps
        self.steps = steps  # of play that can be learned from; schedules go by them
        self._updates = updates.made % updates.target_updates  # since the last copy
        self._groups: dict = {}  # agent -> its number in the replay
        self._held: list[Rollout] = []
        self._readers: list = []

    def share_with(self, reader) -> None:
        """Adds a `SecondaryQueue` that draws from the same replay, before the run begins."""
        self._readers.append(reader)

    def next_batch(self) -> Batch | None:
        while True:
            if self._pace.due and self.replay.size and not self._inbox.closed:
                return self._draw()
            for reader in self._readers:
                reader.wait()
            self._release()
            rollouts = self._inbox.take(self._choose)
            if not rollouts:
                return None
            self._store(rollouts)
            self._held = rollouts
            self._offer()
            for reader in self._readers:
                reader.offered(rollouts)

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        self.replay.learned(batch.buffer, errors)
        self._pace.updated()
        self._updates += 1
        if self._updates == self._target_updates:
            self._copy()

    def _copy(self) -> None:
        self._updates = 0
        self._tell.target(self.steps)

    def _choose(self, waiting: list[Rollout]) -> int:
        """Follows the rule, but reads all that is there of an agent that is gone before its successor gets its ring."""
        agents = {*self._groups, *(rollout.agent for rollout in waiting)}
        return self._rule(waiting) if sum(not agent.gone for agent in agents) <= self.replay.groups else 0

    def _store(self, rollouts: list[Rollout]) -> None:
        for rollout in sorted(rollouts, key=lambda one: one.agent.number):  # an agent before its successor
            group = self._group(rollout)
            self.replay.add(group, rollout.record, rollout.length)
            self._pace.played(rollout.transitions * self.replay.copies)
            self._played_steps += rollout.transitions
        self._tell.stored(rollouts)

    def _offer(self) -> None:
        self.replay.offer()
        self.steps = self._played_steps

    def _group(self, rollout: Rollout) -> int:
        """Returns the ring of its agent, chosen by the agent's number so that timing decides nothing."""
        agent, groups = rollout.agent, self.replay.groups
        if agent not in self._groups:
            taken = {group for one, group in self._groups.items() if not one.gone}
            group = next(one for one in np.roll(range(groups), -agent.number) if one not in taken)
            self._groups = {one: of for one, of in self._groups.items() if of != group} | {agent: group}
            self.replay.begin(group, rollout.record["observation"][0])
        return self._groups[agent]

    def _release(self) -> None:
        if not self._held:
            return
        self._tell.updated()
        for rollout in self._held:
            rollout.release()
        self._held = []
        self._tell.free()

    def _draw(self) -> Batch:
        began = time.monotonic()
        drawn = self.replay.draw(self._batch)
        return Batch.drawn(drawn.arrays, began, drawn, self.steps)


class ConcurrentReplayQueue(ReplayQueue):
    """Lets updates be made while agents play, block by block (Daley and Amato 2021, algorithm 1).

    The same seed gives the same replay and weights, whatever the timing, if all agents are predicted for together.
    What is played in a block can be drawn from the next one on. `ended`: the last block and its updates are over.
    """

    def __init__(
        self,
        replay: Replay,
        updates: Updates,
        steps: int,
        tell: Listeners,
        blocks: Blocks,
        last_step: int | None,
        inbox: Inbox | None = None,
    ):
        """A block has `target_updates` updates. No block begins after `last_step` of the run."""
        super().__init__(replay, updates, len, steps, tell, inbox)
        self._blocks, self._last_step = blocks, last_step
        self._left = 0  # updates of this block
        self.ended = False

    def next_batch(self) -> Batch | None:
        while not self._inbox.closed:
            self._take(wait=lambda: False)
            if self._left and self.replay.size:
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
            self.replay.reserve(self._blocks.rows)
            if self._pace.has_minimum:  # while the memory is filled the network stays, and so does the exploration
                self._copy()
                self._left = self._target_updates
            self._tell.updated()
            self._blocks.begin()
            self._tell.free()

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        self.replay.learned(batch.buffer, errors)
