"""The run's files on a disk that may be full or read-only for a while: training goes on, and catches up later."""

import csv
import io
import math
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np


class Disk:
    """Says once when something cannot be written, and once when all of it can be written again."""

    def __init__(self, say: Callable[[str], None]):
        self._say, self._failing, self._lock = say, set(), threading.Lock()

    def attempt(self, path: Path, write: Callable[[], None]) -> bool:
        """Calls `write`. False if it raised OSError; the caller keeps what was to be written, and tries again."""
        try:
            write()
        except OSError as error:
            with self._lock:
                first, self._failing = not self._failing, self._failing | {path}
            if first:
                self._say(
                    f"Cannot write {path}: {error.strerror or error}. Training goes on; "
                    "what is missing on disk is written when that is possible again."
                )
            return False
        with self._lock:
            over = self._failing == {path}
            self._failing = self._failing - {path}
        if over:
            self._say("The disk takes everything again.")
        return True


class CsvLog:
    """Appends whole rows to a CSV file. Where that fails the rows wait in memory, and no half row stays behind."""

    def __init__(self, path: Path, columns: list[str], disk: Disk):
        """`columns`: a log that lies there with others gets these, with its first new row."""
        self._path, self._columns, self._disk = path, columns, disk
        self._waiting: list[str] = []
        self._mended = False
        self._lock = threading.Lock()

    def append(self, rows: Iterable[Iterable]) -> None:
        """Rows have a cell for each column; without any the file gets its header. Safe to call from every thread."""
        with self._lock:
            self._waiting += [line(row) for row in rows]
            if (self._waiting or not self._path.exists()) and self._disk.attempt(self._path, self._write):
                self._waiting = []

    def _write(self) -> None:
        if not self._mended:
            mend(self._path, self._columns)
            self._mended = True
        with self._path.open("ab", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            lines = self._waiting if size else [line(self._columns), *self._waiting]
            text = "".join(lines).encode()
            try:
                if file.write(text) < len(text):  # the disk took a part of it
                    raise OSError(None, "No space left on device")
            except OSError:
                file.truncate(size)
                raise


def line(row: Iterable) -> str:
    """A row as a line of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue()


def mend(
    path: Path, columns: list[str] | None = None, last_step: float = math.inf, last_second: float = math.inf
) -> None:
    """Takes out of a log what a resumed run would contradict: half a row, and rows after this step or this second.

    A log with other columns gets these; what it did not have is empty. None: it keeps its own. Raises OSError.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    header, rows = parse(content)
    columns = columns or header
    named = [dict(zip(header, row, strict=True)) for row in rows]
    # As late as the last second may be written, by the rounding of the logs.
    latest = max(last_second, *(float(format(last_second, digits)) for digits in (".6g", ".2f")))
    kept = [
        row for row in named if _number(row.get("steps")) <= last_step and _number(row.get("seconds", "0")) <= latest
    ]
    mended = "".join([line(columns), *(line(row.get(name, "") for name in columns) for row in kept)])
    if mended.encode() != content:
        write_whole(path, mended)


def parse(content: bytes) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a log; rows that are damaged or not whole are left out."""
    lines = content[: content.rfind(b"\n") + 1].decode(errors="replace").split("\n")[:-1]
    header, *rows = [_cells(line) for line in lines] or [[]]
    return header, [row for row in rows if len(row) == len(header)]


def _cells(text: str) -> list[str]:
    if "\0" in text:  # where the machine lost power, blocks of them stand for what was not written
        return []
    try:
        return next(csv.reader([text]), [])
    except csv.Error:
        return []


def _number(cell: str | None) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return float("inf")


def write_whole(path: Path, text: str) -> None:
    """The file appears when it is complete, or stays as it was. Raises OSError."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def read_csv(path: Path) -> dict[str, np.ndarray]:
    """The columns of a CSV file as float64 arrays, without `reason`; empty if there is no file.

    Unfinished and damaged rows are left out.
    """
    try:
        header, rows = parse(path.read_bytes())
    except FileNotFoundError:
        return {}
    columns = [index for index, name in enumerate(header) if name != "reason"]  # the one that is text
    if not columns:
        return {}
    numbers = [_numbers([row[index] for index in columns]) for row in rows]
    values = np.array([row for row in numbers if row]).reshape(-1, len(columns))
    return dict(zip([header[index] for index in columns], values.T, strict=True))


def _numbers(cells: list[str]) -> list[float]:
    """An empty cell is not a number; [] if another is none either."""
    try:
        return [float(cell or "nan") for cell in cells]
    except ValueError:
        return []
