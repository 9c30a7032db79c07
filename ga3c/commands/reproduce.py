"""Makes a figure or table of a paper again: python -m ga3c reproduce ga3c fig3 --scale cpu."""

import importlib
import math
import signal
import sys
from collections.abc import Callable
from dataclasses import make_dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from ga3c.commands.command_line import check_range, parse
from ga3c.environments import own_games
from ga3c.errors import ConfigError
from ga3c.experiments.runs import RunFailed
from ga3c.installation import as_called
from ga3c.papers import CommonOptions, contents
from ga3c.papers.contents import PAPERS, Paper, described, listing, overview
from ga3c.processes import stop_signals
from ga3c.records import run_directory


def command_line(paper: Paper) -> type:
    """Returns the options of a paper, and the figure as the first word."""
    figure = Annotated[Literal[paper.figures], tyro.conf.Positional, tyro.conf.arg(help="What to make.")]
    return make_dataclass("Reproduce", [("figure", figure, tyro.MISSING)], bases=(paper.options,), frozen=True)


def check(options: CommonOptions) -> None:
    """Raises ConfigError for what no run can be made with."""
    for game in options.game:
        own_games.import_named(game)
    for name in ("seconds", "seeds", "episodes"):
        if (value := getattr(options, name)) is not None:
            check_range(name, value, 1, 1000 if name == "seeds" else math.inf)
    for name in ("agents", "predictors", "trainers", "cores", "games", "batches", "devices", "actors"):
        if (smallest := min(getattr(options, name, ()), default=1)) < 1:
            raise ConfigError(f"--{name} {smallest} is out of range: give numbers of at least 1.")


def check_read(options: CommonOptions, default: CommonOptions, read: tuple[str, ...]) -> None:
    """Raises ConfigError for an option that the figure does not read."""
    for name, usual in vars(default).items():
        if getattr(options, name) != usual and name not in ("figure", "scale", "out", *read):
            flags = ", ".join(f"--{one.replace('_', '-')}" for one in read)
            flag = f"--{name.replace('_', '-')}"
            raise ConfigError(f"{flag} does not go with {options.figure}, which has {flags}. Leave it out.")


def run(arguments: list[str]) -> int:
    if not arguments or arguments in [[name] for name in PAPERS]:
        print(as_called(listing(arguments[0]) if arguments else overview()))
        return 0
    paper, *others = arguments if arguments[0] in PAPERS else ["ga3c", *arguments]
    for figure in others[:1]:
        if not figure.startswith("-"):
            contents.check(paper, figure)
    kind = command_line(PAPERS[paper])
    command = "reproduce" + f" {paper}" * (paper != "ga3c")
    options = parse(kind, others, kind(), described(paper), command)
    check(options)
    figure = importlib.import_module(f"ga3c.papers.{paper}.{options.figure}")
    check_read(options, kind(), figure.READS + getattr(figure, "READS_AT_FULL_SCALE", ()) * (options.scale == "full"))
    default = run_directory.RESULTS / "reproduce" / f"{figure.RUNS}-{options.scale}"
    out = Path(options.out) if options.out else default
    return made(lambda: figure.reproduce(options, out), out)


def made(make: Callable[[], str], out: Path) -> int:
    """Prints what `make()` says of the runs that it makes in `out`. Returns the exit status."""
    others = tuple(number for number in stop_signals.STOP_SIGNALS if number != signal.SIGINT)
    stop_signals.handle(lambda number, _frame: sys.exit(128 + number), others)
    try:
        print(make())
    except RunFailed as failure:
        print(f"ga3c: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on with the runs that are missing.", flush=True)
        return 130
    print(f"In {out}")
    return 0
