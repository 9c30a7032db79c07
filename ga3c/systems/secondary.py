"""A secondary learner (Stooke and Abbeel 2018, section 5.4.2): a second network that learns from the replay of a run.

It has the same weights at first, batches of its own, and the same rate of data consumption. It starts before the
primary and stops before it.
"""

from ga3c.systems.wiring import Context, Wiring  # isort: skip (first: it loads TensorFlow)
from ga3c.prediction_queue import PredictionQueue
from ga3c.replay.replay_queue import ReplayQueue
from ga3c.replay.secondary_queue import SecondaryListeners, SecondaryQueue
from ga3c.rollout import FEW_SLOTS
from ga3c.systems.learner import NO_LAGS
from ga3c.systems.replay_parts import listeners_of, updates_of


def wire(context: Context, primary: ReplayQueue) -> Wiring:
    """Its agent plays only for its scores. It counts the primary's steps as its own; `made_steps` are its own agent's.
    `batches.of_secondary` makes its settings."""
    settings, learner, updates = context.settings, context.learner, updates_of(context)

    def count_steps_of_primary(rollouts: list) -> None:
        columns = len(rollouts) * context.envs
        learner.stats.stored([rollout._replace(episodes=()) for rollout in rollouts], columns, NO_LAGS)

    tell = SecondaryListeners(learner.count_games, count_steps_of_primary, listeners_of(learner, context.envs).target)
    experience = SecondaryQueue(primary, updates, settings.learning.seed, tell)
    minimum = settings.replay.replay_minimum_transitions
    return Wiring(
        predictions=PredictionQueue(),
        experience=experience,
        slots=FEW_SLOTS,
        columns=updates.batch,
        counts=context.counts,
        max_requests=context.max_requests,
        begin=lambda: updates.pace.played(min(primary.replay.size, minimum)),
        ending=experience.end,
        ends_at_once=False,  # the primary's steps end the run
    )
