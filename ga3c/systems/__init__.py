"""Systems: the wiring of the stations, one file for each paper, and the two engines that run it.

`stations` runs agents, queues and threads, `one_thread` games, player and learner in a single one. `system_of` says
which system the settings want.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from ga3c.controller.counts import Counts
from ga3c.settings.catalogue import ALGORITHMS
from ga3c.settings.run import Settings


class System(Protocol):
    """Whatever a `server` can run."""

    model: object
    """A `model.Model`, or what stands in its place. Known from `start` on."""
    device: str
    """The device of the model, in words. Known from `start` on."""
    stats: object
    """A `stats.Stats`. Known from `start` on."""
    replay: object
    """The `replay_memory.Replay` that is saved with the run; None without one."""
    under_way: object
    """The `under_way.UnderWay` whose games are saved with the run; None where games begin anew."""
    counts: Counts
    """Agents, predictors and trainers that run now."""
    chosen_counts: Counts
    """The numbers that run without the controller's trial that is in progress."""
    next_agent: int
    """The number that the next agent gets."""
    has_all_steps: bool
    """True once the steps that were asked for are made, though they may not be learned from yet."""
    may_end: bool
    """True if the run may end once it has made the steps that were asked for."""

    def start(self, arrays: dict | None) -> None:
        """Starts everything, with the weights to go on from, by name."""

    def watch(self) -> None:
        """Looks after whatever may have died. Called every second. Raises TrainingFailed where that does not help."""

    def stop(self) -> None:
        """Ends everything, once what was played is learned from as far as that is possible."""

    def games(self) -> tuple[int, int]:
        """The number of games that are under way, and the number that is wanted."""

    def waiting(self) -> tuple[int, int]:
        """The number of requests in the prediction queue, and of rollouts in the training queue."""

    def agents_core_seconds(self) -> float:
        """CPU time that the agents have used since the start."""

    def watched(self) -> dict[str, float]:
        """Figures for a row of the log besides those that all systems have, by name: always the same names."""

    def report(self) -> list[str]:
        """Who waits for whom, a line each."""


def system_of(settings: Settings) -> Callable[..., System]:
    """Returns what makes the system, given settings, spec, progress, `say` and `log_decisions`.

    Modules are imported here alone: a replay needs Numba, which takes a second, and all of them need TensorFlow.
    """
    if settings.schedule.one_thread:
        from ga3c.systems import batched, one_thread, serial

        return partial(one_thread.OneThread, serial.wire if settings.schedule.serial else batched.wire)
    if settings.run.device_updates == "asynchronous":
        from ga3c.systems import units

        return units.Units
    from ga3c.systems import stations

    return partial(stations.Stations, wiring_of(settings))


def wiring_of(settings: Settings) -> Callable:
    """Returns the function that wires the stations as the settings want."""
    if ALGORITHMS[settings.learning.algorithm].replays:
        from ga3c.systems import apex, replayed

        if not settings.replay.steps_per_update:
            return apex.wire
        return replayed.wire_concurrent if settings.replay.concurrent_training else replayed.wire
    if settings.learning.algorithm == "clone":
        from ga3c.systems import cloned

        return cloned.wire
    from ga3c.systems import ga3c, synchronous

    return ga3c.wire if settings.schedule.sampling == "asynchronous" else synchronous.wire


def secondary_of(primary) -> Callable[..., System]:
    """Returns what makes a system that learns from the replay of `primary`, a `stations.Stations`."""
    from ga3c.systems import secondary, stations

    return partial(stations.Stations, partial(secondary.wire, primary=primary.experience))
