"""Algorithms: how to act, and what to learn from what was played, as pure functions of tensors."""

from ga3c.algorithms.a2c import A2C, A2CVtrace
from ga3c.algorithms.a3c import A3C
from ga3c.algorithms.dpg import DPG
from ga3c.algorithms.dqn import C51, DQN
from ga3c.algorithms.none import NoLearning
from ga3c.algorithms.ppo import PPO
from ga3c.algorithms.pqn import PQN
from ga3c.settings.run import Settings

_ALGORITHMS = {"a3c": A3C, "a2c": A2C, "a2c-vtrace": A2CVtrace, "ppo": PPO, "appo": PPO, "pqn": PQN, "none": NoLearning}
_REPLAYING = {"dqn": DQN, "c51": C51}


def make(settings: Settings, actions=None):
    """The algorithm that the settings name, for games with such `actions` (`rollout.Actions`; None: discrete ones).

    It is what a `Model` is given; `a3c.A3C` says what it has.
    """
    if settings.learning.algorithm == "dpg":
        return DPG(settings.learning, settings.run.steps, actions)
    if replaying := _REPLAYING.get(settings.learning.algorithm):
        return replaying(settings.learning, settings.replay, settings.run.steps)
    continuous = actions is not None and actions.continuous
    return _ALGORITHMS[settings.learning.algorithm](settings.learning, settings.run.steps, continuous)


def learns_at_once(algorithm) -> bool:
    """From a rollout as soon as that is complete: of the state that follows it wants no value predicted first."""
    return "bootstrap_value" not in algorithm.learns_from


def turns(settings: Settings, algorithm) -> str:
    """Who waits for whom: "serial"; in lockstep "synchronised" or "alternating"; "asynchronous".

    What learns only when the next prediction is made is not in lockstep: agents play on during its updates. So they do
    with concurrent training. Who plays all games in one batch plays neither during an update nor during a prediction.
    """
    if settings.schedule.serial:
        return "serial"
    if settings.schedule.sampling == "batched":
        return "synchronised"
    if algorithm.replays and settings.replay.concurrent_training:
        return "asynchronous"
    return settings.schedule.sampling if learns_at_once(algorithm) else "asynchronous"
