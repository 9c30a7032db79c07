"""Agents -> trainers: "the rollout in slot s is complete". Bounded by the agents' slots, closable."""

import struct
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ga3c.rollout import Batch, Buffer, Episode
from ga3c.transport.agent_memory import AgentMemory
from ga3c.transport.inbox import Inbox, Line, Peer

_HEADER = struct.Struct("<iiiid")  # slot, length in steps, transitions, finished episodes, when it was shipped
_EPISODE = struct.Struct("<dii")  # score, length in steps, game
_SLOT = struct.Struct("<i")


class _Agent(Peer):
    """The server's view of one agent."""

    def __init__(self, memory: AgentMemory, number: int, position: int):
        super().__init__(memory, number, position)
        self.trained_steps = 0  # of rollouts that the trainers are done with
        self.held: set[int] = set()  # slots whose rollouts are read and not trained on yet
        self.returned = 0  # slots
        self.returned_at = 0.0  # time.monotonic()

    def take_back(self, slot: int) -> None:
        """Sends a slot that is free again."""
        self.held.discard(slot)  # before it is sent: the agent may ship it again at once
        self.send(_SLOT.pack(slot))
        self.returned_at = time.monotonic()
        self.returned += 1  # once it is sent: a thread may get no core for long in between

    @property
    def settled(self) -> bool:
        """True once it has ended, and the trainers are done with all that it shipped."""
        return self.gone and not self.held


class Rollout(NamedTuple):
    """A complete rollout in an agent's slot. It stays there until `release`."""

    agent: _Agent
    slot: int
    length: int  # rows in use, <= t_max
    transitions: int  # valid entries of those rows
    episodes: tuple[Episode, ...]  # games that ended in it
    shipped: float  # time.monotonic(), which all processes of a machine share

    @property
    def record(self) -> np.void:
        """The fields of `rollout_dtype`."""
        return self.agent.memory.slots[self.slot]

    def release(self) -> None:
        """Counts it as trained on, and hands the slot back to its agent."""
        self.agent.trained_steps += self.transitions
        self.drop()

    def drop(self) -> None:
        """Hands the slot back to its agent, and counts it as lost."""
        self.agent.memory.done()
        self.agent.take_back(self.slot)


def _parse(agent: _Agent, data: bytes) -> Rollout:
    slot, length, transitions, episodes, shipped = _HEADER.unpack_from(data)
    ended = (Episode(*_EPISODE.unpack_from(data, _HEADER.size + i * _EPISODE.size)) for i in range(episodes))
    agent.held.add(slot)
    return Rollout(agent, slot, length, transitions, tuple(ended), shipped)


class ExperienceQueue:
    """Receives the rollouts of this machine's agents. A subclass makes batches of them."""

    def __init__(self, inbox: Inbox | None = None):
        """`inbox`: where rollouts come from; None: from processes."""
        self._inbox = inbox or Inbox(_parse)
        self.drop, self.retire_one = self._inbox.drop, self._inbox.retire_one
        self.waiting, self.look_again = self._inbox.waiting, self._inbox.look_again

    def connect(self, number: int, memory: AgentMemory, slots: int, position: int = 0) -> tuple:
        agent = _Agent(memory, number, position)
        return agent, TrainingClient(self._inbox.connect(agent), slots)

    def disconnect(self, agent: _Agent) -> None:
        self._inbox.disconnect(agent)

    def close(self) -> None:
        self._inbox.close()

    def watched(self) -> dict[str, float]:
        return {}


class TrainingQueue(ExperienceQueue):
    """Hands each rollout to one trainer, in the order in which they come."""

    def __init__(
        self,
        dtype: np.dtype,
        rollouts_per_batch: int,
        fields: Sequence[str],
        choose: Callable[[list[Rollout]], int] | None = None,
        after: Callable[[], None] = lambda: None,
        inbox: Inbox | None = None,
    ):
        """`dtype`: of a rollout. `fields`: those that the algorithm learns from.

        `choose(waiting)` may sort the rollouts that wait, and returns how many of them make a batch, at most
        `rollouts_per_batch`. None: always so many. `after()` is called when a batch is done.
        """
        super().__init__(inbox)
        self._rollouts_per_batch, self._rule, self._after = rollouts_per_batch, choose, after
        self._new_buffer = lambda: Buffer(dtype, rollouts_per_batch, fields)
        self._buffers: list[Buffer] = []  # that nobody uses
        self._envs = dtype["action"].shape[1]

    def _choose(self, waiting: list[Rollout]) -> int:
        if self._rule and not self._inbox.closed:
            return self._rule(waiting)
        return self._rollouts_per_batch if len(waiting) >= self._rollouts_per_batch else 0

    def next_batch(self) -> Batch | None:
        """Waits for the rollouts of one update and returns exactly those, or fewer once the queue is closed."""
        rollouts = self._inbox.take(self._choose)
        if not rollouts:
            return None
        taken = time.monotonic()
        try:
            buffer = self._buffers.pop()
        except IndexError:  # one for each trainer
            buffer = self._new_buffer()
        arrays = buffer.fill([(rollout.record, rollout.length) for rollout in rollouts])
        versions = np.concatenate([rollout.record["version"][: rollout.length] for rollout in rollouts])
        columns = len(rollouts) * self._envs
        return Batch(arrays, versions, rollouts, columns, taken, time.monotonic(), buffer)

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        for rollout in batch.rollouts:
            rollout.release()  # not before: the arrays may be the slots
        self._buffers.append(batch.buffer)
        self._after()


class TrainingClient:
    """The agent's end of the queue. Its methods raise ServerGone."""

    def __init__(self, line: Line, slots: int):
        self._line = line
        self.close = line.close
        self._free = deque(range(slots))

    def free_slot(self) -> int:
        """Returns a slot to fill. Waits while all are with the trainers: this bounds the queue."""
        while not self._free or self._line.has_message():
            self._free.append(_SLOT.unpack(self._line.receive())[0])
        return self._free.popleft()

    def ship(self, slot: int, length: int, transitions: int, episodes: list[Episode]) -> None:
        """Hands over a rollout. Its slot must not be touched until it comes back."""
        message = [_HEADER.pack(slot, length, transitions, len(episodes), time.monotonic())]
        self._line.send(b"".join(message + [_EPISODE.pack(*episode) for episode in episodes]))
