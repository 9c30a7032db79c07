"""Measures how fast this machine trains, and how fast it could: python -m ga3c benchmark --game Pong."""

from dataclasses import replace
from pathlib import Path

from ga3c.commands.command_line import check_writable, parse, value_of, whole_number, write_json
from ga3c.environments import own_games
from ga3c.errors import ConfigError
from ga3c.experiments.benchmark import BenchmarkOptions, measure, report, training_settings
from ga3c.settings import ranges
from ga3c.settings.learning import REPLAYING
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings

DESCRIPTION = """Measures each station alone and the whole program, in turns, and says how near it comes to the
bound of this machine for its sampling. --algorithm and --preset stand for the same as in training, but that a replay
memory is filled with fewer transitions before the first update, and that targets are copied more often: concurrent
training goes from copy to copy. With --steps-per-update 0 the bound is for as many updates to a step as the program
makes. Leave the machine alone meanwhile."""
# Of a replay memory, so that a round has several blocks: copies of the targets cost nothing.
SHORT = {"replay_minimum_transitions": 5_000, "target_updates": 100}


def parse_options(arguments: list[str]) -> BenchmarkOptions:
    """With the defaults of the preset, or the algorithm, that is named. Raises ConfigError."""
    preset = value_of("--preset", arguments) or value_of("--algorithm", arguments)
    batch = whole_number(value_of("--batch", arguments))
    usual = with_presets(Settings(), preset, value_of("--protocol", arguments), batch)
    schedule, replay = replace(usual.schedule, controller="off"), usual.replay
    if usual.learning.algorithm in REPLAYING:
        replay = replace(replay, **SHORT)
    default = BenchmarkOptions(usual.environment, schedule, usual.learning, replay)
    return parse(BenchmarkOptions, arguments, default, DESCRIPTION, "benchmark")


def run(arguments: list[str]) -> int:
    options = parse_options(arguments)
    ranges.check(training_settings(options))
    if options.schedule.cluster:
        raise ConfigError("The stations of pods are not measured alone: leave --cluster out.")
    own_games.import_named(options.environment.game)
    if options.seconds < 2 or options.rounds < 1:
        raise ConfigError("--seconds must be at least 2 and --rounds at least 1.")
    if options.json:
        check_writable("--json", Path(options.json))
    figures = measure(options)
    print("\n" + report(figures))
    if options.json:
        write_json(options.json, figures)
    return 0
