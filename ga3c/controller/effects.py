"""Measures the effect of a setting of the counts on TPS against the noise of TPS."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ga3c.controller.counts import Counts, Signals, mean_lag, rate

# The noise before it is measured: the relative standard deviation of a measurement's TPS, and the number of differences
# between measurements that weigh as much.
PRIOR_DEVIATION, PRIOR_WEIGHT = 0.04, 4
MEMORY = 0.98  # the weight of an earlier difference when the next one comes
# Variance of the mean of n measurements of a setting that has its turn again and again, over that of one measurement
# / n. With fixed settings it is 0.9 for turns of two, and 2.2 for turns of four, where slow noise does not cancel.
CORRELATION = 1.5
AGEING = 1.25  # growth of a standard error over one pause between trials
DRIFT_PER_SECOND = 0.03 / 60  # how fast TPS may wander by itself (standard deviation)

# Relative TPS, and standard errors:
SURE, LIKELY = 3.0, 2.25
WORTHWHILE = 0.01  # a smaller gain is not worth another process
NO_LOSS = 0.04  # a step down may almost certainly not cost more than this
GIVEN_AWAY = 0.02  # several such steps may, as measured, not cost more than this


class Measurement(NamedTuple):
    """Means over a few samples of one setting. NaN: not measured."""

    seconds: float  # the middle of its time
    tps: float
    policy_lag_updates: float
    requests_waiting: float  # in the prediction queue
    rollouts_waiting: float  # in the training queue
    prediction_batch: float  # states
    predictor_wait: float  # the share of its time that a predictor waits
    trainer_wait: float


def measure(counts: Counts, start: Signals, samples: Sequence[Signals]) -> Measurement:
    """Returns the means over the samples that follow `start`."""
    end = samples[-1]
    batches = end.prediction_batches - start.prediction_batches

    def wait(name: str, threads: int) -> float:
        waited = getattr(end, name) - getattr(start, name)
        seconds = threads * (end.seconds - start.seconds)
        return min(waited / seconds, 1.0) if waited > 0 and seconds > 0 else math.nan

    return Measurement(
        seconds=(start.seconds + end.seconds) / 2,
        tps=rate(start, end),
        policy_lag_updates=mean_lag(start, end),
        requests_waiting=sum(sample.prediction_queue for sample in samples) / len(samples),
        rollouts_waiting=sum(sample.training_queue for sample in samples) / len(samples),
        prediction_batch=(end.predictions - start.predictions) / batches if batches else math.nan,
        predictor_wait=wait("predictor_wait_seconds", counts.predictors),
        trainer_wait=wait("trainer_wait_seconds", counts.trainers),
    )


def mean(measured: Sequence[Measurement], name: str) -> float:
    """Returns the mean of a field over the measurements that have it; NaN if none has."""
    values = [value for value in (getattr(one, name) for one in measured) if not math.isnan(value)]
    return sum(values) / len(values) if values else math.nan


class Noise:
    """The variance of TPS within one setting, learnt from measurements of any setting.

    It is half the mean squared difference between a measurement and the next, so that slow drift hardly enters.
    """

    def __init__(self):
        self._sum, self._weight = PRIOR_WEIGHT * PRIOR_DEVIATION**2, float(PRIOR_WEIGHT)

    @property
    def variance(self) -> float:
        """The variance of one measurement's TPS, relative to the TPS of its setting."""
        return self._sum / self._weight

    def add(self, first: Measurement, second: Measurement) -> None:
        """Learns from two neighbouring measurements of a setting."""
        level = (first.tps + second.tps) / 2
        if level <= 0:
            return
        surprise = min(((second.tps - first.tps) / level) ** 2 / 2, 10 * self.variance)  # a hiccup is not the noise
        self._sum = MEMORY * self._sum + surprise
        self._weight = MEMORY * self._weight + 1

    def error(self, count: int, against: int, seconds_apart: float) -> float:
        """Returns the standard error of the ratio of TPS of two equal settings, measured so many times each."""
        variance = CORRELATION * self.variance * (1 / count + 1 / against)
        return math.sqrt(variance + (DRIFT_PER_SECOND * seconds_apart) ** 2)


class Effect(NamedTuple):
    """The TPS of a trial against that of the setting in use: 0.06 is 6 % more. `error` is one standard error."""

    size: float
    error: float

    def __str__(self) -> str:
        return f"TPS {100 * self.size:+.1f} % +- {100 * self.error:.1f} %"

    def with_earlier(self, earlier: "Effect") -> "Effect":
        """Returns both effects combined."""
        weight, old_weight = self.error**-2, earlier.error**-2
        total = weight + old_weight
        return Effect((weight * self.size + old_weight * earlier.size) / total, total**-0.5)

    def older(self) -> "Effect":
        """Returns the same effect, less certain, as it is some minutes later."""
        return self._replace(error=AGEING * self.error)

    @property
    def hope(self) -> float:
        """The largest size that is likely."""
        return self.size + LIKELY * self.error


def compare(before: Sequence[Measurement], trial: Sequence[Measurement], noise: Noise) -> Effect:
    """Returns the effect. Where the two were measured in turns, drift cancels out and the error is smaller."""
    tps_before, tps = mean(before, "tps"), mean(trial, "tps")
    ratio = tps / tps_before if tps_before > 0 else (2.0 if tps > 0 else 1.0)
    apart = abs(mean(trial, "seconds") - mean(before, "seconds"))
    return Effect(ratio - 1, max(ratio, 0.5) * noise.error(len(trial), len(before), apart))


class Verdict(NamedTuple):
    kept: bool
    why: str
    clear: bool = True  # False: the time was up
    over_limit: bool = False  # of the policy lag


def judge(effect: Effect, more: bool, given_away: float, early: bool, last: bool) -> Verdict | None:
    """Decides whether a trial is kept; None: measure on. `last`: there is always a decision, or time is up.

    `more`: the trial has more processes and threads, else fewer. `given_away`: relative TPS that earlier steps down
    have cost. `early`: only a clear loss ends the trial.
    """
    size, error = effect
    if early:
        return Verdict(False, "it is slower") if size < -2 * SURE * error else None
    sure = LIKELY if last else SURE
    if size > WORTHWHILE and size > sure * error:
        return Verdict(True, "")
    if size < -SURE * error:
        return Verdict(False, "it is slower")
    if more and size + LIKELY * error < 2 * WORTHWHILE:
        return Verdict(False, "no gain")
    if not more and size - sure * error > -NO_LOSS and given_away - size <= GIVEN_AWAY:
        return Verdict(True, "fewer do as well")
    if not more and size + 1.5 * error < -WORTHWHILE:
        return Verdict(False, "it is slower")
    return Verdict(False, "no clear gain" if more else "it may be slower", clear=False) if last else None
