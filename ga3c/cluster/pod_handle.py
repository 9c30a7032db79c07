"""One pod as the learner sees it."""

import threading
import time

import ray

from ga3c.cluster.pod import Taken
from ga3c.cluster.watching import Seen
from ga3c.transport.agent_memory import AgentMemory

SILENT_SECONDS = 5.0  # a pod not heard of for so long is shown as silent


class PodHandle:
    """A pod's actor, and the agent's end of the training queue through which the learner ships what the pod played."""

    def __init__(self, number: int, position: int, actor, training, client, memory: AgentMemory):
        self.number, self.position, self.actor = number, position, actor
        self.training, self.client, self.memory = training, client, memory
        self.thread: threading.Thread | None = None
        self.node, self.fault, self.mismatch = "a node", "", ""
        self.last, self.messages = Taken(), 0  # its last answer, without the rollouts
        self.begun = self.leaving = self.ended = False
        self.heard, self.asked = time.monotonic(), None  # `asked`: since when it owes an answer

    def seen(self, weights_age_seconds: float) -> Seen:
        """Returns what the screen shows of it."""
        silence = time.monotonic() - self.heard
        return Seen(
            number=self.number,
            node=self.node,
            state=self._state(silence),
            steps=self.last.made,
            bytes=self.last.bytes,
            messages=self.messages,
            pulls=self.last.pulls,
            update=self.last.version,
            weights_age_seconds=weights_age_seconds,
            heard_seconds=silence,
        )

    def _state(self, silence: float) -> str:
        if self.leaving or self.ended:
            return "ending"
        if not self.begun:
            return "starting"
        return "silent" if silence > SILENT_SECONDS else "plays"


def reason(error: Exception) -> str:
    """Returns a pod's own error, or that the pod died, in a line: Ray's message fills a screen."""
    if isinstance(error, ray.exceptions.RayActorError) and "creation task" not in str(error):
        return "its process, or its node, is gone"
    return str(getattr(error, "cause", None) or error).strip()
