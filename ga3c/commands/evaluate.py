"""Measures a trained agent over many games: python -m ga3c evaluate --game Boxing --episodes 30."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ga3c import environments
from ga3c.commands import agent_options
from ga3c.commands.agent_options import AgentOptions
from ga3c.commands.command_line import check_range, check_writable, parse, write_json
from ga3c.environments import protocols
from ga3c.errors import ConfigError
from ga3c.experiments import evaluation
from ga3c.experiments.aggregates import in_words
from ga3c.play.trained_agent import TrainedAgent
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import DQN_EVALUATION_EPSILON
from ga3c.text import count

DESCRIPTION = """Plays whole games, each with its own seed, many at once, and prints their true scores: --episodes
games with actions sampled from the policy, as the paper does, and as many with the most probable ones. An agent of
action values takes the best ones alone."""


@dataclass(frozen=True)
class EvaluateOptions(AgentOptions):
    episodes: int = 30
    """Games to play in each way (paper, table 3: 30)."""
    protocol: Literal["paper", "machado", "dqn"] | None = None
    """The rules to play an Atari game under: the paper's (no-op starts), those of Machado et al. 2018 (sticky actions,
    all 18 actions), or those of Mnih et al. 2015 (the paper's, 5 minutes for each game, and --exploration 0.05).
    Default: those of the training."""
    emulator: tuple[Literal["ale", "ours"], ...] = ()
    """What plays an Atari game: ale-py's emulator, or our own. ale ours: both, one after the other, with their scores
    side by side (Dalton et al. 2020, appendix A.4). Default: that of the training."""
    exploration: float | None = None
    """Share of actions that are drawn at random, whatever the agent chooses. Default: 0; with --protocol dqn 0.05."""
    json: str | None = None
    """File to write the result into. Its main scores are those of sampled actions, on the first of the emulators."""
    most_steps: int = evaluation.MOST_STEPS
    """A game is cut off after so many steps, and its score until then counts: some games never end."""


def run(arguments: list[str]) -> int:
    options = parse(EvaluateOptions, arguments, EvaluateOptions(), DESCRIPTION, "evaluate")
    check_range("most-steps", options.most_steps, 1)
    exploration = options.exploration
    if exploration is None:
        exploration = DQN_EVALUATION_EPSILON if options.protocol == "dqn" else 0.0
    check_range("exploration", exploration, 0, 1)
    if options.json:
        check_writable("--json", Path(options.json))
    outcomes = {}
    for emulator in options.emulator or (None,):
        agent = agent_options.load(options)  # each time: its actions are sampled with the same numbers
        settings = _settings(agent, options.protocol, emulator)
        outcomes[emulator] = evaluation.evaluate(
            agent, settings, options.episodes, options.seed, options.most_steps, exploration
        )
    names, outcome = evaluation.ways_of(agent), next(iter(outcomes.values()))
    random = f", {100 * exploration:g} % of actions at random" if exploration else ""
    print(f"  {count(options.episodes, 'game')} in each way, protocol {outcome['fingerprint']}{random}")
    trained_under = protocols.fingerprint(agent.settings.environment)
    if mix := protocols.mix([outcome["fingerprint"], trained_under]):
        print(f"  Trained and measured under {mix}")
    _print_table(outcomes, names)
    played = [one["ways"][way] for one in outcomes.values() for way in names]
    if cut := sum(way["cut_off"] for way in played):
        print(f"  {count(cut, 'game')} cut off after {count(options.most_steps, 'step')} (--most-steps)")
    if len(outcomes) > 1:
        outcome = outcome | {"emulators": outcomes}
    if options.json:
        write_json(options.json, outcome)
    return 0


def _settings(agent: TrainedAgent, protocol: str | None, emulator: str | None) -> EnvironmentSettings:
    """Returns the settings to play with. Raises ConfigError."""
    is_atari = environments.resolve(agent.settings.environment.game)[0] == "atari"
    for flag, value in (("--protocol", protocol), ("--emulator", emulator)):
        if value is not None and not is_atari:
            raise ConfigError(f"{flag} {value} is for Atari games, and this is {agent.game}: leave it out.")
    settings = evaluation.settings_under(agent, protocol)
    return settings if emulator is None else replace(settings, emulator=emulator)


def _print_table(outcomes: dict[str | None, dict], names: dict[str, str]) -> None:
    """Prints a column for each emulator and way to play."""
    columns = {
        (f"{emulator}, " if len(outcomes) > 1 else "") + text: _column(outcome["ways"][way])
        for emulator, outcome in outcomes.items()
        for way, text in names.items()
    }
    print(f"  {'actions':20}" + "".join(f"{text:>22}" for text in columns))
    for name in next(iter(columns.values())):
        print(f"  {name:20}" + "".join(f"{column[name]:>22}" for column in columns.values()))


def _column(way: dict) -> dict[str, str]:
    human = way["human_normalized"]
    return {
        "mean": f"{way['mean']:.2f}",
        "95 % interval": in_words(way["low"], way["high"], way["scores"]),
        "standard deviation": f"{way['std']:.2f}",
        "standard error": f"{way['std'] / math.sqrt(len(way['scores'])):.2f}",
        "minimum": f"{way['min']:g}",
        "maximum": f"{way['max']:g}",
        "human-normalised": "no human score known" if human is None else f"{100 * human:.1f} %",
    }
