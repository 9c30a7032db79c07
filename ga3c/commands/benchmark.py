"""Measures how fast this machine trains, and how fast it could: python -m ga3c benchmark --game Pong."""

from dataclasses import replace
from pathlib import Path

from ga3c.commands.command_line import HELP, check_range, check_writable, parse, parse_given, with_values, write_json
from ga3c.commands.train_options import preset_defaults
from ga3c.environments import own_games
from ga3c.errors import ConfigError
from ga3c.experiments.benchmark import BenchmarkOptions, measure, report, training_settings
from ga3c.settings import ranges
from ga3c.settings.catalogue import ALGORITHMS

DESCRIPTION = """Measures each station alone and the whole program, in turns, and says how near it comes to the
bound of this machine for its sampling. --algorithm and --preset mean the same as in training, but the controller is
off. With a replay memory the first update comes after 5,000 transitions, and the target network is copied every 100
updates, so that a short run has several copies. With --steps-per-update 0 the bound is for as many updates to a step
as the program makes. Run nothing else meanwhile."""
# These make a round of several blocks: copies of the targets cost nothing.
SHORT = {"replay_minimum_transitions": 5_000, "target_updates": 100}


def parse_options(arguments: list[str]) -> BenchmarkOptions:
    """Returns the options, over the defaults of the preset or the algorithm that is named. Raises ConfigError."""
    asked = parse_given(BenchmarkOptions, arguments, DESCRIPTION, "benchmark")
    usual = preset_defaults(asked)
    schedule, replay = replace(usual.schedule, controller="off"), usual.replay
    if ALGORITHMS[usual.learning.algorithm].replays:
        replay = replace(replay, **SHORT)
    default = BenchmarkOptions(usual.environment, schedule, usual.learning, replay)
    if HELP & set(arguments):
        parse(BenchmarkOptions, ["--help"], default, DESCRIPTION, "benchmark")
    return with_values(default, asked)


def run(arguments: list[str]) -> int:
    options = parse_options(arguments)
    ranges.check(training_settings(options))
    if options.schedule.cluster:
        raise ConfigError("The stations of pods are not measured alone: leave --cluster out.")
    own_games.import_all(training_settings(options))
    check_range("seconds", options.seconds, 2, 1_000_000)
    check_range("rounds", options.rounds, 1)
    if options.json:
        check_writable("--json", Path(options.json))
    figures = measure(options)
    print("\n" + report(figures))
    if options.json:
        write_json(options.json, figures)
    return 0
