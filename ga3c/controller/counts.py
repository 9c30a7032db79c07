"""What the controller changes, what it sees, and what it writes down: the words that its rules have in common."""

import math
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


Report = Callable[[Decision], None]


class Rule(Protocol):
    """Decides. `run` yields the setting it wants and is sent the signals, first at once and then once a period."""

    counts: Counts  # the setting in use, without a trial in progress
    period_seconds: float

    def run(self, report: Report) -> Generator[Counts, Signals, None]: ...


def rate(start: Signals, end: Signals) -> float:
    """TPS between two readings."""
    seconds = end.seconds - start.seconds
    return (end.rollouts - start.rollouts) / seconds if seconds > 0 else 0.0


def mean_lag(start: Signals, end: Signals) -> float:
    """Mean policy lag between two readings, in updates; NaN without an update."""
    rows = end.lag_rows - start.lag_rows
    return (end.lag_sum - start.lag_sum) / rows if rows else math.nan
