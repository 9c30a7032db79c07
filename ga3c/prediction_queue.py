"""Agents -> predictors: "row t of my slot is ready"; and back: "it is answered"."""

import itertools
import struct
import threading
import time
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ga3c.transport.agent_memory import AgentMemory
from ga3c.transport.inbox import Inbox, Line, Peer

_REQUEST = struct.Struct("<iidd")  # slot, row, when it was asked, seconds from the prediction before to the wake-up
_ANSWER = struct.Struct("<id")  # an Order, when it was predicted


class Order(IntEnum):
    """The order that comes with an answer."""

    GO_ON = 0
    FINISH = 1  # ship what there is, and end
    PAUSE = 2  # ship the rollout before, and wait; then ask again for the same row


class _Agent(Peer):
    """The server's view of one agent."""

    def __init__(self, memory: AgentMemory, number: int, position: int):
        super().__init__(memory, number, position)
        self.answered = 0  # requests
        self.answered_at = 0.0  # time.monotonic()
        self.pausing = False  # it has been told to pause, and not yet to go on
        self._lock = threading.Lock()
        self._order = Order.GO_ON

    def answer(self, row: int, predicted: float) -> None:
        """Wakes the agent. It pauses only between two rollouts, so that nothing that it made gets old meanwhile."""
        with self._lock:
            order = Order.GO_ON if self._order == Order.PAUSE and row else self._order
            self.pausing = order == Order.PAUSE
            self.send(_ANSWER.pack(order, predicted))
        self.answered_at = predicted
        self.answered += 1

    def order(self, order: Order) -> None:
        """Sends an order with the next answer, or now to an agent that pauses."""
        with self._lock:
            self._order = order
            if self.pausing and order != Order.PAUSE:
                self.answered_at = time.monotonic()
                self.pausing = False
                self.send(_ANSWER.pack(order, self.answered_at))


class Request(NamedTuple):
    """A row of observations [env, ...] that waits for actions."""

    agent: _Agent
    slot: int
    row: int
    asked: float  # time.monotonic(), which all processes of a machine share
    reply_seconds: float  # what the agent's request before this one took from its prediction to its wake-up; or NaN

    @property
    def observations(self) -> np.ndarray:
        return self.agent.memory.slots["observation"][self.slot, self.row]

    @property
    def recurrent_states(self) -> np.ndarray:
        """The recurrent states before this row, float32 [env, size]."""
        return self.agent.memory.recurrent.before

    def answer(self, fields: dict[str, np.ndarray], version: int, predicted: float) -> None:
        """Writes the answer, [env] each, into the row that asked and wakes the agent. `predicted`: time.monotonic()."""
        self.agent.memory.answer(self.slot, self.row, fields, version)
        self.agent.answer(self.row, predicted)


class PredictionQueue:
    """A closable queue: many agents write, many predictors take."""

    def __init__(
        self, choose: Callable[[list[Request]], int] | None = None, enough: Callable[[], bool] = lambda: False
    ):
        """`choose(waiting)` may sort the requests that wait, and returns how many are taken together. None: all.

        While `enough()` nobody is answered; `look_again` tells that this has changed.
        """
        self._choose, self._enough = choose, enough
        self._inbox = Inbox(lambda agent, data: Request(agent, *_REQUEST.unpack(data)))
        self._positions: set[int] = set()  # that are taken
        self.look_again = self._inbox.look_again
        self.close = self._inbox.close
        self.retire_one = self._inbox.retire_one
        self.waiting = self._inbox.waiting

    def connect(self, memory: AgentMemory, number: int = 0) -> "tuple[_Agent, PredictionClient]":
        """Admits an agent; returns the server's handle of it and the client for its process.

        Its position among the agents is the first that is free, often that of one which was disconnected.
        """
        position = next(one for one in itertools.count() if one not in self._positions)
        self._positions.add(position)
        agent = _Agent(memory, number, position)
        return agent, PredictionClient(self._inbox.connect(agent))

    def disconnect(self, agent: _Agent) -> None:
        self._positions.discard(agent.position)
        self._inbox.disconnect(agent)

    def take(self, max_requests: int) -> list[Request]:
        """Waits for requests and returns them, at most `max_requests`. If `choose` is given it alone decides, and must
        not return more than the caller has room for.

        Returns [] when the thread shall leave.
        """
        choose = self._choose or (lambda waiting: min(len(waiting), max_requests))
        return self._inbox.take(lambda waiting: 0 if self._enough() else choose(waiting))


class PredictionClient:
    """The agent's end of the queue. Its methods raise ServerGone."""

    def __init__(self, line: Line):
        self._line = line
        self.close = line.close
        self._reply_seconds = float("nan")

    def ask(self, slot: int, row: int) -> None:
        """Asks for the actions of a row whose observations lie in shared memory."""
        self._line.send(_REQUEST.pack(slot, row, time.monotonic(), self._reply_seconds))

    def wait(self) -> Order:
        """Waits until the row is answered, or a pause is over. Returns what the agent shall do."""
        order, predicted = _ANSWER.unpack(self._line.receive())
        self._reply_seconds = time.monotonic() - predicted
        return Order(order)
