"""Serial mode: one thread plays all games, predicts and learns, with GA3C's stations.

It is for debugging, and the same seed gives the same weights, bit for bit.
"""

from dataclasses import replace

from ga3c.systems.one_thread import OneThreadWiring  # isort: skip (first: it loads TensorFlow)
from ga3c import machine
from ga3c.replay.replay_queue import ConcurrentReplayQueue, ReplayQueue
from ga3c.rollout import Batch, slots_needed
from ga3c.systems.replay_parts import Filling, block_rows, listeners_of, recipe_of, replay_of, updates_of
from ga3c.systems.wiring import Context, nothing
from ga3c.text import count
from ga3c.training_queue import Rollout, TrainingQueue
from ga3c.transport.agent_memory import AgentMemory
from ga3c.transport.inbox import Inbox


def wire(context: Context, inbox: Inbox) -> OneThreadWiring:
    """Batches are those of GA3C, or drawn from a replay. Raises ConfigError where this machine is too small."""
    settings, learning = context.settings, context.settings.learning
    games = settings.schedule.games_of(context.agents)
    slots = slots_needed(learning.t_max, games, learning.minimum_batch_steps)
    dtype = context.dtype_of(learning.t_max, games)
    machine.check_agents_fit(1, slots * dtype.itemsize, games)
    wiring = OneThreadWiring(
        games=games,
        memory=AgentMemory(dtype, slots),
        experience=None,
        columns=(slots - 2) * games,
        counts=context.begun.counts,
        how=f"Serial: {count(games, 'game')} in one thread, which predicts and learns, too. No controller.",
    )
    if context.algorithm.replays:
        return with_replay(wiring, context, inbox, slots * dtype.itemsize)
    return replace(wiring, experience=TrainingQueue(dtype, slots - 2, context.algorithm.learns_from, inbox=inbox))


def with_replay(wiring: OneThreadWiring, context: Context, inbox: Inbox, slots_bytes: int) -> OneThreadWiring:
    """Returns the wiring with a replay in it, which is learned from as `replayed` does. Raises ConfigError."""
    settings, games = context.settings, wiring.games
    concurrent, steps = settings.replay.concurrent_training, context.begun.totals.trained_steps
    rows = block_rows(settings, games) if concurrent else 0
    recipe = replace(recipe_of(settings, context.spec, 1, games), reserved_rows=rows)
    replay = replay_of(context, recipe, machine.agent_bytes(slots_bytes, games), lambda: experience.steps)
    updates, listeners = updates_of(context), listeners_of(context.learner, games)
    if concurrent:
        experience = BlockwiseReplayQueue(replay, updates, steps, listeners, Block(rows), last_step=None, inbox=inbox)
    else:
        experience = ReplayQueue(replay, updates, len, steps, listeners, inbox)
    filling = Filling(context, replay, updates.pace)
    return replace(
        wiring,
        experience=experience,
        columns=settings.replay.batch,
        replay=replay,
        begin=filling.begin,
        watch=filling.look,
        stopped=experience.close if concurrent else nothing,  # leaves out the rest of a block's updates
    )


class Block:
    """Stands in for `pace.Blocks`."""

    def __init__(self, rows: int):
        self.rows = self.left = rows

    @property
    def played(self) -> bool:
        return self.left <= 0

    def begin(self) -> None:
        """Begins the next block."""
        self.left = self.rows


class BlockwiseReplayQueue(ConcurrentReplayQueue):
    """Makes the updates of a block when it is played: the network that plays does not change within a block."""

    def next_batch(self) -> Batch | None:
        self._take(wait=lambda: False)
        if self._inbox.closed or not self._blocks.played:
            return None
        if self._left and self.replay.size:
            self._left -= 1
            return self._draw()
        self._next_block()
        return None

    def _store(self, rollouts: list[Rollout]) -> None:
        super()._store(rollouts)
        self._blocks.left -= sum(rollout.length for rollout in rollouts)
