"""The replay memory that a system begins with."""

from collections.abc import Callable, Sequence

import numpy as np

from ga3c.algorithms import schedules
from ga3c.machine import check_replay_fits
from ga3c.model import Model
from ga3c.replay.eviction import ROOM, Eviction
from ga3c.replay.priorities import Priorities
from ga3c.replay.replay import Replay
from ga3c.rollout import EnvironmentSpec
from ga3c.scheduling.pace import Pace
from ga3c.settings.run import Settings
from ga3c.stats import Stats
from ga3c.text import count

BETA_STEPS = 50_000_000  # Rainbow's 200 million frames: until beta is what it ends at, where the run has no end


def replay_of(
    settings: Settings,
    spec: EnvironmentSpec,
    agents: int,
    envs: int,
    agents_bytes: int,
    steps: Callable[[], int],
    block_rows: int = 0,
    initial_errors: bool = False,
) -> Replay:
    """For `agents` of `envs` games each, which take `agents_bytes` of memory. `steps()`: that are played by now.
    `block_rows`: of each agent, in a block of concurrent training. `initial_errors`: as of `Replay`. Raises ConfigError
    where memory is short."""
    replay, learning = settings.replay, settings.learning

    priorities = Priorities(replay.priority_alpha, beta_of(settings, steps)) if replay.priority_alpha else None
    more = replay.replay_compression, initial_errors and priorities is not None
    by_priority = replay.replay_eviction == "priority"

    def rows(transitions: int) -> int:
        return transitions * (ROOM if by_priority else 1)

    def bytes_of(transitions: int) -> int:
        sizes = agents, envs, rows(transitions), replay.n_steps, priorities is not None, block_rows
        return Replay.bytes_of(spec, *sizes, *more)

    capacity, alphas = replay.replay_transitions, (replay.eviction_alpha, replay.priority_alpha)
    check_replay_fits(capacity, bytes_of, agents_bytes)
    eviction = Eviction(capacity, *alphas, learning.seed) if by_priority else None
    sizes = agents, envs, rows(capacity), replay.n_steps
    return Replay(spec, *sizes, learning.discount, priorities, learning.seed, block_rows, *more, eviction)


def beta_of(settings: Settings, steps: Callable[[], int]) -> Callable[[], float]:
    """How much of the bias of priorities is made up for after `steps()`."""
    replay = settings.replay
    first, last = replay.priority_beta, replay.priority_beta_final
    return lambda: schedules.linear(steps(), first, last, settings.run.steps or BETA_STEPS)


def recipe_of(settings: Settings, spec: EnvironmentSpec, pods: int, envs: int, initial_errors: bool):
    """What each of `replay_shards` is made of (`cluster.shard.Recipe`). Raises ConfigError where memory is short."""
    from ga3c.cluster.shard import Recipe  # here alone: it loads Ray

    replay, learning = settings.replay, settings.learning
    shards, by_priority = replay.replay_shards, replay.replay_eviction == "priority"
    groups = -(-pods // shards)
    more = replay.replay_compression, initial_errors and replay.priority_alpha > 0

    def rows(transitions: int) -> int:
        return -(-transitions // shards) * (ROOM if by_priority else 1)

    def bytes_of(transitions: int) -> int:
        sizes = groups, envs, rows(transitions), replay.n_steps, replay.priority_alpha > 0, 0
        return shards * Replay.bytes_of(spec, *sizes, *more)

    check_replay_fits(replay.replay_transitions, bytes_of, 0)
    capacity = -(-replay.replay_transitions // shards)
    return Recipe(
        spec, learning.t_max, groups, envs, rows(replay.replay_transitions), capacity, replay.n_steps,
        learning.discount, replay.priority_alpha, replay.eviction_alpha if by_priority else None, *more, learning.seed,
    )  # fmt: skip


def check_replay(settings: Settings, spec: EnvironmentSpec, agents: int) -> None:
    """Raises ConfigError where memory is short for those of all devices."""
    replay, envs = settings.replay, settings.schedule.envs_per_agent

    def bytes_of(transitions: int) -> int:
        prioritised = replay.priority_alpha > 0
        return Replay.bytes_of(
            spec, agents, envs, transitions, replay.n_steps, prioritised, compressed=replay.replay_compression
        )

    check_replay_fits(replay.replay_transitions, bytes_of, 0)


class Filling:
    """Says that a replay is filled before training begins, and when that is done."""

    def __init__(self, settings: Settings, replay: Replay, pace: Pace, trained: bool, say: Callable[[str], None]):
        """`trained`: the run has made updates before."""
        self._replay, self._pace, self._say, self._goes = replay, pace, say, "goes on" if trained else "begins"
        minimum = settings.replay.replay_minimum_transitions
        pace.played(min(replay.size, minimum))
        self._missing = minimum - replay.size
        if self._missing > 0:
            say(f"Replay: {count(self._missing, 'transition')} first, then training {self._goes}.")

    def look(self) -> None:
        """Now and then."""
        if self._missing > 0 and self._pace.has_minimum:
            self._missing = 0
            self._say(f"Replay: {count(self._replay.size, 'transition')}: training {self._goes}.")


def block_rows(settings: Settings, games: int) -> int:
    """Of a block of concurrent training: whole rollouts, and at least as long as the updates in it need."""
    replay, t_max = settings.replay, settings.learning.t_max
    rows = -(-replay.target_updates * replay.steps_per_update // games)
    return -(-rows // t_max) * t_max


def count_stored(stats: Stats, model: Model, rollouts: Sequence, envs: int) -> None:
    """Rollouts of `envs` games each that the replay has taken in."""
    if rollouts:
        versions = np.concatenate([rollout.record["version"][: rollout.length] for rollout in rollouts])
        stats.stored(rollouts, len(rollouts) * envs, model.version - versions)
