"""Lists all runs: python -m ga3c list."""

import math
import shutil
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

from ga3c.commands.command_line import parse, results_directory
from ga3c.errors import ConfigError
from ga3c.installation import as_called
from ga3c.records import chosen_runs, run_directory, run_state
from ga3c.records.columns import THROUGHPUT_COLUMNS
from ga3c.records.description import read_settings
from ga3c.records.files import written_at
from ga3c.text import one_line
from ga3c.views.figures import number
from ga3c.views.labels import know, said
from ga3c.views.run_view import Tail, read_evaluation

DESCRIPTION = """Lists all runs, the one that was written last at the end: state, steps, mean score of the last 100
games, how long ago that was, why a run failed, its preset (a line that names none has ga3c), and which settings differ
from that. A run is running, has ended at its limit, was stopped, has failed, or is lost: the program was killed, or the
machine went down. Agents that were exported stand among them, with the score of their evaluation."""
HEAD = ("run", "state", "steps", "games", "score", "age", "preset, settings")
NUMBERS = ("steps", "games", "score", "age")  # are aligned to the right
UNITS = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}


@dataclass(frozen=True)
class ListOptions:
    game: str | None = None
    """Only runs of this game."""
    results: str | None = None
    """Directory that holds GAME/RUN directories. Default: results."""


def age(seconds: float) -> str:
    """Returns seconds as "3 min": in the largest unit that fits."""
    unit = next((name for name, length in UNITS.items() if seconds >= length), "s")
    return f"{seconds // UNITS[unit]:.0f} {unit}"


def written(run: Path) -> float:
    """Returns when a run was last written, in seconds since the epoch."""
    return max(written_at(run / name) for name in ("config.json", "throughput.csv"))


def cells(run: Path, name: str) -> list[str]:
    """Returns the cells of a run's line. Raises ConfigError where the run cannot be read."""
    read_settings(run)
    since, differs = age(max(0.0, time.time() - written(run))), said(know(run).changed)
    if run_directory.is_exported(run):
        found = read_evaluation(run)
        # The files of an agent that comes with the program are as old as the clone.
        state, since = ("shipped", "-") if run_directory.is_shipped(run) else ("exported", since)
        return [name, state, number(found.steps), "-", number(found.mean, 2), since, differs]
    rows = Tail(run / "throughput.csv", THROUGHPUT_COLUMNS)
    rows.refresh()
    state = run_state.read(run)
    counts = [number(rows.last(column, 0.0)) for column in ("steps", "episodes")]
    differs = "; ".join(filter(None, [state.why, differs]))
    return [name, state.name, *counts, number(rows.last("mean_score"), 2), since, differs]


def _is_of(run: Path, game: str | None) -> bool:
    """Tells whether it is a run of the game, or of any for None; one that cannot be read may be of any game, too."""
    if game is None:
        return True
    try:
        return game == run_directory.game_directory(read_settings(run).environment.game).name
    except ConfigError:
        return True


def table(results: Path, game: str | None, wide: float = math.inf) -> list[str]:
    """Returns the head and a line for each run, of `wide` characters at the most where its first cells allow. A run
    that cannot be read says so in its line."""
    runs = [run for run in chosen_runs.below(results) if _is_of(run, game)]
    found: list[list[str]] = [list(HEAD)]
    for run in sorted(runs, key=lambda run: (not run_directory.is_shipped(run), written(run))):
        name = str(run.relative_to(results))
        try:
            found.append(cells(run, name))
        except (ConfigError, OSError) as error:
            found.append([name, f"cannot be read: {error}"])
    found = [list(map(one_line, row)) for row in found]
    widths = [max(len(row[index]) for row in found if len(row) == len(HEAD)) for index in range(len(HEAD))]
    widths[0] = max(len(row[0]) for row in found)
    return [_line(row, widths, wide) for row in found]


def _line(row: list[str], widths: list[int], wide: float) -> str:
    """Returns the line of a run. Where it does not fit, the last cell stands below the others."""
    aligned = (
        f"{cell:{'>' if name in NUMBERS else '<'}{width}}" for name, cell, width in zip(HEAD, row, widths, strict=False)
    )
    text = f"{row[0]:{widths[0]}}  {row[1]}" if len(row) < len(HEAD) else "  ".join(aligned).rstrip()
    *_, last = row
    if len(text) <= wide or not last:
        return text
    rest = textwrap.fill(last, wide, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return f"{text[: -len(last)].rstrip()}\n{rest}"


def run(arguments: list[str]) -> int:
    options = parse(ListOptions, arguments, ListOptions(), DESCRIPTION, "list")
    results = results_directory(options.results)
    game = run_directory.game_directory(options.game).name if options.game else None
    lines = table(results, game, (sys.stdout.isatty() and shutil.get_terminal_size().columns) or math.inf)
    which, example = (f" of {game}", options.game) if game else ("", "Boxing")
    none = f"No runs{which} in {results} yet. Train one: ./run.sh --game {example}"
    print("\n".join(lines) if len(lines) > 1 else as_called(none))
    return 0
