"""Measures how fast this machine trains, and how fast it could: python -m ga3c benchmark --game Pong."""

from pathlib import Path

from ga3c.commands.command_line import check_writable, parse, write_json
from ga3c.environments import own_games
from ga3c.errors import ConfigError
from ga3c.experiments.benchmark import BenchmarkOptions, measure, report, training_settings
from ga3c.settings import ranges

DESCRIPTION = """Measures each station alone and the whole program, in turns, and says how near it comes to the
bound of this machine. Leave the machine alone meanwhile."""


def run(arguments: list[str]) -> int:
    options = parse(BenchmarkOptions, arguments, BenchmarkOptions(), DESCRIPTION, "benchmark")
    ranges.check(training_settings(options))
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
