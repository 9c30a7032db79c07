"""Collapse: a run loses what it had learned."""

import contextlib
import math
from collections import deque
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ga3c.errors import ConfigError
from ga3c.records.csv_reading import number, read_log
from ga3c.records.files import reason

GAMES = 100  # in a mean
LOST = 0.5  # this share of what was gained is a collapse
CLEAR_DEVIATIONS = 10.0  # standard errors that a gain must exceed: half of a smaller one may be lost by chance


class Collapse(NamedTuple):
    """A collapse: its game, the mean scores then, at best and at first, and the game at which it was over."""

    game: int
    mean: float
    best: float
    first: float
    recovered_game: int | None = None

    def __str__(self) -> str:
        return (
            f"the mean score of {GAMES} games fell to {self.mean:.1f}, from {self.best:.1f} at best "
            f"and {self.first:.1f} at first"
        )


class Recovered(NamedTuple):
    """The end of a collapse: its game, and the mean score then."""

    game: int
    mean: float

    def __str__(self) -> str:
        return f"the mean score of {GAMES} games is back at {self.mean:.1f}"


class CollapseWatch:
    """Finds collapses in scores. A collapse ends when 3/4 of what was gained is there again."""

    def __init__(self):
        self._recent: deque[float] = deque(maxlen=GAMES)
        self._games, self._sum, self._squares = 0, 0.0, 0.0
        self._first: float | None = None
        self._best = self._best_error = 0.0
        self._collapsed = False

    def add(self, score: float) -> Collapse | Recovered | None:
        """Takes the score of a game. Returns a collapse that it begins or ends, or None."""
        self._games += 1
        if math.isnan(score):  # it is not known, and would make all means unknown
            return None
        if len(self._recent) == GAMES:
            gone = self._recent[0]
            self._sum, self._squares = self._sum - gone, self._squares - gone**2
        self._recent.append(score)
        self._sum, self._squares = self._sum + score, self._squares + score**2
        if len(self._recent) < GAMES:
            return None
        mean = self._sum / GAMES
        error = (max(self._squares / GAMES - mean**2, 0.0) / GAMES) ** 0.5
        if self._first is None:
            self._first, self._best, self._best_error = mean, mean, error
        if mean > self._best:
            self._best, self._best_error = mean, error
        gained = self._best - self._first
        if gained <= CLEAR_DEVIATIONS * max(error, self._best_error):
            return None
        was, self._collapsed = self._collapsed, mean < self._best - LOST * gained * (0.5 if self._collapsed else 1.0)
        if was == self._collapsed:
            return None
        return Recovered(self._games, mean) if was else Collapse(self._games, mean, self._best, self._first)


def resumed(episodes: Path) -> CollapseWatch:
    """Returns a watch that knows the games in episodes.csv, if there are any. Raises ConfigError."""
    watch = CollapseWatch()
    try:
        header, *rows = read_log(episodes)
    except FileNotFoundError:
        return watch
    except (OSError, MemoryError) as error:
        raise ConfigError(f"Cannot read {episodes}: {reason(error)}.") from error
    for row in rows if "score" in header else []:
        with contextlib.suppress(ValueError):  # a damaged row
            watch.add(number(row[header.index("score")]))
    return watch


def collapses(scores: np.ndarray) -> list[Collapse]:
    """Returns all collapses of a run, from the scores of its games in order."""
    watch, found = CollapseWatch(), []
    for event in filter(None, map(watch.add, scores.tolist())):
        if isinstance(event, Collapse):
            found.append(event)
        else:
            found[-1] = found[-1]._replace(recovered_game=event.game)
    return found
