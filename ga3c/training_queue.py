"""Agents -> trainers: "the rollout in slot s is complete". Bounded by the agents' slots, or closer; closable."""

import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ga3c.rollout import Batch, Buffer, Episode
from ga3c.transport.agent_memory import AgentMemory, Doing
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
        self._spare: deque[int] = deque()  # free slots that it has not got
        self.keeps_spare = False  # True: it gets a free slot when somebody calls `give`
        self.given = self.read = 0  # slots that it has got so far; rollouts that were read
        self.given_at = 0.0  # time.monotonic()

    def take_back(self, slot: int) -> None:
        """Sends a slot that is free again, or keeps it."""
        self.held.discard(slot)  # before it is sent: the agent may ship it again at once
        self._spare.append(slot)
        if not self.keeps_spare:
            self.give()

    def give(self) -> None:
        """Sends it a free slot."""
        try:
            slot = self._spare.popleft()
        except IndexError:  # another thread was faster
            return
        self.send(_SLOT.pack(slot))
        self.given_at = time.monotonic()
        self.given += 1  # once it is sent: a thread may get no core for long in between

    @property
    def has_spare(self) -> bool:
        return bool(self._spare)

    @property
    def in_hand(self) -> int:
        """The slots that it has, as far as its messages are read."""
        return self.given - self.read

    @property
    def plays(self) -> bool:
        return not self.gone and self.memory.doing[0] not in (Doing.STARTING, Doing.PAUSING)

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
        """Hands the slot back to its agent. Its steps are not counted as trained on."""
        self.agent.memory.done()
        self.agent.take_back(self.slot)


def _parse(agent: _Agent, data: bytes) -> Rollout:
    slot, length, transitions, episodes, shipped = _HEADER.unpack_from(data)
    ended = (Episode(*_EPISODE.unpack_from(data, _HEADER.size + i * _EPISODE.size)) for i in range(episodes))
    agent.held.add(slot)
    agent.read += 1
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
        agent.given = slots
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
        updated: Callable[[], None] = lambda: None,
        free: Callable[[], None] = lambda: None,
        inbox: Inbox | None = None,
        backpressure=None,
    ):
        """`dtype`: of a rollout. `fields`: those that the algorithm learns from.

        `choose(waiting)` may sort the rollouts that wait, and returns how many of them make a batch, at most
        `rollouts_per_batch`. None: always so many. When a batch is done, `updated()` is called before its agents get
        their slots back, and `free()` after that. `backpressure`, a `scheduling.backpressure.Backpressure`, decides
        when an agent gets a free slot; None: at once.
        """
        super().__init__(inbox)
        self._backpressure, self._agents = backpressure, ()  # replaced, never changed: trainers read it
        self._rollouts_per_batch, self._rule = rollouts_per_batch, choose
        self._updated, self._free = updated, free
        self._new_buffer = lambda: Buffer(dtype, rollouts_per_batch, fields)
        self._buffers: list[Buffer] = []  # that nobody uses
        self._releasing = threading.Lock()
        self._envs = dtype["action"].shape[1]

    def _choose(self, waiting: list[Rollout]) -> int:
        if self._rule and not self._inbox.closed:
            return self._rule(waiting)
        return self._rollouts_per_batch if len(waiting) >= self._rollouts_per_batch else 0

    def connect(self, number: int, memory: AgentMemory, slots: int, position: int = 0) -> tuple:
        if not self._backpressure:
            return super().connect(number, memory, slots, position)
        agent, client = super().connect(number, memory, 0, position)
        agent.keeps_spare = True
        for slot in range(slots):
            agent.take_back(slot)
        for _ in range(self._backpressure.first):
            agent.give()
        self._agents = (*(one for one in self._agents if not one.gone), agent)  # else it would keep their slots
        return agent, client

    def disconnect(self, agent: _Agent) -> None:
        self._agents = tuple(one for one in self._agents if one is not agent)
        super().disconnect(agent)

    def end_backpressure(self) -> None:
        """Gives all agents their free slots, now and from now on: they are told to end."""
        for agent in self._agents:
            agent.keeps_spare = False
            while agent.has_spare:
                agent.give()

    def _trainer_waits(self) -> bool:
        if self._backpressure:
            self._backpressure.share_out(self._agents, self._inbox.read, trainer_waits=True)
        return True

    def next_batch(self) -> Batch | None:
        """Waits for the rollouts of one update and returns exactly those, or fewer once the queue is closed."""
        rollouts = self._inbox.take(self._choose, self._trainer_waits)
        if not rollouts:
            return None
        taken = time.monotonic()
        if self._backpressure:
            self._backpressure.share_out(self._agents, self._inbox.read, trainer_waits=False)
        try:
            buffer = self._buffers.pop()
        except IndexError:  # one for each trainer
            buffer = self._new_buffer()
        arrays = buffer.fill([(rollout.record, rollout.length) for rollout in rollouts])
        versions = np.concatenate([rollout.record["version"][: rollout.length] for rollout in rollouts])
        columns = len(rollouts) * self._envs
        return Batch(arrays, versions, rollouts, columns, taken, time.monotonic(), buffer)

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        self._updated()
        with self._releasing:  # other trainers count steps of the same agents
            for rollout in batch.rollouts:
                rollout.release()  # not before: the arrays may be the slots
        if self._backpressure:  # another trainer may wait for what agents can play with these slots
            self.look_again()
        self._buffers.append(batch.buffer)
        self._free()


class TrainingClient:
    """The agent's end of the queue. Its methods raise ServerGone."""

    def __init__(self, line: Line, slots: int):
        self._line = line
        self.close = line.close
        self._free = deque(range(slots))

    def free_slot(self) -> int:
        """Returns a slot to fill. Waits while it has none: this bounds the queue."""
        while not self._free or self._line.has_message():
            self._free.append(_SLOT.unpack(self._line.receive())[0])
        return self._free.popleft()

    def ship(self, slot: int, length: int, transitions: int, episodes: list[Episode]) -> None:
        """Hands over a rollout. Its slot must not be touched until it comes back."""
        message = [_HEADER.pack(slot, length, transitions, len(episodes), time.monotonic())]
        self._line.send(b"".join(message + [_EPISODE.pack(*episode) for episode in episodes]))
