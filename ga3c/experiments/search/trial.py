"""The training runs of one trial, and their score over the CPU time that they have used."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ga3c import environments
from ga3c.environments.human_scores import human_normalized
from ga3c.errors import ConfigError
from ga3c.experiments.runs import OUTPUT, RunFailed, refusal_in, start, stop, train_command
from ga3c.records import checkpoint
from ga3c.records.csv_reading import read_csv
from ga3c.records.lock import is_locked


def curve(directory: Path, game: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the core-seconds that a run has used up to each row of its log, and the mean of its last 100 games.

    The core-seconds are the CPU time of agents and server from the first prediction on. The score is human-normalised
    where a human score is known, and the game's own elsewhere; NaN until the first game has ended.
    """
    rows = read_csv(directory / "throughput.csv")
    if not rows:
        return np.array([]), np.array([])
    spent = np.cumsum(np.nan_to_num(rows["cores_used"]) * np.diff(rows["seconds"], prepend=0))
    normalized = human_normalized(environments.resolve(game)[1], rows["mean_score"])
    return spent, rows["mean_score"] if normalized is None else normalized


def mean_score(spent: np.ndarray, score: np.ndarray, core_seconds: float) -> float:
    """Returns the area under a curve from 0 to so many core-seconds, divided by these; NaN if no score is known.

    The first score that is known counts from the start, and the last one to the end.
    """
    known = np.isfinite(score)
    if not known.any():
        return float("nan")
    x = np.concatenate([[0.0], spent[spent < core_seconds], [core_seconds]])
    return float(np.trapezoid(np.interp(x, spent[known], score[known]), x) / core_seconds)


class TrialRun:
    """The training run of a trial on one game: a process of the program, which goes on where it was stopped."""

    def __init__(self, game: str, seed: int, flags: list[str], directory: Path):
        self.game, self.directory = game, directory
        self._seed, self._flags = seed, flags
        self._process = None

    def train(self, core_seconds: float) -> Iterator[None]:
        """Yields until the run has used so many core-seconds. It is still running then. Raises RunFailed, and
        ConfigError if it cannot go on now."""
        while curve(self.directory, self.game)[0].max(initial=0.0) < core_seconds:
            if self._process is None:
                while is_locked(self.directory):  # a run that was left by a killed study saves itself
                    yield
                if not checkpoint.saved(self.directory / "checkpoints"):
                    shutil.rmtree(self.directory, ignore_errors=True)
                self.directory.mkdir(parents=True, exist_ok=True)
                command = train_command(self.directory, self.game, self._seed, self._flags)
                self._process = start(command, self.directory / OUTPUT)
            if self._process.poll() is not None:
                output = self.directory / OUTPUT
                if self._process.returncode == 2 and checkpoint.saved(self.directory / "checkpoints"):
                    raise ConfigError(refusal_in(output))  # it has trained with these settings: another start goes on
                said = refusal_in(output) if self._process.returncode == 2 else f"{output} says why."
                raise RunFailed(f"{self.game} ended with status {self._process.returncode}: {said}")
            yield

    def mean_score(self, core_seconds: float) -> float:
        return mean_score(*curve(self.directory, self.game), core_seconds)

    def stop(self) -> None:
        """Stops the run, which saves itself."""
        if self._process:
            stop(self._process)
            self._process = None
