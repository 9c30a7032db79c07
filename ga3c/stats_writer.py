"""Writes the statistics of a run: console, CSV files, TensorBoard.

Rates are of the time since the row before, not averages since the start.
"""

import csv
import threading
from dataclasses import dataclass, fields
from pathlib import Path

from ga3c.console import Console
from ga3c.stats import Stats, Totals, Window

EPISODE_COLUMNS = ["seconds", "steps", "score", "length_steps", "agent"]


@dataclass
class Throughput:
    """One row of throughput.csv; the README explains each column."""

    seconds: float
    steps: int
    frames: int
    pps: float
    tps: float
    updates_per_second: float
    trained_steps_per_second: float
    frames_per_second: float
    agents: int
    predictors: int
    trainers: int
    prediction_queue: int
    training_queue: int
    mean_prediction_batch: float
    mean_training_batch: float
    mean_policy_lag_updates: float
    max_policy_lag_updates: int
    entropy: float
    value: float
    loss: float
    policy_loss: float
    value_loss: float
    gradient_norm: float
    episodes: int
    mean_score: float
    trained_steps: int
    lost_steps: int


THROUGHPUT_COLUMNS = [f.name for f in fields(Throughput)]


def _rate(now: int, before: int, seconds: float) -> float:
    return (now - before) / seconds if seconds > 0 else 0.0


def _cell(value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class StatsWriter(threading.Thread):
    """Every `interval` seconds: one row of throughput.csv, the new rows of episodes.csv, TensorBoard, console.

    `counts()` gives agents, predictors, trainers; `queues()` the lengths of prediction and training queue.
    """

    def __init__(
        self,
        stats: Stats,
        run_dir: Path,
        interval: float,
        frames_per_step: int,
        counts,
        queues,
        console: Console,
    ):
        super().__init__(name="statistics", daemon=True)
        self._stats, self._interval, self._frames_per_step = stats, interval, frames_per_step
        self._counts, self._queues, self._console = counts, queues, console
        self._throughput = _CsvFile(run_dir / "throughput.csv", THROUGHPUT_COLUMNS)
        self._episodes = _CsvFile(run_dir / "episodes.csv", EPISODE_COLUMNS)
        self._tensorboard = _TensorBoard(run_dir / "tensorboard")
        self._ended = threading.Event()
        self._before = stats.totals()

    def run(self) -> None:
        while not self._ended.wait(self._interval):
            self.write()

    def finish(self) -> None:
        """Ends the thread and writes what is left."""
        self._ended.set()
        if self.is_alive():
            self.join()
        self.write()
        self._tensorboard.close()

    def write(self) -> Throughput:
        totals, window, episodes = self._stats.take_window()
        row = self._row(totals, window)
        self._before = totals
        self._episodes.append(episodes)
        self._throughput.append([[_cell(value) for value in vars(row).values()]])
        self._tensorboard.write(row)
        self._console.status(row, self._stats.last_score)
        return row

    def _row(self, now: Totals, window: Window) -> Throughput:
        before = self._before
        seconds = now.seconds - before.seconds
        states = now.predictions - before.predictions
        updates = now.updates - before.updates
        agents, predictors, trainers = self._counts()
        prediction_queue, training_queue = self._queues()
        steps_per_second = _rate(now.steps, before.steps, seconds)
        return Throughput(
            seconds=now.seconds,
            steps=now.steps,
            frames=now.steps * self._frames_per_step,
            pps=_rate(now.predictions, before.predictions, seconds),
            tps=_rate(now.rollouts, before.rollouts, seconds),
            updates_per_second=_rate(now.updates, before.updates, seconds),
            trained_steps_per_second=_rate(now.trained_steps, before.trained_steps, seconds),
            frames_per_second=steps_per_second * self._frames_per_step,
            agents=agents,
            predictors=predictors,
            trainers=trainers,
            prediction_queue=prediction_queue,
            training_queue=training_queue,
            mean_prediction_batch=states / window.predictions if window.predictions else float("nan"),
            mean_training_batch=window.trained_steps / updates if updates else float("nan"),
            mean_policy_lag_updates=window.lag_sum / window.lag_rows if window.lag_rows else float("nan"),
            max_policy_lag_updates=window.lag_max,
            entropy=window.mean("entropy"),
            value=window.mean("value"),
            loss=window.mean("loss"),
            policy_loss=window.mean("policy_loss"),
            value_loss=window.mean("value_loss"),
            gradient_norm=window.mean("gradient_norm"),
            episodes=now.episodes,
            mean_score=self._stats.mean_score(),
            trained_steps=now.trained_steps,
            lost_steps=now.lost_steps,
        )


class _CsvFile:
    """Appends whole rows; each call is on disk when it returns."""

    def __init__(self, path: Path, columns: list[str]):
        new = not path.exists()
        self._file = path.open("a", newline="", encoding="utf-8")
        self._writer = csv.writer(self._file, lineterminator="\n")
        if new:
            self.append([columns])

    def append(self, rows: list) -> None:
        self._writer.writerows(rows)
        self._file.flush()


class _TensorBoard:
    """Scalars under the names of throughput.csv, over steps."""

    def __init__(self, directory: Path):
        import tensorflow as tf  # the one place in this file that needs it

        self._summary = tf.summary
        self._writer = tf.summary.create_file_writer(str(directory))

    def write(self, row: Throughput) -> None:
        with self._writer.as_default(step=row.steps):
            for name, value in vars(row).items():
                if name != "steps" and value == value:  # NaN: nothing was measured
                    self._summary.scalar(f"ga3c/{name}", value)

    def close(self) -> None:
        self._writer.close()
