"""The contract of agents with the engine that runs them."""

from typing import Protocol

from ga3c.stats import Stats


class Agents(Protocol):
    """The agents: processes of this machine (`processes.agent_pool`) or pods (`cluster.pod_pool`)."""

    next_number: int
    """The number that the next agent gets. Agents are numbered through, over a resume too."""

    def begin(self, model, stats: Stats) -> None:
        """Lets them play. Pods take their copies of the weights from the model."""

    def scale(self, count: int) -> None:
        """Starts agents, or tells the newest to end. Does not wait for either."""

    def watch(self) -> None:
        """Replaces agents that have died or hang. Raises TrainingFailed where that does not help."""

    def end(self, seconds: float) -> None:
        """Lets all agents ship what they have and end; ends those that have not after so many seconds."""

    def keep_books(self, stats: Stats, final: bool = False) -> None:
        """Counts what ended agents made and what was lost of it: see `stats.EndedAgents.count`."""

    def core_seconds(self) -> float:
        """Returns the CPU time that all agents of this start have used."""

    def missing(self) -> int:
        """Returns how many agents are wanted and do not play yet."""

    def starting(self) -> int:
        """Returns how many of the missing agents start now."""

    def watched(self) -> dict[str, float]:
        """Returns figures for a row of the log, by name: always the same names."""

    def report(self) -> list[str]:
        """Returns a line for each agent: what it does, and since when."""
