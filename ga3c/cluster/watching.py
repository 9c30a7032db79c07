"""Describes pods and nodes for the run's screen and page. Rates are since the last look."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ga3c.cluster.connection import room


class Seen(NamedTuple):
    """A pod as the learner sees it."""

    number: int
    node: str
    state: str  # starting, plays, silent, ending
    steps: int  # made, so far
    bytes: int  # of experience that came from it
    messages: int
    pulls: int  # times that it fetched weights
    update: int  # of its weights
    weights_age_seconds: float  # since there are newer ones; NaN before its first
    heard_seconds: float  # since the learner heard of it


class Watch:
    """Compares each look with the last. `say` hears of each node that joins or leaves."""

    def __init__(self, nodes: Sequence[dict], say: Callable[[str], None]):
        self._say, self._names = say, _names(nodes)
        self._before: dict[int, Seen] = {}
        self._looked = time.monotonic()

    def look(self, nodes: Sequence[dict], pods: Sequence[Seen], wanted: int, weights_bytes: int) -> dict:
        """Returns a description for JSON. `nodes`: as Ray describes them."""
        seconds, self._looked = time.monotonic() - self._looked, time.monotonic()
        self._tell(nodes)
        found = {
            "time": time.time(),
            "wanted": wanted,
            "weights_bytes": weights_bytes,
            "nodes": [
                {"name": node["NodeManagerHostname"], "cores": node["Resources"].get("CPU", 0.0)} for node in nodes
            ],
            "pods": [self._one(pod, max(seconds, 1e-3)) for pod in pods],
        }
        self._before = {pod.number: pod for pod in pods}
        return found

    def _tell(self, nodes: Sequence[dict]) -> None:
        before, self._names = self._names, _names(nodes)
        for verb, some, others in (("joined", self._names, before), ("left", before, self._names)):
            for name in (name for key, name in some.items() if key not in others):
                self._say(f"Node {name} has {verb} the cluster: {room(nodes)}.")

    def _one(self, pod: Seen, seconds: float) -> dict:
        before = self._before.get(pod.number, pod._replace(steps=0, bytes=0, messages=0, pulls=0))
        rates = {
            f"{name}_per_second": (getattr(pod, name) - getattr(before, name)) / seconds
            for name in ("steps", "bytes", "messages", "pulls")
        }
        age = pod.weights_age_seconds
        return pod._asdict() | rates | {"weights_age_seconds": age if age == age else None}


def _names(nodes: Sequence[dict]) -> dict[str, str]:
    """Returns the names of nodes by their ids."""
    return {node["NodeID"]: node["NodeManagerHostname"] for node in nodes}
