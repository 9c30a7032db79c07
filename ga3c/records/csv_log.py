"""The CSV logs of a run: rows are appended, and what a resumed run would contradict is taken out."""

import csv
import io
import math
import threading
from collections.abc import Iterable
from pathlib import Path

from ga3c.records.csv_reading import number, read_log
from ga3c.records.disk import Disk
from ga3c.records.files import GrowingFile, open_to_read, rename, write_whole

MOST_HEADER_BYTES = 100_000


class CsvLog:
    """Appends whole rows to a CSV file. If that fails, the rows wait in memory and no half row stays in the file."""

    def __init__(self, path: Path, columns: list[str], disk: Disk, durable: bool = False):
        """`columns`: an old log with other columns gets these, with its first new row.

        `durable`: rows that are written survive a loss of power.
        """
        self._path, self._columns, self._disk = path, columns, disk
        self._file = GrowingFile(path, durable)
        self._waiting: list[str] = []
        self._mended = False
        self._lock = threading.Lock()

    def append(self, rows: Iterable[Iterable]) -> bool:
        """Appends rows of a cell for each column; with no rows the file gets its header. Safe in every thread.

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
    """Returns a row as a line of a CSV file."""
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
    """Takes out of a log half a row, and rows after this step or this second, which a resumed run makes again.

    `most_rows`: further rows are later ones of the same step. `columns`: the log gets these, with empty cells where it
    had none; None: it keeps its own. Raises OSError.
    """
    try:
        header, *rows = read_log(path)
    except FileNotFoundError:
        return
    if not (header or columns or path.stat().st_size):
        return
    if not {"steps", "time"} & set(header) and _has_header(path):  # it is damaged: no row can be told from another
        rename(path, path.with_name(f"{path.name}.damaged"))
        return
    columns = columns or header
    # The logs round their seconds, so the last row may look later than it is.
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


def _has_header(path: Path) -> bool:
    """Returns whether a log has a whole first line. Raises OSError."""
    with open_to_read(path) as file:
        return file.readline(MOST_HEADER_BYTES).endswith(b"\n")


def _at(cell: str | None) -> float:
    """Returns the steps or seconds of a row; infinity if they are not known."""
    try:
        value = number(cell)
    except ValueError:
        return math.inf
    return math.inf if math.isnan(value) else value
