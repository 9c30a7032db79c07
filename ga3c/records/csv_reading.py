"""Reads the CSV logs of a run. Damaged and unfinished rows are left out."""

import csv
import math
import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ga3c.errors import ConfigError
from ga3c.records.files import open_to_read, reason

LOG_BYTES_LIMIT = 2**28  # a larger log is not read for a view; this is some million games
PART_BYTES = 2**22  # read at a time; a row is shorter
LARGEST = 1e50  # numbers of this size or more were not written by a run: a score is a sum of float32 rewards


def read_log(path: Path, most_bytes: float = math.inf) -> Iterator[list[str]]:
    """Yields the header of a log ([] if it has none), then its rows. Raises OSError, also for a larger file."""
    header: list[str] | None = None
    for is_first, header, rows in GrowingLog(path, most_bytes).new():
        if is_first:
            yield header
        yield from rows
    if header is None:
        yield []


class GrowingLog:
    """Reads what a log has gained, again and again. A log that was written anew, as on resume, is read anew."""

    def __init__(self, path: Path, most_bytes: float = math.inf):
        self._path, self._most_bytes = path, most_bytes
        self._file = self._end = 0  # the number of the file, and how far it is read
        self._beginning = b""

    def new(self) -> Iterator[tuple[bool, list[str], list[list[str]]]]:
        """Yields, some megabytes at a time, whether they are the first of the file, its header, and the new rows.

        Raises OSError, also for a larger file.
        """
        with open_to_read(self._path, self._most_bytes) as file:
            status = os.fstat(file.fileno())
            if status.st_ino != self._file or status.st_size < self._end:
                self._file, self._end, self._beginning = status.st_ino, 0, b""
            for lines, end in _parts(file, self._end):
                is_first, self._end = not self._beginning, end
                header, rows = parse(self._beginning + lines)
                self._beginning = self._beginning or lines[: lines.find(b"\n") + 1]
                yield is_first, header, rows


def _parts(file: BinaryIO, start: int) -> Iterator[tuple[bytes, int]]:
    """Yields the whole lines of a log from `start` on, some megabytes at a time, and where each part ends.

    A line that is longer than that is no row, and is left out.
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
    """Returns the header and the rows of a log without those that are damaged or not whole."""
    lines = content[: content.rfind(b"\n") + 1].decode(errors="replace").split("\n")[:-1]
    header, *rows = [_cells(line) for line in lines] or [[]]
    return header, [row for row in rows if len(row) == len(header)]


def _cells(text: str) -> list[str]:
    if "\0" in text:  # a loss of power leaves blocks of zero bytes
        return []
    try:
        return next(csv.reader([text]), [])
    except csv.Error:
        return []


def number(cell: str | None) -> float:
    """Returns the number in a cell; NaN if it is empty, or so large that no run has written it.

    Numbers can be added up and squared. Raises ValueError if the cell holds no number.
    """
    value = float(cell or "nan")
    return value if abs(value) < LARGEST else math.nan


def read_csv(path: Path) -> dict[str, np.ndarray]:
    """Returns the columns of a CSV file as float64 arrays, without `reason`; {} if there is no file.

    Unfinished and damaged rows are left out. Raises ConfigError where it is no file that can be read.
    """
    values = array("d")
    try:
        rows = read_log(path, LOG_BYTES_LIMIT)
        header = next(rows)
        columns = [index for index, name in enumerate(header) if name != "reason"]  # `reason` is text
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
    """Returns the numbers in the cells; [] if one cell holds none."""
    try:
        return list(map(number, cells))
    except ValueError:
        return []
