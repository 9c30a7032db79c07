"""The engine of processes: runs agents, the two queues, predictors, trainers and the controller of any system."""

import threading
import time
from collections.abc import Callable
from functools import partial

from ga3c.progress import Progress

from ga3c.systems.learner import Arrays, Learner, model_and_stats  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms
from ga3c.controller.controller import Controller
from ga3c.controller.counts import Counts
from ga3c.predictor import predict
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.run import Settings
from ga3c.systems.controller_inputs import rule_of, signals_of
from ga3c.systems.wiring import Context, Unit, Wiring
from ga3c.text import count
from ga3c.trainer import train

STOP_SECONDS = 2.0  # for agents to ship their last rollouts, and again for trainers to train on them


class Stations:
    """Runs the wiring of one system. It is a `systems.System`."""

    under_way = None  # its games are in other processes and begin anew

    def __init__(
        self,
        wire: Callable[[Context], Wiring],
        settings: Settings,
        spec: EnvironmentSpec,
        begun: Progress,
        say: Callable[[str], None],
        log_decisions: Callable[[list[list]], None],
        unit: Unit | None = None,
    ):
        """`unit`: where the run has several systems.

        Raises ConfigError where this machine is too small.
        """
        usual = partial(model_and_stats, settings, spec, begun, begun.counts.agents, say)
        self._learner, self._unit = Learner(unit.make if unit else usual), unit
        algorithm = algorithms.make(settings, spec.actions)
        self._context = Context(settings, spec, begun, algorithm, self._learner, say, self._enough, unit)
        self._wiring = wiring = wire(self._context)
        self._envs, self._say = self._context.envs, say
        self._predictions, self.experience = wiring.predictions, wiring.experience
        self._agents = self._context.new_agents(wiring.predictions, wiring.experience, wiring.slots)
        self.counts, self.replay = wiring.counts, wiring.replay
        self.slots_bytes = wiring.slots * self._context.dtype.itemsize  # of an agent
        self._steps_before = begun.totals.steps  # the counters go on in the same object
        self._controller: Controller | None = None
        if settings.schedule.controller != "off" and not wiring.no_controller_because:
            rule = rule_of(settings.schedule, wiring.counts, settings.learning.seed, self.slots_bytes)
            self._controller = Controller(rule, self.scale, self._signals, say, log_decisions)
        self._threads: list[threading.Thread] = []
        self._stopping = self._started = False

    def start(self, arrays: Arrays | None) -> None:
        """Starts everything. The agents come first: they start their games while the model is compiled."""
        settings, wiring = self._context.settings, self._wiring
        if settings.schedule.controller != "off" and not self._controller:
            self._say(f"Controller: off, because {wiring.no_controller_because}.")
        wiring.begin()
        self._agents.scale(self.counts.agents)
        agents, limit = self.counts.agents, settings.environment.start_steps_limit
        there = f"{count(agents * self._envs, 'game')} in {count(agents, 'process')}"
        steps = f" with up to {limit} random steps each" if limit else ""
        self._say(f"Starting {there}{steps}, and compiling the network: some seconds.")
        self._learner.start(arrays)
        self.device, self.model, self.stats = self._learner.device, self._learner.model, self._learner.stats
        envs = self._envs
        self._sizes = self.model.warm_up(envs, wiring.max_requests * envs, wiring.columns, wiring.rows)
        for _ in range(self.counts.predictors):
            self._add_predictor()
        for _ in range(self.counts.trainers):
            self._add_trainer()
        self._agents.begin(self.model, self.stats)
        for name, target in wiring.threads.items():
            self._add_thread(name, target)
        if self._controller:
            self._controller.start()
        self._started = True

    def _signals(self):
        return signals_of(self.stats, self.waiting(), self._agents.starting())

    def scale(self, counts: Counts) -> None:
        """Changes the numbers of agents, predictors and trainers while they run. Loses no transition."""
        before, self.counts = self.counts, counts
        self._agents.scale(counts.agents)
        changes = (
            (counts.predictors - before.predictors, self._add_predictor, self._predictions.retire_one),
            (counts.trainers - before.trainers, self._add_trainer, self.experience.retire_one),
        )
        for change, add, remove in changes:
            for _ in range(abs(change)):
                if not self._stopping:
                    (add if change > 0 else remove)()

    def _add_predictor(self) -> None:
        dtype, most = self._context.dtype, self._wiring.max_requests
        self._add_thread("predictor", predict, self._predictions, self.model, self.stats, dtype, most, self._sizes)

    def _add_trainer(self) -> None:
        self._add_thread("trainer", train, self.experience, self.model, self.stats)

    def _add_thread(self, name: str, target: Callable, *arguments) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(threading.Thread(target=target, args=arguments, name=name, daemon=True))
        self._threads[-1].start()

    @property
    def made_steps(self) -> int:
        """The steps that its own agents have made since the start."""
        return self._agents.steps()

    @property
    def has_all_steps(self) -> bool:
        limit = self._context.settings.run.steps
        if limit is None or not self._wiring.ends_at_once or self._context.settings.schedule.cluster:
            return False  # pods tell late how many steps they have made
        made = self._unit.made_steps() if self._unit else self.made_steps
        return self._steps_before + made >= limit

    def _enough(self) -> bool:
        return self.has_all_steps and not self._stopping

    @property
    def may_end(self) -> bool:
        return self._wiring.may_end()

    @property
    def chosen_counts(self) -> Counts:
        return self._controller.counts if self._controller else self.counts

    @property
    def next_agent(self) -> int:
        return self._agents.next_number

    def waiting(self) -> tuple[int, int]:
        return self._predictions.waiting(), self.experience.waiting()

    def games(self) -> tuple[int, int]:
        wanted = self.counts.agents
        return self._envs * max(0, wanted - self._agents.missing()), self._envs * wanted

    def agents_core_seconds(self) -> float:
        return self._agents.core_seconds()

    def watched(self) -> dict[str, float]:
        return self.experience.watched() | self._agents.watched()

    def cluster(self) -> dict:
        """Returns the pods and nodes of `--cluster`, for JSON."""
        return self._agents.state()

    def report(self) -> list[str]:
        requests, rollouts = self.waiting()
        return [f"Queues: {requests} requests, {rollouts} rollouts", *self._agents.report()]

    def watch(self) -> None:
        self._agents.watch()
        self._agents.keep_books(self.stats)
        self._wiring.watch(self._agents)

    def stop(self) -> None:
        """Lets agents ship what they have, and trainers train on it. A system that did not start in full just ends.

        It waits for an update in hand, however long that takes; what is not begun in time counts as lost.
        """
        self._stopping = True
        self._wiring.ending()
        if not self._started:
            self._agents.end(0.0)
            return
        if self._controller:
            self._controller.finish()
        lost = self.stats.totals().lost_steps
        self._agents.end(STOP_SECONDS)
        self._predictions.close()
        self.experience.close()
        deadline = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self.experience.drop()
        if any(thread.is_alive() for thread in self._threads):
            self._say("Waiting for the update in hand. Ctrl-C ends the program at once, and saves nothing.")
        for thread in self._threads:
            thread.join()
        self._agents.keep_books(self.stats, final=True)
        if lost := self.stats.totals().lost_steps - lost:
            self._say(
                f"{count(lost, 'step')} could not be trained on within the seconds of the stop, and count as lost."
            )
