"""The models of devices that learn on their own, and the store they share (Stooke and Abbeel 2018, section 4.3)."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ga3c.devices.device import scope  # isort: skip (first: it loads TensorFlow)
from ga3c.devices.exchange import Exchange
from ga3c.devices.parameter_store import ParameterStore, Pulled
from ga3c.errors import ConfigError
from ga3c.model import Acting, Model, Update
from ga3c.networks import saved_tensors
from ga3c.networks.weights import Weights, to_arrays
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.learning import LearningSettings
from ga3c.systems.replicas import own_chance


class Sharing(NamedTuple):
    """How a device shares what it learns with others."""

    steps_of_all: Callable[[], int] | None
    """Returns the steps of play of all devices, by which schedules go. None: they go by the steps that `train` is
    given."""
    exchange_minibatches: int = 0
    """As `RunSettings.device_exchange_minibatches`."""
    pull_steps: int = 0
    """As `RunSettings.device_pull_steps`."""


class UnitModel(Model):
    """The model of one device. Its versions are those of the store: policy lag counts the updates of all devices."""

    def __init__(
        self,
        device: str,
        spec: EnvironmentSpec,
        settings: LearningSettings,
        algorithm,
        seed: int,
        acting: Acting,
        sharing: Sharing,
    ):
        """`device` is TensorFlow's name of it. The other arguments are those of a `Model`."""
        self._device, self.joining, self._store = device, threading.RLock(), None
        self._steps_of_all, self._pull_steps = sharing.steps_of_all, sharing.pull_steps
        self._states = 0  # that it has predicted for since it pulled
        self._exchange = algorithm.central = Exchange(sharing.exchange_minibatches)
        with scope(device):
            super().__init__(spec, settings, algorithm, seed, xla=False, acting=acting)
        if self._current[1].statistics:
            raise ConfigError("--device-updates asynchronous does not go with --input-scaling standardized: use bytes.")

    def target_arrays(self) -> dict[str, np.ndarray]:
        """Returns the target network, as `Model.state` has it: each device has its own."""
        return {name: array for name, array in super().state().items() if name.startswith("target/")}

    @property
    def version(self) -> int:
        """Updates of all devices."""
        return self._store.version if self._store else self._current[0]

    @property
    def tensors(self) -> list:
        """Weights and optimizer, in the order of the store."""
        return [*self._current[1].trained, *self._optimizer]

    def new_store(self) -> ParameterStore:
        """Returns a store that begins with the tensors of this model."""
        return ParameterStore(self.tensors, len(self._current[1].trained), self._algorithm.decays)

    def join(self, store: ParameterStore) -> None:
        """Joins a store, and goes on from its tensors."""
        with self.joining, scope(self._device):
            self._store = store
            pulled = store.pull()
            self._go_on(pulled, pulled.version)

    def _go_on(self, pulled: Pulled, version: int) -> None:
        weights, optimizer = self.split(pulled.tensors)
        with self._training:
            self._exchange.join(self._store, pulled)
            self._current, self._optimizer, self._states = (version, weights), optimizer, 0

    def split(self, tensors: Sequence) -> tuple[Weights, tuple]:
        """Splits the tensors of the store into weights and optimizer."""
        weights = len(self._current[1].trained)
        return Weights(tuple(tensors[:weights]), ()), tuple(tensors[weights:])

    def _act(self, observations, *others):
        self._states += len(observations)
        due = self._pull_steps and self._states >= self._pull_steps * self._games
        if due and self._store and self.joining.acquire(blocking=False):  # else an update pulls soon
            with contextlib.ExitStack() as held:
                held.callback(self.joining.release)
                self.join(self._store)
        with scope(self._device):
            return super()._act(observations, *others)

    def copy_to_target(self, steps: int) -> None:
        with self.joining, scope(self._device):
            super().copy_to_target(self._steps_of_all() if self._steps_of_all else steps)

    def warm_up(self, envs: int, limit: int, columns: int, rows: int | None = None) -> list[int]:
        """As `Model.warm_up`; the store stays as it is."""
        with self.joining, scope(self._device):
            store, pulled, self._store = self._store, self._exchange.pulled, None
            self._exchange.join(None, None)
            sizes = super().warm_up(envs, limit, columns, rows)
            self._store = store
            self._exchange.join(store, pulled)
            return sizes

    def train(self, batch: dict[str, np.ndarray], steps: int = 0) -> Update:
        """As `Model.train`; then it adds its changes to the store, and goes on from the tensors there."""
        with self.joining, scope(self._device):
            update = super().train(batch, self._steps_of_all() if self._steps_of_all else steps)
            pulled = self._exchange.take_applied()
            if self._store is None:
                return update
            if not update.applied:
                self.join(self._store)  # the minibatches before the one that is not finite may be in it
                return update
            if pulled is None:
                steps = self._exchange.last_steps(self._algorithm.local_steps)
                pulled = self._store.update(self._exchange.pulled, self.tensors, steps)
            self._go_on(pulled, pulled.version + 1)
            return update._replace(version=pulled.version)


class SharedModel:
    """The models of all devices, as one `Model` for the server."""

    def __init__(self, models: Sequence[UnitModel]):
        self._models, self._first = models, models[0]
        self._store = self._first.new_store()
        self.network_name, self.parameters = self._first.network_name, self._first.parameters
        self.why_unchanged = self._first.why_unchanged
        for number, model in enumerate(models):  # each draws random numbers of its own
            model.chance = own_chance(model.chance, number)
        self._join()

    def _join(self) -> None:
        for model in self._models:
            model.join(self._store)

    @property
    def version(self) -> int:
        """Updates of all devices."""
        return self._store.version

    @property
    def numbers(self) -> tuple[str, ...]:
        return self._first.numbers

    def state(self) -> dict[str, np.ndarray]:
        """As `Model.state`, for any number of devices. Nobody may train meanwhile."""
        pulled = self._store.pull()
        weights, optimizer = self._first.split(pulled.tensors)
        arrays = to_arrays("network", weights) | saved_tensors.to_arrays("optimizer", optimizer)
        return arrays | self._first.target_arrays() | {"version": np.int64(pulled.version)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        with contextlib.ExitStack() as all_of_them:
            for model in self._models:
                all_of_them.enter_context(model.joining)
                model.restore(arrays)
            self._store.replace(self._first.tensors, saved_tensors.version_of(arrays))
            self._join()
