"""Runs whose speed is measured, and what their logs say of it."""

import sys
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from ga3c.experiments.runs import RunFailed, directory_of
from ga3c.experiments.tables import rounded
from ga3c.records import description, run_directory
from ga3c.records.csv_reading import read_csv
from ga3c.settings import flag_of


@dataclass(frozen=True)
class SpeedRun:
    """A training run whose speed is measured: settings of `train` (None: its preset's), and how long it trains."""

    game: str
    agents: int
    predictors: int
    trainers: int
    seconds: float
    network: str = "auto"
    envs_per_agent: int | None = None
    t_max: int | None = None
    preset: str = "ga3c"
    controller: str = "off"
    start_from: str | None = None

    most_log_seconds: ClassVar[float] = 5.0
    goes_on: ClassVar[bool] = False  # an interrupted one is made again, and a finished one keeps no weights

    @property
    def name(self) -> str:
        game = run_directory.game_directory(self.game).name
        counts = f"NA{self.agents}-NP{self.predictors}-NT{self.trainers}"
        return f"{game}-{self.network}-controller-{self.controller}-{counts}"

    @property
    def log_seconds(self) -> float:
        """Seconds between two rows of its throughput.csv: a dozen rows at least."""
        return min(max(self.seconds / 12, 0.1), self.most_log_seconds)

    def command(self, directory: Path) -> list[str]:
        values = {"seed": 1} | asdict(self) | {"minutes": self.seconds / 60, "log_seconds": self.log_seconds}
        values |= {"run_dir": directory, "plot_seconds": 0, "checkpoints_kept": 1}
        del values["seconds"]
        given = {flag_of(name): v for name, v in values.items() if v is not None and v is not False}
        flags = ([flag] if value is True else [flag, str(value)] for flag, value in given.items())
        return [sys.executable, "-m", "ga3c", "train", *chain.from_iterable(flags)]


class Spread(NamedTuple):
    """A quantity over the rows of one run that count."""

    median: float
    mean: float
    lowest: float
    highest: float


def spread(values: np.ndarray) -> Spread:
    """Returns the spread of the numbers among the values; NaN where there is none."""
    values = values[~np.isnan(values)]
    if not len(values):
        return Spread(*[float("nan")] * 4)
    return Spread(float(np.median(values)), float(values.mean()), float(values.min()), float(values.max()))


def measure(run: SpeedRun, out: Path, needed: str = "pps") -> dict[str, Spread]:
    """Returns what a finished run reached after its first fifth, which is for settling.

    pps, tps: per second. training_queue: rollouts of one game. prediction_batch: states. cpu_percent: of the usable
    cores, server and agents together. gpu_percent: time in which the GPU worked. Raises RunFailed, also where most
    rows are 0 in what is `needed`.
    """
    directory = directory_of(run, out)
    rows = read_csv(directory / "throughput.csv")
    since = np.concatenate([[0.0], rows["seconds"]])[:-1]  # the row before: where the time of a row begins
    counts = (since >= run.seconds / 5) & (rows["seconds"] <= run.seconds)  # what comes later is the stop
    if not counts.any():
        raise RunFailed(f"{run.name} has no row after settling: give more --seconds, and another --out.")
    unknown = np.full(len(since), np.nan)
    config = description.read(directory)
    quantities = {
        "pps": rows["pps"],
        "tps": rows["tps"],
        "training_queue": rows["training_queue"] * config["settings"]["schedule"]["envs_per_agent"],
        "prediction_batch": rows["mean_prediction_batch"],
        "policy_lag_updates": rows["mean_policy_lag_updates"],
        "cpu_percent": 100 * rows.get("cores_used", unknown) / config["hardware"]["cores"],
    }
    measured = {name: spread(values[counts]) for name, values in quantities.items()}
    if not measured[needed].median:
        raise RunFailed(f"{run.name} was too slow to be measured: give more --seconds, and another --out.")
    gpu = read_csv(directory / "gpu.csv")
    settled = gpu["gpu_percent"][gpu["seconds"] >= run.seconds / 5] if gpu else unknown
    return measured | {"gpu_percent": spread(settled)}


def csv_row(run: SpeedRun, measured: dict[str, Spread]) -> dict:
    """Returns the run's settings, and median, mean, lowest and highest of each quantity."""
    flat = {f"{name}_{kind}": value for name, spread in measured.items() for kind, value in spread._asdict().items()}
    return asdict(run) | rounded(flat)
