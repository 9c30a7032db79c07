"""Curves of runs, as drawings, the dashboard and reports show them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ga3c.environments import protocols
from ga3c.errors import ConfigError
from ga3c.records import run_directory
from ga3c.records.collapse import collapses
from ga3c.records.csv_reading import read_csv
from ga3c.records.description import read_settings
from ga3c.settings import saved_settings
from ga3c.views import labels

SMOOTH_GAMES = 100
SMOOTH_SHARE = 50  # of the rows of throughput.csv, one in so many makes a point of a smooth curve
POINTS = 500  # of a band, or of a curve that is thinned


class Quantity(NamedTuple):
    """A column of a log, drawn over another one."""

    log: str
    x: str
    x_unit: float  # of the log's unit, in one of the drawing's
    y: str
    smooth_rows: int = 1  # 0: as many as its length asks for

    def width(self, rows: int) -> int:
        """Returns how many rows a point averages, in a log of so many."""
        return self.smooth_rows or max(5, rows // SMOOTH_SHARE)

    @property
    def is_count(self) -> bool:
        """It stays until somebody changes it: it is drawn in steps."""
        return self.log == "throughput" and self.smooth_rows == 1

    def raw(self) -> "Quantity":
        """The same, as it stands in the log."""
        return self._replace(smooth_rows=1)


SCORE_OVER_TIME = Quantity("episodes", "seconds", 60.0, "score", SMOOTH_GAMES)
SCORE_OVER_STEPS = Quantity("episodes", "steps", 1e6, "score", SMOOTH_GAMES)


def over_time(column: str, smooth: bool = True) -> Quantity:
    """A column of throughput.csv over minutes."""
    return Quantity("throughput", "seconds", 60.0, column, 0 if smooth else 1)


def over_steps(column: str) -> Quantity:
    """A column of throughput.csv over million steps, smooth."""
    return Quantity("throughput", "steps", 1e6, column, 0)


class Curve(NamedTuple):
    """A curve of one run, or the mean of several with their lowest and highest. Empty where nothing is known."""

    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Reached(NamedTuple):
    """The training time and the steps after which a run first had a score. NaN: it never had it."""

    minutes: float
    million_steps: float


def moving_mean(values: np.ndarray, width: int) -> np.ndarray:
    """Mean of each value and the `width` - 1 before it (fewer at the start); of those that are numbers."""
    known = np.isfinite(values)
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - width, 0)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        sums, counts = (np.concatenate([[0.0], np.cumsum(part)]) for part in (np.where(known, values, 0.0), known))
        return (sums[ends] - sums[starts]) / (counts[ends] - counts[starts])


def read(run: Path, log: str, *names: str) -> dict[str, np.ndarray]:
    """Returns the columns that `read_csv` reads. Raises ConfigError where a file has other columns."""
    path = run / f"{log}.csv"
    columns = read_csv(path)
    if columns and (missing := set(names) - set(columns)):
        raise ConfigError(f"{path} is damaged, or of another version: it has no column {min(missing)}.")
    return columns


def of_run(run: Path, quantity: Quantity) -> tuple[np.ndarray, np.ndarray]:
    """x and y of one run, or of the score of an exported agent. Raises ConfigError."""
    if quantity.log == "episodes" and run_directory.is_exported(run):
        minutes, steps, score = exported_curve(run)
        return (minutes if quantity.x == "seconds" else steps), score
    columns = read(run, quantity.log, quantity.x, quantity.y)
    if not columns:
        return np.array([]), np.array([])
    return points(columns, quantity)


def first_reached(run: Path, score: float) -> Reached:
    """Returns when the mean of the last 100 games first was `score`. Raises ConfigError."""
    minutes, means = of_run(run, SCORE_OVER_TIME)
    million_steps, _ = of_run(run, SCORE_OVER_STEPS)
    games = np.flatnonzero(means >= score)
    games = games[games >= SMOOTH_GAMES - 1]  # from the first on that has 100 games up to it
    return Reached(float(minutes[games[0]]), float(million_steps[games[0]])) if len(games) else Reached(np.nan, np.nan)


def exported_curve(run: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Minutes, million steps and mean score of an exported agent; empty where it has no learning curve."""
    columns = read_csv(run / "learning-curve.csv")
    return tuple(columns.get(name, np.array([])) for name in ("minutes", "million_steps", "mean_score"))


def points(columns: dict[str, Sequence[float]], quantity: Quantity) -> tuple[np.ndarray, np.ndarray]:
    """x and y, from the columns of its log; without a column that is not there."""
    x = np.array(columns[quantity.x], float) / quantity.x_unit
    y = np.array(columns.get(quantity.y, []), float)
    x, y = x[: len(y)], y[: len(x)]  # rows may come in meanwhile
    width = quantity.width(len(y))
    return x, moving_mean(y, width) if width > 1 else y


def of_runs(runs: list[Path], quantity: Quantity) -> Curve:
    """Returns the curve of several runs over the range that all of them have. Raises ConfigError."""
    single = [of_run(run, quantity) for run in runs]
    if len(single) == 1:
        x, y = single[0]
        return Curve(x, y, y, y)
    single = [(x, y) for x, y in single if len(x)]
    start, end = max((x[0] for x, _ in single), default=0.0), min((x[-1] for x, _ in single), default=0.0)
    if start >= end:  # there is no game, or one run had ended before the first game of another
        return Curve(*[np.array([])] * 4)
    x = np.linspace(start, end, POINTS)
    ys = np.stack([np.interp(x, *curve) for curve in single])
    return Curve(x, ys.mean(axis=0), ys.min(axis=0), ys.max(axis=0))


def collapsed(run: Path) -> list[dict[str, np.ndarray]]:
    """For each collapse of the score the two rows of episodes.csv from which to which it lasts. Raises ConfigError."""
    games = read(run, "episodes", "seconds", "steps", "score")
    found = collapses(games["score"]) if games else []
    spans = [[c.game - 1, (c.recovered_game or len(games["score"])) - 1] for c in found]
    return [{name: values[span] for name, values in games.items()} for span in spans]


def thinned(x: np.ndarray, y: np.ndarray, points: int = POINTS) -> tuple[np.ndarray, np.ndarray]:
    """At most about so many points; the last one stays."""
    step = max(1, len(x) // points)
    return x[::-1][::step][::-1], y[::-1][::step][::-1]


def groups(runs: list[Path]) -> dict[str, list[Path]]:
    """Runs that differ in their seed alone belong together: label -> runs, in their order.

    Where runs were made under different protocols the labels say under which.
    """
    by_settings: dict[str, list[Path]] = {}
    for run in runs:
        by_settings.setdefault(_settings_but_seed(run), []).append(run)
    mixed, alike = mixed_protocols(runs) is not None, list(by_settings.values())
    known = [labels.know(one[0]) for one in alike]
    known = [first.without_seed() if len(one) > 1 else first for first, one in zip(known, alike, strict=True)]
    found = {}
    for label, one in zip(labels.labels(known), alike, strict=True):
        seeds = f", {len(one)} seeds" if len(one) > 1 else ""
        found[f"{label}{seeds} [{_protocol(one[0])}]" if mixed else label + seeds] = one
    return found


def _protocol(run: Path) -> str:
    try:
        return protocols.fingerprint(read_settings(run).environment)
    except ConfigError:
        return "unknown"


def mixed_protocols(runs: list[Path]) -> str | None:
    """Returns a remark on runs under different protocols; None where all have the same."""
    return protocols.mix(map(_protocol, runs))


def _settings_but_seed(run: Path) -> str:
    try:
        settings = saved_settings.to_dict(read_settings(run))
    except ConfigError:
        return str(run)
    settings["learning"].pop("seed")
    return json.dumps([settings[group] for group in labels.GROUPS])
