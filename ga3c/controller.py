"""Controller: changes the numbers of agents, predictors and trainers to raise TPS (paper, section 4.3).

A rule decides: `PaperRule` here, `tuner.Tuner` by default. It knows neither clock nor threads: it is told the
running totals once a period, and says which setting it wants until the next.
"""

import math
import random
import threading
from collections.abc import Callable, Generator
from typing import NamedTuple, Protocol


class Counts(NamedTuple):
    """The paper's N_A, N_P and N_T."""

    agents: int
    predictors: int
    trainers: int

    def change_to(self, other: "Counts") -> str:
        """What differs, e.g. NA 4 -> 6."""
        pairs = zip(("NA", "NP", "NT"), self, other, strict=True)
        return ", ".join(f"{name} {before} -> {after}" for name, before, after in pairs if before != after)


class Signals(NamedTuple):
    """What a rule sees: totals since the start of the run, and two queues as they are now."""

    seconds: float = 0.0
    steps: int = 0
    rollouts: int = 0  # taken from the training queue: TPS is their rate
    predictions: int = 0  # states
    prediction_batches: int = 0
    updates: int = 0
    lag_sum: float = 0.0  # of the policy lag, in updates, over the rows trained on
    lag_rows: int = 0
    predictor_wait_seconds: float = 0.0  # all predictors together; 0 all the time: not measured
    trainer_wait_seconds: float = 0.0
    prediction_queue: int = 0  # requests that wait
    training_queue: int = 0  # rollouts that wait
    agents_starting: int = 0  # that do not play yet


class Decision(NamedTuple):
    """One row of controller.csv. NaN: not measured."""

    seconds: float
    steps: int
    agents: int  # the setting that was tried
    predictors: int
    trainers: int
    agents_before: int  # the setting in use
    predictors_before: int
    trainers_before: int
    tps: float  # of the setting that was tried
    tps_before: float  # of the setting in use
    effect_percent: float
    effect_error_percent: float  # one standard error
    policy_lag_updates: float
    policy_lag_before_updates: float
    measured_seconds: float  # how long the tried setting was measured; settling is not in it
    kept: bool
    reason: str

    def row(self) -> list:
        """Its cells; `kept` is 1 or 0."""
        cells = [f"{value:.6g}" if isinstance(value, float) else value for value in self]
        return [f"{self.seconds:.2f}", *cells[1:-2], int(self.kept), self.reason]


COLUMNS = list(Decision._fields)
Report = Callable[[Decision], None]


class Rule(Protocol):
    """Decides. `run` yields the setting it wants and is sent the signals, first at once and then once a period."""

    counts: Counts  # the setting in use, without a trial in progress
    period_seconds: float

    def run(self, report: Report) -> Generator[Counts, Signals, None]: ...


def propose(counts: Counts, rng: random.Random) -> Counts:
    """The paper's rule: one of the three, at random, one up or one down; never below one."""
    neighbours = [
        counts._replace(**{name: value + change})
        for name, value in counts._asdict().items()
        for change in (-1, 1)
        if value + change >= 1
    ]
    return rng.choice(neighbours)


class PaperRule:
    """Tries a neighbouring setting each `period_seconds`; keeps it if TPS rose, else goes back."""

    def __init__(self, counts: Counts, period_seconds: float, seed: int, proposal=propose):
        self.counts, self.period_seconds = counts, period_seconds
        self._rng, self._proposal = random.Random(seed), proposal

    def run(self, report: Report) -> Generator[Counts, Signals, None]:
        start = yield self.counts
        end = yield self.counts
        tps_in_use = rate(start, end)
        while True:
            trial = self._proposal(self.counts, self._rng)
            start, end = end, (yield trial)
            tps, lag = rate(start, end), mean_lag(start, end)
            kept = tps > tps_in_use
            effect, seconds = 100 * (tps / tps_in_use - 1) if tps_in_use else math.nan, end.seconds - start.seconds
            reason = (
                f"{self.counts.change_to(trial)}, drawn at random: TPS {tps:.0f} after {tps_in_use:.0f}: "
                f"{'kept' if kept else 'went back'}."
            )
            measured = tps, tps_in_use, effect, math.nan, lag, math.nan, seconds, kept, reason
            report(Decision(end.seconds, end.steps, *trial, *self.counts, *measured))
            if kept:
                self.counts, tps_in_use = trial, tps


def rate(start: Signals, end: Signals) -> float:
    """TPS between two readings."""
    seconds = end.seconds - start.seconds
    return (end.rollouts - start.rollouts) / seconds if seconds > 0 else 0.0


def mean_lag(start: Signals, end: Signals) -> float:
    """Mean policy lag between two readings, in updates; NaN without an update."""
    rows = end.lag_rows - start.lag_rows
    return (end.lag_sum - start.lag_sum) / rows if rows else math.nan


class Controller(threading.Thread):
    """Gives a rule the signals once a period, applies the setting that it wants, and writes its decisions down."""

    def __init__(
        self,
        rule: Rule,
        apply: Callable[[Counts], None],
        signals: Callable[[], Signals],
        say: Callable[[str], None],
        write: Callable[[list[list]], None],
    ):
        """`write` takes rows of controller.csv."""
        super().__init__(name="controller", daemon=True)
        self._rule, self._apply, self._signals, self._say, self._write = rule, apply, signals, say, write
        self._ended = threading.Event()

    @property
    def counts(self) -> Counts:
        """The setting in use, without a trial in progress."""
        return self._rule.counts

    def finish(self) -> None:
        """Ends the thread; a trial in progress is left as it is."""
        self._ended.set()

    def run(self) -> None:
        steps = self._rule.run(self._log)
        applied = next(steps)
        while True:
            wanted = steps.send(self._signals())
            if wanted != applied:
                self._apply(wanted)
                applied = wanted
            if self._ended.wait(self._rule.period_seconds):
                return

    def _log(self, decision: Decision) -> None:
        self._say(f"Controller: {decision.reason}")
        self._write([decision.row()])
