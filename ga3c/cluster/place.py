"""A pod as the learner sees it."""

import threading
import time

import ray

from ga3c.cluster.watching import Seen
from ga3c.transport.agent_memory import AgentMemory

SILENT_SECONDS = 5.0  # not heard of for so long: it is shown as silent


class Place:
    """One pod as the learner sees it: the actor, and an agent's end of the training queue that it ships through."""

    def __init__(self, number: int, place: int, actor, training, client, memory: AgentMemory):
        self.number, self.place, self.actor = number, place, actor
        self.training, self.client, self.memory = training, client, memory
        self.thread: threading.Thread | None = None
        self.node, self.fault, self.mismatch = "a node", "", ""
        self.made = self.bytes = self.messages = self.pulls = 0
        self.version = -1
        self.core_seconds = 0.0
        self.begun = self.leaving = self.ended = False
        self.heard, self.asked = time.monotonic(), None  # `asked`: since when it owes an answer

    def seen(self, weights_age_seconds: float) -> Seen:
        silence = time.monotonic() - self.heard
        state = self._state(silence)
        counts = self.made, self.bytes, self.messages, self.pulls, self.version
        return Seen(self.number, self.node, state, *counts, weights_age_seconds, silence)

    def _state(self, silence: float) -> str:
        if self.leaving or self.ended:
            return "ending"
        if not self.begun:
            return "starting"
        return "silent" if silence > SILENT_SECONDS else "plays"


def reason(error: Exception) -> str:
    """What a pod's own error was, or that it died: Ray's own words fill a screen."""
    if isinstance(error, ray.exceptions.RayActorError) and "creation task" not in str(error):
        return "its process, or its node, is gone"
    return str(getattr(error, "cause", None) or error).strip()
