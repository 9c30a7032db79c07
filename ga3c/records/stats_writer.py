"""Writes the statistics of a run to the console, to CSV files and for TensorBoard.

Rates are those since the row before, not averages since the start.
"""

import threading
import time
from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.records import collapse
from ga3c.records.columns import EPISODE_COLUMNS, THROUGHPUT_COLUMNS, Throughput
from ga3c.records.console import Console
from ga3c.records.csv_log import CsvLog
from ga3c.records.disk import Disk
from ga3c.records.tensorboard import TensorBoardWriter
from ga3c.stats import Timings, Totals, Window

Work = tuple[Timings, float, float]  # and the core-seconds of agents and of the server


def _rate(now: int, before: int, seconds: float) -> float:
    return (now - before) / seconds if seconds > 0 else 0.0


def _mean_ms(seconds: float, count: int) -> float:
    return 1000 * seconds / count if count else float("nan")


def _share(seconds: float, of_seconds: float) -> float:
    """A wait counts in the row in which it ends, so it may be longer than the row."""
    return min(1.0, seconds / of_seconds) if of_seconds else float("nan")


def _cell(value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class StatsWriter(threading.Thread):
    """Writes every `interval` seconds a row of throughput.csv, the new rows of episodes.csv, TensorBoard, console."""

    def __init__(self, system, run_dir: Path, interval: float, frames_per_step: int, console: Console, disk: Disk):
        """`system`: a `systems.System` that has started."""
        super().__init__(name="statistics", daemon=True)
        self._system, self._stats = system, system.stats
        self._interval, self._frames_per_step, self._console = interval, frames_per_step, console
        columns = [*THROUGHPUT_COLUMNS, *system.model.numbers, *system.watched()]
        if doubled := {name for name in columns if columns.count(name) > 1}:
            raise ConfigError(f"The log has a column {min(doubled)} already: give the algorithm's number another name.")
        self._throughput = CsvLog(run_dir / "throughput.csv", columns, disk)
        self._collapses = collapse.resumed(run_dir / "episodes.csv")
        self._episodes = CsvLog(run_dir / "episodes.csv", EPISODE_COLUMNS, disk, durable=True)
        self._tensorboard = TensorBoardWriter(run_dir / "tensorboard", disk)
        self._ended, self._episodes_lock = threading.Event(), threading.Lock()
        self._before, self._work_before = self._stats.totals(), self._work()
        self._earlier = None  # totals and work of the row before the last

    def run(self) -> None:
        while not self._ended.wait(self._interval):
            self.write()

    def finish(self) -> None:
        """Ends the thread and writes what is left."""
        self._ended.set()
        if self.is_alive():
            self.join()
        if self._earlier is not None:  # a row of the seconds of the stop alone would say that the run stood still
            self._before, self._work_before = self._earlier
        self.write()
        self._tensorboard.close()

    def write(self) -> Throughput:
        totals, window = self._stats.take_window()
        work = self._work()
        row = self._row(totals, window, work)
        self._earlier = self._before, self._work_before
        self._before, self._work_before = totals, work
        self.write_episodes()
        self._throughput.append([[_cell(value) for value in row.cells().values()]])
        self._tensorboard.write(row.cells())
        self._console.status(row, self._stats.last_score, wanted_games=self._system.games()[1])
        return row

    def write_episodes(self) -> bool:
        """Returns whether all games so far are in their log, and on disk. Safe to call from every thread."""
        with self._episodes_lock:  # or the rows of a second caller could come first
            rows = self._stats.take_episodes()
            written = self._episodes.append(rows)
            for found in filter(None, (self._collapses.add(float(row[2])) for row in rows)):
                if isinstance(found, collapse.Collapse):
                    flags = "--learning-rate, or --kl-target if the rate follows that,"
                    self._console.say(f"Collapse: {found}. A lower {flags} makes that less likely.")
                else:
                    self._console.say(f"Recovered: {found}.")
        return written

    def _work(self) -> Work:
        """Returns the work since the start."""
        return self._stats.timings(), self._system.agents_core_seconds(), time.process_time()

    def _row(self, now: Totals, window: Window, work: Work) -> Throughput:
        before = self._before
        seconds = now.seconds - before.seconds
        states = now.predictions - before.predictions
        updates, batches = now.updates - before.updates, now.prediction_batches - before.prediction_batches
        trained_steps = now.trained_steps - before.trained_steps
        agents, predictors, trainers = self._system.counts
        prediction_queue, training_queue = self._system.waiting()
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
            games=self._system.games()[0],
            prediction_queue=prediction_queue,
            training_queue=training_queue,
            mean_prediction_batch=states / batches if batches else float("nan"),
            mean_training_batch=trained_steps / updates if updates else float("nan"),
            mean_policy_lag_updates=window.lag_sum / window.lag_rows if window.lag_rows else float("nan"),
            max_policy_lag_updates=window.lag_max,
            episodes=now.episodes,
            mean_score=self._stats.mean_score(),
            trained_steps=now.trained_steps,
            lost_steps=now.lost_steps,
            skipped_updates=now.skipped_updates,
            numbers={name: window.mean(name) for name in self._system.model.numbers} | self._system.watched(),
            **self._costs(work, states, seconds),
        )

    def _costs(self, work: Work, steps: int, seconds: float) -> dict[str, float]:
        """Returns what steps, predictions and updates cost since the row before."""
        (timings, agents, server), (timings_before, agents_before, server_before) = work, self._work_before
        _, predictors, trainers = self._system.counts
        t = timings.since(timings_before)
        queue, queue_model, assembly, model = (
            _mean_ms(part, t.requests)
            for part in (t.request_queue, t.request_queue_model, t.request_assembly, t.request_model)
        )
        reply = _mean_ms(t.request_reply, t.replies)
        return {
            "agents_core_ms_per_step": _mean_ms(agents - agents_before, steps),
            "server_core_ms_per_step": _mean_ms(server - server_before, steps),
            "cores_used": (agents - agents_before + server - server_before) / seconds if seconds else float("nan"),
            "prediction_ms": queue + assembly + model + reply,
            "prediction_queue_ms": queue,
            "prediction_queue_model_ms": queue_model,
            "prediction_assembly_ms": assembly,
            "prediction_model_ms": model,
            "prediction_reply_ms": reply,
            "predictor_waiting_share": _share(t.predictor_waiting, seconds * predictors),
            "training_queue_ms": _mean_ms(t.rollout_queue, t.rollouts),
            "update_ms": _mean_ms(t.update_assembly + t.update_model + t.update_records, t.updates),
            "update_assembly_ms": _mean_ms(t.update_assembly, t.updates),
            "update_model_ms": _mean_ms(t.update_model, t.updates),
            "trainer_waiting_share": _share(t.trainer_waiting, seconds * trainers),
        }
