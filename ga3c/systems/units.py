"""Asynchronous devices (Stooke and Abbeel 2018, section 4.3): A3C of A2C units, APPO of PPO units, asynchronous DQN.

Each device is a system of its own, a unit: agents, queues, a network, and a replay memory where the algorithm has one.
Units share only a parameter store.
"""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ga3c.progress import Progress

from ga3c.devices.device import set_up_devices, threads  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms, machine, networks
from ga3c.errors import ConfigError
from ga3c.model import Acting
from ga3c.rollout import EnvironmentSpec
from ga3c.settings import devices
from ga3c.settings.run import Settings
from ga3c.stats import Stats
from ga3c.systems import wiring_of
from ga3c.systems.learner import stats_of
from ga3c.systems.replay_parts import check_fits, recipe_of
from ga3c.systems.replicas import devices_of
from ga3c.systems.stations import Stations
from ga3c.systems.unit_model import SharedModel, Sharing, UnitModel
from ga3c.systems.wiring import Unit

AGENTS_APART = 100_000  # between the numbers of the agents of two units


class _UnitStats:
    """The run's counters with a lock of the unit's own: no unit waits for the update of another."""

    def __init__(self, stats: Stats):
        self._stats, self.updating = stats, threading.Lock()

    def __getattr__(self, name: str):
        return getattr(self._stats, name)


class _All:
    """Several locks as one."""

    def __init__(self, locks: list):
        self._locks, self._held = locks, contextlib.ExitStack()

    def __enter__(self):
        for lock in self._locks:
            self._held.enter_context(lock)

    def __exit__(self, *_):
        self._held.close()


class Units:
    """Runs several `Stations`. It is a `systems.System`."""

    may_end = True
    replay = under_way = None

    def __init__(
        self,
        settings: Settings,
        spec: EnvironmentSpec,
        begun: Progress,
        say: Callable[[str], None],
        log_decisions: Callable[[list[list]], None],
    ):
        """Raises ConfigError where this machine is too small."""
        self._settings, self._spec, self._begun, self._say = settings, spec, begun, say
        self._made: list[tuple] = []  # device, model and stats of each unit
        count, agents = devices_of(settings), begun.counts.agents
        if agents % count:
            raise ConfigError(f"{agents} agents cannot be dealt evenly to {count} devices: use --agents {count}.")
        self._replays = algorithms.make(settings, spec.actions).replays
        if self._replays:
            check_fits(recipe_of(settings, spec, agents, settings.schedule.envs_per_agent), 0)
        own = _settings_of_unit(settings, count)
        counts = begun.counts._replace(agents=agents // count)
        self._units = [
            Stations(
                wiring_of(own),
                own,
                spec,
                replace(begun, counts=counts, next_agent=begun.next_agent + number * AGENTS_APART),
                say,
                log_decisions,
                self._unit(number, number * counts.agents),
            )
            for number in range(count)
        ]
        unit = self._units[0]
        machine.check_agents_fit(agents, unit.slots_bytes, settings.schedule.envs_per_agent, groups=count)
        self._steps_before = begun.totals.steps
        self.counts = self.chosen_counts = begun.counts._replace(predictors=count, trainers=count)

    def _unit(self, number: int, agents_before: int) -> Unit:
        return Unit(lambda _: self._made[number], self._made_steps, self._played_steps, agents_before)

    def start(self, arrays: dict[str, np.ndarray] | None) -> None:
        """Starts one unit after the other."""
        learning, (kind, numbers) = self._settings.learning, devices.named(self._settings.run.devices)
        network = networks.resolve(learning.network, self._spec, learning.algorithm)
        count = self._settings.run.tensorflow_threads or threads(network)
        names = set_up_devices(kind, numbers, max(1, count // len(self._units)))
        begun, games = self._begun, self.counts.agents * self._settings.schedule.envs_per_agent
        run, steps_of_all = self._settings.run, self._played_steps if self._replays else None
        sharing = Sharing(steps_of_all, run.device_exchange_minibatches, run.device_pull_steps)
        acting, seed = Acting(begun.totals.trained_steps, games // len(names)), learning.seed + begun.totals.updates
        own = (algorithms.make(self._settings, self._spec.actions) for _ in names)
        models = [
            UnitModel(name, self._spec, learning, algorithm, seed, acting, sharing)
            for name, algorithm in zip(names, own, strict=True)
        ]
        self.device, self.model = " and ".join(names), SharedModel(models)
        players = self.counts.agents // len(names)
        self.stats = stats_of(self._settings, begun, models[0], players, self._say, len(names))
        if arrays is not None:
            self.model.restore(arrays)
        stats = [_UnitStats(self.stats) for _ in models]
        self.stats.updating = _All([one.updating for one in stats])
        self._made = list(zip(names, models, stats, strict=True))
        for unit in self._units:
            unit.start(None)

    def _made_steps(self) -> int:
        return sum(unit.made_steps for unit in self._units)

    def _played_steps(self) -> int:
        return self.stats.trained_steps()

    @property
    def has_all_steps(self) -> bool:
        limit = self._settings.run.steps
        return limit is not None and self._steps_before + self._made_steps() >= limit

    def watch(self) -> None:
        for unit in self._units:
            unit.watch()

    def stop(self) -> None:
        for unit in self._units:
            unit.stop()

    @property
    def next_agent(self) -> int:
        return max(unit.next_agent - number * AGENTS_APART for number, unit in enumerate(self._units))

    def waiting(self) -> tuple[int, int]:
        return self._sums("waiting")

    def games(self) -> tuple[int, int]:
        return self._sums("games")

    def _sums(self, method: str) -> tuple[int, int]:
        return tuple(map(sum, zip(*(getattr(unit, method)() for unit in self._units), strict=True)))

    def agents_core_seconds(self) -> float:
        return sum(unit.agents_core_seconds() for unit in self._units)

    def watched(self) -> dict[str, float]:
        return {}

    def report(self) -> list[str]:
        return [line for unit in self._units for line in unit.report()]


def _settings_of_unit(settings: Settings, count: int) -> Settings:
    """Returns the settings of one unit: its share of the replay, and target networks as old in steps of all units."""
    replay = settings.replay
    own = replace(
        replay,
        replay_transitions=-(-replay.replay_transitions // count),
        replay_minimum_transitions=-(-replay.replay_minimum_transitions // count),
        target_updates=max(1, round(replay.target_updates / count)),
    )
    return replace(settings, replay=own, run=replace(settings.run, devices=None))
