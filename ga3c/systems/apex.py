"""Ape-X (Horgan et al. 2018): agents play, one trainer learns from a replay, and nobody waits.

The stations are GA3C's, with a replay memory instead of the training queue; a thread stores what agents ship. Agents
act on the newest weights. The paper's actors act on copies that are up to 400 frames old, and so do pods (`--cluster`).
With `--exploration per-game` each game has its own epsilon. The first priority of a transition comes from the values
that were predicted as it was played.

The paper lets its replay grow beyond its size and removes the oldest transitions every 100 updates. Here each new one
replaces the oldest of its agent, which has the same effect. With `--replay-eviction priority`, as in the paper's DPG,
transitions above the size are removed every 100 updates by priority. Their rows are written over in turn, so no
transition outlives twice the size.
"""

from collections.abc import Sequence
from dataclasses import replace

from ga3c.systems.wiring import Context, Wiring  # isort: skip (first: it loads TensorFlow)
from ga3c.prediction_queue import PredictionQueue
from ga3c.replay.asynchronous_queue import AsynchronousReplayQueue
from ga3c.replay.recipe import Recipe
from ga3c.rollout import FEW_SLOTS, transition_dtype
from ga3c.systems.replay_parts import Filling, beta_of, check_fits, listeners_of, recipe_of, replay_of, updates_of


def wire(context: Context) -> Wiring:
    """The replay is in this process, or with `--replay-shards` in processes of its own, to which pods send."""
    replay = context.settings.replay
    return _sharded(context) if replay.replay_shards else _in_this_process(context)


def _in_this_process(context: Context) -> Wiring:
    settings, updates = context.settings, updates_of(context)
    ahead = settings.replay.prefetch_batches
    recipe = replace(_recipe(context), kept_buffers=1 + ahead)
    taken_bytes = context.agents_bytes(FEW_SLOTS) + ahead * updates.batch * transition_dtype(context.spec, 1).itemsize
    replay = replay_of(context, recipe, taken_bytes, lambda: experience.steps)
    experience = AsynchronousReplayQueue(
        replay, updates, context.begun.totals.trained_steps, listeners_of(context.learner, context.envs), ahead
    )
    filling = Filling(context, replay, updates.pace)
    threads = {"storing": experience.store}
    if ahead:
        threads["drawing"] = experience.draw_ahead
    return _wiring(
        context, experience, replay=replay, threads=threads, begin=filling.begin, watch=lambda _: filling.look()
    )


def _sharded(context: Context) -> Wiring:
    from ga3c.cluster.sharded import ShardedReplay, Shards  # here alone: it loads Ray

    settings, updates = context.settings, updates_of(context)
    shards = settings.replay.replay_shards
    recipe = _recipe(context).part(shards)
    check_fits(recipe, 0, shards)
    listeners = listeners_of(context.learner, context.envs)

    def stored(rollouts: Sequence) -> None:
        listeners.stored(rollouts)
        updates.pace.played(recipe.copies * sum(rollout.transitions for rollout in rollouts))

    experience = ShardedReplay(
        Shards(recipe, settings.learning.t_max, shards), updates, beta_of(settings, lambda: experience.steps),
        context.begun.totals.trained_steps, replace(listeners, stored=stored), context.control, context.say,
    )  # fmt: skip
    filling = Filling(context, experience, updates.pace)

    def begin() -> None:
        filling.begin()
        experience.start()

    def watch(_) -> None:
        experience.watch()
        filling.look()

    return _wiring(context, experience, begin=begin, watch=watch)


def _recipe(context: Context) -> Recipe:
    """Returns the recipe. New transitions get priorities at once if the algorithm predicts the values for them."""
    recipe = recipe_of(context.settings, context.spec, context.agents, context.envs)
    return replace(recipe, new_have_priorities=getattr(context.algorithm, "initial_errors", False))


def _wiring(context: Context, experience, **others) -> Wiring:
    return Wiring(
        predictions=PredictionQueue(enough=context.enough),
        experience=experience,
        slots=FEW_SLOTS,
        columns=context.settings.replay.batch,
        counts=context.counts._replace(trainers=1),
        max_requests=context.max_requests,
        no_controller_because="agents and trainer keep no pace with each other",
        **others,
    )
