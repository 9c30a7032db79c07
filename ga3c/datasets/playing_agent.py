"""A trained agent plays whole games for a recorder."""

import contextlib
import time
from collections.abc import Callable

import numpy as np

from ga3c import environments
from ga3c.datasets.recorded_games import RecordedGames, Recorder
from ga3c.errors import ConfigError
from ga3c.machine import usable_cores
from ga3c.play.trained_agent import TrainedAgent

AT_ONCE = 32
MOST_STEPS = 108_000  # of a game that does not end
SAY_SECONDS = 10.0


def check_recorded(games, with_ram: bool) -> None:
    """Raises ConfigError where games cannot be recorded, or not with the console's memory."""
    if games.spec.players > 1:
        raise ConfigError(f"'{games.spec.name}' has several players: games of one player are recorded alone.")
    if with_ram and not hasattr(games, "batch"):
        raise ConfigError(
            f"--ram is for Atari games that our own emulator plays, and '{games.spec.name}' is none: leave it out."
        )


def chances_of(agent: TrainedAgent) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
    """Returns a function of policies and actions [batch, ...] that gives the logarithms of the actions' probabilities,
    float32 [batch]; None for an agent of action values."""
    if agent.has_action_values:
        return None
    from ga3c.algorithms.a3c import policy_of

    policy = policy_of(agent.games.spec.actions)
    return lambda policies, actions: policy.log_probabilities(policies, actions).numpy()


def record(
    agent: TrainedAgent, recorder: Recorder, count: int, seed: int, greedy: bool, with_ram: bool,
    said: Callable[[int], None],
) -> list[float]:  # fmt: skip
    """Plays `count` games with the seeds seed, seed + 1, ... Returns their scores.

    greedy: the most probable actions are taken. `said(games)` is called now and then with the number of games that are
    over. A game is cut off after MOST_STEPS. Raises ConfigError where the game's own code fails.
    """
    scores = []
    while len(scores) < count:
        before = len(scores)
        some = min(AT_ONCE, count - before)
        told = lambda over, before=before: said(before + over)  # noqa: E731
        scores += _record_at_once(agent, recorder, seed + before, some, greedy, with_ram, told)
        said(len(scores))
    return scores


def _record_at_once(
    agent: TrainedAgent, recorder: Recorder, first: int, count: int, greedy: bool, with_ram: bool,
    said: Callable[[int], None],
) -> list[float]:  # fmt: skip
    """Plays `count` games side by side. first: the seed of the first one. said: as for `record`."""
    settings, chances = agent.settings.environment, chances_of(agent)
    with contextlib.closing(environments.make(settings, count, first, threads=usable_cores())) as made:
        games = RecordedGames(made, recorder, first, with_ram, once=True)
        kind, scores, remembered = made.spec.actions, np.zeros(count), None
        observations, told = games.reset(), time.monotonic()
        for _ in range(MOST_STEPS):
            over = games.over.copy()
            sampled, policies, _, remembered = agent.model.decide(observations, remembered)
            actions = (kind.most_likely(policies) if greedy else sampled).astype(kind.dtype)
            observations, rewards, *_ = games.step(actions, chances and chances(policies, actions))
            scores += rewards * ~over
            if games.over.all():
                break
            if time.monotonic() - told > SAY_SECONDS:
                told = time.monotonic()
                said(int(games.over.sum()))
    return scores.tolist()
