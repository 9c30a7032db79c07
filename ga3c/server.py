"""Server: the only place that wires agents, queues, predictors, trainers and model together."""

import random
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from ga3c.device import set_up_device  # isort: skip (first: it loads TensorFlow)
from ga3c import controller, networks, resources
from ga3c.agent_pool import AgentPool
from ga3c.config import Settings, TrainingFailed, usable_cores
from ga3c.console import Console
from ga3c.controller import Controller, Counts, PaperRule, Rule, Signals
from ga3c.disk import CsvLog, Disk
from ga3c.model import Model
from ga3c.prediction_queue import PredictionQueue
from ga3c.predictor import predict
from ga3c.recovery import Recovery
from ga3c.rollout import Batch, EnvironmentSpec, rollout_dtype, slots_needed
from ga3c.stall import StallWatch, threads_report
from ga3c.stats import Stats, Totals
from ga3c.stats_writer import StatsWriter
from ga3c.trainer import train
from ga3c.training_queue import TrainingQueue
from ga3c.tuner import Tuner

AGENTS_PER_CORE_LIMIT, THREADS_LIMIT = 16, 64  # how far the controller goes
RETRY_SECONDS = 5.0  # between two attempts to save a checkpoint that the disk does not take
STOP_SECONDS = 2.0  # what agents get to ship their last rollouts, and then trainers to train on them


class Server:
    """Starts, scales, watches and stops one training run.

    `start`, then `serve` until it returns, then `stop`. Whatever happens in between, `stop` leaves no process.
    """

    def __init__(self, settings: Settings, run_dir: Path, spec: EnvironmentSpec, console: Console):
        self._settings, self._run_dir, self._spec, self._console = settings, run_dir, spec, console
        self._disk = Disk(console.say)
        self._recovery = Recovery(run_dir, settings, self._disk, console.say)
        self.seed = settings.learning.seed or random.randrange(1, 2**31)
        schedule, learning = settings.schedule, settings.learning
        self._totals, self._recent_scores, self._arrays, first_agent = Totals(), [], None, 0
        self._counts = Counts(schedule.agents or usable_cores() + 1, schedule.predictors, schedule.trainers)
        if settings.run.resume is not None:
            first_agent = self._load()

        envs = schedule.envs_per_agent
        self._dtype = rollout_dtype(spec, learning.t_max, envs)
        slots = slots_needed(learning.t_max, envs, learning.minimum_batch_steps)
        self._rollouts_per_batch = slots - 2
        self._agents_fit = resources.check(self._counts.agents, slots * self._dtype.itemsize, envs)
        self._max_requests = max(1, schedule.max_prediction_batch // envs)
        self._predictions = PredictionQueue()
        self._training = TrainingQueue(self._rollouts_per_batch)
        self._agents = AgentPool(
            settings.environment,
            self._predictions,
            self._training,
            self._dtype,
            slots,
            self.seed,
            first_agent,
            schedule.agent_silence_seconds,
            console,
        )
        self._threads: list[threading.Thread] = []
        self._stopping, self._report_asked = threading.Event(), threading.Event()
        self._failure: str | None = None
        self._running = self.saved = False

    def _load(self) -> int:
        """Takes over what the newest checkpoint holds. Returns the number of the next agent."""
        saved, self._arrays = self._recovery.load()
        self._totals, self._recent_scores = saved.totals, saved.recent_scores
        asked, before = self._settings.schedule, saved.settings.schedule
        if all(getattr(asked, name) == getattr(before, name) for name in Counts._fields):  # else others are asked for
            self._counts = saved.counts
        return saved.next_agent

    def start(self) -> None:
        """Starts everything. The agents come first: they start their games while the model is compiled."""
        run, schedule = self._settings.run, self._settings.schedule
        threading.excepthook = self._thread_failed
        self._agents.scale(self._counts.agents)

        threads = run.tensorflow_threads or networks.threads(
            networks.resolve(self._settings.learning.network, self._spec)
        )
        self.device = set_up_device(run.device, threads)
        xla = run.xla == "on" or (run.xla == "auto" and self.device == "gpu")
        self.model = Model(self._spec, self._settings.learning, self.seed + self._totals.updates, xla)
        if self._arrays is not None:
            self.model.restore(self._arrays)
        envs = schedule.envs_per_agent
        self._sizes = self.model.prediction_sizes(envs, self._max_requests * envs)
        self.model.warm_up(self._sizes, self._new_batch())

        self.stats = Stats(self._totals, self._recent_scores)
        for _ in range(self._counts.predictors):
            self._add_predictor()
        for _ in range(self._counts.trainers):
            self._add_trainer()
        self._writer = StatsWriter(
            self.stats,
            self._run_dir,
            run.log_seconds,
            self._spec.frames_per_step,
            lambda: self._counts,
            lambda: (self._predictions.waiting(), self._training.waiting()),
            self._agents.core_seconds,
            self._console,
            self._disk,
        )
        decisions = CsvLog(self._run_dir / "controller.csv", controller.COLUMNS, self._disk)
        self._controller = Controller(self._rule(), self.scale, self._signals, self._console.say, decisions.append)
        self._writer.start()
        if schedule.controller != "off":
            self._controller.start()
        self._running = True

    def _new_batch(self) -> Batch:
        return Batch(self._dtype, self._rollouts_per_batch)

    def _rule(self) -> Rule:
        """What decides on the counts."""
        schedule, counts = self._settings.schedule, self._counts
        if schedule.controller == "paper":
            return PaperRule(counts, schedule.controller_seconds, self.seed)
        agents = max(counts.agents, min(self._agents_fit, AGENTS_PER_CORE_LIMIT * usable_cores()))
        most = Counts(agents, THREADS_LIMIT, THREADS_LIMIT)
        limits = schedule.policy_lag_limit_updates, most, schedule.max_prediction_batch
        return Tuner(counts, schedule.controller_seconds, *limits, self.seed)

    def _signals(self) -> Signals:
        """What the controller sees."""
        totals, timings = vars(self.stats.totals()), self.stats.timings()
        return Signals(
            **{name: totals[name] for name in Signals._fields if name in totals},
            predictor_wait_seconds=timings.predictor_waiting,
            trainer_wait_seconds=timings.trainer_waiting,
            prediction_queue=self._predictions.waiting(),
            training_queue=self._training.waiting(),
            agents_starting=self._agents.starting(),
        )

    def scale(self, counts: Counts) -> None:
        """Changes the numbers of agents, predictors and trainers while they run. Loses no transition."""
        before, self._counts = self._counts, counts
        self._agents.scale(counts.agents)
        changes = (
            (counts.predictors - before.predictors, self._add_predictor, self._predictions.retire_one),
            (counts.trainers - before.trainers, self._add_trainer, self._training.retire_one),
        )
        for change, add, remove in changes:
            for _ in range(abs(change)):
                if not self._stopping.is_set():
                    (add if change > 0 else remove)()

    def _add_predictor(self) -> None:
        limits = self._dtype, self._max_requests, self._sizes
        self._add_thread("predictor", predict, self._predictions, self.model, self.stats, *limits)

    def _add_trainer(self) -> None:
        self._add_thread("trainer", train, self._training, self.model, self.stats, self._new_batch())

    def _add_thread(self, name: str, target: Callable, *arguments) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(threading.Thread(target=target, args=arguments, name=name, daemon=True))
        self._threads[-1].start()

    def _thread_failed(self, failed: threading.ExceptHookArgs) -> None:
        """A thread's end by an exception is the end of the run: the others would wait for it for ever."""
        lines = traceback.format_exception(failed.exc_type, failed.exc_value, failed.exc_traceback)
        self._failure = self._failure or f"The {failed.thread.name} failed:\n{''.join(lines)}"
        self._stopping.set()

    def request_stop(self) -> None:
        """Makes `serve` return. Safe in a signal handler."""
        self._stopping.set()

    def request_report(self) -> None:
        """Makes `serve` say who waits for whom. Safe in a signal handler."""
        self._report_asked.set()

    def _report(self) -> list[str]:
        waiting = f"{self._predictions.waiting()} requests, {self._training.waiting()} rollouts"
        return [f"Queues: {waiting}", *self._agents.report(), *threads_report()]

    def serve(self, every_second: Callable[[], None]) -> None:
        """Watches the run and saves checkpoints until a stop condition is met or `request_stop` is called.

        `every_second()` is called once a second at least. Raises TrainingFailed with the reason if a part failed.
        """
        run = self._settings.run
        started = time.monotonic()
        save_at = started + run.checkpoint_seconds
        stall = StallWatch(run.stall_seconds)
        pause = 1.0 if run.steps is None else 0.2
        while not self._stopping.wait(min(pause, max(0.0, save_at - time.monotonic()))):
            self._agents.watch()
            self._agents.keep_books(self.stats)
            self._recovery.mend_updates(self.model, self.stats)
            totals, now = self.stats.totals(), time.monotonic()
            said = stall.look(totals.updates + totals.skipped_updates)
            if self._report_asked.is_set():
                self._report_asked.clear()
                said = "Who waits for whom:"
            if said:
                self._console.say("\n  ".join([said, *(self._report() if said.endswith(":") else [])]))
            if now >= save_at:
                save_at = now + (run.checkpoint_seconds if self.save() else min(RETRY_SECONDS, run.checkpoint_seconds))
            every_second()
            if (
                (run.steps is not None and totals.steps >= run.steps)
                or (run.episodes is not None and totals.episodes >= run.episodes)
                or (run.minutes is not None and now - started >= 60 * run.minutes)
            ):
                return
        if self._failure:
            raise TrainingFailed(self._failure)

    def save(self) -> bool:
        """Writes a checkpoint. False if the disk does not take it."""
        counts, next_agent = self._controller.counts, self._agents.next_number
        return self._recovery.save(self.model, self.stats, counts, next_agent, self._writer.write_episodes)

    def stop(self) -> Totals | None:
        """Agents ship what they have, trainers train on it, the checkpoint is written.

        Returns the final totals; None if the run never came to serve. `saved` says whether the disk took it.
        """
        self._stopping.set()
        if not self._running:
            self._agents.end(0.0)
            return None
        self._controller.finish()
        self._agents.end(STOP_SECONDS)
        self._predictions.close()
        self._training.close()
        deadline = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._agents.keep_books(self.stats)
        self.saved = self.save()
        self._writer.finish()
        return self.stats.totals()
