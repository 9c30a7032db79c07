"""GA3C (Babaeizadeh et al., ICLR 2017): agents and one model with two queues between them, and the controller."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ga3c.systems.model_of import devices_of, model_of, stats_of  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms, machine
from ga3c.machine import usable_cores
from ga3c.prediction_queue import PredictionQueue
from ga3c.predictor import predict
from ga3c.processes.agent_pool import AgentPool
from ga3c.rollout import EnvironmentSpec, rollout_dtype, slots_needed
from ga3c.scheduling.controller import Controller
from ga3c.scheduling.counts import Counts, Rule, Signals
from ga3c.scheduling.paper_rule import PaperRule
from ga3c.scheduling.tuner import Tuner
from ga3c.settings.run import Settings
from ga3c.stats import Stats
from ga3c.text import count
from ga3c.trainer import train
from ga3c.training_queue import TrainingQueue

AGENTS_PER_CORE_LIMIT, THREADS_LIMIT = 16, 64  # how far the controller goes
STOP_SECONDS = 2.0  # what agents get to ship their last rollouts, and then trainers to train on them


class GA3C:
    """A system, as `ga3c.systems` describes it."""

    may_end = True
    replay = under_way = _shards = None  # the last: where pods send to, in the place of the training queue

    def __init__(
        self,
        settings: Settings,
        spec: EnvironmentSpec,
        begun,
        say: Callable[[str], None],
        log_decisions: Callable[[list[list]], None],
    ):
        """`begun`: a `records.progress.Progress`. Raises ConfigError where this machine is too small."""
        schedule, learning, envs = settings.schedule, settings.learning, settings.schedule.envs_per_agent
        self._settings, self._spec, self._begun, self._seed = settings, spec, begun, learning.seed
        self._say, self._log_decisions = say, log_decisions
        self._devices = devices_of(settings)
        # A thread that predicts has a device of its own.
        self.counts: Counts = begun.counts._replace(predictors=max(begun.counts.predictors, self._devices))
        self._dtype = rollout_dtype(spec, learning.t_max, envs)
        self._max_requests = max(1, schedule.max_prediction_batch // envs)
        self._algorithm = algorithms.make(settings, spec.actions)
        self._at_once = algorithms.learns_at_once(self._algorithm)
        slots = self._connect()
        self._agents = self._pods(slots) if schedule.cluster else self._agents_here(slots)
        self._threads: list[threading.Thread] = []
        self._stopping = self._started = False
        self._steps_before = begun.totals.steps
        self._predictions.enough = lambda: self.has_all_steps and not self._stopping

    def _agents_here(self, slots: int) -> AgentPool:
        envs, silence = self._settings.schedule.envs_per_agent, self._settings.schedule.agent_silence_seconds
        self._agents_fit = machine.check_agents_fit(self.counts.agents, slots * self._dtype.itemsize, envs)
        queues = self._predictions, self._training, self._dtype, slots
        begun = self._seed, self._begun.next_agent
        return AgentPool(self._settings.environment, *queues, *begun, silence, self._say, self._at_once)

    def _pods(self, slots: int):
        """In the agents' place, a `cluster.pod_pool.PodPool`: nobody asks the predictors."""
        from ga3c.cluster.pod_pool import PodPool  # here alone: without --cluster nothing loads Ray

        self._agents_fit = self.counts.agents
        queue = self._training, self._dtype, slots
        pods = self._begun.next_agent, self.counts.agents
        return PodPool(self._settings, self._spec, *queue, *pods, self._say, self._shards)

    @property
    def _why_no_controller(self) -> str:
        """ "": there is one."""
        return "pods keep their number" if self._settings.schedule.cluster else ""

    def _connect(self) -> int:
        """Makes the two queues. Returns how many slots an agent needs."""
        learning = self._settings.learning
        slots = slots_needed(learning.t_max, self._settings.schedule.envs_per_agent, learning.minimum_batch_steps)
        self._rollouts_per_batch = slots - 2
        self._predictions = PredictionQueue()
        self._training = TrainingQueue(self._dtype, self._rollouts_per_batch, self._algorithm.learns_from)
        return slots

    def start(self, arrays: dict[str, np.ndarray] | None) -> None:
        """Starts everything. The agents come first: they start their games while the model is compiled."""
        schedule = self._settings.schedule
        if self._why_no_controller and schedule.controller != "off":
            self._say(f"Controller: off, because {self._why_no_controller}.")
            self._settings = replace(self._settings, schedule=replace(schedule, controller="off"))
        self._agents.scale(self.counts.agents)
        agents = self.counts.agents
        there = f"{count(agents * schedule.envs_per_agent, 'game')} in {count(agents, 'process')}"
        limit = self._settings.environment.start_steps_limit
        steps = f" with up to {limit} random steps each" if limit else ""
        self._say(f"Starting {there}{steps}, and compiling the network: some seconds.")
        self.device, self.model = self._model(arrays)
        envs = self._settings.schedule.envs_per_agent
        self._sizes = self.model.prediction_sizes(envs, self._max_requests * envs)
        self.model.warm_up(self._sizes, self._rollouts_per_batch * envs)

        self.stats = self._new_stats()
        for _ in range(self.counts.predictors):
            self._add_predictor()
        for _ in range(self.counts.trainers):
            self._add_trainer()
        if self._settings.schedule.cluster:
            self._agents.begin(self.model, self.stats)
        self._controller = Controller(self._rule(), self.scale, self._signals, self._say, self._log_decisions)
        if self._settings.schedule.controller != "off":
            self._controller.start()
        self._started = True

    def _model(self, arrays: dict[str, np.ndarray] | None) -> tuple:
        """Where it is, and the model."""
        return model_of(self._settings, self._spec, self._algorithm, self._begun, arrays)

    def _new_stats(self) -> Stats:
        return stats_of(self._settings, self._begun, self.model, self.counts.agents, self._say)

    def _rule(self) -> Rule:
        """What decides on the counts."""
        schedule, counts = self._settings.schedule, self.counts
        if schedule.controller == "paper":
            return PaperRule(counts, schedule.controller_seconds, self._seed)
        agents = max(counts.agents, min(self._agents_fit, AGENTS_PER_CORE_LIMIT * usable_cores()))
        most = Counts(agents, THREADS_LIMIT, THREADS_LIMIT)
        limits = schedule.policy_lag_limit_updates, most, schedule.max_prediction_batch
        return Tuner(counts, schedule.controller_seconds, *limits, self._seed)

    def _signals(self) -> Signals:
        """What the controller sees."""
        totals, timings = vars(self.stats.totals()), self.stats.timings()
        prediction_queue, training_queue = self.waiting()
        return Signals(
            **{name: totals[name] for name in Signals._fields if name in totals},
            predictor_wait_seconds=timings.predictor_waiting,
            trainer_wait_seconds=timings.trainer_waiting,
            prediction_queue=prediction_queue,
            training_queue=training_queue,
            agents_starting=self._agents.starting(),
        )

    def scale(self, counts: Counts) -> None:
        """Changes the numbers of agents, predictors and trainers while they run. Loses no transition."""
        before, self.counts = self.counts, counts
        self._agents.scale(counts.agents)
        changes = (
            (counts.predictors - before.predictors, self._add_predictor, self._predictions.retire_one),
            (counts.trainers - before.trainers, self._add_trainer, self._training.retire_one),
        )
        for change, add, remove in changes:
            for _ in range(abs(change)):
                if not self._stopping:
                    (add if change > 0 else remove)()

    def _add_predictor(self) -> None:
        limits = self._dtype, self._max_requests, self._sizes
        self._add_thread("predictor", predict, self._predictions, self.model, self.stats, *limits)

    def _add_trainer(self) -> None:
        self._add_thread("trainer", train, self._training, self.model, self.stats)

    def _add_thread(self, name: str, target: Callable, *arguments) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(threading.Thread(target=target, args=arguments, name=name, daemon=True))
        self._threads[-1].start()

    @property
    def has_all_steps(self) -> bool:
        """Agents have made all that were asked for: they get no answer any more, so that few more are made."""
        limit = self._settings.run.steps if self._ends_at_once else None
        return limit is not None and self._steps_before + self._agents.steps() >= limit

    @property
    def _ends_at_once(self) -> bool:
        return not self._settings.schedule.cluster  # what pods make is known once they hand it over

    @property
    def chosen_counts(self) -> Counts:
        """Without a trial of the controller that is in progress."""
        return self._controller.counts

    @property
    def next_agent(self) -> int:
        """Agents are numbered through, over a resume too."""
        return self._agents.next_number

    def waiting(self) -> tuple[int, int]:
        """Requests in the prediction queue and rollouts in the training queue."""
        return self._predictions.waiting(), self._training.waiting()

    def games(self) -> tuple[int, int]:
        """How many are under way, those of the agents that have started them; and how many are wanted."""
        envs, wanted = self._settings.schedule.envs_per_agent, self.counts.agents
        return envs * max(0, wanted - self._agents.missing()), envs * wanted

    def agents_core_seconds(self) -> float:
        """CPU time that the agents have used since the start."""
        return self._agents.core_seconds()

    def watched(self) -> dict[str, float]:
        """What a row of the log holds besides, since the one before: always the same names."""
        return self._agents.watched() if self._settings.schedule.cluster else {}

    def cluster(self) -> dict:
        """With `--cluster`: pods and nodes, for JSON."""
        return self._agents.state()

    def report(self) -> list[str]:
        """Who waits for whom, a line each."""
        requests, rollouts = self.waiting()
        return [f"Queues: {requests} requests, {rollouts} rollouts", *self._agents.report()]

    def watch(self) -> None:
        """Replaces agents that died or hang, and keeps the books. Raises TrainingFailed where that does not help."""
        self._agents.watch()
        self._agents.keep_books(self.stats)

    def stop(self) -> None:
        """Agents ship what they have, trainers train on it. One that was not started in full ends at once.

        An update in hand is waited for, however long it takes; what is not begun in time counts as lost.
        """
        self._stopping = True
        if not self._started:
            self._agents.end(0.0)
            return
        self._controller.finish()
        lost = self.stats.totals().lost_steps
        self._agents.end(STOP_SECONDS)
        self._predictions.close()
        self._training.close()
        deadline = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._training.drop()
        if any(thread.is_alive() for thread in self._threads):
            self._say("Waiting for the update in hand. Another Ctrl-C ends it at once, and saves nothing.")
        for thread in self._threads:
            thread.join()
        self._agents.keep_books(self.stats, final=True)
        if lost := self.stats.totals().lost_steps - lost:
            self._say(
                f"{count(lost, 'step')} could not be trained on within the seconds of the stop, and count as lost."
            )
