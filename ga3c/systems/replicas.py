"""A model on several devices (Stooke and Abbeel 2018, section 4.2), used as a `model.Model`.

Any of the devices may predict: their weights are equal, bit for bit.
"""

import functools
import itertools
import threading
from collections.abc import Callable

import numpy as np

from ga3c.devices.device import count_gpus, set_up_devices  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms
from ga3c.devices.all_reduce import AllReduce, Group, equal
from ga3c.errors import ConfigError, TrainingFailed
from ga3c.model import Model, Update
from ga3c.rollout import EnvironmentSpec, column_axis
from ga3c.settings import devices
from ga3c.settings.run import Settings

CHECK_UPDATES = 1_000  # between two checks that the weights are still equal


class Replicas:
    """A model on each device, with the methods of a `Model`. `train` gives each its part of the columns of a batch."""

    def __init__(self, group: Group, make_model: Callable[[AllReduce], Model]):
        """`make_model(devices)` returns a model whose algorithm has these `devices`."""
        self._group, self._training = group, threading.Lock()
        self._models = [group.on(device, lambda: make_model(AllReduce(group))) for device in group.devices]
        self._first = first = self._models[0]
        self.network_name, self.parameters, self.per_game = first.network_name, first.parameters, first.per_game
        self.state, self.network_state, self.why_unchanged = first.state, first.network_state, first.why_unchanged
        self.chance = first.chance  # gives the others numbers of their own
        self._own, self._next = threading.local(), itertools.cycle(range(len(group.devices)))
        self._checked = -1  # version; none

    @property
    def version(self) -> int:
        return self._first.version

    @property
    def numbers(self) -> tuple[str, ...]:
        return self._first.numbers

    @property
    def chance(self) -> tuple[int, int, int]:
        """As `Model.chance`, of the first device. Each of the others draws random numbers of its own."""
        return self._first.chance

    @chance.setter
    def chance(self, chance: tuple[int, int, int]) -> None:
        for number, (device, model) in enumerate(zip(self._group.devices, self._models, strict=True)):
            own = own_chance(chance, number)
            self._group.on(device, lambda model=model, own=own: setattr(model, "chance", own))

    def predict(
        self, observations: np.ndarray, games: np.ndarray | None = None, recurrent_states: np.ndarray | None = None
    ) -> tuple[dict[str, np.ndarray], int]:
        """As `Model.predict`, on the device of this thread: each thread that predicts has its own, in turn."""
        if not hasattr(self._own, "number"):
            self._own.number = next(self._next)
        model, device = (of[self._own.number] for of in (self._models, self._group.devices))
        return self._group.on(device, lambda: model.predict(observations, games, recurrent_states))

    def train(self, batch: dict[str, np.ndarray], steps: int = 0) -> Update:
        """As `Model.train`; the numbers are means over the devices. Raises TrainingFailed where a device fails or the
        weights are no longer equal."""
        with self._training:
            self._check()
            parts = _parts(batch, len(self._models))
            calls = [
                functools.partial(model.train, part, steps) for model, part in zip(self._models, parts, strict=True)
            ]
            updates = self._group.run(calls)
        errors = [update.errors for update in updates if update.errors is not None]
        return updates[0]._replace(errors=np.concatenate(errors) if errors else None)

    def _check(self) -> None:
        if 0 <= self._checked < self.version < self._checked + CHECK_UPDATES:
            return
        self._checked = self.version
        if not equal([model.state() for model in self._models]):
            raise TrainingFailed(f"The weights of the devices differ after {self.version} updates.")

    def copy_to_target(self, steps: int) -> None:
        with self._training:
            for model in self._models:
                model.copy_to_target(steps)

    def warm_up(self, envs: int, limit: int, columns: int, rows: int | None = None) -> list[int]:
        """As `Model.warm_up`, one device after the other. Any size of a prediction will do: there is no XLA."""
        part = -(-columns // len(self._models))
        for device, model in zip(self._group.devices, self._models, strict=True):
            self._group.alone()
            self._group.on(device, lambda model=model: model.warm_up(envs, limit, part, rows))
        self._group.together()
        return []

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """As `Model.restore`, with arrays from any number of devices."""
        with self._training:
            for device, model in zip(self._group.devices, self._models, strict=True):
                self._group.on(device, lambda model=model: model.restore(arrays))
            self._checked = -1


def own_chance(chance: tuple[int, int, int], number: int) -> tuple[int, int, int]:
    """Returns the `Model.chance` of the device of this number. That of device 0 is the one given."""
    return chance[0] ^ number, *chance[1:]


def _parts(batch: dict[str, np.ndarray], count: int) -> list[dict[str, np.ndarray]]:
    """Returns the columns of a batch for each device. Some devices get none if there are fewer columns."""
    columns = min(array.shape[column_axis(name)] for name, array in batch.items())
    bounds = [columns * number // count for number in range(count + 1)]
    return [
        {name: array[(slice(None),) * column_axis(name) + (slice(start, end),)] for name, array in batch.items()}
        for start, end in itertools.pairwise(bounds)
    ]


def devices_of(settings: Settings) -> int:
    """Returns the number of devices that the model will be on."""
    if not settings.run.devices:
        return 1
    _, numbers = devices.named(settings.run.devices)
    return len(numbers) if numbers else max(1, count_gpus())


def replicas_of(settings: Settings, spec: EnvironmentSpec, threads: int, make: Callable) -> tuple[str, Replicas]:
    """Returns the devices in words, and a model on each. make: as in `learner`, given algorithm, XLA and threads."""
    kind, numbers = devices.named(settings.run.devices)
    parts = len(numbers) if kind == "cpu" else 1  # of the cores
    names = set_up_devices(kind, numbers, max(1, threads // parts))
    if algorithms.make(settings, spec.actions).replays and settings.replay.batch < len(names):
        raise ConfigError(f"--batch {settings.replay.batch} is too few for {len(names)} devices: give one for each.")

    def make_one(all_reduce: AllReduce) -> Model:
        algorithm = algorithms.make(settings, spec.actions)
        algorithm.devices = all_reduce
        return make(algorithm, False, max(1, threads // parts) * parts)

    return " and ".join(names), Replicas(Group(names), make_one)
