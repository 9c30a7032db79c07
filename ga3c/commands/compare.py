"""Trains several settings over several games and seeds and compares them: python -m ga3c compare."""

import shlex
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated

import tyro

from ga3c import environments
from ga3c.commands.command_line import check_range, flags_in, parse
from ga3c.commands.reproduce import made
from ga3c.commands.train_options import parse_settings
from ga3c.environments import protocols
from ga3c.errors import ConfigError
from ga3c.experiments import comparison, comparison_report
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import START_SECONDS
from ga3c.records import run_directory
from ga3c.settings.catalogue import ALGORITHMS, PRESETS
from ga3c.text import count, duration

DESCRIPTION = """Trains each setting on each game with each seed, for the same time or the same steps, one run after the
other; lets the agents play; and writes a table with confidence intervals, and the curves. After an interruption the
same command goes on.

Example: ./run.sh compare --game Pong --setting default --setting "careful: --kl-target 0.003" --seeds 3"""
# compare says these itself; a limit of games is forgotten where an interrupted run goes on
TAKEN = {"--game", "--seed", "--minutes", "--steps", "--episodes", "--run-dir", "--name", "--resume"}


@dataclass(frozen=True)
class CompareOptions:
    setting: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """"NAME: OPTIONS OF TRAIN", once for each setting; NAME alone has the defaults. The others are compared with the
    first."""
    game: tuple[str, ...] = ()
    """Games to train on, one or more: there is no default."""
    seeds: int = 3
    """Runs of each setting on each game, with the seeds 1, 2, ..."""
    minutes: float = 60.0
    """Training time of each run."""
    steps: int = 0
    """Stop each run after so many steps, if that comes first. 0: the time alone ends it."""
    episodes: int = 30
    """Games that each trained agent plays, once sampling its actions and once taking the most probable ones."""
    out: str | None = None
    """Directory for the runs and what is made of them. Default: results/compare/GAMES."""
    machines: str | None = None
    """The machines of the Ray cluster at this address, HOST:PORT or auto, make the runs, each of them one at a time.
    All must see the directory of --out. Default: this machine makes one after the other."""


def check_limits(options) -> None:
    """Raises ConfigError where a number of `seeds`, `episodes`, `minutes` or `steps` is out of range."""
    check_range("seeds", options.seeds, 1, 1000)
    for name, least in (("episodes", 1), ("minutes", 0.01), ("steps", 0)):
        check_range(name, getattr(options, name), least)


def plan(options: CompareOptions) -> list[LearningRun]:
    """Returns the runs to make. Raises ConfigError for what cannot be meant."""
    settings = [tuple(map(str.strip, text.partition(":")[::2])) for text in options.setting or ("default",)]
    if len(dict(settings)) < len(settings):
        raise ConfigError("--setting: two settings have the same name.")
    for name, text in settings:
        if not text and name in (PRESETS.keys() | ALGORITHMS.keys()):
            raise ConfigError(f'--setting {name} has no options, so it is the default: say "{name}: --preset {name}".')
    check_limits(options)
    if not options.game:
        raise ConfigError(f"compare needs a game, as in --game Pong. It would make {_work(settings, options, 1)}.")
    limits = ["--steps", str(options.steps)] if options.steps else []
    runs, rules, games = [], [], {}
    for game in options.game:
        games.setdefault(environments.resolve(game), game)  # each once, however it is spelt
    for (name, text), game, seed in product(settings, games.values(), range(1, options.seeds + 1)):
        if not name or not all(letter.isalnum() or letter in "-_.=+" for letter in name):
            raise ConfigError(f"--setting {name!r}: give it a name of letters, digits and -_.=+.")
        try:
            flags = tuple(shlex.split(text))
        except ValueError as error:
            raise ConfigError(f"--setting {name!r}: {error}.") from error
        for flag in flags_in(flags) & TAKEN:
            raise ConfigError(f"--setting {name!r}: {flag} is not for a setting, but for all: leave it out there.")
        trained = parse_settings(["--game", game, *flags, *limits]).settings  # refuses what train would refuse
        rules.append(protocols.fingerprint(trained.environment))
        runs.append(LearningRun(game, name, flags, seed, 60 * options.minutes, options.steps))
    protocols.refuse_mixed(rules)
    return runs


def how_long(runs: int, seconds: float, machines: str | None) -> str:
    """Returns how so many runs are made, and how long that takes."""
    long = duration(runs * (seconds + START_SECONDS))
    if machines:
        return f"together about {long} on the machines of {machines}"
    return f"one after the other: about {long}"


def _work(settings: list, options: CompareOptions, games: int) -> str:
    """Says how many runs there are to make, and how long that takes."""
    runs, seconds = len(settings) * options.seeds * games, 60 * options.minutes
    each = "" if options.game else " for each game"
    at_most = f" at most, or {count(options.steps, 'step')}" if options.steps else ""
    return (
        f"{count(runs, 'run')}{each} ({count(len(settings), 'setting')}, {count(options.seeds, 'seed')}) of "
        f"{duration(seconds)} of training{at_most}, {how_long(runs, seconds, options.machines)}"
    )


def run(arguments: list[str]) -> int:
    options = parse(CompareOptions, arguments, CompareOptions(), DESCRIPTION, "compare")
    runs = plan(options)
    games = list(dict.fromkeys(run.game for run in runs))
    name = "-".join(run_directory.game_directory(game).name for game in games)
    out = Path(options.out) if options.out else run_directory.RESULTS / "compare" / name
    work = _work(list(dict.fromkeys(run.setting for run in runs)), options, len(games))
    print(f"On {', '.join(games)}: {work}. Then each agent plays {count(options.episodes, 'game')} in each way.")

    def table() -> str:
        outcomes = comparison.make(runs, out, options.episodes, machines=options.machines)
        return comparison_report.report(outcomes, out, "comparison")

    return made(table, out)
