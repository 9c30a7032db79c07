"""Watches Ray's own processes that the learner needs, beside the main thread.

The GCS, on the cluster's first machine, knows all nodes and pods. While it is silent pods play on, but none is
replaced, calls to it do not return, and Ray ends the learner's process after a minute. The raylet of this machine has
the object store. Once it has died, Ray ends the learner's process without a message at the next use of the store.
"""

import contextlib
import select
import socket
import threading
import time

import ray

from ga3c.cluster.connection import nodes_alive

ASK_SECONDS = 1.0
SILENCE_SECONDS = 30.0  # Ray itself waits for 60
PAUSE_SECONDS = 10.0  # a longer time between two looks means that the learner itself had been stopped
_NO_RAYLET = "Ray's raylet on this machine has died"


class RayletDied(Exception):
    """The raylet has died: the object store of this machine must not be used any more."""


class ControlPlane:
    """Watches the GCS and the raylet of the cluster that was joined."""

    def __init__(self):
        self.nodes = nodes_alive()  # as they were when the GCS last answered
        self._line = socket.socket(socket.AF_UNIX)  # nothing is sent: it closes when the raylet ends
        self._line.connect(ray._private.worker._global_node.raylet_socket_name)
        self._ended = threading.Event()
        self._answered = self._looked = time.monotonic()
        threading.Thread(target=self._ask, name="nodes", daemon=True).start()

    def _ask(self) -> None:
        while not self._ended.wait(ASK_SECONDS):
            with contextlib.suppress(Exception):  # no answer is an answer, too
                self.nodes, self._answered = nodes_alive(), time.monotonic()

    def fault(self) -> str:
        """Returns why the run cannot go on; "" while it can."""
        now, before, self._looked = time.monotonic(), self._looked, time.monotonic()
        if now - before > PAUSE_SECONDS:
            self._answered = now
        if self._raylet_died():
            return f"{_NO_RAYLET}."
        if now - self._answered > SILENCE_SECONDS:
            return f"Ray's GCS, on the cluster's first machine, has not answered for {SILENCE_SECONDS:.0f} s."
        return ""

    def _raylet_died(self) -> bool:
        poll = select.poll()
        poll.register(self._line)
        return any(event & ~select.POLLOUT for _, event in poll.poll(0))

    def check_store(self) -> None:
        """Raises RayletDied; called before each use of the object store."""
        if self._raylet_died():
            raise RayletDied(_NO_RAYLET)

    def get(self, reference):
        """Returns `ray.get(reference)`, which would end this process after the raylet's death. Raises RayletDied."""
        ray.wait([reference], fetch_local=False)
        self.check_store()
        return ray.get(reference)

    def end(self) -> None:
        self._ended.set()
