"""Messages from many agents, merged on the server's side.

Each agent has a connection of its own: the writers share no lock, so an agent that is killed, even in the middle
of a message, costs nobody else anything. Threads of the server read from all connections together.
"""

import contextlib
import selectors
import threading
from collections import deque
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from ga3c.transport.agent_memory import AgentMemory


class ServerGone(Exception):
    """The server at the other end has gone."""


class Line:
    """An agent's end of its connection. `send` and `receive` raise ServerGone."""

    def __init__(self, connection: Connection):
        self._connection = connection

    def send(self, message: bytes) -> None:
        try:
            self._connection.send_bytes(message)
        except OSError as error:
            raise ServerGone from error

    def receive(self) -> bytes:
        """Waits for a message."""
        try:
            return self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise ServerGone from error

    def has_message(self) -> bool:
        try:
            return self._connection.poll()
        except OSError as error:
            raise ServerGone from error

    def close(self) -> None:
        """Closes this copy of the connection; the server does so once the process has its own."""
        self._connection.close()


class Peer:
    """The server's end of an agent's connection. Any thread may send; only the inbox receives and closes."""

    def __init__(self, memory: AgentMemory, number: int, position: int):
        """`position`: among the agents that play now; see `PredictionQueue.connect`."""
        self.memory, self.number, self.position = memory, number, position
        self._connection: Connection | None = None
        self._sending = threading.Lock()

    @property
    def gone(self) -> bool:
        """True once nothing comes from it any more, and all that it has sent is read."""
        return self._connection.closed

    def send(self, message: bytes) -> None:
        """Sends a message. To an agent that has died nothing is sent; the server replaces it."""
        with self._sending, contextlib.suppress(OSError):
            self._connection.send_bytes(message)

    def close(self) -> None:
        """Closes the connection, not while another thread sends: that would write to the next file of this number."""
        with self._sending:
            self._connection.close()


class Inbox:
    """A closable queue from agent processes to threads of the server.

    `take` is atomic: it hands out as many messages as the caller's rule wants at once. No thread waits with a part of
    them.
    """

    def __init__(self, parse: Callable[[Any, bytes], Any]):
        """`parse(agent, data)` makes a message of what the agent sent."""
        self._parse = parse
        self._selector = selectors.DefaultSelector()
        self._wake_up, self._woken = Pipe()
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        self._turn = threading.Lock()  # one thread reads; the others wait for their turn
        self._pending: list[Any] = []
        self._disconnected: deque[Peer] = deque()  # to be closed by the thread that reads
        self._leave: deque[None] = deque()  # one entry for each thread that shall leave
        self.closed = self._dropped = False

    def connect(self, agent: Peer) -> Line:
        """Returns the agent's end. `agent` comes back with each of its messages."""
        agent._connection, theirs = Pipe()
        self._selector.register(agent._connection, selectors.EVENT_READ, agent)
        return Line(theirs)

    def disconnect(self, agent: Peer) -> None:
        """Forgets the agent; what it sent before and nobody has read is lost."""
        self._disconnected.append(agent)
        if self._turn.acquire(blocking=False):
            try:
                self._close_disconnected()
            finally:
                self._turn.release()
        else:
            self.look_again()

    def _close_disconnected(self) -> None:
        """Closes them. Only the thread that reads calls it: another might be reading from such a connection."""
        while self._disconnected:
            agent = self._disconnected.popleft()
            with contextlib.suppress(KeyError, ValueError, OSError):  # it is gone already
                self._selector.unregister(agent._connection)
            agent.close()

    def take(self, choose: Callable[[list[Any]], int], wait: Callable[[], bool] = lambda: True) -> list[Any]:
        """Waits until `choose(waiting messages)` is more than 0 and returns that many, oldest first.

        `choose` is asked again whenever something has come, an agent has gone, or `look_again` was called. It may sort
        and drop what waits. `wait()` is asked as often; once it is False, [] is returned.

        Returns [] also to a thread that shall leave: because of `retire_one` or `drop`, or because the inbox is closed
        and empty. Once closed it hands out all that is left, even if `choose` would wait for more.
        """
        with self._turn:
            self._receive(timeout=0)
            while True:
                if self._dropped:
                    return []
                if self._leave:
                    self._leave.pop()
                    return []
                count = choose(self._pending) if self._pending else 0
                if not count and not self.closed and not wait():
                    return []
                if not count and (self._receive(timeout=0 if self.closed else None) or not self.closed):
                    continue
                count = count or len(self._pending)  # closed, and nothing more comes: what is left
                taken, self._pending = self._pending[:count], self._pending[count:]
                return taken

    def _receive(self, timeout: float | None) -> int:
        """Reads one message from each agent that has one. Returns from how many connections it read."""
        ready = self._selector.select(timeout)
        for key, _ in ready:
            agent = key.data
            try:
                if agent is None:
                    self._woken.recv_bytes()
                    continue
                # One message each time: if there are more, the selector says so again.
                self._pending.append(self._parse(agent, agent._connection.recv_bytes()))
            except (EOFError, OSError):  # the agent has ended; the server sees to the rest
                self._disconnected.append(agent)
        self._close_disconnected()
        return len(ready)

    @property
    def read(self) -> int:
        """The number of messages that are read and that nobody has taken yet."""
        return len(self._pending)

    def waiting(self) -> int:
        """Returns how many messages nobody has taken yet. An agent with several unread ones counts once."""
        return len(self._pending) + sum(key.data is not None for key, _ in self._selector.select(0))

    def retire_one(self) -> None:
        """Lets one thread leave: the next that takes gets []."""
        self._leave.append(None)
        self.look_again()

    def close(self) -> None:
        """Hands out what is left; then every `take` returns []."""
        self.closed = True
        self.look_again()

    def drop(self) -> None:
        """Ends the queue at once: nobody gets what is left."""
        self._dropped = True
        self.close()

    def look_again(self) -> None:
        """Asks the rules again: what they go by has changed."""
        self._wake_up.send_bytes(b"!")
