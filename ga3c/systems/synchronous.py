"""Accelerated methods (Stooke and Abbeel 2018, section 4.1): synchronised and alternating sampling.

The stations are GA3C's; new are the turns in which their queues hand out.
"""

import time

from ga3c.systems.wiring import Context, Wiring  # isort: skip (first: it loads TensorFlow)
from ga3c.errors import ConfigError
from ga3c.prediction_queue import PredictionQueue
from ga3c.rollout import FEW_SLOTS
from ga3c.scheduling.turns import Turns
from ga3c.training_queue import TrainingQueue

GROUPS = {"asynchronous": 0, "synchronised": 1, "alternating": 2}
START_SECONDS = 60.0  # agents that play wait for so long for those that cannot be started


def wire(context: Context) -> Wiring:
    """Agents are predicted for in groups. An algorithm that can learn from a rollout as soon as it is complete learns
    in lockstep, from one rollout of every agent. With any other algorithm agents play on meanwhile, as in GA3C."""
    agents, lockstep = context.agents, context.ships_when_complete
    turns = Turns(agents, groups_of(context), lockstep, on_change=lambda: training.look_again())
    predictions = PredictionQueue(turns.choose_requests, context.enough)
    fields = context.algorithm.learns_from
    if lockstep:
        slots, rollouts = FEW_SLOTS, agents
        rules = turns.choose_rollouts, turns.updated, predictions.look_again
        training = TrainingQueue(context.dtype, rollouts, fields, *rules)
    else:
        slots, rollouts = context.slots, context.rollouts_per_batch
        training = TrainingQueue(context.dtype, rollouts, fields)
    return Wiring(
        predictions=predictions,
        experience=training,
        slots=slots,
        columns=rollouts * context.envs,
        counts=context.counts._replace(predictors=context.devices, trainers=1),
        max_requests=max(context.max_requests, agents),
        no_controller_because=f"with {context.settings.schedule.sampling} sampling all agents wait for each other",
        watch=Latecomers(turns, predictions).look,
        ending=turns.end,
    )


def groups_of(context: Context) -> int:
    """Returns the number of groups of agents, as many on each device. Raises ConfigError."""
    groups = GROUPS[context.settings.schedule.sampling] * context.devices
    if context.agents < groups and context.devices > 1:
        envs = context.envs * context.agents // groups
        raise ConfigError(
            f"--devices {context.settings.run.devices} needs {groups} agents at the least, and there are "
            f"{context.agents}: use --agents {groups} --envs-per-agent {max(1, envs)}."
        )
    return groups


class Latecomers:
    """Lets the agents that are there begin without those that cannot be started."""

    def __init__(self, turns: Turns, predictions: PredictionQueue):
        self._turns, self._predictions = turns, predictions
        self._waits_since: float | None = None

    def look(self, agents) -> None:
        """Called every second. `agents`: a `processes.agents.Agents`."""
        self._waits_since = (self._waits_since or time.monotonic()) if self._turns.waits_for_agents else None
        if self._waits_since and time.monotonic() - self._waits_since > START_SECONDS and not agents.starting():
            self._turns.begin()
            self._predictions.look_again()
