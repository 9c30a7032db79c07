"""Raw frames per second of emulators alone, over numbers of games: ale-py's, ours on the cores, ours on a GPU."""

import time

import numpy as np

from ga3c import environments
from ga3c.atari.on_gpu import numba_has_gpu
from ga3c.emulator.proven import PROVEN, READ_WHAT_IS_LEFT
from ga3c.environments.atari import display_name
from ga3c.environments.human_scores import RANDOM_AND_HUMAN_SCORES
from ga3c.errors import ConfigError
from ga3c.machine import usable_cores
from ga3c.settings.game import EnvironmentSettings

ALE, OURS, GPU = "ale", "ours", "gpu"


def engines() -> tuple[str, ...]:
    """Those that can be had on this machine."""
    return (ALE, OURS, GPU) if numba_has_gpu() else (ALE, OURS)


def proven() -> tuple[str, ...]:
    """Returns the field's games that our emulator plays as ale-py does, on a GPU too."""
    return tuple(sorted(map(display_name, PROVEN & RANDOM_AND_HUMAN_SCORES.keys() - READ_WHAT_IS_LEFT)))


def check_atari(game: str) -> None:
    """Raises ConfigError for a game that no emulator plays."""
    if environments.resolve(game)[0] != "atari":
        raise ConfigError(f"--game {game} is no Atari game, and this is about their emulators: name one.")


def make(engine: str, game: str, count: int):
    """`count` games on all cores, or on the GPU. Raises ConfigError where the engine does not play this game."""
    check_atari(game)
    settings = EnvironmentSettings(game=game, emulator=ALE if engine == ALE else OURS)
    if engine == GPU:
        if obstacle := environments.gpu_obstacle(settings):
            raise ConfigError(f"{game} cannot be played on a GPU: {obstacle}.")
        return environments.make(settings, count, 1, on_gpu=True)
    return environments.make(settings, count, 1, usable_cores())


def frames_per_second(game: str, count: int, seconds: float, rounds: int, kinds: tuple[str, ...]) -> dict[str, list]:
    """Returns one number for each engine and round. The engines take turns: a machine that is busy now and then
    is so for all of them; actions are random. A step takes four frames (raw), the one in which a game begins too."""
    batches = {kind: make(kind, game, count) for kind in kinds}
    for batch in batches.values():
        batch.reset()
        _steps(batch, count, 0.0)  # compiles
    found = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind, batch in batches.items():
            found[kind].append(_steps(batch, count, seconds) * count * batch.spec.frames_per_step)
    for batch in batches.values():
        batch.close()
    return found


def _steps(batch, count: int, seconds: float) -> float:
    """Steps in a second, over so many seconds, and two of them at the least."""
    random = np.random.default_rng(1)
    actions = [batch.spec.actions.random(random, count) for _ in range(100)]
    steps, began = 0, time.perf_counter()
    while steps < 2 or time.perf_counter() - began < seconds:
        batch.step(actions[steps % len(actions)])
        steps += 1
    return steps / (time.perf_counter() - began)
