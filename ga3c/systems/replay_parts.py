"""The parts of systems with a replay memory: its recipe, its pace, and the messages while it is filled."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ga3c.systems.learner import Learner  # isort: skip (first: it loads TensorFlow)
from ga3c import machine
from ga3c.algorithms import schedules
from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Replay
from ga3c.replay.replay_queue import Listeners, Updates
from ga3c.rollout import EnvironmentSpec
from ga3c.scheduling.pace import Pace
from ga3c.settings.replay import BETA_STEPS
from ga3c.settings.run import Settings
from ga3c.systems.wiring import Context, nothing
from ga3c.text import count


def recipe_of(settings: Settings, spec: EnvironmentSpec, groups: int, envs: int) -> Recipe:
    """Returns the recipe of the replay of `groups` agents of `envs` games each."""
    replay, learning = settings.replay, settings.learning
    return Recipe(
        spec=spec,
        groups=groups,
        envs=envs,
        transitions=replay.replay_transitions,
        n_steps=replay.n_steps,
        discount=learning.discount,
        priority_alpha=replay.priority_alpha,
        eviction_alpha=replay.eviction_alpha if replay.replay_eviction == "priority" else None,
        compressed=replay.replay_compression,
        copies=replay.replay_copies,
        seed=learning.seed,
    )


def replay_of(context: Context, recipe: Recipe, agents_bytes: int, steps: Callable[[], int]) -> Replay:
    """Returns an empty replay. `agents_bytes`: memory of the agents. `steps()`: played by now.

    Raises ConfigError where memory is short.
    """
    check_fits(recipe, agents_bytes)
    return Replay(recipe, beta_of(context.settings, steps))


def check_fits(recipe: Recipe, agents_bytes: int, parts: int = 1) -> None:
    """Raises ConfigError where `parts` such replays do not fit beside agents that take so many bytes."""

    def bytes_of(transitions: int) -> int:
        return parts * replace(recipe, transitions=-(-transitions // parts)).bytes

    machine.check_replay_fits(parts * recipe.transitions, bytes_of, agents_bytes)


def beta_of(settings: Settings, steps: Callable[[], int]) -> Callable[[], float]:
    """Returns beta, the part of the bias of priorities that is corrected, as a function of `steps()`."""
    replay = settings.replay
    first, last = replay.priority_beta, replay.priority_beta_final
    return lambda: schedules.linear(steps(), first, last, settings.run.steps or BETA_STEPS)


def updates_of(context: Context) -> Updates:
    """Returns the pace and the size of updates."""
    replay = context.settings.replay
    pace = Pace(replay.replay_minimum_transitions, replay.steps_per_update)
    return Updates(pace, replay.batch, replay.target_updates, context.begun.totals.updates)


def listeners_of(
    learner: Learner, envs: int, updated: Callable[[], None] = nothing, free: Callable[[], None] = nothing
) -> Listeners:
    """Returns calls that count what a replay has taken in, rollouts of `envs` games each, and copy the network to the
    target network. `updated` and `free`: as in `Listeners`."""

    def stored(rollouts: Sequence) -> None:
        if rollouts:
            versions = np.concatenate([rollout.record["version"][: rollout.length] for rollout in rollouts])
            learner.stats.stored(rollouts, len(rollouts) * envs, learner.model.version - versions)

    return Listeners(stored, lambda steps: learner.model.copy_to_target(steps), updated, free)


class Filling:
    """Tells the user that a replay is filled before training begins, and when it is full enough."""

    def __init__(self, context: Context, replay, pace: Pace):
        """`replay`: anything that has a `size`, in transitions."""
        self._replay, self._pace, self._say = replay, pace, context.say
        self._goes = "goes on" if context.begun.totals.updates else "begins"
        self._minimum, self._missing = context.settings.replay.replay_minimum_transitions, 0

    def begin(self) -> None:
        """Called at the start, when what was saved with the run is in the replay."""
        self._pace.played(min(self._replay.size, self._minimum))
        self._missing = self._minimum - self._replay.size
        if self._missing > 0:
            self._say(f"Replay: {count(self._missing, 'transition')} first, then training {self._goes}.")

    def look(self) -> None:
        """Called now and then."""
        if self._missing > 0 and self._pace.has_minimum:
            self._missing = 0
            self._say(f"Replay: {count(self._replay.size, 'transition')}: training {self._goes}.")


def block_rows(settings: Settings, games: int) -> int:
    """Returns the rows of a block of concurrent training: whole rollouts, and as many as the updates in it need."""
    replay, t_max = settings.replay, settings.learning.t_max
    rows = -(-replay.target_updates * replay.steps_per_update // games)
    return -(-rows // t_max) * t_max
