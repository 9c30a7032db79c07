"""The models of devices that learn on their own, and what they share (Stooke and Abbeel 2018, section 4.3)."""

import contextlib
import threading
from collections.abc import Sequence

import numpy as np

from ga3c.devices.device import scope  # isort: skip (first: it loads TensorFlow)
from ga3c.devices.parameter_store import ParameterStore, Pulled
from ga3c.errors import ConfigError
from ga3c.model import Model, Update
from ga3c.networks import saved_tensors
from ga3c.networks.weights import Weights, to_arrays


class UnitModel(Model):
    """Of one device. Its versions are those of the store: policy lag counts the updates of all."""

    def __init__(self, device: str, whose: tuple, begin: tuple, games: int):
        """`whose`, `begin`: the first arguments of a Model: (spec, settings, algorithm), (seed, xla, steps)."""
        self._device, self.joining, self._store = device, threading.RLock(), None
        self.steps_of_all = None  # of play, of all units; None: those that are given
        with scope(device):
            super().__init__(*whose, *begin, games=games)
        if self._current[1].statistics:
            raise ConfigError("--device-updates asynchronous does not go with --input-scaling standardized: use bytes.")

    def target_arrays(self) -> dict[str, np.ndarray]:
        """As `Model.state` has them: each unit has a target network of its own."""
        return {name: array for name, array in super().state().items() if name.startswith("target/")}

    @property
    def version(self) -> int:
        """Updates of all."""
        return self._store.version if self._store else self._current[0]

    @property
    def tensors(self) -> list:
        """As the store has them."""
        return [*self._current[1].trained, *self._optimizer]

    def new_store(self) -> ParameterStore:
        """With what this one begins with."""
        algorithm = self._algorithm
        return ParameterStore(self.tensors, len(self._current[1].trained), algorithm.decays, algorithm.local_steps)

    def join(self, store: ParameterStore) -> None:
        """Goes on from what is there."""
        with self.joining, scope(self._device):
            self._store = store
            pulled = store.pull()
            self._go_on(pulled, pulled.version)

    def _go_on(self, pulled: Pulled, version: int) -> None:
        weights = len(self._current[1].trained)
        with self._training:
            self._pulled = pulled
            self._current = version, Weights(tuple(pulled.tensors[:weights]), ())
            self._optimizer = tuple(pulled.tensors[weights:])

    def split(self, tensors: Sequence) -> tuple[Weights, tuple]:
        """Weights, and what the optimizer keeps."""
        weights = len(self._current[1].trained)
        return Weights(tuple(tensors[:weights]), ()), tuple(tensors[weights:])

    def _run_predict(self, *arguments):
        with scope(self._device):
            return super()._run_predict(*arguments)

    def copy_to_target(self, steps: int) -> None:
        """As `Model.copy_to_target`."""
        with self.joining, scope(self._device):
            super().copy_to_target(self.steps_of_all() if self.steps_of_all else steps)

    def warm_up(self, prediction_sizes: list[int], columns: int) -> None:
        """As `Model.warm_up`. The others learn nothing of it."""
        with self.joining, scope(self._device):
            store, self._store = self._store, None
            super().warm_up(prediction_sizes, columns)
            self._store = store

    def train(self, batch: dict[str, np.ndarray], steps: int = 0) -> Update:
        """As `Model.train`; then what it has learned goes to the store, and it goes on from what is there."""
        with self.joining, scope(self._device):
            update = super().train(batch, self.steps_of_all() if self.steps_of_all else steps)
            if not update.applied or self._store is None:
                return update
            pulled = self._store.update(self._pulled, self.tensors)
            self._go_on(pulled, pulled.version + 1)
            return update._replace(version=pulled.version)


class SharedModel:
    """What the server knows of them, in a `model.Model`'s place."""

    def __init__(self, models: Sequence[UnitModel]):
        self._models, self._first = models, models[0]
        self._store = self._first.new_store()
        self.network_name, self.parameters = self._first.network_name, self._first.parameters
        self.why_unchanged = self._first.why_unchanged
        self._join()

    def _join(self) -> None:
        for model in self._models:
            model.join(self._store)

    @property
    def version(self) -> int:
        """Updates of all."""
        return self._store.version

    @property
    def numbers(self) -> tuple[str, ...]:
        """As `Model.numbers`."""
        return self._first.numbers

    def state(self) -> dict[str, np.ndarray]:
        """As `Model.state`: it does not tell how many devices there are. Nobody may train meanwhile."""
        pulled = self._store.pull()
        weights, optimizer = self._first.split(pulled.tensors)
        arrays = (
            to_arrays("network", weights)
            | saved_tensors.to_arrays("optimizer", optimizer)
            | self._first.target_arrays()
        )
        return arrays | {"version": np.int64(pulled.version)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """As `Model.restore`."""
        with contextlib.ExitStack() as all_of_them:
            for model in self._models:
                all_of_them.enter_context(model.joining)
                model.restore(arrays)
            self._store.replace(self._first.tensors, self._first.version)
            self._join()
