"""Model: the one network's weights, and the two compiled functions that use them. Knows no algorithm: it is given one.

The weights are tuples of tensors that nobody changes: `train` makes new ones and puts them in the place of the old
ones, in one assignment. So every prediction sees the weights of exactly one update, and never waits for one.
"""

import functools
import math
import threading
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from ga3c import networks
from ga3c.devices.device import quiet
from ga3c.devices.graph import Graph, open_specs, sizes_to_compile, specs
from ga3c.devices.pieces import PIECE_STATES, WHOLE, Pieces, in_pieces
from ga3c.networks import saved_tensors
from ga3c.networks.weights import Weights, first, from_arrays, to_arrays
from ga3c.rollout import EnvironmentSpec, column_axis, empty_batch, rollout_dtype, transition_dtype
from ga3c.settings.learning import LearningSettings


class Update(NamedTuple):
    """What one `Model.train` did: the version of the weights it started from, and the algorithm's numbers by name.

    Not `applied`: a number was not finite, and the weights are as they were.
    """

    version: int
    applied: bool
    numbers: dict[str, float]
    errors: np.ndarray | None = None  # float32 [batch], of transitions: by which a replay sets their priorities


class Model:
    """`predict` and `train` may be called from any number of threads. `version` counts the updates.

    `algorithm` has what `algorithms.a3c.A3C` has. `steps`: of play that the run has learnt from so far. `pieces`: in
    which the network runs through a batch of images, side by side, without XLA. `target_acts`: predictions are those of
    the target network. `games`: that play, if each may explore on its own.
    """

    def __init__(
        self,
        spec: EnvironmentSpec,
        settings: LearningSettings,
        algorithm,
        seed: int,
        xla: bool,
        steps: int = 0,
        pieces: Pieces = WHOLE,
        target_acts: bool = False,
        games: int = 0,
    ):
        self._spec, self._t_max, self._algorithm, self._xla = spec, settings.t_max, algorithm, xla
        images = len(spec.observation_shape) == 3  # other networks have done a batch before another thread is awake
        self._pieces = pieces if images and not xla else WHOLE
        self._many = self._pieces.predictions * PIECE_STATES if self._pieces.predictions > 1 else math.inf
        self.network_name = networks.resolve(settings.network, spec, settings.algorithm)
        standardize = settings.input_scaling == "standardized"
        self._network = networks.build(
            self.network_name, spec, seed, standardize, settings.precision, **algorithm.network_options
        )
        # (version, weights): one reference, so that a reader never sees the one without the other.
        self._current = self._target = 0, first(self._network)
        self._target_acts = target_acts
        self._optimizer = algorithm.initial_state(self._current[1].trained)
        self._games = games
        self.explore(steps)
        self.per_game = self._explore.shape.rank > 0  # `predict` has to know which game a state is of
        self._training = threading.Lock()
        self._seed = np.random.SeedSequence(seed).generate_state(1).astype(np.int32)[0]
        self._predictions = 0
        self._weights, self._optimizer_specs = specs((self._current[1], self._optimizer))
        self._fields: tuple[str, ...] = ()  # names of what the two graphs return, in that order
        self._numbers: tuple[str, ...] = ()

    @functools.cached_property
    def _predict(self) -> Graph:
        return self._predict_in(pieces=1)

    @functools.cached_property
    def _predict_many(self) -> Graph:
        return self._predict_in(self._pieces.predictions)

    def _predict_in(self, pieces: int) -> Graph:
        states = tf.TensorSpec((None, *self._spec.observation_shape), self._spec.observation_dtype)
        seed, explore = tf.TensorSpec((2,), tf.int32), tf.TensorSpec(self._explore.shape, tf.float32)
        games = [tf.TensorSpec((None,), tf.int32)] * self.per_game

        def graph(weights, observations, seed, explore, *games):
            outputs = self._apply(*weights, observations, pieces)
            if games:
                explore = tf.gather(explore, games[0] % explore.shape[0])
            fields = self._algorithm.act(outputs, seed, explore)
            self._fields = tuple(fields)
            # Flat: to put names and tuples together again takes 20 us of each call.
            return *fields.values(), *outputs[:2]

        return Graph(graph, (self._weights, states, seed, explore, *games), self._xla, pieces > 1)

    @functools.cached_property
    def _train(self) -> Graph:
        rate, batch = tf.TensorSpec((), tf.float32), open_specs(self._nothing(columns=1), column_axis)
        target = [self._weights] * self._algorithm.replays
        signature = self._weights, self._optimizer_specs, rate, batch, *target
        return Graph(self._train_graph, signature, self._xla, self._pieces.updates > 1)

    def _nothing(self, columns: int) -> dict[str, np.ndarray]:
        """Arrays as `train` takes them, without a valid step."""
        replays = self._algorithm.replays
        dtype = transition_dtype(self._spec, columns) if replays else rollout_dtype(self._spec, self._t_max, columns)
        return empty_batch(dtype, self._algorithm.learns_from)

    @property
    def version(self) -> int:
        """Model updates made so far."""
        return self._current[0]

    @property
    def parameters(self) -> int:
        """Trainable numbers of the network."""
        return sum(math.prod(weight.shape) for weight in self._weights.trained)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of what an update reports, in the algorithm's order."""
        _ = self._train  # they are known once it is traced
        return self._numbers

    def _apply(self, trained, statistics, observations, pieces: int):
        apply = self._network.stateless_call
        return in_pieces(lambda states: apply(trained, list(statistics), states)[0], observations, pieces)

    def _train_graph(self, weights, optimizer, learning_rate, batch, *targets):
        pieces = self._pieces.updates
        outputs_of = [functools.partial(self._apply, *target, pieces=pieces) for target in targets]
        trained, optimizer, numbers, *errors = self._algorithm.update(
            lambda trained, observations: self._apply(trained, weights.statistics, observations, pieces),
            weights.trained,
            optimizer,
            weights.rate(learning_rate),
            batch,
            *outputs_of,
        )
        self._numbers = tuple(numbers)
        devices = self._algorithm.devices
        weights = Weights(trained, weights.statistics_with(batch, devices.sum))
        return weights, optimizer, devices.mean(tf.stack(list(numbers.values()))), *errors

    def predict(self, observations: np.ndarray, *games: np.ndarray) -> tuple[dict[str, np.ndarray], int]:
        """What the algorithm makes of observations [batch, ...]; `per_game`: of games number int32 [batch].

        Returns: its fields of a rollout's row by name, [batch] each (`action` is one), and the version of the weights
        that said so. Under XLA the batch is one of `prediction_sizes`, or it is compiled first.
        """
        arrays, version = self._run_predict(observations, self._explore, *games)
        return {name: array.numpy() for name, array in zip(self._fields, arrays, strict=False)}, version

    def policy(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sampled actions [batch, ...], policies float32 [batch, policy_size] and values float32 [batch].

        Of action values: the best actions, the action values, and the best of them.
        """
        games = [np.zeros(len(observations), np.int32)] * self.per_game
        arrays, _ = self._run_predict(observations, tf.zeros_like(self._explore), *games)
        action = arrays[self._fields.index("action")]
        return (*(array.numpy() for array in (action, *arrays[len(self._fields) :])),)

    def _run_predict(self, observations: np.ndarray, explore: tf.Tensor, *games: np.ndarray):
        version, weights = self._target if self._target_acts else self._current
        # Two threads may draw the same number: the noise is of a batch, not of a step.
        self._predictions = (self._predictions + 1) % 2**31
        seed = np.array([self._seed, self._predictions], np.int32)
        predict = self._predict_many if len(observations) >= self._many else self._predict
        return predict(weights, tf.convert_to_tensor(observations), seed, explore, *games), version

    def train(self, batch: dict[str, np.ndarray], steps: int = 0) -> Update:
        """One update from what the algorithm learns from; left out where one of its numbers is not finite.

        steps: of play that the run has learnt from so far; the learning rate falls with them, and the exploration.
        """
        arrays = {name: batch[name] for name in self._algorithm.learns_from}
        with self._training:
            version, weights = self._current
            rate = np.float32(self._algorithm.learning_rate(steps))  # a tensor to the graph: not traced anew for each
            target = [self._target[1]] * self._algorithm.replays
            weights, optimizer, numbers, *errors = self._train(weights, self._optimizer, rate, arrays, *target)
            numbers = numbers.numpy()
            applied = bool(np.isfinite(numbers).all())  # the gradient's norm is not, if any part of it is not
            if applied:
                self._current, self._optimizer = (version + 1, weights), optimizer
            if not self._target_acts:
                self.explore(steps)
        names = dict(zip(self._numbers, numbers.tolist(), strict=True))
        return Update(version, applied, names, *(error.numpy() for error in errors))

    def why_unchanged(self, steps: int) -> tuple[str, bool]:
        """Why an update changes no weight after so many steps of play, in words; and whether that passes with play."""
        if missing := self._current[1].missing_states:
            return f"{missing:,} more states are to be counted first, which the network scales its input by", True
        if not self._algorithm.learning_rate(steps):
            return "the step size is 0 (--learning-rate, --learning-rate-schedule)", False
        return "all gradients are 0", False

    def copy_to_target(self, steps: int) -> None:
        """The newest weights are the target network's, too, until the next call. `steps`: as of `train`."""
        with self._training:
            self._target = self._current
            self.explore(steps)

    def explore(self, steps: int) -> None:
        """As much as after so many steps of play."""
        self._explore_steps = steps
        self._explore = tf.constant(self._algorithm.exploration(steps, self._games), tf.float32)

    def prediction_sizes(self, envs: int, limit: int) -> list[int]:
        """Batch sizes to pad predictions to: under XLA each size is compiled once; without it any size will do."""
        return sizes_to_compile(envs, limit) if self._xla else []

    def warm_up(self, prediction_sizes: list[int], columns: int) -> None:
        """Traces and compiles what the threads will call, before there are any. Changes no weight."""
        shape, dtype = self._spec.observation_shape, self._spec.observation_dtype
        before = self._current, self._optimizer, self._explore, self._explore_steps
        with quiet():
            for size in prediction_sizes or [1, *[self._many] * (self._pieces.predictions > 1)]:
                self.policy(np.zeros((size, *shape), dtype))
            self.train(self._nothing(columns))
        self._current, self._optimizer, self._explore, self._explore_steps = before

    def state(self) -> dict[str, np.ndarray]:
        """Everything that training changes, as plain arrays by name; consistent while trainers run."""
        with self._training:
            (version, weights), optimizer, (_, target) = self._current, self._optimizer, self._target
        arrays = to_arrays("network", weights) | saved_tensors.to_arrays("optimizer", optimizer)
        if self._algorithm.replays:
            arrays |= to_arrays("target", target)
        return arrays | {"version": np.int64(version)}

    @property
    def chance(self) -> tuple[int, int, int]:
        """What the next predictions draw follows from it: the seed, predictions so far, and of how many steps of play
        the exploration is. It is set where predictions shall be those of another model with the same weights."""
        return int(self._seed), self._predictions, self._explore_steps

    @chance.setter
    def chance(self, chance: tuple[int, int, int]) -> None:
        self._seed, self._predictions = np.int32(chance[0]), chance[1]
        self.explore(chance[2])

    def network_state(self) -> dict[str, np.ndarray]:
        """Of `state`, what `predict` needs."""
        version, weights = self._current
        return saved_tensors.to_arrays("network", tf.nest.flatten(weights)) | {"version": np.int64(version)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `state`; an agent that is shipped comes with its network alone.

        Raises ConfigError where the arrays are of another network.
        """
        version = saved_tensors.version_of(arrays)
        with self._training:
            like = self._current[1]
            weights = from_arrays(arrays, "network", like, self.network_name)
            optimizer = self._algorithm.initial_state(weights.trained)
            if saved_tensors.has(arrays, "optimizer"):
                optimizer = saved_tensors.from_arrays(arrays, "optimizer", optimizer, self.network_name)
            target = weights
            if self._algorithm.replays and saved_tensors.has(arrays, "target"):
                target = from_arrays(arrays, "target", like, self.network_name)
            self._current, self._target, self._optimizer = (version, weights), (version, target), optimizer
