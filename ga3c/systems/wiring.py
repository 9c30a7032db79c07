"""A system is a function from a `Context` to a `Wiring`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ga3c.systems.learner import Learner, Make  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms, machine
from ga3c.controller.counts import Counts
from ga3c.environments import own_games
from ga3c.errors import ConfigError
from ga3c.prediction_queue import PredictionQueue
from ga3c.processes.agent_pool import AgentPool
from ga3c.processes.agent_process import AgentPlan
from ga3c.progress import Progress
from ga3c.rollout import EnvironmentSpec, rollout_dtype, slots_needed
from ga3c.settings import named_objects
from ga3c.settings.run import Settings
from ga3c.systems.replicas import devices_of
from ga3c.text import count


@dataclass(frozen=True)
class Unit:
    """The parts that the systems of a run share, where it has several (`units`)."""

    make: Make  # makes its model and its counters
    made_steps: Callable[[], int]  # by the agents of all systems
    played_steps: Callable[[], int]  # of all systems, that can be learned from
    agents_before: int = 0  # of the units before this one


@dataclass(frozen=True)
class Context:
    """The facts from which a system is wired."""

    settings: Settings
    spec: EnvironmentSpec
    begun: Progress  # where the run begins
    algorithm: object
    learner: Learner
    say: Callable[[str], None]
    enough: Callable[[], bool] = lambda: False  # whether all steps are made: no agent is answered any more
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
        """The counts at the start, with a predictor for each device at least."""
        counts = self.begun.counts
        return counts._replace(predictors=max(counts.predictors, self.devices))

    @cached_property
    def dtype(self) -> np.dtype:
        """A rollout of one agent: see `rollout.rollout_dtype`."""
        return self.dtype_of(self.settings.learning.t_max, self.envs)

    def dtype_of(self, t_max: int, envs: int) -> np.dtype:
        """Returns `rollout.rollout_dtype`. Raises ConfigError where a rollout is larger than NumPy's records can be."""
        try:
            return rollout_dtype(self.spec, t_max, envs, self.settings.learning.recurrent_size)
        except ValueError:
            raise ConfigError(
                f"{count(t_max, 'step')} of {count(envs, 'game')} are more than the 2 GB that a rollout may have: use "
                "fewer games, a smaller --t-max or, with --preset cule, more --batches."
            ) from None

    @property
    def rollouts_per_batch(self) -> int:
        """The number of rollouts in an update, where `--minimum-batch-steps` decides."""
        return self.slots - 2

    @property
    def slots(self) -> int:
        """The number of slots that an agent needs for it: one to fill and one on its way beside a whole batch."""
        learning = self.settings.learning
        return slots_needed(learning.t_max, self.envs, learning.minimum_batch_steps)

    @property
    def max_requests(self) -> int:
        """The largest number of requests that are predicted for together."""
        return max(1, self.settings.schedule.max_prediction_batch // self.envs)

    @property
    def ships_when_complete(self) -> bool:
        """True where the algorithm learns from a rollout as soon as it is complete: see `agent.play`."""
        return algorithms.learns_at_once(self.algorithm)

    @cached_property
    def control(self):
        """The `cluster.control_plane.ControlPlane` of `--cluster`, which is joined first. Raises ConfigError."""
        named_objects.check_importable(own_games.named(self.settings))
        from ga3c.cluster import connection, control_plane  # here alone: without --cluster nothing loads Ray

        self.say(connection.join(self.settings.schedule.cluster, self.agents))
        return control_plane.ControlPlane()

    def agents_bytes(self, slots: int) -> int:
        """Returns the memory that the agents take with so many slots each."""
        return self.agents * machine.agent_bytes(slots * self.dtype.itemsize, self.envs)

    def new_agents(self, predictions: PredictionQueue, experience, slots: int):
        """Returns agents of this machine, or with `--cluster` pods, which ask no predictor. None is started yet.

        Raises ConfigError where this machine is too small for them.
        """
        settings = self.settings
        if settings.schedule.cluster:
            from ga3c.cluster.pod_pool import PodPool  # here alone, too

            return PodPool(settings, self.spec, self.begun, experience, slots, self.control, self.say)
        machine.check_agents_fit(self.agents, slots * self.dtype.itemsize, self.envs)
        plan = AgentPlan(
            environment=settings.environment,
            dtype=self.dtype,
            slots=slots,
            seed=settings.learning.seed,
            silence_seconds=settings.schedule.agent_silence_seconds,
            first_core=(self.unit.agents_before if self.unit else 0) if settings.schedule.pin_agents else None,
            ships_when_complete=self.ships_when_complete,
            own_objects=named_objects.packed([settings.environment.game, *settings.environment.wrapper]),
        )
        return AgentPool(plan, predictions, experience, self.begun.next_agent, self.say)


def nothing(*_) -> None:
    """Does nothing: the default of a wiring's calls."""


@dataclass(frozen=True)
class Wiring:
    """The stations of a system and how they are connected. `stations.Stations` runs them."""

    predictions: PredictionQueue  # decides which requests are predicted for together
    experience: object  # a `transport.experience.Experience`: a queue or a replay between agents and trainers
    slots: int  # of each agent, with room for one rollout each
    columns: int  # of a batch: rollouts of one game each, at the most, or transitions
    counts: Counts
    max_requests: int  # that are predicted for together
    rows: int | None = None  # of a batch; None: `--t-max`
    no_controller_because: str = ""  # "": the controller may change the counts
    replay: object = None  # a `replay_memory.Replay` that is saved with the run
    threads: Mapping[str, Callable[[], None]] = field(default_factory=dict)  # besides predictors and trainers
    begin: Callable[[], None] = nothing  # is called before the agents are started
    watch: Callable[[object], None] = nothing  # is called with the agents each second
    ending: Callable[[], None] = nothing  # is called before the agents are told to end
    ends_at_once: bool = True  # agents get no answer any more once they have made all steps
    may_end: Callable[[], bool] = lambda: True  # whether the run may end at the steps that were asked for
