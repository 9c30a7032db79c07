"""Runs with a replay memory: how fast they play and learn."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ga3c.experiments.runs import RunFailed, directory_of
from ga3c.experiments.tables import rounded
from ga3c.experiments.throughput import SpeedRun, csv_row
from ga3c.records.csv_reading import read_csv
from ga3c.records.run_directory import game_directory

FULL_STEPS = 50_000_000  # of the papers' runs: 200 million frames


@dataclass(frozen=True)
class ReplayedRun(SpeedRun):
    """A run of one of the presets that have a replay memory. None: as the preset has it."""

    sampling: str = "synchronised"
    concurrent_training: bool = False
    batch: int | None = None
    replay_transitions: int | None = None
    replay_minimum_transitions: int | None = None
    target_updates: int | None = None
    # As from the end of DQN's schedule on (Daley and Amato 2021, section 5.1): nearly all play asks the network.
    exploration_start: float = 0.1
    exploration_end: float = 0.1
    exploration_decay_steps: int | None = None
    seed: int = 1
    devices: str | None = None
    device_updates: str | None = None

    most_log_seconds = 1.0

    @property
    def name(self) -> str:
        game, how = game_directory(self.game).name, self.sampling + "-concurrent" * self.concurrent_training
        batch = f"-batch{self.batch}" if self.batch else ""
        where = f"-{self.devices}".replace(":", "").replace(",", "-") if self.devices else ""
        where += f"-{self.device_updates}" if self.device_updates else ""
        return f"{game}-{self.preset}{batch}-{how}{where}-{self.agents}x{self.envs_per_agent}-trial{self.seed}"


def steps_per_second(run: ReplayedRun, out: Path) -> float:
    """Returns the speed of a finished run, once it learns and its first fifth is over. Raises RunFailed.

    It is the slope of the straight line nearest to the rows: with concurrent training all steps between two target
    updates may be played in the first part of that time, and the rows begin and end somewhere in it.
    """
    rows = read_csv(directory_of(run, out) / "throughput.csv")
    seconds = rows["seconds"]
    counts = (np.cumsum(rows["updates_per_second"]) > 0) & (seconds >= run.seconds / 5) & (seconds <= run.seconds)
    if counts.sum() < 2 or np.ptp(rows["steps"][counts]) == 0:
        raise RunFailed(f"{run.name} learned too late to be measured: give more --seconds, and another --out.")
    return float(np.polyfit(seconds[counts], rows["steps"][counts], 1)[0])


def hours(speed: float) -> float:
    """Returns the hours for as many steps as in the papers, at `speed` steps per second."""
    return FULL_STEPS / speed / 3600


def speed_columns(speed: float) -> dict:
    return rounded({"steps_per_second": speed, "hours": hours(speed)})


def csv_rows(speeds: dict[ReplayedRun, float]) -> list[dict]:
    return [csv_row(run, {}) | speed_columns(speed) for run, speed in speeds.items()]
