"""Controller: changes the numbers of agents, predictors and trainers to raise TPS (paper, section 4.3)."""

import csv
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Counts(NamedTuple):
    """The paper's N_A, N_P and N_T."""

    agents: int
    predictors: int
    trainers: int

    def __str__(self) -> str:
        return f"NT {self.trainers} NP {self.predictors} NA {self.agents}"


def propose(counts: Counts, rng: random.Random) -> Counts:
    """The paper's rule: one of the three, at random, one up or one down; never below one."""
    neighbours = [
        counts._replace(**{name: value + change})
        for name, value in counts._asdict().items()
        for change in (-1, 1)
        if value + change >= 1
    ]
    return rng.choice(neighbours)


class Decision(NamedTuple):
    """One row of controller.csv."""

    seconds: float
    steps: int
    agents: int  # the setting that was tried
    predictors: int
    trainers: int
    tps: float  # what it reached
    tps_before: float  # what the setting in use reached
    kept: bool
    reason: str


COLUMNS = list(Decision._fields)


class Controller(threading.Thread):
    """Tries a neighbouring setting each `interval_seconds`; keeps it if TPS rose, else goes back.

    `rollouts()` is the running count of rollouts taken from the training queue, `clock()` gives (seconds, steps)
    of the run, `apply(counts)` changes the setting, `say(text)` is told each decision.
    """

    def __init__(
        self,
        counts: Counts,
        interval_seconds: float,
        apply: Callable[[Counts], None],
        rollouts: Callable[[], int],
        clock: Callable[[], tuple[float, int]],
        say: Callable[[str], None],
        file: Path,
        seed: int,
        rule: Callable[[Counts, random.Random], Counts] = propose,
    ):
        super().__init__(name="controller", daemon=True)
        self.counts = counts  # the setting in use, without a trial in progress
        self._interval, self._apply, self._rollouts, self._clock, self._say = (
            interval_seconds,
            apply,
            rollouts,
            clock,
            say,
        )
        self._rule, self._rng = rule, random.Random(seed)
        self._file = file
        self._ended = threading.Event()

    def finish(self) -> None:
        """Ends the thread; a trial in progress is left as it is."""
        self._ended.set()

    def _measure(self) -> float | None:
        """TPS over one interval; None when the controller shall end."""
        start_seconds, start = self._clock()[0], self._rollouts()
        if self._ended.wait(self._interval):
            return None
        return (self._rollouts() - start) / (self._clock()[0] - start_seconds)

    def run(self) -> None:
        tps_in_use = self._measure()
        while tps_in_use is not None and not self._ended.is_set():
            trial = self._rule(self.counts, self._rng)
            self._apply(trial)
            tps = self._measure()
            if tps is None:
                return
            kept = tps > tps_in_use
            reason = f"{trial}: TPS {tps:.0f} {'above' if kept else 'not above'} {tps_in_use:.0f} of {self.counts}"
            self._log(Decision(*self._clock(), *trial, tps, tps_in_use, kept, reason))
            if kept:
                self.counts, tps_in_use = trial, tps
            else:
                self._apply(self.counts)

    def _log(self, decision: Decision) -> None:
        self._say(f"Controller: {decision.reason}: {'kept' if decision.kept else 'went back'}.")
        new = not self._file.exists()
        with self._file.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(COLUMNS)
            row = decision._replace(seconds=round(decision.seconds, 2), tps=round(decision.tps, 1))
            writer.writerow(row._replace(tps_before=round(decision.tps_before, 1)))
