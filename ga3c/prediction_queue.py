"""Agents -> predictors: "row t of my slot is ready", and back: "it is answered"."""

import contextlib
import struct
import time
from typing import NamedTuple

import numpy as np

from ga3c.inbox import Inbox, Line
from ga3c.rollout import AgentMemory

_REQUEST = struct.Struct("<iidd")  # slot, row, when it was asked, seconds from the prediction before to the wake-up
_ANSWER = struct.Struct("<?d")  # go on or finish, when it was predicted


class _Agent:
    """The server's view of one agent."""

    def __init__(self, memory: AgentMemory):
        self.memory = memory
        self.finishing = False
        self.answered = 0  # requests
        self.answered_at = 0.0  # time.monotonic()


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

    def answer(
        self, actions: np.ndarray, log_probabilities: np.ndarray, values: np.ndarray, version: int, predicted: float
    ) -> None:
        """Writes the answer into the row that asked, [env] each, and wakes the agent. `predicted` says when it was."""
        slots = self.agent.memory.slots
        slots["action"][self.slot, self.row] = actions
        slots["log_probability"][self.slot, self.row] = log_probabilities
        slots["value"][self.slot, self.row] = values
        slots["version"][self.slot, self.row] = version
        with contextlib.suppress(OSError):  # the agent has died; the server replaces it
            self.agent.connection.send_bytes(_ANSWER.pack(not self.agent.finishing, predicted))
        self.agent.answered_at = predicted
        self.agent.answered += 1


class PredictionQueue:
    """Closable; many agents write, many predictors take."""

    def __init__(self):
        self._inbox = Inbox(lambda agent, data: Request(agent, *_REQUEST.unpack(data)))
        self.close = self._inbox.close
        self.retire_one = self._inbox.retire_one
        self.waiting = self._inbox.waiting

    def connect(self, memory: AgentMemory) -> "tuple[_Agent, PredictionClient]":
        """Admits an agent: the server's handle of it, and the client to give to its process."""
        agent = _Agent(memory)
        return agent, PredictionClient(self._inbox.connect(agent))

    def disconnect(self, agent: _Agent) -> None:
        self._inbox.disconnect(agent)

    def take(self, max_requests: int) -> list[Request]:
        """Waits for one request and returns all that wait, up to `max_requests`; [] when the thread shall leave."""
        return self._inbox.take(lambda waiting: min(len(waiting), max_requests))

    @staticmethod
    def finish(agent: _Agent) -> None:
        """The agent's next answer tells it to ship what it has and to end."""
        agent.finishing = True


class PredictionClient:
    """An agent's end. Its methods raise ServerGone."""

    def __init__(self, line: Line):
        self._line = line
        self.close = line.close
        self._reply_seconds = float("nan")

    def ask(self, slot: int, row: int) -> None:
        """Requests actions for a row of observations that lies in shared memory."""
        self._line.send(_REQUEST.pack(slot, row, time.monotonic(), self._reply_seconds))

    def wait(self) -> bool:
        """Waits until the row is answered. False: the agent shall ship what it has and end."""
        go_on, predicted = _ANSWER.unpack(self._line.receive())
        self._reply_seconds = time.monotonic() - predicted
        return go_on
