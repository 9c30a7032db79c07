"""Blocks of samples, their noise, and what follows from a measured effect."""

import math

import numpy as np
import pytest

from ga3c.controller.counts import Counts, Signals
from ga3c.controller.effects import DRIFT_PER_SECOND, Effect, Measurement, Noise, compare, judge, mean, measure

MEASURED = Measurement(0.0, 100.0, 2.0, 0.0, 0.0, 32.0, math.nan, math.nan)


def test_a_block_is_the_mean_of_what_happened_in_it():
    start = Signals(10.0, 0, 1000, 5000, 100, 50, 100.0, 50, 4.0, 0.0, 9, 9)
    middle = start._replace(seconds=12.5, prediction_queue=2, training_queue=4)
    end = Signals(15.0, 0, 3000, 7560, 180, 70, 140.0, 60, 8.0, 0.0, 4, 0)
    found = measure(Counts(4, 2, 1), start, [middle, end])
    assert found[:6] == (12.5, 400.0, 4.0, 3.0, 2.0, 32.0)
    assert found.predictor_wait == pytest.approx(4 / 10)  # two predictors, five seconds
    assert math.isnan(found.trainer_wait)  # not measured


def test_a_block_in_which_nothing_happened():
    start = Signals(10.0)
    found = measure(Counts(1, 1, 1), start, [start._replace(seconds=15.0)])
    assert found.tps == 0
    assert math.isnan(found.policy_lag_updates)
    assert math.isnan(found.prediction_batch)
    assert mean([found, MEASURED], "policy_lag_updates") == 2


def blocks_of(rng, count, deviation, trend=0.0):
    tps = 100 * (1 + deviation * rng.normal(size=count) + trend * np.arange(count))
    return [MEASURED._replace(seconds=5.0 * i, tps=value) for i, value in enumerate(tps.tolist())]


@pytest.mark.parametrize("deviation", [0.002, 0.02, 0.1])
def test_the_noise_is_learnt(deviation):
    noise, blocks = Noise(), blocks_of(np.random.default_rng(1), 400, deviation)
    for first, second in zip(blocks, blocks[2:], strict=False):
        noise.add(first, second)
    assert math.sqrt(noise.variance) == pytest.approx(deviation, rel=0.3)


def test_a_hiccup_or_a_slow_trend_is_not_noise():
    rng = np.random.default_rng(1)
    blocks = blocks_of(rng, 100, 0.02, trend=0.001)
    blocks[60] = blocks[60]._replace(tps=20.0)
    noise = Noise()
    for first, second in zip(blocks, blocks[2:], strict=False):
        noise.add(first, second)
    assert math.sqrt(noise.variance) == pytest.approx(0.02, rel=0.5)


def test_settings_measured_in_turns_are_compared_without_drift():
    noise = Noise()
    level = [MEASURED._replace(seconds=5.0 * i, tps=100 + i) for i in range(12)]
    turns = compare([*level[:2], *level[6:8]], level[2:6], noise)
    one_after_the_other = compare(level[:4], level[4:8], noise)
    assert turns.size == pytest.approx(0, abs=0.01)
    assert one_after_the_other.size > 0.03
    assert one_after_the_other.error > turns.error
    far = compare(level[:4], [b._replace(seconds=b.seconds + 600) for b in level[:4]], noise)
    assert far.error > 600 * DRIFT_PER_SECOND


def test_a_trial_against_nothing():
    stopped = [MEASURED._replace(tps=0.0)] * 2
    assert compare(stopped, [MEASURED] * 2, Noise()).size > 0
    assert compare(stopped, stopped, Noise()).size == 0
    assert compare([MEASURED] * 2, stopped, Noise()).size == -1


def test_two_measurements_together():
    both = Effect(0.04, 0.02).with_earlier(Effect(0.0, 0.02))
    assert both == (pytest.approx(0.02), pytest.approx(0.02 / math.sqrt(2)))
    assert Effect(0.04, 0.02).with_earlier(Effect(0.0, 0.2)).size == pytest.approx(0.04, abs=0.001)


@pytest.mark.parametrize(
    ("effect", "more", "kept", "at_last"),
    [
        (Effect(0.10, 0.02), True, True, True),
        (Effect(0.05, 0.02), True, None, True),  # beyond the noise, but by chance once in a few trials
        (Effect(0.03, 0.02), True, None, False),
        (Effect(0.009, 0.001), True, False, False),  # true, but not worth a process
        (Effect(-0.10, 0.02), True, False, False),
        (Effect(0.0, 0.01), False, True, True),
        (Effect(0.0, 0.017), False, None, True),
        (Effect(-0.03, 0.005), False, False, False),
        (Effect(-0.01, 0.017), False, None, False),
        (Effect(-0.10, 0.02), False, False, False),
    ],
)
def test_the_judge(effect, more, kept, at_last):
    verdict = judge(effect, more, given_away=0.0, early=False, last=False)
    assert (verdict and verdict.kept) == kept
    assert judge(effect, more, given_away=0.0, early=False, last=True).kept == at_last


def test_the_judge_looks_early_only_for_disasters():
    assert judge(Effect(0.5, 0.05), True, 0.0, early=True, last=False) is None
    assert judge(Effect(-0.2, 0.05), True, 0.0, early=True, last=False) is None
    assert not judge(Effect(-0.5, 0.05), True, 0.0, early=True, last=False).kept


def test_going_down_cannot_give_away_a_little_again_and_again():
    effect = Effect(-0.012, 0.005)
    assert judge(effect, False, given_away=0.0, early=False, last=False).kept
    assert not judge(effect, False, given_away=0.01, early=False, last=True).kept


def test_more_is_ruled_out_only_when_it_is_clear_that_it_gains_nothing():
    unlucky, hopeless = Effect(-0.026, 0.028), Effect(-0.026, 0.012)
    assert judge(unlucky, more=True, given_away=0.0, early=False, last=False) is None
    assert not judge(unlucky, more=True, given_away=0.0, early=False, last=True).clear
    assert judge(hopeless, more=True, given_away=0.0, early=False, last=False).clear
