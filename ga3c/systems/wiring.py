"""What a system is wired from (`Context`), and what its file says in return (`Wiring`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ga3c.systems.learner import Learner, Make  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms, machine
from ga3c.controller.counts import Counts
from ga3c.prediction_queue import PredictionQueue
from ga3c.processes.agent_pool import AgentPool
from ga3c.rollout import EnvironmentSpec, rollout_dtype, slots_needed
from ga3c.settings.run import Settings
from ga3c.systems.learner import devices_of


@dataclass(frozen=True)
class Unit:
    """What a system has in common with the others of a run that has several (`units`)."""

    make: Make  # of its model and its counters
    made_steps: Callable[[], int]  # by the agents of all
    played_steps: Callable[[], int]  # of all, that can be learned from


@dataclass(frozen=True)
class Context:
    """What the wiring of a system can go by."""

    settings: Settings
    spec: EnvironmentSpec
    begun: object  # a `records.progress.Progress`: where the run begins
    algorithm: object
    learner: Learner
    say: Callable[[str], None]
    enough: Callable[[], bool] = lambda: False  # whether no agent is to be answered any more: all steps are made
    unit: Unit | None = None  # None: the run has this system alone

    @cached_property
    def devices(self) -> int:
        """The number of devices that the model is on."""
        return devices_of(self.settings)

    @property
    def agents(self) -> int:
        """The number of agents at the start."""
        return self.begun.counts.agents

    @property
    def envs(self) -> int:
        """The number of games that each agent plays."""
        return self.settings.schedule.envs_per_agent

    @property
    def counts(self) -> Counts:
        """The counts at the start. A thread that predicts has a device of its own."""
        counts = self.begun.counts
        return counts._replace(predictors=max(counts.predictors, self.devices))

    @cached_property
    def dtype(self) -> np.dtype:
        """A rollout of one agent, as `rollout.rollout_dtype` has it."""
        return rollout_dtype(self.spec, self.settings.learning.t_max, self.envs)

    @property
    def rollouts_per_batch(self) -> int:
        """The number of rollouts that one update is made from, where `--minimum-batch-steps` decides."""
        return self.slots - 2

    @property
    def slots(self) -> int:
        """The number of slots that an agent needs then: one to fill and one on its way beside a whole batch."""
        learning = self.settings.learning
        return slots_needed(learning.t_max, self.envs, learning.minimum_batch_steps)

    @property
    def max_requests(self) -> int:
        """The number of requests that are predicted for together at the most."""
        return max(1, self.settings.schedule.max_prediction_batch // self.envs)

    @property
    def ends_at_once(self) -> bool:
        """Whether it is known at once how many steps agents have made: pods tell it late."""
        return not self.settings.schedule.cluster

    @property
    def ships_when_complete(self) -> bool:
        """Whether the algorithm learns from a rollout as soon as it is complete: see `agent.play`."""
        return algorithms.learns_at_once(self.algorithm)

    def agents_bytes(self, slots: int) -> int:
        """Memory that the agents take with so many slots each."""
        return self.agents * machine.agent_bytes(slots * self.dtype.itemsize, self.envs)

    def new_agents(self, predictions: PredictionQueue, experience, slots: int):
        """Returns agents of this machine, or with `--cluster` pods, which ask no predictor. None is started yet.

        Raises ConfigError where this machine is too small for them.
        """
        settings, schedule = self.settings, self.settings.schedule
        if schedule.cluster:
            from ga3c.cluster.pod_pool import PodPool  # here alone: without --cluster nothing loads Ray

            return PodPool(
                settings, self.spec, experience, self.dtype, slots, self.begun.next_agent, self.agents, self.say
            )
        machine.check_agents_fit(self.agents, slots * self.dtype.itemsize, self.envs)
        return AgentPool(
            settings.environment, predictions, experience, self.dtype, slots, settings.learning.seed,
            self.begun.next_agent, schedule.agent_silence_seconds, self.say, self.ships_when_complete,
        )  # fmt: skip


def nothing(*_) -> None:
    """Stands for what a wiring need not do."""


@dataclass(frozen=True)
class Wiring:
    """How a system connects the stations. `stations.Stations` runs it."""

    predictions: PredictionQueue  # decides which requests are predicted for together
    experience: object  # a `training_queue.Experience`: a queue or a replay between agents and trainers
    agents: object  # a `stations.Agents`
    slots: int  # of each agent, with room for one rollout each
    rollouts_per_batch: int  # in one update at the most; with a replay 1
    counts: Counts
    max_requests: int  # that are predicted for together at the most
    no_controller_because: str = ""  # "": the controller may change the counts
    replay: object = None  # a `replay.Replay` that is saved with the run
    threads: Mapping[str, Callable[[], None]] = field(default_factory=dict)  # besides predictors and trainers
    begin: Callable[[], None] = nothing  # is called before the agents are started
    watch: Callable[[object], None] = nothing  # is called with the agents each second
    ending: Callable[[], None] = nothing  # is called before the agents are told to end
    ends_at_once: bool = True  # whether agents get no answer any more once they have made all steps
    may_end: Callable[[], bool] = lambda: True  # whether the run may end at the steps that were asked for
