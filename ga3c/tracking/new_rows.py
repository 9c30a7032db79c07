"""Reads what the logs of a run have gained, and makes points over steps of it."""

import contextlib
import math
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from ga3c.records.csv_reading import GrowingLog, number

GAMES_PER_ROW = 20  # more games than this between two rows of throughput.csv are thinned

Point = tuple[int, dict[str, float]]  # steps, and values by name


def new_rows(log: GrowingLog) -> Iterator[dict[str, str]]:
    """Yields the rows since the last call. After the run has written the log anew, these are all of its rows."""
    with contextlib.suppress(FileNotFoundError):  # the run has written none yet, or its directory is gone
        for _, names, rows in log.new():
            yield from (dict(zip(names, row, strict=True)) for row in rows)


class Points:
    """The rows of throughput.csv, and the scores of the games before each, as points over steps."""

    def __init__(self, run_dir: Path, steps: int):
        """`steps`: points up to here were sent before."""
        self._rows, self._games = (GrowingLog(run_dir / f"{name}.csv") for name in ("throughput", "episodes"))
        self._steps = steps
        self._waiting: deque[Point] = deque()  # games after the last row
        self._read: list[Point] = []  # rows, kept where the games cannot be read now

    def new(self) -> list[Point]:
        """Returns the points since the last call, one for each number of steps, in their order. Raises OSError."""
        self._read += _points(new_rows(self._rows))  # first: a game is written before its row
        games = ((steps, _of_game(values)) for steps, values in _points(new_rows(self._games)))
        self._waiting.extend(game for game in games if game[0] > self._steps)
        rows, self._read = self._read, []
        found: dict[int, dict[str, float]] = {}
        for steps, values in rows:
            if steps <= self._steps:  # a resumed run makes these again, and one that stands still has several of a step
                continue
            own = []
            while self._waiting and self._waiting[0][0] <= steps:
                own.append(self._waiting.popleft())
            found |= {step: dict(game) for step, game in own[:: math.ceil(len(own) / GAMES_PER_ROW) or 1]}
            found[steps] = found.get(steps, {}) | values
            self._steps = steps
        return sorted(found.items())


def _points(rows: Iterable[dict[str, str]]) -> Iterator[Point]:
    """Yields what rows hold, without cells in which nothing was measured, and without rows that hold no numbers."""
    for row in rows:
        with contextlib.suppress(ValueError):
            values = {name: number(cell) for name, cell in row.items()}
            yield int(values.pop("steps")), {name: value for name, value in values.items() if not math.isnan(value)}


def _of_game(values: dict[str, float]) -> dict[str, float]:
    return {"game_score": values["score"], "game_length_steps": values["length_steps"]}


def rows_after(run_dir: Path, steps: int) -> int:
    """Returns the number of rows of throughput.csv after so many steps."""
    return sum(own > steps for own, _ in _points(new_rows(GrowingLog(run_dir / "throughput.csv"))))
