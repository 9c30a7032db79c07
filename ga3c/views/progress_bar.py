"""The progress of a run that Python code has started: a bar in a notebook and in a terminal, nothing in a log file."""

import collections
import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from ga3c.records.columns import Throughput
from ga3c.settings.run import RunSettings
from ga3c.text import harmless
from ga3c.views.figures import clock, number

COLUMNS = ("{task.fields[time]}", "{task.fields[steps]} steps", "mean {task.fields[mean]}", "{task.fields[pps]}/s")


class ProgressBar:
    """Stands where the command has its `records.console.Console`.

    Rows and lines come from any thread. `look` shows them in the thread that calls it.
    """

    def __init__(self, limits: RunSettings, on_row: Callable | None = None, console=None):
        """`on_row`: is called with each row of the log. `console`: takes all lines, and there is no bar."""
        self._limits, self._on_row, self._console = limits, on_row, console
        self.seconds_before = 0.0  # this start of the run, whose minutes alone are limited
        self._rows: collections.deque[Throughput] = collections.deque()
        self._lines: collections.deque[str] = collections.deque()
        self._keep = lambda rows: None
        self._trains = False  # from the first row on: what is said before is of no use to Python code
        self._shown = _shown() if console is None else None

    def keep(self, append) -> None:
        """Passes each line that is said to `append` from now on, as a row of MESSAGE_COLUMNS."""
        self._keep = append
        if self._console:
            self._console.keep(append)

    def cover(self, screen) -> None:
        """Gives a live screen to the console: without one there is no screen."""
        self._console.cover(screen)

    def say(self, text: str) -> None:
        """Takes a line. While the run trains, the bar shows it."""
        if self._console:
            self._console.say(text)
            return
        now, text = f"{time.time():.0f}", harmless(text)
        self._keep([[now, line] for line in text.split("\n")])
        if self._trains and not text.startswith("Controller: "):
            self._lines.append(text)

    def status(self, row: Throughput, last_score: float, wanted_games: int = 0) -> None:
        """Takes a row of the log."""
        self._trains = True
        self._rows.append(row)
        if self._console:
            self._console.status(row, last_score, wanted_games)

    def look(self) -> bool:
        """Shows what has come. Returns True if `on_row` says that the run shall end."""
        ends = False
        while self._rows:
            row = self._rows.popleft()
            if self._shown:
                self._shown.show(self._share(row), row)
            if self._on_row:
                ends |= bool(self._on_row(row.cells()))
        while self._lines:
            line = self._lines.popleft()
            if self._shown:
                self._shown.say(line)
        return ends

    def _share(self, row: Throughput) -> float | None:
        """Returns how much of the run is done, by the limit that is nearest; None if it has none."""
        minutes = (row.seconds - self.seconds_before) / 60
        limits, now = self._limits, (row.steps, minutes, row.episodes)
        wanted = (limits.steps, limits.minutes, limits.episodes)
        shares = [done / limit for done, limit in zip(now, wanted, strict=True) if limit]
        return min(1.0, max(shares)) if shares else None

    def flush(self) -> None:
        """Waits for nothing, unless there is a console."""
        if self._console:
            self._console.flush()

    def close(self) -> None:
        """Closes the console, if there is one."""
        if self._console:
            self._console.close()

    def end(self) -> None:
        """Shows the last row, and ends the bar."""
        self._trains = False
        self.look()
        if self._shown:
            self._shown.end()
        if self._console:
            self._console.end()


def _shown():
    """Returns what shows the bar here: a notebook, a terminal, or None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if getattr(shell, "kernel", None) is not None:
        return _InNotebook()
    return _InTerminal() if sys.stdout.isatty() else None


def _bar(**options) -> Progress:
    columns = (BarColumn(), *map(TextColumn, COLUMNS))
    bar = Progress(*columns, auto_refresh=False, **options)
    bar.add_task("", total=None, time="", steps="", mean="", pps="")
    return bar


def _update(bar: Progress, share: float | None, row: Throughput) -> None:
    texts = {"time": clock(row.seconds), "steps": number(row.steps), "mean": number(row.mean_score, 2)}
    bar.update(
        bar.task_ids[0], total=None if share is None else 1.0, completed=share or 0.0, pps=number(row.pps), **texts
    )


class _InTerminal:
    """The bar at the bottom of a terminal."""

    def __init__(self):
        self._bar = _bar(console=Console())

    def show(self, share: float | None, row: Throughput) -> None:
        _update(self._bar, share, row)
        self._bar.start()  # if it has not begun
        self._bar.refresh()

    def say(self, line: str) -> None:
        self._bar.console.print(line, markup=False, highlight=False)

    def end(self) -> None:
        self._bar.stop()


class _InNotebook:
    """The bar below a notebook's cell, in one output that is replaced."""

    def __init__(self):
        self._bar, self._output = _bar(), None

    def show(self, share: float | None, row: Throughput) -> None:
        from IPython.display import display  # a notebook has it

        _update(self._bar, share, row)
        table = self._bar.make_tasks_table(self._bar.tasks)
        if self._output is None:
            self._output = display(table, display_id=True)
        else:
            self._output.update(table)

    def say(self, line: str) -> None:
        print(line)

    def end(self) -> None:
        """Leaves the last output."""
