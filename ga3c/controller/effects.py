"""What a setting of the counts reaches, measured against its own noise."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ga3c.controller.counts import Counts, Signals, mean_lag, rate

# Noise before there is a measurement of it: relative standard deviation of a block's TPS, and after how many
# differences between blocks the measurement weighs as much.
PRIOR_DEVIATION, PRIOR_WEIGHT = 0.04, 4
MEMORY = 0.98  # what an earlier difference weighs when the next one comes in
# Variance of a mean of n blocks of a setting that has its turn again and again, over variance of one block / n.
# Measured with fixed settings: 0.9 for turns of two blocks, 2.2 for turns of four, where slow noise does not cancel.
CORRELATION = 1.5
AGEING = 1.25  # of a standard error, over one pause between trials
DRIFT_PER_SECOND = 0.03 / 60  # how fast TPS may wander by itself (standard deviation)

# Relative TPS, and standard errors:
SURE, LIKELY = 3.0, 2.25
WORTHWHILE = 0.01  # a smaller gain is not worth another process
NO_LOSS = 0.04  # going down to fewer may cost no more than this, nearly certainly,
GIVEN_AWAY = 0.02  # and by its measurements no more than this over several such steps


class Block(NamedTuple):
    """Means over a few samples of one setting. NaN: not measured."""

    seconds: float  # its middle
    tps: float
    policy_lag_updates: float
    requests_waiting: float  # in the prediction queue
    rollouts_waiting: float  # in the training queue
    prediction_batch: float  # states
    predictor_wait: float  # share of its time that a predictor waits
    trainer_wait: float


def block(counts: Counts, start: Signals, samples: Sequence[Signals]) -> Block:
    """Of the samples that follow `start`."""
    end = samples[-1]
    batches = end.prediction_batches - start.prediction_batches

    def wait(name: str, threads: int) -> float:
        waited = getattr(end, name) - getattr(start, name)
        seconds = threads * (end.seconds - start.seconds)
        return min(waited / seconds, 1.0) if waited > 0 and seconds > 0 else math.nan

    return Block(
        (start.seconds + end.seconds) / 2,
        rate(start, end),
        mean_lag(start, end),
        sum(sample.prediction_queue for sample in samples) / len(samples),
        sum(sample.training_queue for sample in samples) / len(samples),
        (end.predictions - start.predictions) / batches if batches else math.nan,
        wait("predictor_wait_seconds", counts.predictors),
        wait("trainer_wait_seconds", counts.trainers),
    )


def mean(blocks: Sequence[Block], name: str) -> float:
    """Mean of a field over the blocks that have it; NaN if none has."""
    values = [value for value in (getattr(block, name) for block in blocks) if not math.isnan(value)]
    return sum(values) / len(values) if values else math.nan


class Noise:
    """How much the TPS of a setting varies by itself: learnt from blocks of one setting, whichever that is.

    Half the mean squared difference between a block and the next: slow drift hardly enters.
    """

    def __init__(self):
        self._sum, self._weight = PRIOR_WEIGHT * PRIOR_DEVIATION**2, float(PRIOR_WEIGHT)

    @property
    def variance(self) -> float:
        """Of one block's TPS, relative to its setting's."""
        return self._sum / self._weight

    def add(self, first: Block, second: Block) -> None:
        """Two neighbouring blocks of a setting."""
        level = (first.tps + second.tps) / 2
        if level <= 0:
            return
        surprise = min(((second.tps - first.tps) / level) ** 2 / 2, 10 * self.variance)  # a hiccup is not the noise
        self._sum = MEMORY * self._sum + surprise
        self._weight = MEMORY * self._weight + 1

    def error(self, blocks: int, against: int, seconds_apart: float) -> float:
        """Standard error of the ratio between two settings of equal TPS, measured for so many blocks each."""
        variance = CORRELATION * self.variance * (1 / blocks + 1 / against)
        return math.sqrt(variance + (DRIFT_PER_SECOND * seconds_apart) ** 2)


class Effect(NamedTuple):
    """TPS of a trial against that of the setting in use: 0.06 is 6 % more. `error` is one standard error."""

    size: float
    error: float

    def __str__(self) -> str:
        return f"TPS {100 * self.size:+.1f} % +- {100 * self.error:.1f} %"

    def with_earlier(self, earlier: "Effect") -> "Effect":
        """Both measurements together."""
        weight, old_weight = self.error**-2, earlier.error**-2
        total = weight + old_weight
        return Effect((weight * self.size + old_weight * earlier.size) / total, total**-0.5)

    def older(self) -> "Effect":
        """What it is worth some minutes later."""
        return self._replace(error=AGEING * self.error)

    @property
    def hope(self) -> float:
        """How large it may be at best."""
        return self.size + LIKELY * self.error


def compare(before: Sequence[Block], trial: Sequence[Block], noise: Noise) -> Effect:
    """The effect. Where the two were measured in turns, drift cancels out and the error says so."""
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
    """Whether a trial with more (or else fewer) processes and threads is kept; None: measure on, unless it is the last.

    `given_away`: relative TPS that earlier steps down have cost.
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
