"""Shows a run that goes on, or one that has ended, from its files: python -m ga3c watch [RUN]."""

import math
import os
import signal
import time
from dataclasses import dataclass
from types import SimpleNamespace

from ga3c.commands.command_line import RunArgument, parse
from ga3c.records import chosen_runs
from ga3c.records.console import Console
from ga3c.views import live_screen
from ga3c.views import terminal_access as terminal
from ga3c.views.figures import number
from ga3c.views.run_view import RunView

DESCRIPTION = """Shows the screen of a run: live while it trains, once if it has ended. Changes nothing."""
FOOTER = "q leaves; the training goes on."


@dataclass(frozen=True)
class WatchOptions:
    run: RunArgument = None
    """Directory of the run. Default: the newest."""
    game: str | None = None
    """The game whose newest run is shown if no directory is named."""


def run(arguments: list[str]) -> int:
    options = parse(WatchOptions, arguments, WatchOptions(), DESCRIPTION, "watch")
    view = RunView(chosen_runs.chosen(options.run, options.game, with_checkpoint=False))
    if not terminal.can_show():
        _follow(view)
        return 0
    if view.running:
        with terminal.keys():
            live_screen.show(view, FOOTER, stop=lambda: os.kill(os.getpid(), signal.SIGSTOP))
        view.refresh()
    _print(view)
    return 0


def _print(view: RunView) -> None:
    """Prints the screen once, to stay in the terminal."""
    from rich.console import Console as Terminal

    from ga3c.views.training_screen import screen

    console = Terminal(file=terminal.screen_stream())
    width, height = console.size
    console.print(screen(view, width, min(height, 24) - 1, ""))


def _follow(view: RunView) -> None:
    """Prints a line for each new row, as training does; of a run that has ended, its last row."""
    if view.exported:
        found = view.evaluation
        print(
            f"{view.game}, exported: {number(found.steps)} steps ({number(found.frames)} frames) in "
            f"{number(found.minutes, 1)} minutes; mean score of {number(found.games)} games {number(found.mean, 2)}."
        )
        return
    console, shown = Console(), max(len(view.throughput) - 1, 0)
    while True:
        rows = view.throughput.columns
        for index in range(min(shown, len(view.throughput)), len(view.throughput)):
            row = SimpleNamespace(**{name: values[index] for name, values in rows.items()})
            if math.isfinite(row.seconds) and math.isfinite(row.episodes):
                row.episodes = int(row.episodes)
                console.status(row, view.episodes.last("score"))
        shown = len(view.throughput)
        if not view.running:
            console.say(view.now.sentence)
            return
        time.sleep(live_screen.SECONDS)
        view.refresh()
