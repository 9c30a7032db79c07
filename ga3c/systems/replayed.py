"""Q-learning from a replay memory: DQN, and fast DQN's concurrent training (Daley and Amato 2021).

The stations are those of `synchronous`, with a replay memory instead of the training queue.
"""

from collections.abc import Callable
from dataclasses import replace

from ga3c.systems.wiring import Context, Wiring  # isort: skip (first: it loads TensorFlow)
from ga3c.prediction_queue import PredictionQueue
from ga3c.replay.replay_queue import ConcurrentReplayQueue, ReplayQueue
from ga3c.rollout import FEW_SLOTS
from ga3c.scheduling.pace import Blocks
from ga3c.scheduling.turns import Turns
from ga3c.systems.replay_parts import Filling, block_rows, listeners_of, recipe_of, replay_of, updates_of
from ga3c.systems.synchronous import Latecomers, groups_of


def wire(context: Context) -> Wiring:
    """All agents are predicted for together, and wait for the updates that are due."""
    agents, updates = context.agents, updates_of(context)
    turns = Turns(agents, groups_of(context), lockstep=True, on_change=lambda: experience.look_again())
    predictions = PredictionQueue(turns.choose_requests, context.enough)

    replay = _replay(context, rows=0, played_steps=lambda: experience.steps)
    listeners = listeners_of(context.learner, context.envs, turns.updated, predictions.look_again)
    steps = context.begun.totals.trained_steps
    experience = ReplayQueue(replay, updates, turns.choose_rollouts, steps, listeners)
    filling = Filling(context, replay, updates.pace)
    return _wiring(context, turns, predictions, experience, filling, ending=turns.end)


def wire_concurrent(context: Context) -> Wiring:
    """Updates are made while agents play, block by block; between two blocks all agents wait."""
    settings, updates = context.settings, updates_of(context)
    agents, rows = context.agents, block_rows(settings, context.agents * context.envs)
    turns = Turns(agents, groups_of(context), lockstep=False, on_change=lambda: experience.look_again())
    blocks = Blocks(turns.choose_requests, rows, agents, context.envs, on_change=lambda: experience.look_again())
    predictions = PredictionQueue(blocks.choose_requests)

    def ending() -> None:
        blocks.end()
        turns.end()

    replay = _replay(context, rows, played_steps=lambda: experience.steps)
    listeners = listeners_of(context.learner, context.envs, turns.updated, predictions.look_again)
    steps = context.begun.totals.trained_steps
    experience = ConcurrentReplayQueue(replay, updates, steps, listeners, blocks, settings.run.steps)
    filling = Filling(context, replay, updates.pace)
    # The run ends at the end of a block, the same one each time.
    ends = {"ends_at_once": False, "may_end": lambda: experience.ended}
    return _wiring(context, turns, predictions, experience, filling, ending=ending, **ends)


def _replay(context: Context, rows: int, played_steps: Callable[[], int]):
    """Returns an empty replay. `rows`: of each agent in a block. `played_steps()`: by which schedules go; where several
    devices learn on their own, the steps of all count."""
    recipe = recipe_of(context.settings, context.spec, context.agents, context.envs)
    steps = context.unit.played_steps if context.unit else played_steps
    return replay_of(context, replace(recipe, reserved_rows=rows), context.agents_bytes(FEW_SLOTS), steps)


def _wiring(
    context: Context, turns: Turns, predictions: PredictionQueue, experience: ReplayQueue, filling: Filling, **others
) -> Wiring:
    latecomers = Latecomers(turns, predictions)

    def watch(agents) -> None:
        latecomers.look(agents)
        filling.look()

    return Wiring(
        predictions=predictions,
        experience=experience,
        slots=FEW_SLOTS,
        columns=context.settings.replay.batch,
        counts=context.counts._replace(predictors=context.devices, trainers=1),
        max_requests=max(context.max_requests, context.agents),
        no_controller_because="updates keep pace with play",
        replay=experience.replay,
        begin=filling.begin,
        watch=watch,
        **others,
    )
