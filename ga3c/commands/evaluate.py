"""Measures a trained agent over many games: python -m ga3c evaluate --game Boxing --episodes 30."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ga3c import environments
from ga3c.commands import trained_agent
from ga3c.commands.command_line import parse
from ga3c.commands.trained_agent import AgentOptions, TrainedAgent
from ga3c.config import ConfigError, EnvironmentSettings, usable_cores
from ga3c.environments import atari

DESCRIPTION = """Plays whole games, each with its own seed, many at once, and prints their true scores."""
AT_ONCE = 32


@dataclass(frozen=True)
class EvaluateOptions(AgentOptions):
    episodes: int = 30
    """Games to play (paper, table 3: 30)."""
    json: str | None = None
    """File to write the result into."""


def play_games(agent: TrainedAgent, episodes: int, seed: int, greedy: bool) -> list[float]:
    """True scores of `episodes` whole games, in the order of their seeds."""
    scores: list[float] = []
    while len(scores) < episodes:
        count = min(AT_ONCE, episodes - len(scores))
        scores += _play_at_once(agent, count, seed + len(scores), greedy)
    return scores


def _play_at_once(agent: TrainedAgent, count: int, seed: int, greedy: bool) -> list[float]:
    games = environments.make(agent.settings.environment, count, seed, threads=usable_cores())
    scores, playing = np.zeros(count), np.ones(count, np.bool_)
    observations = games.reset()
    while playing.any():
        observations, rewards, terminated, truncated, _ = games.step(agent.act(observations, greedy))
        scores += rewards * playing
        playing &= ~(terminated | truncated)  # the games that go on for company do not count
    games.close()
    return scores.tolist()


def result(agent: TrainedAgent, scores: list[float], greedy: bool, seed: int) -> dict:
    """What --json writes."""
    kind, name = environments.resolve(agent.settings.environment.game)
    mean = float(np.mean(scores))
    return {
        "game": agent.game,
        "episodes": len(scores),
        "scores": scores,
        "mean": mean,
        "std": float(np.std(scores)),
        "min": min(scores),
        "max": max(scores),
        "human_normalized": atari.human_normalized(name, mean) if kind == "atari" else None,
        "protocol": _protocol(agent.settings.environment),
        "greedy": greedy,
        "seed": seed,
        "steps_trained": agent.steps,
        "checkpoint": str(agent.path),
    }


def _protocol(settings: EnvironmentSettings) -> dict:
    """The settings that a score depends on."""
    return {name: value for name, value in vars(settings).items() if name not in ("game", "reward_clip")}


def run(arguments: list[str]) -> int:
    options = parse(EvaluateOptions, arguments, EvaluateOptions(), DESCRIPTION, "evaluate")
    agent = trained_agent.load(options)
    scores = play_games(agent, options.episodes, options.seed, options.greedy)
    outcome = result(agent, scores, options.greedy, options.seed)
    human = outcome["human_normalized"]
    rows = {
        "games": str(len(scores)),
        "actions": "most probable" if options.greedy else "sampled",
        "protocol": agent.settings.environment.protocol,
        "mean": f"{outcome['mean']:.2f}",
        "standard deviation": f"{outcome['std']:.2f}",
        "standard error": f"{outcome['std'] / math.sqrt(len(scores)):.2f}",
        "minimum": f"{outcome['min']:g}",
        "maximum": f"{outcome['max']:g}",
        "human-normalised": "no human score known" if human is None else f"{100 * human:.1f} %",
    }
    for name, text in rows.items():
        print(f"  {name:20} {text:>14}")
    if options.json:
        try:
            Path(options.json).write_text(json.dumps(outcome, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"Cannot write {options.json}: {error.strerror}.") from error
    return 0
