"""One agent as the server sees it: its process, its ends of the queues, what it does and since when."""

import signal
import time

from ga3c.machine import core_seconds, wants_core
from ga3c.transport.agent_memory import AgentMemory, Doing

PROGRESS_ROLLOUTS = 10  # an agent that has shipped so many has done real work
STARVED_SECONDS = 0.2  # after such a silence the system is asked whether the process gets a core


class AgentHandle:
    """An agent's process and the queues' handles of it."""

    def __init__(self, process, prediction, training, memory: AgentMemory, deaths: int):
        """`deaths`: in a row, without progress, of the agents that it replaces."""
        self.process, self.prediction, self.training, self.memory = process, prediction, training, memory
        self.leaving = False
        self.spare_since: float | None = None  # time.monotonic() since when it is not wanted; None: it is
        self.fault = ""  # why the server killed it
        self._deaths_before = deaths
        self._shipped_before = 0  # rollouts, before the last death in the pool

    @property
    def is_wanted(self) -> bool:
        return not self.leaving and self.spare_since is None

    @property
    def deaths(self) -> int:
        """Deaths in a row without progress, once it has died itself too."""
        return self._deaths_before + 1 if self.memory.shipments < PROGRESS_ROLLOUTS else 0

    @property
    def makes_progress(self) -> bool:
        """True if it has made progress since `count_again`."""
        return self.memory.shipments - self._shipped_before >= PROGRESS_ROLLOUTS

    def count_again(self) -> None:
        """Counts progress anew: another agent has died, and only what comes now shows that the game can be played."""
        self._shipped_before = self.memory.shipments

    @property
    def waits_for_server(self) -> bool:
        """True while it waits for something that the server has not given yet."""
        doing, _ = self.memory.doing
        if doing == Doing.PAUSING:
            return self.prediction.pausing
        if doing == Doing.WAITING_FOR_ANSWER:
            return self.memory.requests > self.prediction.answered
        # One slot may be in its own hands: it holds the rollout that waits for its bootstrap value.
        return doing == Doing.WAITING_FOR_SLOT and self.training.given - self.memory.shipments <= 1

    @property
    def silent_seconds(self) -> float:
        """The time since its last sign of life, or since it was given what it waited for.

        Slow is not dead: while other programs have the cores, only the CPU time that it gets counts.
        """
        _, since = self.memory.doing
        given = max(self.prediction.answered_at, self.training.given_at)
        silent = 0.0 if self.waits_for_server else time.monotonic() - max(since, given)
        if silent > STARVED_SECONDS and wants_core(self.process.pid):
            used = core_seconds(self.process.pid)
            silent = min(silent, max(0.0, used - self.memory.core_seconds)) if used is not None else silent
        return silent

    def line(self, number: int) -> str:
        """Returns a line for a report: what the agent does, since when, and who waits for whom."""
        doing, since = self.memory.doing
        owed = ", and the server has not served it yet" if self.waits_for_server else ""
        leaving = "; told to end" if self.leaving else ""
        return f"Agent {number}: {doing} for {time.monotonic() - since:.1f} s{owed}; {self.memory.steps} steps{leaving}"


def cause_of_death(code: int, words: str) -> str:
    """Returns the cause in words, from the last words or the exit status."""
    if words:
        return f"failed: {words.strip().splitlines()[-1]}"
    return f"died ({signal.Signals(-code).name if code < 0 else f'exit status {code}'})"
