"""Short runs in this process: whether an algorithm solves a small game."""

import time
from unittest import mock

import numpy as np

from ga3c.systems.one_thread import OneThread  # isort: skip (first: it loads TensorFlow)
from ga3c import environments, progress
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.replay import ReplaySettings
from ga3c.settings.run import RunSettings, Settings
from ga3c.settings.schedule import ScheduleSettings
from ga3c.systems import serial
from tests import program

POLICIES = ("a3c", "a2c", "a2c-vtrace", "ppo", "appo")
VALUES = ("pqn", "dqn", "c51")
_RATE = {"a3c": 3e-3, "a2c": 3e-3, "a2c-vtrace": 3e-3, "ppo": 5e-3, "appo": 5e-3, "pqn": 3e-3, "dqn": 1e-3, "c51": 1e-3}
_QUICK = {"t_max": 5, "minimum_batch_steps": 150, "entropy_weight": 0.01}


def settings_of(
    game: str,
    algorithm: str,
    steps: int,
    input_scaling: str = "bytes",
    games: int = 16,
    memory: str = "none",
    **environment,
) -> Settings:
    """Settings for a run of a game in which each step shows at once what it is worth."""
    learning = _QUICK | {"algorithm": algorithm, "learning_rate": _RATE[algorithm], "discount": 0.5, "seed": 3}
    learning |= {"input_scaling": input_scaling, "memory": memory}
    replay = ReplaySettings()
    if algorithm in VALUES:
        learning |= {"exploration_end": 0.0, "exploration_decay_steps": steps // 2}
    if algorithm in ("dqn", "c51"):
        learning |= {"t_max": 1, "minimum_batch_steps": 16, "rmsprop_decay": 0.95, "rmsprop_epsilon": 1e-5}
        replay = ReplaySettings(
            replay_transitions=10_000, replay_minimum_transitions=500, batch=64, steps_per_update=16,
            target_updates=50, value_limit=3.0,
        )  # fmt: skip
    return Settings(
        EnvironmentSettings(game=game, reward_clip=0.0, **environment),
        ScheduleSettings(serial=True, agents=1, envs_per_agent=games),
        LearningSettings(**learning),
        replay,
        RunSettings(steps=steps),
    )


def run(settings: Settings) -> OneThread:
    """Returns the system of a serial run that has ended."""
    spec = environments.make(settings.environment, 1, 0).spec
    system = OneThread(serial.wire, settings, spec, progress.beginning(settings), lambda _: None, lambda _: None)
    with mock.patch("ga3c.systems.learner.set_up_device", return_value="cpu"):  # once in each process
        system.start(None)
    until_ended(system)
    assert system.stats.totals().steps >= settings.run.steps
    return system


def until_ended(system: OneThread) -> None:
    """Waits until a system that was started has made all its steps."""
    deadline = time.monotonic() + program.HANG_SECONDS
    while system._thread.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    system.stop()


def score(game: str, algorithm: str, steps: int = 8_000, **settings) -> float:
    """Returns the mean score of the last 100 games of a short run."""
    return float(np.mean(run(settings_of(game, algorithm, steps, **settings)).stats.recent_scores()))
