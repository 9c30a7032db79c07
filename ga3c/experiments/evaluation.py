"""Evaluation: whole games of a trained agent, in both ways to play, and what is to be said of their scores."""

import contextlib
import math
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np

from ga3c import environments
from ga3c.environments import protocols
from ga3c.environments.checked import blaming
from ga3c.environments.human_scores import human_normalized
from ga3c.environments.scores import absent_players
from ga3c.errors import ConfigError
from ga3c.experiments.aggregates import in_words, interval
from ga3c.experiments.tables import markdown
from ga3c.machine import usable_cores
from ga3c.play.trained_agent import TrainedAgent
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.game import EnvironmentSettings

AT_ONCE = 32
MOST_STEPS = 108_000  # of a game that does not end
PROGRESS_SECONDS = 10.0  # between two lines that say how far the games are
WAYS = {"sampled": False, "greedy": True}  # actions sampled from the policy, or the most probable ones


class Progress:
    """Says on standard error how many games are over: a game that never ends takes minutes until it is cut off."""

    def __init__(self, episodes: int, settings: EnvironmentSettings, most_steps: int):
        self._episodes = episodes
        limits = [(most_steps, "the limit of steps")]
        if environments.resolve(settings.game)[0] == "atari":
            most_of_game = math.ceil(settings.episode_cap_frames / settings.frame_skip_frames)
            limits.append((most_of_game, "the limit of Atari games"))
        self._last_step, self._limit = min(limits)
        self._said = time.monotonic()
        self.before = 0  # games that were over when those of now began

    def look(self, over: int, steps: int) -> None:
        """After each step of the games that are played at once, `over` of which have ended."""
        if (now := time.monotonic()) - self._said >= PROGRESS_SECONDS:
            self._said = now
            others = f"Others are at step {steps:,}, and are cut off after {self._last_step:,} ({self._limit})."
            print(f"{self.before + over} of {self._episodes} games are over. {others}", file=sys.stderr, flush=True)


def play_games(
    policy: Callable,
    settings: EnvironmentSettings,
    episodes: int,
    seed: int,
    greedy: bool,
    most_steps: int,
    exploration: float = 0.0,
) -> tuple[list[float], int]:
    """True scores of `episodes` whole games, in the order of their seeds: seed, seed + 1, ...; and how many were cut.

    `policy` gives what `Model.decide` does; a share `exploration` of actions is any action. A game that does not end is
    cut off after `most_steps`.
    """
    scores, cut_off = [], 0
    progress = Progress(episodes, settings, most_steps)

    def act(observations: np.ndarray, remembered, spec: EnvironmentSpec, random: np.random.Generator) -> tuple:
        sampled, policies, _, remembered = policy(observations, remembered)
        actions = (spec.actions.most_likely(policies) if greedy else sampled).astype(spec.actions.dtype)
        if exploration:
            explore = random.random(len(actions)) < exploration
            actions[explore] = spec.random_actions(random, observations)[explore]
        return actions, remembered

    while len(scores) < episodes:
        count = min(environments.most_at_once(settings) or AT_ONCE, episodes - len(scores))
        progress.before = len(scores)
        played, cut = _play_at_once(act, settings, count, seed + len(scores), most_steps, progress)
        scores, cut_off = scores + played, cut_off + cut
    return scores, cut_off


def _play_at_once(
    act: Callable, settings: EnvironmentSettings, count: int, seed: int, most_steps: int, progress: Progress
) -> tuple[list[float], int]:
    random = np.random.default_rng([seed, 1])  # with the seed alone it would be the first game's own
    with contextlib.closing(environments.make(settings, count, seed, threads=usable_cores())) as games:
        blame = f"The game '{games.spec.name}' failed"
        with blaming(blame):
            observations = games.reset()
        scores = np.zeros(len(observations))
        playing = np.arange(len(observations)) < count  # a ready vector environment may have more, and all players
        remembered = None
        for steps in range(1, most_steps + 1):
            actions, remembered = act(observations, remembered, games.spec, random)
            with blaming(blame):
                observations, rewards, terminated, truncated, _ = games.step(actions)
            scores += rewards * playing
            # The games that go on for company do not count, and players that have left take no step.
            playing &= ~(terminated | truncated | absent_players(games, len(playing)))
            if not playing.any():
                break
            progress.look(count - int(playing.sum()), steps)
    return scores[:count].tolist(), int(playing.sum())


def summary(scores: list[float], settings: EnvironmentSettings) -> dict:
    """Returns statistics of scores. low and high: 95 % confidence interval of the mean, None for too few games. std:
    standard deviation of a sample, divided by n - 1; 0 of a single game."""
    kind, name = environments.resolve(settings.game)
    mean, (low, high) = float(np.mean(scores)), interval([scores], np.mean)
    return {
        "scores": scores,
        "mean": mean,
        "low": low,
        "high": high,
        "std": float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0,
        "min": min(scores),
        "max": max(scores),
        "human_normalized": human_normalized(name, mean) if kind == "atari" else None,
    }


def ways_of(agent: TrainedAgent) -> dict[str, str]:
    """In which it can play, and what to call them: an agent of action values knows but one."""
    return {"greedy": "best"} if agent.has_action_values else {"sampled": "sampled", "greedy": "most probable"}


def evaluate(
    agent: TrainedAgent,
    settings: EnvironmentSettings,
    episodes: int,
    seed: int,
    most_steps: int = MOST_STEPS,
    exploration: float = 0.0,
) -> dict:
    """Plays in each way. Returns what --json writes: the scores of sampled actions at the top, both ways under `ways`.

    The result says all that its scores depend on, but for the weights. An agent of action values has one way to play,
    and `ways` says the same of both.
    """
    ways = {}
    for way in ways_of(agent):
        scores, cut_off = play_games(agent.model.decide, settings, episodes, seed, WAYS[way], most_steps, exploration)
        ways[way] = summary(scores, settings) | {"cut_off": cut_off}
    ways = {way: ways.get(way, ways["greedy"]) for way in WAYS}
    seen = "adapt_spaces", "observation", "action_masks"
    not_rules = ("game", "reward_clip", "reward_scaling_discount", "reward_scaling_limit", "stall_limit_steps", *seen)
    rules = {name: value for name, value in vars(settings).items() if name not in not_rules}
    fingerprint = protocols.fingerprint(settings)
    found = {"episodes": episodes, "seed": seed, "exploration": exploration, "protocol": rules}
    trained = {"steps_trained": agent.steps, "checkpoint": str(agent.path)}
    return {"game": agent.game, **ways["sampled"], **trained, **found, "fingerprint": fingerprint, "ways": ways}


def table(ways: Mapping[str, Mapping], episodes: int) -> str:
    """Returns the scores as a Markdown table. ways: what `summary` returns, by what to call the way."""
    rows = []
    for name, way in ways.items():
        within = in_words(way["low"], way["high"], way["scores"], 1)
        rows.append([name, f"{way['mean']:.1f}", within, f"{way['min']:g} to {way['max']:g}"])
    return markdown(["actions", f"mean of {episodes} games", "95 % interval", "lowest to highest"], rows)


def settings_under(agent: TrainedAgent, protocol: str | None) -> EnvironmentSettings:
    """The settings to play with. Raises ConfigError where the agent cannot play under the protocol."""
    trained = agent.settings.environment
    if protocol is None:
        return trained
    asked = protocols.under(trained, protocol)
    sizes = [environments.closed(settings).spec.actions for settings in (trained, asked)]
    if sizes[0] != sizes[1]:
        raise ConfigError(
            f"--protocol {protocol} has {sizes[1]} actions, and this agent was trained with {sizes[0]}: "
            f"train one with --protocol {asked.protocol}."
        )
    return asked
