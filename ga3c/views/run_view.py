"""A run as its files show it, read again and again while it goes on: what a screen, a page or a report draws."""

import contextlib
import math
import os
import time
from collections.abc import Sequence
from pathlib import Path

from ga3c.records import run_directory
from ga3c.records.columns import DECISION_COLUMNS, EPISODE_COLUMNS, MESSAGE_COLUMNS, THROUGHPUT_COLUMNS
from ga3c.records.description import read_settings
from ga3c.records.disk import parse

TEXTS = ("reason", "message")  # columns that are none of numbers
LATE_SECONDS = 2.0  # a row that comes so much later than expected makes it ask whether the run is still there


class Tail:
    """The columns of a CSV file that grows: those named, and what numbers it has besides.

    A file that was written anew, as on resume, is read anew.
    """

    def __init__(self, path: Path, columns: Sequence[str]):
        self._path, self._named = path, columns
        self._forget()

    def _forget(self) -> None:
        self._file, self._read, self._header = 0, 0, b""
        self.columns: dict[str, list] = {name: [] for name in self._named}

    def __len__(self) -> int:
        return len(self.columns[self._named[0]])

    def last(self, name: str, default: float | str = math.nan) -> float | str:
        """The newest cell of a column."""
        return self.columns[name][-1] if self.columns.get(name) else default

    def refresh(self) -> None:
        """Reads the rows that are new and whole; damaged ones are left out."""
        try:
            with self._path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._file or status.st_size < self._read:
                    self._forget()
                    self._file = status.st_ino
                file.seek(self._read)
                new = file.read()
        except OSError:
            return
        new = new[: new.rfind(b"\n") + 1]
        self._read += len(new)
        if not self._header:
            self._header = new[: new.find(b"\n") + 1]
            new = new[len(self._header) :]
        header, rows = parse(self._header + new)
        for name in header:
            self.columns.setdefault(name, [])
        for row in rows:
            cells = dict(zip(header, row, strict=True))
            with contextlib.suppress(ValueError):
                values = [cells.get(n, "") if n in TEXTS else float(cells.get(n) or "nan") for n in self.columns]
                for column, value in zip(self.columns.values(), values, strict=True):
                    column.append(value)


class RunView:
    """Raises ConfigError where there is no run, or its settings cannot be read."""

    def __init__(self, run_dir: Path):
        self.run_dir, self.settings = run_dir, read_settings(run_dir)
        self.game = run_directory.game_directory(self.settings.environment.game).name
        self.throughput = Tail(run_dir / "throughput.csv", THROUGHPUT_COLUMNS)
        self.episodes = Tail(run_dir / "episodes.csv", EPISODE_COLUMNS)
        self.decisions = Tail(run_dir / "controller.csv", DECISION_COLUMNS)
        self.messages = Tail(run_dir / "messages.csv", MESSAGE_COLUMNS)
        self.running, self._start = False, {}
        self.refresh()

    def refresh(self) -> None:
        """Takes in what the files have gained."""
        for tail in (self.throughput, self.episodes, self.decisions, self.messages):
            tail.refresh()
        if not self.running or self._row_age_seconds() > self.settings.run.log_seconds + LATE_SECONDS:
            self.running = run_directory.is_locked(self.run_dir)
            self._start = run_directory.read_start(self.run_dir) if self.running else {}

    def _row_age_seconds(self) -> float:
        return _age_seconds(self.run_dir / "throughput.csv")

    @property
    def numbers(self) -> list[str]:
        """Names of what the algorithm reports of an update: the columns that not every throughput.csv has."""
        return [name for name in self.throughput.columns if name not in THROUGHPUT_COLUMNS]

    @property
    def starting(self) -> bool:
        """It runs, and has written no row yet since its start."""
        return self.running and self._row_age_seconds() > time.time() - self._start.get("time", 0.0)

    @property
    def elapsed_seconds(self) -> float:
        """Of training, over all starts."""
        seconds = self.throughput.last("seconds", 0.0)
        return seconds + (self._row_age_seconds() if self.running and not self.starting else 0.0)

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
            left.append(self._start["time"] + 60 * minutes - time.time())
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
