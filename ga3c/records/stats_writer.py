"""Writes the statistics of a run: console, CSV files, TensorBoard.

Rates are of the time since the row before, not averages since the start.
"""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ga3c.records import collapse
from ga3c.records.columns import EPISODE_COLUMNS, THROUGHPUT_COLUMNS, Throughput
from ga3c.records.console import Console
from ga3c.records.csv_log import CsvLog
from ga3c.records.disk import Disk
from ga3c.records.tensorboard import TensorBoardWriter
from ga3c.stats import Stats, Timings, Totals, Window


def _rate(now: int, before: int, seconds: float) -> float:
    return (now - before) / seconds if seconds > 0 else 0.0


def _mean_ms(seconds: float, count: int) -> float:
    return 1000 * seconds / count if count else float("nan")


def _cell(value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class StatsWriter(threading.Thread):
    """Every `interval` seconds: one row of throughput.csv, the new rows of episodes.csv, TensorBoard, console.

    `numbers`: names of what the algorithm reports of an update. `counts()` gives agents, predictors, trainers;
    `games()` how many are under way and wanted; `queues()` the lengths of prediction and training queue;
    `agents_core_seconds()` the CPU time that the agents used; `watched()` what a system says besides, always the same
    names.
    """

    def __init__(
        self,
        stats: Stats,
        run_dir: Path,
        interval: float,
        frames_per_step: int,
        numbers: Sequence[str],
        counts,
        games,
        queues,
        agents_core_seconds,
        console: Console,
        disk: Disk,
        watched: Callable[[], dict[str, float]] = dict,
    ):
        super().__init__(name="statistics", daemon=True)
        self._stats, self._interval, self._frames_per_step = stats, interval, frames_per_step
        self._numbers = numbers
        self._counts, self._queues, self._console = counts, queues, console
        self._watched = watched
        self._throughput = CsvLog(run_dir / "throughput.csv", [*THROUGHPUT_COLUMNS, *numbers, *watched()], disk)
        self._collapses = collapse.resumed(run_dir / "episodes.csv")
        self._episodes = CsvLog(run_dir / "episodes.csv", EPISODE_COLUMNS, disk, durable=True)
        self._tensorboard = TensorBoardWriter(run_dir / "tensorboard", disk)
        self._ended, self._episodes_lock = threading.Event(), threading.Lock()
        self._agents_core_seconds, self._games = agents_core_seconds, games
        self._before, self._work_before = stats.totals(), self._work()
        self._earlier = None  # those of the row before the last

    def run(self) -> None:
        while not self._ended.wait(self._interval):
            self.write()

    def finish(self) -> None:
        """Ends the thread and writes what is left."""
        self._ended.set()
        if self.is_alive():
            self.join()
        if self._earlier is not None:  # the seconds of the stop alone would say that it stood still
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
        self._console.status(row, self._stats.last_score, wanted_games=self._games()[1])
        return row

    def write_episodes(self) -> bool:
        """Returns whether all games so far are in their log, and on disk. Safe to call from every thread."""
        with self._episodes_lock:  # or a second caller's rows could overtake
            rows = self._stats.take_episodes()
            written = self._episodes.append(rows)
            for found in filter(None, (self._collapses.add(float(row[2])) for row in rows)):
                if isinstance(found, collapse.Collapse):
                    self._console.say(f"Collapse: {found}. A lower --learning-rate makes that less likely.")
                else:
                    self._console.say(f"Recovered: {found}.")
        return written

    def _work(self) -> "tuple[Timings, float, float]":
        """Timings, and the core-seconds of agents and server, since the start."""
        return self._stats.timings(), self._agents_core_seconds(), time.process_time()

    def _row(self, now: Totals, window: Window, work: "tuple[Timings, float, float]") -> Throughput:
        before = self._before
        seconds = now.seconds - before.seconds
        states = now.predictions - before.predictions
        updates, batches = now.updates - before.updates, now.prediction_batches - before.prediction_batches
        trained_steps = now.trained_steps - before.trained_steps
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
            games=self._games()[0],
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
            numbers={name: window.mean(name) for name in self._numbers} | self._watched(),
            **self._costs(work, states, seconds),
        )

    def _costs(self, work: "tuple[Timings, float, float]", steps: int, seconds: float) -> dict[str, float]:
        """What steps, predictions and updates cost since the row before."""
        (timings, agents, server), (timings_before, agents_before, server_before) = work, self._work_before
        _, predictors, trainers = self._counts()
        t = timings.since(timings_before)
        queue, queue_model, assembly, model = (
            _mean_ms(part, t.requests)
            for part in (t.request_queue, t.request_queue_model, t.request_assembly, t.request_model)
        )
        reply = _mean_ms(t.request_reply, t.replies)
        return {
            "agents_core_ms_per_step": _mean_ms(agents - agents_before, steps),
            "server_core_ms_per_step": _mean_ms(server - server_before, steps),
            "prediction_ms": queue + assembly + model + reply,
            "prediction_queue_ms": queue,
            "prediction_queue_model_ms": queue_model,
            "prediction_assembly_ms": assembly,
            "prediction_model_ms": model,
            "prediction_reply_ms": reply,
            "predictor_waiting_share": t.predictor_waiting / (seconds * predictors) if seconds else float("nan"),
            "training_queue_ms": _mean_ms(t.rollout_queue, t.rollouts),
            "update_ms": _mean_ms(t.update_assembly + t.update_model + t.update_records, t.updates),
            "update_assembly_ms": _mean_ms(t.update_assembly, t.updates),
            "update_model_ms": _mean_ms(t.update_model, t.updates),
            "trainer_waiting_share": t.trainer_waiting / (seconds * trainers) if seconds else float("nan"),
        }
