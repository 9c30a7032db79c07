"""Algorithms: how to act, and what to learn from what was played, as pure functions of tensors."""

import copy
from importlib import import_module

from ga3c.algorithms.algorithm import Algorithm
from ga3c.errors import ConfigError
from ga3c.settings import named_objects
from ga3c.settings.catalogue import ALGORITHMS
from ga3c.settings.run import Settings


def make(settings: Settings, actions=None):
    """Returns the algorithm (`algorithm.Algorithm`) that the settings name: one of the user's own, or of the catalogue.

    actions: those of the game, a `rollout.Actions`. None: discrete ones.
    """
    if own := settings.learning.own_algorithm:
        found = named_objects.find(own, "--own-algorithm")
        made = hasattr(found, "update") and not isinstance(found, type)
        with named_objects.blaming("--own-algorithm", own):
            algorithm = copy.copy(found) if made else found(settings, actions)  # each device has its own
            members = (*Algorithm.__annotations__, *(name for name in vars(Algorithm) if not name.startswith("_")))
            missing = [name for name in members if not hasattr(algorithm, name)]
        if missing:
            raise ConfigError(f"--own-algorithm {own} has no {missing[0]}, which ga3c.algorithms.algorithm explains.")
        row = ALGORITHMS[settings.learning.algorithm]
        if algorithm.replays != row.replays:
            like = "dqn" if algorithm.replays else "a2c"
            raise ConfigError(
                f"{own} learns from {'a replay' if algorithm.replays else 'rollouts'}, and --algorithm {row.name} does "
                f"not: say of which algorithm it has the settings, as in --algorithm {like}."
            )
        return algorithm
    module, _, kind = ALGORITHMS[settings.learning.algorithm].made_by.partition(".")
    return getattr(import_module(f"ga3c.algorithms.{module}"), kind)(settings, actions)


def loops(settings: Settings) -> bool:
    """Returns True if an update is a loop over minibatches."""
    return "minibatches" in ALGORITHMS[settings.learning.algorithm].settings


def compiled(settings: Settings, device: str) -> bool:
    """Returns True if XLA compiles the model on a device, "cpu" or "gpu".

    Unless --xla says so, it compiles no loop over minibatches: on an H100 that took longer than 100 s.
    """
    return settings.run.xla == "on" or (settings.run.xla == "auto" and device == "gpu" and not loops(settings))


def learns_at_once(algorithm) -> bool:
    """Returns True if it learns as soon as a rollout is complete, without a prediction for the state after it."""
    return "bootstrap_value" not in algorithm.learns_from


def turns(settings: Settings, algorithm) -> str:
    """Returns who waits for whom: "serial"; in lockstep "synchronised" or "alternating"; "asynchronous".

    Agents play on during updates if training is concurrent, or if the algorithm needs the next prediction before it can
    learn; then the answer is "asynchronous". One thread that plays all games in a batch plays neither during an update
    nor during a prediction: "synchronised".
    """
    if settings.schedule.serial:
        return "serial"
    if settings.schedule.sampling == "batched":
        return "synchronised"
    if algorithm.replays and settings.replay.concurrent_training:
        return "asynchronous"
    return settings.schedule.sampling if learns_at_once(algorithm) else "asynchronous"
