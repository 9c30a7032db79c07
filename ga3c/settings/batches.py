"""The same learning from a replay memory with batches of another size (Stooke and Abbeel 2018, section 5.4.1)."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ga3c.settings import catalogue
from ga3c.settings.run import Settings


def with_batch(settings: Settings, batch: int) -> Settings:
    """Returns settings that learn the same with another batch: each transition is learned from as often, the target
    network is as old in steps, and learning rate and Adam's epsilon follow the batch as the preset says."""
    own, learning = settings.replay, settings.learning
    if batch == own.batch:
        return settings
    preset = catalogue.preset_of(learning.algorithm, learning.preset)
    steps = max(1, round(batch * own.steps_per_update / own.batch))
    updates = max(1, round(own.target_updates * own.steps_per_update / steps))
    rate = learning.learning_rate * _rate(preset.batch_rates, batch) / _rate(preset.batch_rates, own.batch)
    changed = {"learning_rate": float(f"{rate:.6g}")}
    if learning.algorithm in catalogue.users("adam_epsilon"):
        changed["adam_epsilon"] = (preset.adam_epsilon_of_one or learning.adam_epsilon * own.batch) / batch
    return replace(
        settings,
        learning=replace(learning, **changed),
        replay=replace(own, batch=batch, steps_per_update=steps, target_updates=updates),
    )


def of_secondary(settings: Settings, run_dir: Path) -> Settings:
    """Returns the settings of the secondary learner beside the run with `settings`; its own run is in `run_dir`."""
    other = with_batch(settings, settings.replay.secondary_batch)
    name = settings.run.name and f"{settings.run.name}-secondary"
    return replace(
        other,
        schedule=replace(settings.schedule, agents=1, predictors=1, trainers=1, controller="off"),
        replay=replace(other.replay, secondary_batch=0),
        run=replace(settings.run, name=name, run_dir=str(run_dir)),
    )


def _rate(rates: Mapping[int, float], batch: int) -> float:
    """Returns the learning rate for a batch, as `algorithm_row.Preset.batch_rates` says it; 1 where that is empty."""
    points = [(math.log(size), math.log(rate)) for size, rate in rates.items()] or [(0.0, 0.0)]
    for (left, low), (right, high) in itertools.pairwise(points):
        if math.log(batch) <= right:
            return math.exp(low + (high - low) * max(0.0, math.log(batch) - left) / (right - left))
    return math.exp(points[-1][1])
