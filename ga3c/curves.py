"""Curves of runs, as drawings, the dashboard and reports show them."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ga3c import run_directory, saved_settings
from ga3c.config import ConfigError
from ga3c.run_directory import read_csv

SMOOTH_GAMES = 100
POINTS = 500  # of a band, or of a curve that is thinned


class Quantity(NamedTuple):
    """What is drawn over what, and the log it stands in."""

    log: str
    x: str
    x_unit: float  # of the log's unit, in one of the drawing's
    y: str
    smooth_rows: int = 1


SCORE_OVER_TIME = Quantity("episodes", "seconds", 60.0, "score", SMOOTH_GAMES)
SCORE_OVER_STEPS = Quantity("episodes", "steps", 1e6, "score", SMOOTH_GAMES)


def over_time(column: str) -> Quantity:
    """A column of throughput.csv over minutes."""
    return Quantity("throughput", "seconds", 60.0, column)


class Curve(NamedTuple):
    """Of one run, or the mean of several with their lowest and highest. Empty where nothing is known."""

    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray


def moving_mean(values: np.ndarray, width: int) -> np.ndarray:
    """Mean of each value and the `width` - 1 before it (fewer at the start)."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - width, 0)
    return (sums[ends] - sums[starts]) / (ends - starts)


def read(run: Path, log: str, *names: str) -> dict[str, np.ndarray]:
    """What `read_csv` reads. Raises ConfigError where a file has other columns."""
    path = run / f"{log}.csv"
    columns = read_csv(path)
    if columns and (missing := set(names) - set(columns)):
        raise ConfigError(f"{path} is damaged, or of another version: it has no column {min(missing)}.")
    return columns


def of_run(run: Path, quantity: Quantity) -> tuple[np.ndarray, np.ndarray]:
    """x and y of one run. Raises ConfigError."""
    columns = read(run, quantity.log, quantity.x, quantity.y)
    if not columns:
        return np.array([]), np.array([])
    x, y = columns[quantity.x] / quantity.x_unit, columns[quantity.y]
    return x, moving_mean(y, quantity.smooth_rows) if quantity.smooth_rows > 1 else y


def of_runs(runs: list[Path], quantity: Quantity) -> Curve:
    """Of several runs over the range that all of them have. Raises ConfigError."""
    single = [of_run(run, quantity) for run in runs]
    if len(single) == 1:
        x, y = single[0]
        return Curve(x, y, y, y)
    single = [(x, y) for x, y in single if len(x)]
    if not single:
        return Curve(*[np.array([])] * 4)
    x = np.linspace(max(x[0] for x, _ in single), min(x[-1] for x, _ in single), POINTS)
    ys = np.stack([np.interp(x, *curve) for curve in single])
    return Curve(x, ys.mean(axis=0), ys.min(axis=0), ys.max(axis=0))


def thinned(x: np.ndarray, y: np.ndarray, points: int = POINTS) -> tuple[np.ndarray, np.ndarray]:
    """At most about so many points; the last one stays."""
    step = max(1, len(x) // points)
    return x[::-1][::step][::-1], y[::-1][::step][::-1]


def groups(runs: list[Path]) -> dict[str, list[Path]]:
    """Runs that differ in their seed alone belong together: label -> runs, in their order."""
    by_settings: dict[str, list[Path]] = {}
    for run in runs:
        by_settings.setdefault(_settings_but_seed(run), []).append(run)
    return {
        f"{alike[0].parent.name} {alike[0].name}" if len(alike) == 1 else f"{alike[0].parent.name}, {len(alike)} seeds"
        + (f" ({alike[0].name} ...)" if len(by_settings) > 1 else ""): alike
        for alike in by_settings.values()
    }  # fmt: skip


def _settings_but_seed(run: Path) -> str:
    try:
        settings = saved_settings.to_dict(run_directory.read_settings(run))
    except ConfigError:
        return str(run)
    settings["learning"].pop("seed")
    return json.dumps([settings[group] for group in ("environment", "schedule", "learning")])
