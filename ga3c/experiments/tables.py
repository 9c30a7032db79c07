"""Tables: Markdown for people, CSV for programs."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ga3c.records.files import write_whole


def markdown(head: Sequence[str], rows: Iterable[Sequence]) -> str:
    """A table with one line for each row. A cell of None is a dash: the number is not known."""
    cells = [head, *(["-" if cell is None else str(cell) for cell in row] for row in rows)]
    first, *others = ("| " + " | ".join(row) + " |" for row in cells)
    return "\n".join([first, "|---" * len(head) + "|", *others]) + "\n"


def rounded(values: Mapping[str, object]) -> dict[str, object]:
    """The values of a CSV row: floats with six digits, and an empty cell for None."""
    return {name: "" if v is None else f"{v:.6g}" if isinstance(v, float) else v for name, v in values.items()}


def write_rows(path: Path, rows: list[dict]) -> None:
    """Writes a CSV file with the keys of the first row as its header; it appears when it is complete."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue())


def write(out: Path, name: str, rows: list[dict], table: str) -> None:
    """Writes NAME.csv and NAME.md into `out`."""
    write_rows(out / f"{name}.csv", rows)
    write_whole(out / f"{name}.md", table)
