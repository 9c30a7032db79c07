"""The model: the weights of now. It predicts with them and replaces them. It is given its algorithm.

The weights are tuples of tensors that nobody changes: `train` makes new ones and replaces the old ones in one
assignment. So every prediction sees the weights of exactly one update, and never waits for one.
"""

import math
import threading
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from ga3c import networks
from ga3c.devices.device import count_gpus, quiet
from ga3c.devices.graph import sizes_to_compile
from ga3c.devices.model_graphs import ModelGraphs
from ga3c.devices.pieces import WHOLE, Pieces
from ga3c.errors import ConfigError
from ga3c.networks import saved_tensors
from ga3c.networks.recurrent import Memory
from ga3c.networks.row_network import RowNetwork
from ga3c.networks.weights import first, from_arrays, to_arrays
from ga3c.rollout import RECURRENT_STATE, RESTART, EnvironmentSpec, rollout_dtype, transition_dtype
from ga3c.settings import named_objects
from ga3c.settings.catalogue import ALGORITHMS
from ga3c.settings.learning import LearningSettings


class Update(NamedTuple):
    """The outcome of one `Model.train`."""

    version: int  # of the weights that it started from
    applied: bool  # False: a number was not finite, and the weights are as they were
    numbers: dict[str, float]  # the algorithm's, by name
    errors: np.ndarray | None = None  # float32 [batch], of transitions: a replay makes priorities of them


class Acting(NamedTuple):
    """The ways in which a model acts."""

    steps: int = 0  # steps of play that the run has learned from so far, on which exploration depends
    games: int = 1  # the number of games that play, if each may explore on its own
    from_target: bool = False  # predictions are those of the target network


class Model:
    """A network with its weights. `predict` and `train` may be called from any number of threads."""

    def __init__(
        self,
        spec: EnvironmentSpec,
        settings: LearningSettings,
        algorithm,
        seed: int,
        xla: bool,
        pieces: Pieces = WHOLE,
        acting: Acting | None = None,
    ):
        """algorithm: an `algorithms.algorithm.Algorithm`. pieces: without XLA a batch of images is divided into these,
        and the network runs through them side by side."""
        self._spec, self._t_max, self._algorithm, self._xla = spec, settings.t_max, algorithm, xla
        self._own_algorithm = settings.own_algorithm
        self.network_name = name = networks.resolve(settings.network, spec, settings.algorithm)
        standardize = settings.input_scaling == "standardized"
        precision, has_policy = settings.precision, ALGORITHMS[settings.algorithm].policy
        options = dict(algorithm.network_options)
        if settings.recurrent_size:
            if RESTART not in algorithm.learns_from:
                raise ConfigError(f"--memory {settings.memory}: leave it out, as this algorithm cannot learn with it.")
            options["memory"] = Memory(settings.memory, settings.memory_units)
        self._recurrent_size = settings.recurrent_size
        self.network = network = networks.build(name, spec, seed, standardize, precision, has_policy, **options)
        if spec.layout:
            network = RowNetwork(network, spec.layout, has_policy)
        images = spec.has_pictures  # other networks have done a batch before another thread is awake
        self._graphs = ModelGraphs(network, algorithm, xla, pieces if images and not xla else WHOLE)
        # (version, weights): one reference, so that a reader never sees the one without the other.
        self._current = self._target = 0, first(network)
        start_steps, self._games, self._target_acts = acting or Acting()
        self._optimizer = algorithm.initial_state(self._current[1].trained)
        self.explore(start_steps)
        self.per_game = self._explore.shape.rank > 0  # then `predict` has to know the game of each state
        self._training = threading.Lock()
        self._seed = np.random.SeedSequence(seed).generate_state(1).astype(np.int32)[0]
        self._predictions = 0

    @property
    def version(self) -> int:
        """The number of updates made so far."""
        return self._current[0]

    @property
    def parameters(self) -> int:
        """The number of trainable numbers in the network."""
        return sum(math.prod(weight.shape) for weight in self._current[1].trained)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of what an update reports, in the algorithm's order. Known after `warm_up`."""
        return self._graphs.numbers

    def predict(
        self, observations: np.ndarray, games: np.ndarray | None = None, recurrent_states: np.ndarray | None = None
    ) -> tuple[dict[str, np.ndarray], int]:
        """Lets the algorithm act on observations [batch, ...]. games: int32 [batch], their numbers, where `per_game`.
        recurrent_states: float32 [batch, size], what a network with a memory remembers of them; None: nothing yet.

        Returns: what goes into each row of a rollout, by field, [batch, ...] each (`action` is one; with a memory
        `recurrent_state`, which is for the next step of these games, is another); and the version of the weights. Under
        XLA a batch of another size than `warm_up` returned is compiled first.
        """
        fields, _, version = self._act(observations, self._explore, games, recurrent_states)
        return {name: array.numpy() for name, array in fields.items()}, version

    def decide(
        self, observations: np.ndarray, recurrent_states: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Returns sampled actions [batch, ...], policies float32 [batch, policy_size], values float32 [batch], and what
        the network remembers then, float32 [batch, size]; without a memory the size is 0.

        Algorithms of action values return the best actions, the action values and the largest of them instead.
        recurrent_states: what it remembered after the states before, with zeros where a game begins anew; None: all
        games begin.
        """
        games = np.zeros(len(observations), np.int32) if self.per_game else None
        fields, (policies, values), _ = self._act(observations, tf.zeros_like(self._explore), games, recurrent_states)
        if self._recurrent_size:
            after = fields[RECURRENT_STATE].numpy().copy()  # the caller may write into it
        else:
            after = np.zeros((len(observations), 0), np.float32)
        return fields["action"].numpy(), policies.numpy(), values.numpy(), after

    def _act(
        self,
        observations: np.ndarray,
        explore: tf.Tensor,
        games: np.ndarray | None,
        recurrent_states: np.ndarray | None,
    ):
        version, weights = self._target if self._target_acts else self._current
        # Two threads may draw the same number: the noise is of a batch, not of a step.
        self._predictions = (self._predictions + 1) % 2**31
        seed = np.array([self._seed, self._predictions], np.int32)
        if not self._recurrent_size:
            recurrent_states = None
        elif recurrent_states is None:
            recurrent_states = np.zeros((len(observations), self._recurrent_size), np.float32)
        return *self._graphs.act(weights, observations, seed, explore, games, recurrent_states), version

    def train(self, batch: dict[str, np.ndarray], steps: int = 0) -> Update:
        """Makes one update, unless one of its numbers is not finite. batch: the fields that the algorithm learns from.

        steps: steps of play that the run has learned from so far. Learning rate and exploration fall with them.
        """
        arrays = {name: batch[name] for name in self._algorithm.learns_from}
        with self._training:
            (version, weights), (_, target), rate = self._current, self._target, self._algorithm.learning_rate(steps)
            weights, optimizer, numbers, *errors = self._graphs.update(weights, self._optimizer, rate, arrays, target)
            numbers = numbers.numpy()
            applied = bool(np.isfinite(numbers).all())  # the gradient's norm is not, if any part of it is not
            if applied:
                self._current, self._optimizer = (version + 1, weights), optimizer
            if not self._target_acts:
                self.explore(steps)
        names = dict(zip(self._graphs.numbers, numbers.tolist(), strict=True))
        return Update(version, applied, names, *(error.numpy() for error in errors))

    def why_unchanged(self, steps: int) -> tuple[str, bool]:
        """Returns why an update changes no weight after so many steps of play, and whether that passes with play."""
        if missing := self._current[1].missing_states:
            return f"{missing:,} more states are to be counted first, which the network scales its input by", True
        if not self._algorithm.learning_rate(steps):
            return "the step size is 0 (--learning-rate, --learning-rate-schedule)", False
        return "all gradients are 0", False

    def copy_to_target(self, steps: int) -> None:
        """Copies the newest weights into the target network. steps: as in `train`."""
        with self._training:
            self._target = self._current
            self.explore(steps)

    def explore(self, steps: int) -> None:
        """Sets the exploration to that after so many steps of play."""
        self._explore_steps, share = steps, self._algorithm.exploration(steps, self._games)
        self._explore = tf.constant(np.asarray(share, np.float32))  # TensorFlow keeps copies of Python's numbers

    def warm_up(self, envs: int, limit: int, columns: int, rows: int | None = None) -> list[int]:
        """Traces and compiles what the threads will call. Changes no weight. rows: of a batch; None: `t_max`.

        Returns the batch sizes to pad predictions to, from `envs` to `limit`, which XLA compiles; [] without XLA.
        """
        spec, replays, sizes = self._spec, self._algorithm.replays, sizes_to_compile(envs, limit) if self._xla else []
        columns = columns if self._xla or count_gpus() else 1  # on cores nothing depends on the size
        rows = rows or self._t_max
        row_bytes = rollout_dtype(spec, rows, 1, self._recurrent_size).itemsize
        columns = min(columns, (2**31 - 1) // row_bytes)  # in a record of NumPy: the first update compiles for more
        dtype = transition_dtype(spec, columns) if replays else rollout_dtype(spec, rows, columns, self._recurrent_size)
        before = self._current, self._optimizer, self._explore, self._explore_steps
        own = self._own_algorithm
        with quiet(), named_objects.blaming("--own-algorithm", own) if own else nullcontext():
            for size in sizes or self._graphs.prediction_sizes:
                self.decide(np.zeros((size, *spec.observation_shape), spec.observation_dtype))
            self.train(np.zeros((), dtype))  # without a valid step
        self._current, self._optimizer, self._explore, self._explore_steps = before
        return sizes

    def state(self) -> dict[str, np.ndarray]:
        """Returns everything that training changes, as plain arrays by name; consistent while trainers run."""
        with self._training:
            (version, weights), optimizer, (_, target) = self._current, self._optimizer, self._target
        arrays = to_arrays("network", weights) | saved_tensors.to_arrays("optimizer", optimizer)
        if self._algorithm.replays:
            arrays |= to_arrays("target", target)
        return arrays | {"version": np.int64(version)}

    @property
    def chance(self) -> tuple[int, int, int]:
        """The seed, the predictions so far and the steps of play by which it explores. They decide the random numbers
        of the next predictions: a model with another one's chance and weights predicts the same."""
        return int(self._seed), self._predictions, self._explore_steps

    @chance.setter
    def chance(self, chance: tuple[int, int, int]) -> None:
        self._seed, self._predictions = np.int32(chance[0]), chance[1]
        self.explore(chance[2])

    def network_state(self) -> dict[str, np.ndarray]:
        """Returns the part of `state` that `predict` needs."""
        version, weights = self._current
        return to_arrays("network", weights) | {"version": np.int64(version)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Sets what `state` has returned. Agents that come with the program have the arrays of their network alone.

        Raises ConfigError where the arrays are of another network.
        """
        version = saved_tensors.version_of(arrays)
        with self._training:
            like = self._current[1]
            weights = from_arrays(arrays, "network", like, self.network_name)
            optimizer = self._algorithm.initial_state(weights.trained)
            if saved_tensors.has(arrays, "optimizer"):
                optimizer = saved_tensors.from_arrays(arrays, "optimizer", optimizer, self.network_name)
            has_target = self._algorithm.replays and saved_tensors.has(arrays, "target")
            target = from_arrays(arrays, "target", like, self.network_name) if has_target else weights
            self._current, self._target, self._optimizer = (version, weights), (version, target), optimizer
