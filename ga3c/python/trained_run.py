"""A run as Python code sees it: its directory, its log, its games."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ga3c.records import chosen_runs
from ga3c.records.csv_reading import read_csv
from ga3c.records.description import read_settings
from ga3c.settings.run import Settings


@dataclass(frozen=True)
class Run:
    """A run, of now or of earlier, in its directory. Raises ConfigError if there is none."""

    path: Path

    def __post_init__(self):
        object.__setattr__(self, "path", chosen_runs.existing(str(self.path)).absolute())

    def rows(self) -> dict[str, np.ndarray]:
        """Returns the log, a row for every few seconds: arrays by column, for pandas.DataFrame. ga3c/records/README.md
        explains the columns."""
        return read_csv(self.path / "throughput.csv")

    def games(self) -> dict[str, np.ndarray]:
        """Returns the finished games: arrays by column (seconds, steps, score, length_steps, agent)."""
        return read_csv(self.path / "episodes.csv")

    @property
    def mean(self) -> float:
        """The mean score of the last 100 games; NaN if none has ended."""
        means = self.rows().get("mean_score", ())
        return float(means[-1]) if len(means) else float("nan")

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return read_settings(self.path)

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        steps = self.rows().get("steps", ())
        made = f"{int(steps[-1]):,} steps, mean {self.mean:.2f}" if len(steps) else "no steps"
        return f"<Run {self.path}: {made}>"
