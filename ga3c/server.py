"""Server: the only place that wires agents, queues, predictors, trainers and model together."""

import random
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from ga3c.device import set_up_device  # isort: skip (first: it loads TensorFlow)
from ga3c import checkpoint, config, networks
from ga3c.agent_pool import AgentPool, TrainingFailed
from ga3c.config import ConfigError, Settings, usable_cores
from ga3c.console import Console
from ga3c.controller import Controller, Counts, PaperRule, Rule, Signals
from ga3c.model import Model
from ga3c.prediction_queue import PredictionQueue
from ga3c.predictor import predict
from ga3c.rollout import Batch, EnvironmentSpec, rollout_dtype, slots_needed
from ga3c.stats import Stats, Totals
from ga3c.stats_writer import StatsWriter
from ga3c.trainer import train
from ga3c.training_queue import TrainingQueue
from ga3c.tuner import Tuner

AGENTS_PER_CORE_LIMIT, THREADS_LIMIT = 16, 64  # how far the controller goes
STOP_SECONDS = 2.0  # what agents get to ship their last rollouts, and then trainers to train on them


class Server:
    """Starts, scales, watches and stops one training run.

    `start`, then `serve` until it returns, then `stop`. Whatever happens in between, `stop` leaves no process.
    """

    def __init__(self, settings: Settings, run_dir: Path, spec: EnvironmentSpec, console: Console):
        self._settings, self._run_dir, self._spec, self._console = settings, run_dir, spec, console
        self.seed = settings.learning.seed or random.randrange(1, 2**31)
        schedule, learning = settings.schedule, settings.learning
        self._totals, self._recent_scores, self._arrays, first_agent = Totals(), [], None, 0
        self._counts = Counts(schedule.agents or usable_cores(), schedule.predictors, schedule.trainers)
        if settings.run.resume is not None:
            first_agent = self._load()

        envs = schedule.envs_per_agent
        self._dtype = rollout_dtype(spec, learning.t_max, envs)
        slots = slots_needed(learning.t_max, envs, learning.minimum_batch_steps)
        self._rollouts_per_batch = slots - 2
        self._max_requests = max(1, schedule.max_prediction_batch // envs)
        self._predictions = PredictionQueue()
        self._training = TrainingQueue(self._rollouts_per_batch)
        self._agents = AgentPool(
            settings.environment, self._predictions, self._training, self._dtype, slots, self.seed, first_agent, console
        )
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()
        self._failure: str | None = None
        self._running = False

    def _load(self) -> int:
        """Takes over what the newest checkpoint holds. Returns the number of the next agent."""
        path, self._arrays, meta = checkpoint.load_newest(self._run_dir / "checkpoints")
        try:
            self._totals = totals = Totals(**meta["totals"])
            asked, before = vars(self._settings.schedule), meta["settings"]["schedule"]
            if all(asked[name] == before[name] for name in Counts._fields):  # else new counts were asked for
                self._counts = Counts(*meta["counts"])
            self._recent_scores, first_agent = meta["recent_scores"], meta["next_agent"]
        except (KeyError, TypeError) as error:
            raise ConfigError(f"{path} is not a checkpoint of this version of ga3c.") from error
        # What was under way when the checkpoint was written never happened, as far as the weights know.
        totals.steps, totals.made_steps = totals.trained_steps, totals.trained_steps + totals.lost_steps
        self._console.say(f"Going on from {path.name}: {totals.steps:,} steps, {totals.episodes:,} games.")
        return first_agent

    def start(self) -> None:
        """Starts everything. The agents come first: they start their games while the model is compiled."""
        run, schedule = self._settings.run, self._settings.schedule
        threading.excepthook = self._thread_failed
        for _ in range(self._counts.agents):
            self._agents.add()

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
        )
        file = self._run_dir / "controller.csv"
        self._controller = Controller(self._rule(), self.scale, self._signals, self._console.say, file)
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
        most = Counts(max(counts.agents, AGENTS_PER_CORE_LIMIT * usable_cores()), THREADS_LIMIT, THREADS_LIMIT)
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
        )

    def scale(self, counts: Counts) -> None:
        """Changes the numbers of agents, predictors and trainers while they run. Loses no transition."""
        before, self._counts = self._counts, counts
        changes = (
            (counts.agents - before.agents, self._agents.add, self._agents.remove),
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

    def serve(self, every_second: Callable[[], None]) -> None:
        """Watches the run and saves checkpoints until a stop condition is met or `request_stop` is called.

        `every_second()` is called about once a second. Raises TrainingFailed with the reason if a part failed.
        """
        run = self._settings.run
        started = saved = time.monotonic()
        while not self._stopping.wait(1.0 if run.steps is None else 0.2):
            self._agents.watch()
            self._agents.keep_books(self.stats)
            totals, now = self.stats.totals(), time.monotonic()
            if now - saved >= run.checkpoint_seconds:
                self.save()
                saved = now
            every_second()
            if (
                (run.steps is not None and totals.steps >= run.steps)
                or (run.episodes is not None and totals.episodes >= run.episodes)
                or (run.minutes is not None and now - started >= 60 * run.minutes)
            ):
                return
        if self._failure:
            raise TrainingFailed(self._failure)

    def save(self) -> None:
        """Writes a checkpoint."""
        totals = self.stats.totals()
        meta = {
            "settings": config.to_dict(self._settings),
            "totals": vars(totals),
            "counts": self._controller.counts,
            "next_agent": self._agents.next_number,
            "recent_scores": self.stats.recent_scores(),
        }
        directory, kept = self._run_dir / "checkpoints", self._settings.run.checkpoints_kept
        checkpoint.save(directory, totals.steps, self.model.state(), meta, kept)

    def stop(self) -> Totals | None:
        """Agents ship what they have, trainers train on it, the checkpoint is written.

        Returns the final totals; None if the run never came to serve.
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
        self.save()
        self._writer.finish()
        return self.stats.totals()
