"""The contract of what lies between agents and trainers."""

from typing import Protocol

import numpy as np

from ga3c.rollout import Batch
from ga3c.transport.agent_memory import AgentMemory


class Experience(Protocol):
    """A queue or a replay memory between agents and trainers."""

    def connect(self, number: int, memory: AgentMemory, slots: int, position: int = 0) -> tuple:
        """Admits an agent; returns the server's handle of it and the agent's client. `PredictionQueue.connect` says
        what a `position` is."""

    def next_batch(self) -> Batch | None:
        """Waits for the experience of one update and returns it; None when the thread shall leave."""

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        """Takes back a batch that was trained on. `errors`: of its transitions, float32 [batch]; None: not known."""

    def waiting(self) -> int:
        """Returns the number of rollouts that nobody has taken yet."""

    def watched(self) -> dict[str, float]:
        """Returns figures for a row of the log, since the last row, by name: always the same names."""

    def close(self) -> None:
        """Hands out what is left; then every `next_batch` returns None."""

    def drop(self) -> None:
        """Ends it at once: nobody gets what is left."""
