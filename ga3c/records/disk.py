"""The run's files on a disk that may be full or read-only for a while: training goes on, and catches up later."""

import csv
import errno
import io
import math
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ga3c.errors import ConfigError
from ga3c.records.files import GrowingFile, Place, open_to_read, reason, write_whole

LOG_BYTES_LIMIT = 2**28  # of what is read to be looked at: some million games
PART_BYTES = 2**22  # read at a time; a row is shorter
LARGEST = 1e50  # number in a log: a score is a sum of rewards, which are float32


class Disk:
    """Says once when something cannot be written, and once when all of it can be written again."""

    def __init__(self, say: Callable[[str], None], run_dir: Path | None = None):
        """`run_dir`: where all of it is written; nothing is, while that directory is not where it was."""
        self._say, self._failing, self._lock = say, set(), threading.Lock()
        self._run_dir, self._place = run_dir, run_dir and Place(run_dir)

    def attempt(self, path: Path, write: Callable[[], None]) -> bool:
        """Calls `write`. False if it failed for want of disk or memory.

        The caller keeps what was to be written, and tries again.
        """
        try:
            if self._place and not self._place.is_there():
                raise OSError(errno.ENOENT, f"{self._run_dir} was moved or removed")
            write()
        except (OSError, MemoryError) as error:
            with self._lock:
                first, self._failing = not self._failing, self._failing | {path}
            if first:
                self._say(
                    f"Cannot write {path}: {reason(error)}. Training goes on; "
                    "what is missing on disk is written when that is possible again."
                )
            return False
        with self._lock:
            over = self._failing == {path}
            self._failing = self._failing - {path}
        if over:
            self._say("The disk takes everything again.")
        return True

    def look(self) -> bool:
        """Whether the directory is where it was. Says once that it is not."""
        return self.attempt(self._run_dir, lambda: None)


class CsvLog:
    """Appends whole rows to a CSV file. Where that fails the rows wait in memory, and no half row stays behind."""

    def __init__(self, path: Path, columns: list[str], disk: Disk, durable: bool = False):
        """`columns`: a log that lies there with others gets these, with its first new row.

        `durable`: rows that are written survive a loss of power.
        """
        self._path, self._columns, self._disk = path, columns, disk
        self._file = GrowingFile(path, durable)
        self._waiting: list[str] = []
        self._mended = False
        self._lock = threading.Lock()

    def append(self, rows: Iterable[Iterable]) -> bool:
        """Rows have a cell for each column; without any the file gets its header. Safe to call from every thread.

        Returns whether the file holds all rows so far.
        """
        with self._lock:
            self._waiting += [line(row) for row in rows]
            if (self._waiting or not self._path.exists()) and self._disk.attempt(self._path, self._write):
                self._waiting = []
            return not self._waiting

    def _write(self) -> None:
        if not self._mended:
            mend(self._path, self._columns)
            self._mended = True
        self._file.append("".join(self._waiting).encode(), beginning=line(self._columns).encode())


def line(row: Iterable) -> str:
    """A row as a line of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue()


def mend(
    path: Path,
    columns: list[str] | None = None,
    last_step: float = math.inf,
    last_second: float = math.inf,
    most_rows: float = math.inf,
) -> None:
    """Takes out of a log what a resumed run would contradict: half a row, and rows after this step or this second.

    `most_rows`: as many were counted by then; those beyond are later ones of the same step. A log with other columns
    gets these; what it did not have is empty. None: it keeps its own. Raises OSError.
    """
    try:
        header, *rows = read_log(path)
    except FileNotFoundError:
        return
    columns = columns or header
    # As late as the last second may be written, by the rounding of the logs.
    latest = max(last_second, *(float(format(last_second, digits)) for digits in (".6g", ".2f")))
    mended = [line(columns)]
    for row in rows:
        named = dict(zip(header, row, strict=True))
        earlier = _at(named.get("steps")) <= last_step and _at(named.get("seconds", "0")) <= latest
        if earlier and len(mended) <= most_rows:
            mended.append(line(named.get(name, "") for name in columns))
    content = "".join(mended).encode()
    with open_to_read(path) as file:
        changed = file.read(len(content) + 1) != content
    if changed:
        write_whole(path, content)


def read_log(path: Path, most_bytes: float = math.inf) -> Iterator[list[str]]:
    """The header of a log, [] without one; then its rows. Raises OSError, for one of more bytes than that, too."""
    beginning = b""
    with open_to_read(path, most_bytes) as file:
        for lines, _ in parts(file):
            header, rows = parse(beginning + lines)
            if not beginning:
                beginning = lines[: lines.find(b"\n") + 1]
                yield header
            yield from rows
    if not beginning:
        yield []


def parts(file: BinaryIO, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """The whole lines of a log from there on, some megabytes at a time, and where each part of them ends.

    What has no end within as much is no row, and left out.
    """
    while True:
        file.seek(start)
        part = file.read(PART_BYTES)
        end = part.rfind(b"\n") + 1
        if not end and len(part) < PART_BYTES:
            return
        start += end or len(part)
        if end:
            yield part[:end], start


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


def number(cell: str | None) -> float:
    """NaN where it is empty, or so large that no run has written it: others can be added up and squared.

    Raises ValueError where it is none.
    """
    value = float(cell or "nan")
    return value if abs(value) < LARGEST else math.nan


def _at(cell: str | None) -> float:
    """Steps or seconds of a row; later than all, if that is not known."""
    try:
        value = number(cell)
    except ValueError:
        return math.inf
    return math.inf if math.isnan(value) else value


def read_csv(path: Path) -> dict[str, np.ndarray]:
    """The columns of a CSV file as float64 arrays, without `reason`; empty if there is no file.

    Unfinished and damaged rows are left out. Raises ConfigError where it is no file that can be read.
    """
    values = array("d")
    try:
        rows = read_log(path, LOG_BYTES_LIMIT)
        header = next(rows)
        columns = [index for index, name in enumerate(header) if name != "reason"]  # the one that is text
        for row in rows:
            values.extend(_numbers([row[index] for index in columns]))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"Cannot read {path}: {reason(error)}.") from error
    if not columns:
        return {}
    table = np.array(values).reshape(-1, len(columns))
    return dict(zip([header[index] for index in columns], table.T, strict=True))


def _numbers(cells: list[str]) -> list[float]:
    """[] if one is none."""
    try:
        return list(map(number, cells))
    except ValueError:
        return []
