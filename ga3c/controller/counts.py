"""The data of the controller: the counts that it changes, the signals that it sees, the decisions that it writes."""

import math
from collections.abc import Callable, Generator
from typing import NamedTuple, Protocol


class Counts(NamedTuple):
    """The paper's N_A, N_P and N_T."""

    agents: int
    predictors: int
    trainers: int

    def change_to(self, other: "Counts") -> str:
        """Returns the difference, e.g. NA 4 -> 6."""
        pairs = zip(("NA", "NP", "NT"), self, other, strict=True)
        return ", ".join(f"{name} {before} -> {after}" for name, before, after in pairs if before != after)


class Signals(NamedTuple):
    """The totals since the start of the run, and the lengths of both queues now."""

    seconds: float = 0.0
    steps: int = 0
    rollouts: int = 0  # taken from the training queue: TPS is their rate
    predictions: int = 0  # states
    prediction_batches: int = 0
    updates: int = 0
    lag_sum: float = 0.0  # of the policy lag, in updates, over the rows trained on
    lag_rows: int = 0
    predictor_wait_seconds: float = 0.0  # of all predictors together
    trainer_wait_seconds: float = 0.0
    prediction_queue: int = 0  # requests that wait
    training_queue: int = 0  # rollouts that wait
    agents_starting: int = 0  # that do not play yet


class Decision(NamedTuple):
    """One row of controller.csv. NaN: not measured."""

    seconds: float
    steps: int
    tried: Counts
    before: Counts  # the setting in use
    tps: float  # of the setting that was tried
    tps_before: float  # of the setting in use
    effect_percent: float
    effect_error_percent: float  # one standard error
    policy_lag_updates: float
    policy_lag_before_updates: float
    measured_seconds: float  # how long the tried setting was measured; settling is not in it
    kept: bool
    reason: str

    @classmethod
    def columns(cls) -> list[str]:
        """Returns the names of its cells."""
        before = [f"{name}_before" for name in Counts._fields]
        return [*cls._fields[:2], *Counts._fields, *before, *cls._fields[4:]]

    def row(self) -> list:
        """Returns its cells; `kept` is 1 or 0."""
        values = self.steps, *self.tried, *self.before, *self[4:-2]
        cells = [f"{value:.6g}" if isinstance(value, float) else value for value in values]
        return [f"{self.seconds:.2f}", *cells, int(self.kept), self.reason]


Report = Callable[[Decision], None]


class Rule(Protocol):
    """A rule yields the setting that it wants and is sent the signals, first at once and then once a period."""

    counts: Counts  # the setting in use, without a trial in progress
    period_seconds: float

    def run(self, report: Report) -> Generator[Counts, Signals, None]: ...


def rate(start: Signals, end: Signals) -> float:
    """Returns TPS between two readings."""
    seconds = end.seconds - start.seconds
    return (end.rollouts - start.rollouts) / seconds if seconds > 0 else 0.0


def mean_lag(start: Signals, end: Signals) -> float:
    """Returns the mean policy lag between two readings, in updates; NaN without an update."""
    rows = end.lag_rows - start.lag_rows
    return (end.lag_sum - start.lag_sum) / rows if rows else math.nan
