"""A run as its files show it, read again and again while it goes on: what a screen, a page or a report draws."""

import contextlib
import math
import time
from array import array
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ga3c.records import lock, run_directory, run_state
from ga3c.records.columns import DECISION_COLUMNS, EPISODE_COLUMNS, MESSAGE_COLUMNS, THROUGHPUT_COLUMNS
from ga3c.records.csv_reading import LOG_BYTES_LIMIT, GrowingLog, number
from ga3c.records.description import read_settings
from ga3c.records.files import read_json
from ga3c.records.run_state import ENDED, RUNNING, RunState
from ga3c.views import cluster_view, curves, labels
from ga3c.views.cluster_view import ClusterView

TEXTS = ("reason", "message")  # columns that are none of numbers
LATE_SECONDS = 2.0  # a row that comes so much later than expected makes it ask whether the run is still there


def _column(name: str) -> list | array:
    return [] if name in TEXTS else array("d")  # a log may have millions of rows


class Tail:
    """The columns of a CSV file that grows: those named, and what numbers it has besides.

    A file that was written anew, as on resume, is read anew.
    """

    def __init__(self, path: Path, columns: Sequence[str]):
        self._log, self._named = GrowingLog(path, LOG_BYTES_LIMIT), columns
        self._forget()

    def _forget(self) -> None:
        self.columns: dict[str, list | array] = {name: _column(name) for name in self._named}

    def __len__(self) -> int:
        return len(self.columns[self._named[0]])

    def last(self, name: str, default: float | str = math.nan) -> float | str:
        """The newest cell of a column."""
        return self.columns[name][-1] if self.columns.get(name) else default

    def add(self, cells: dict[str, float]) -> None:
        """A row that stands in no file."""
        for name, column in self.columns.items():
            column.append(cells.get(name, math.nan))

    def refresh(self) -> None:
        """Reads the rows that are new and whole; damaged ones are left out."""
        with contextlib.suppress(OSError):
            for is_first, header, rows in self._log.new():
                if is_first:
                    self._forget()
                self._take(header, rows)

    def _take(self, header: list[str], rows: list[list[str]]) -> None:
        for name in header:
            self.columns.setdefault(name, _column(name))
        for row in rows:
            cells = dict(zip(header, row, strict=True))
            with contextlib.suppress(ValueError):
                values = [cells.get(n, "") if n in TEXTS else number(cells.get(n)) for n in self.columns]
                for column, value in zip(self.columns.values(), values, strict=True):
                    column.append(value)


class Evaluation(NamedTuple):
    """The evaluation of an exported agent; NaN where a number is missing."""

    steps: float = math.nan
    frames: float = math.nan
    minutes: float = math.nan
    games: float = math.nan
    mean: float = math.nan
    lowest: float = math.nan
    highest: float = math.nan


def read_evaluation(run: Path) -> Evaluation:
    """Reads evaluation.json, whatever that holds."""
    try:
        content = read_json(run / "evaluation.json")
        scores = content["ways"]["sampled"]
        found = {"steps": content.get("steps_trained"), "games": content.get("episodes")}
        found |= {name: content.get(name) for name in ("frames", "minutes")}
        found |= {"mean": scores.get("mean"), "lowest": scores.get("min"), "highest": scores.get("max")}
        return Evaluation(**{name: float(value) for name, value in found.items() if isinstance(value, int | float)})
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return Evaluation()


class RunView:
    """A view of a run, or of an exported agent, which has no logs: its rows are its learning curve and its end.

    Raises ConfigError where there is no run, or its settings cannot be read.
    """

    def __init__(self, run_dir: Path, with_messages: bool = True):
        self.run_dir, self.settings = run_dir, read_settings(run_dir)
        self.game = run_directory.game_directory(self.settings.environment.game).name
        self.known = labels.know(run_dir)
        self.throughput = Tail(run_dir / "throughput.csv", THROUGHPUT_COLUMNS)
        self.episodes = Tail(run_dir / "episodes.csv", EPISODE_COLUMNS)
        self.decisions = Tail(run_dir / "controller.csv", DECISION_COLUMNS)
        self.messages = Tail(run_dir / "messages.csv", MESSAGE_COLUMNS)
        self._tails = [self.throughput, self.episodes, self.decisions, *[self.messages] * with_messages]
        self.running, self.now, self._start, self.pods = False, RunState(ENDED), {}, ClusterView()
        self.exported, self.evaluation = run_directory.is_exported(run_dir), Evaluation()
        if self.exported:
            self._read_exported()
        self.refresh()

    def _read_exported(self) -> None:
        for minutes, steps, score in zip(*curves.exported_curve(self.run_dir), strict=True):
            self.throughput.add({"seconds": 60 * minutes, "steps": 1e6 * steps, "mean_score": score})
        self.evaluation = found = read_evaluation(self.run_dir)
        cells = {"seconds": 60 * found.minutes, "steps": found.steps, "frames": found.frames}
        self.throughput.add(cells | {"mean_score": found.mean})

    def refresh(self) -> None:
        """Takes in what the files have gained."""
        for tail in self._tails:
            tail.refresh()
        if self.settings.schedule.cluster:
            self.pods = cluster_view.read(self.run_dir)
        if not self.running or self._row_age_seconds() > self.settings.run.log_seconds + LATE_SECONDS:
            self.now = run_state.read(self.run_dir)
            self.running = self.now.name == RUNNING
            self._start = lock.read_start(self.run_dir) if self.running else {}

    def _row_age_seconds(self) -> float:
        return _age_seconds(self.run_dir / "throughput.csv")

    @property
    def numbers(self) -> list[str]:
        """Names of what the algorithm reports of an update: the columns that not every throughput.csv has."""
        return [name for name in self.throughput.columns if name not in THROUGHPUT_COLUMNS]

    @property
    def state(self) -> str:
        return "exported" if self.exported and not self.running else self.now.name

    @property
    def games(self) -> tuple[float, float]:
        """How many are under way, and how many there will be. NaN where that is not known."""
        wanted = self.settings.schedule.games_of(self.throughput.last("agents"))
        return self.throughput.last("games"), wanted

    @property
    def starting(self) -> bool:
        """It runs, and has written no row yet since its start."""
        return self.running and self._row_age_seconds() > time.time() - self._start.get("time", 0.0)

    @property
    def elapsed_seconds(self) -> float:
        """Returns the seconds of training over all starts. Until the first prediction the clock stands still."""
        seconds = self.throughput.last("seconds", 0.0)
        goes_on = self.running and not self.starting and seconds > self._seconds_before
        return seconds + (self._row_age_seconds() if goes_on else 0.0)

    @property
    def _seconds_before(self) -> float:
        """Returns the seconds of training before this start.

        While games start rows come, but the seconds stand still; and the last row of a stopped run comes soon after
        the one before it. Where there are no such rows, training is taken to have begun with this start.
        """
        seconds = self.throughput.columns["seconds"]
        if not seconds:
            return 0.0
        here = time.time() - self._row_age_seconds() - self._start.get("time", 0.0)  # from this start to the last row
        earliest, near = seconds[-1] - here, self.settings.run.log_seconds / 2
        still = [one for one, following in pairwise(seconds) if one >= earliest and following - one < near]
        return max(0.0, still[-1] if still else earliest)

    @property
    def remaining_seconds(self) -> float | None:
        """Until the first of the limits is met, at the present speed. None: there is no limit, or it does not run."""
        if not self.running or self.starting:
            return None
        done = {name: self.throughput.last(name, 0.0) for name in ("steps", "episodes", "seconds")}
        left = []
        for name in ("steps", "episodes"):
            if (limit := self._start.get(name)) and done[name]:
                left.append((limit - done[name]) * self._seconds_for_each(name))
        if minutes := self._start.get("minutes"):
            left.append(60 * minutes - (self.elapsed_seconds - self._seconds_before))
        nearest = min(left, default=math.inf)
        return max(0.0, nearest) if math.isfinite(nearest) else None

    def _seconds_for_each(self, name: str) -> float:
        """By the last minute or so."""
        recent = [self.throughput.columns[column][-12:] for column in ("seconds", name)]
        seconds, made = (values[-1] - values[0] for values in recent)
        return seconds / made if made else math.inf

    @property
    def checkpoint_age_seconds(self) -> float | None:
        """None: there is no checkpoint."""
        files = list((self.run_dir / "checkpoints").glob("checkpoint-*.npz"))
        return min((_age_seconds(file) for file in files), default=None)


def _age_seconds(path: Path) -> float:
    """Infinite where there is no such file."""
    with contextlib.suppress(OSError):
        return max(0.0, time.time() - path.stat().st_mtime)
    return math.inf
