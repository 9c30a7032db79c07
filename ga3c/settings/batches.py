"""The same learning from a replay memory with batches of another size."""

import itertools
import math
from dataclasses import replace
from pathlib import Path

from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings

# Stooke and Abbeel 2018, section 5.4.1: step sizes that served DQN at these batches; between them on a straight line of
# both logarithms. And what is added in Adam, times the batch.
_DQN_RATES = {32: 2.5e-4, 512: 7.5e-4, 1024: 1.5e-3}
_ADAM_EPSILON_OF_ONE = {"rainbow": 0.005}
_C51_RATE, _C51_LARGE_RATE, _C51_LARGE_BATCH = 2.5e-4, 4.2e-4, 256


def with_batch(settings: Settings, batch: int) -> Settings:
    """The same learning with another batch, as the presets have it: each transition is learned from as often, targets
    are as old in steps, and the step size is as much larger as theirs."""
    own, learning = settings.replay, settings.learning
    if batch == own.batch:
        return settings
    steps = max(1, round(batch * own.steps_per_update / own.batch))
    updates = max(1, round(own.target_updates * own.steps_per_update / steps))
    rate = learning.learning_rate * _rate(learning, batch) / _rate(learning, own.batch)
    changed = {"learning_rate": float(f"{rate:.6g}")}
    if learning.algorithm == "c51":
        changed["adam_epsilon"] = _ADAM_EPSILON_OF_ONE.get(learning.preset, learning.adam_epsilon * own.batch) / batch
    return replace(
        settings,
        learning=replace(learning, **changed),
        replay=replace(own, batch=batch, steps_per_update=steps, target_updates=updates),
    )


def of_secondary(settings: Settings, run_dir: Path) -> Settings:
    """Of the run of a secondary learner, in `run_dir`, beside the one that these are of."""
    other = with_batch(settings, settings.replay.secondary_batch)
    name = settings.run.name and f"{settings.run.name}-secondary"
    return replace(
        other,
        schedule=replace(settings.schedule, agents=1, predictors=1, trainers=1, controller="off"),
        replay=replace(other.replay, secondary_batch=0),
        run=replace(settings.run, name=name, run_dir=str(run_dir)),
    )


def _rate(learning: LearningSettings, batch: int) -> float:
    """The step size of a preset for a batch."""
    if learning.algorithm == "dqn":
        return math.exp(_interpolated(math.log(batch), _DQN_RATES))
    return _C51_LARGE_RATE if learning.preset == "c51" and batch >= _C51_LARGE_BATCH else _C51_RATE


def _interpolated(log_batch: float, rates: dict[int, float]) -> float:
    """The logarithm of the rate; beyond the first and the last it stays."""
    points = [(math.log(batch), math.log(rate)) for batch, rate in rates.items()]
    for (left, low), (right, high) in itertools.pairwise(points):
        if log_batch <= right:
            return low + (high - low) * max(0.0, log_batch - left) / (right - left)
    return points[-1][1]
