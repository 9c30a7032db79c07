"""Trains an agent on each of several games, and puts what they reach into one table: python -m ga3c zoo atari5."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import tyro

from ga3c import environments
from ga3c.commands.command_line import HELP, flags_in, parse
from ga3c.commands.compare import TAKEN, check_limits, how_long
from ga3c.commands.reproduce import made
from ga3c.commands.train_options import parse_settings
from ga3c.environments import atari
from ga3c.errors import ConfigError
from ga3c.experiments import comparison, zoo_report
from ga3c.experiments.comparison import LearningRun
from ga3c.records import run_directory
from ga3c.text import count

LISTS = ", ".join(f"{name} ({len(games)} games)" for name, games in zoo_report.LISTS.items())
DESCRIPTION = f"""Trains an agent on each game with each seed, one run after the other; lets the agents play; and writes
one table: scores with their intervals, human-normalised, the time to certain scores, and, for atari5 and atari3, the
estimate of the median over 57 games (Aitchison et al. 2023). After an interruption the same command goes on. All other
options are those of train, and hold for each run. Lists of games: {LISTS}.

Example: ./run.sh zoo atari5 --minutes 60 --seeds 2 --preset cule"""


@dataclass(frozen=True)
class ZooOptions:
    games: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="GAME ...")] = ()
    """Games to train on, and lists of games: atari5, atari3, speed."""
    seeds: int = 2
    """Runs of each game, with the seeds 1, 2, ..."""
    minutes: float = 60.0
    """Training time of each run."""
    steps: int = 0
    """Stop each run after so many steps, if that comes first. 0: the time alone ends it."""
    episodes: int = 30
    """Games that each trained agent plays, once sampling its actions and once taking the most probable ones."""
    out: str | None = None
    """Directory for the runs and the table. Default: results/zoo/GAMES."""
    machines: str | None = None
    """The machines of the Ray cluster at this address, HOST:PORT or auto, make the runs, each of them one at a time.
    All must see the directory of --out. Default: this machine makes one after the other."""


OWN = {f"--{field.name}" for field in fields(ZooOptions)} - {"--games"}  # which is one of train's, too


def divided(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Returns the arguments of the zoo, and those that it hands on to train. A value belongs to the flag before it."""
    own, handed_on = [], []
    words = own
    for word in arguments:
        if word.startswith("--") or word in HELP:
            words = own if word in HELP or flags_in([word]) <= OWN else handed_on
        words.append(word)
    return own, handed_on


def named(words: tuple[str, ...]) -> list[str]:
    """Returns the games that the words stand for, each once, in one spelling. Raises ConfigError."""
    if not words:
        raise ConfigError(
            f"zoo needs games, before the flags of train, as in ./run.sh zoo Pong Boxing, or a list of them: {LISTS}."
        )
    games = []
    for word in words:
        for game in zoo_report.LISTS.get(word.lower(), (word,)):
            try:
                kind, name = environments.resolve(game)
            except ConfigError as error:
                raise ConfigError(f"{error} Lists of games: {LISTS}.") from error
            games.append(atari.display_name(name) if kind == "atari" else game)
    return list(dict.fromkeys(games))


def plan(options: ZooOptions, flags: list[str]) -> list[LearningRun]:
    """Returns the runs to make. Raises ConfigError for what cannot be meant."""
    games = named(options.games)
    check_limits(options)
    for flag in flags_in(flags) & TAKEN:
        raise ConfigError(f"{flag} is not for zoo, which names games, seeds and directories itself: leave it out.")
    limits = ["--steps", str(options.steps)] if options.steps else []
    runs = []
    for game in games:
        # refuses what train would refuse
        preset = parse_settings(["--game", game, *flags, *limits]).settings.learning.preset
        for seed in range(1, options.seeds + 1):
            runs.append(LearningRun(game, preset, tuple(flags), seed, 60 * options.minutes, options.steps))
    return runs


def _directory_name(words: tuple[str, ...]) -> str:
    """Returns pong-atari5 as Pong-atari5."""
    lists = zoo_report.LISTS
    return "-".join(w.lower() if w.lower() in lists else run_directory.game_directory(w).name for w in words)


def run(arguments: list[str]) -> int:
    own, flags = divided(arguments)
    options = parse(ZooOptions, own, ZooOptions(), DESCRIPTION, "zoo")
    runs = plan(options, flags)
    out = Path(options.out) if options.out else run_directory.RESULTS / "zoo" / _directory_name(options.games)
    games = ", ".join(dict.fromkeys(one.game for one in runs))
    work = how_long(len(runs), runs[0].seconds, options.machines)
    print(f"On {games}: {count(len(runs), 'run')}, {work}. Then each agent plays.")

    def table() -> str:
        return zoo_report.report(comparison.make(runs, out, options.episodes, machines=options.machines), out)

    return made(table, out)
