"""Model: the one network, its optimizer, and the two compiled functions that use them.

The weights are tuples of tensors that nobody changes: `train` makes new ones and puts them in the place of the old
ones, in one assignment. So every prediction sees the weights of exactly one update, and never waits for one.
"""

import functools
import math
import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from ga3c import networks
from ga3c.algorithms import a3c, rmsprop, standardization
from ga3c.algorithms.returns import lag_correction, lambda_returns
from ga3c.algorithms.standardization import Statistics
from ga3c.config import ConfigError, LearningSettings
from ga3c.device import quiet
from ga3c.graph import Graph
from ga3c.rollout import Batch, EnvironmentSpec, rollout_dtype

# The fields of a rollout that the loss needs.
REWARDED = ("reward", "value", "terminated", "truncated", "valid", "bootstrap_value")
LEARNT_FROM = ("observation", "action", "log_probability", *REWARDED)


class Update(NamedTuple):
    """What one `Model.train` did: means over the batch, and the version of the weights it started from.

    Not `applied`: a number was not finite, and the weights are as they were.
    """

    version: int
    applied: bool
    loss: float
    policy_loss: float
    value_loss: float
    entropy: float
    value: float
    value_error: float
    explained_variance: float
    gradient_norm: float
    clipped: float  # 1 if the gradient was scaled down, else 0
    update_norm: float  # of what was added to the weights


class Weights(NamedTuple):
    """The network's numbers: those that gradients change, and what it knows of its observations, if it does."""

    trained: tuple[tf.Tensor, ...]
    statistics: Statistics | tuple[()]


class Model:
    """`predict` and `train` may be called from any number of threads. `version` counts the updates."""

    def __init__(self, spec: EnvironmentSpec, settings: LearningSettings, seed: int, xla: bool):
        self._spec, self._settings, self._xla = spec, settings, xla
        self.network_name = networks.resolve(settings.network, spec)
        standardize = settings.input_scaling == "standardized"
        self._network = networks.build(self.network_name, spec, seed, standardize)
        trained, others = (
            tuple(tf.convert_to_tensor(v) for v in variables)
            for variables in (self._network.trainable_variables, self._network.non_trainable_variables)
        )
        # (version, weights): one reference, so that a reader never sees the one without the other.
        self._current = 0, Weights(trained, Statistics(*others) if others else ())
        self._mean_squares = rmsprop.initial_state(trained)
        self._training = threading.Lock()
        self._seed = np.random.SeedSequence(seed).generate_state(1).astype(np.int32)[0]
        self._predictions = 0
        self._weights = tf.nest.map_structure(lambda w: tf.TensorSpec(w.shape, w.dtype), self._current[1])

    @functools.cached_property
    def _predict(self) -> Graph:
        states = tf.TensorSpec((None, *self._spec.observation_shape), self._spec.observation_dtype)
        return Graph(self._predict_graph, (self._weights, states, tf.TensorSpec((2,), tf.int32)), self._xla)

    @functools.cached_property
    def _train(self) -> Graph:
        record, batch = rollout_dtype(self._spec, self._settings.t_max, envs=1), {}
        for name in LEARNT_FROM:
            time_steps = () if name == "bootstrap_value" else (self._settings.t_max,)
            shape = (*time_steps, None, *record[name].shape[len(time_steps) + 1 :])
            batch[name] = tf.TensorSpec(shape, record[name].base)
        rate = tf.TensorSpec((), tf.float32)
        return Graph(self._train_graph, (self._weights, self._weights.trained, rate, batch), self._xla)

    @property
    def version(self) -> int:
        """Model updates made so far."""
        return self._current[0]

    @property
    def parameters(self) -> int:
        """Trainable numbers of the network."""
        return sum(math.prod(weight.shape) for weight in self._weights.trained)

    def _apply(self, weights, observations):
        return self._network.stateless_call(weights.trained, list(weights.statistics), observations)[0]

    def _predict_graph(self, weights, observations, seed):
        logits, values = self._apply(weights, observations)
        # Gumbel-max: the largest of logit + Gumbel noise is a sample of the softmax.
        noise = tf.random.stateless_uniform(tf.shape(logits), seed, minval=1e-20)
        actions = tf.argmax(logits - tf.math.log(-tf.math.log(noise)), axis=1, output_type=tf.int32)
        return actions, tf.gather(tf.nn.log_softmax(logits), actions, batch_dims=1), values, logits

    def _returns(self, batch, logits, values):
        """The targets [t_max, columns]; logits and values [t_max * columns, ...] are of the newest weights."""
        settings, corrected = self._settings, None
        if settings.lag_correction:
            corrected = lag_correction(logits, values, batch["action"], batch["log_probability"])
        fields = (batch[name] for name in REWARDED)
        return lambda_returns(*fields, settings.discount, settings.return_lambda, corrected)

    def _train_graph(self, weights, mean_squares, learning_rate, batch):
        settings = self._settings
        with tf.GradientTape() as tape:
            tape.watch(weights.trained)
            logits, values = self._apply(weights, tf.reshape(batch["observation"], (-1, *self._spec.observation_shape)))
            returns = self._returns(batch, logits, values)
            loss = a3c.loss(
                logits,
                values,
                tf.reshape(batch["action"], (-1,)),
                tf.reshape(returns, (-1,)),
                tf.reshape(batch["valid"], (-1,)),
                entropy_weight=settings.entropy_weight,
                value_weight=settings.value_weight,
                log_epsilon=settings.log_epsilon,
                normalize_advantages=settings.normalize_advantages,
            )
        gradients = tape.gradient(loss.total, weights.trained)
        norm, clipped = tf.linalg.global_norm(gradients), tf.constant(0.0)
        if settings.gradient_clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, settings.gradient_clip_norm, use_norm=norm)
            clipped = tf.cast(norm > settings.gradient_clip_norm, tf.float32)
        statistics = weights.statistics
        if statistics:
            learning_rate = standardization.learning_rate(statistics, learning_rate)
            statistics = standardization.update(statistics, batch["observation"][0], batch["valid"][0])
        constants = {"decay": settings.rmsprop_decay, "epsilon": settings.rmsprop_epsilon}
        trained, mean_squares, steps = rmsprop.update(
            weights.trained, mean_squares, gradients, learning_rate, **constants
        )
        numbers = tf.stack([*loss, norm, clipped, tf.linalg.global_norm(steps)])
        return Weights(trained, statistics), mean_squares, numbers

    def predict(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Samples actions for observations [batch, ...].

        Returns: actions int32 [batch], log pi(action) float32 [batch], V float32 [batch], and the version of the
        weights that said so. Under XLA the batch is one of `prediction_sizes`, or it is compiled first.
        """
        actions, log_probabilities, values, _, version = self._run_predict(observations)
        return actions, log_probabilities, values, version

    def policy(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sampled actions int32 [batch], logits float32 [batch, actions] and values float32 [batch]."""
        actions, _, values, logits, _ = self._run_predict(observations)
        return actions, logits, values

    def _run_predict(self, observations: np.ndarray):
        version, weights = self._current
        self._predictions += 1  # two threads may draw the same number: the noise is of a batch, not of a step
        seed = np.array([self._seed, self._predictions], np.int32)
        outputs = self._predict(weights, tf.convert_to_tensor(observations), seed)
        return *(output.numpy() for output in outputs), version

    def train(self, batch: Batch, steps: int = 0) -> Update:
        """One update from a batch of rollouts; left out where its loss or gradient is not finite.

        steps: of play that the run has learnt from so far; the learning rate falls with them.
        """
        arrays, settings = {name: batch.arrays[name] for name in LEARNT_FROM}, self._settings
        with self._training:
            version, weights = self._current
            # A tensor to the graph, which is not traced anew for each.
            rate = np.float32(rmsprop.learning_rate(steps, settings.learning_rate, settings.learning_rate_decay_steps))
            weights, mean_squares, numbers = self._train(weights, self._mean_squares, rate, arrays)
            numbers = numbers.numpy()
            applied = bool(np.isfinite(numbers).all())  # the gradient's norm is not, if any part of it is not
            if applied:
                self._current, self._mean_squares = (version + 1, weights), mean_squares
        return Update(version, applied, *numbers.tolist())

    def prediction_sizes(self, envs: int, limit: int) -> list[int]:
        """Batch sizes to pad predictions to: under XLA each size is compiled once; without it any size will do."""
        if not self._xla:
            return []
        sizes = [envs]
        while sizes[-1] < limit:
            sizes.append(min(sizes[-1] + max(envs, sizes[-1] // 2 // envs * envs), limit))
        return sizes

    def warm_up(self, prediction_sizes: list[int], batch: Batch) -> None:
        """Traces and compiles what the threads will call, before there are any. Changes no weight."""
        shape, dtype = self._spec.observation_shape, self._spec.observation_dtype
        version, weights = self._current
        mean_squares = self._mean_squares
        with quiet():
            for size in prediction_sizes or [1]:
                self._run_predict(np.zeros((size, *shape), dtype))
            self.train(batch)
        self._current, self._mean_squares = (version, weights), mean_squares

    def state(self) -> dict[str, np.ndarray]:
        """Everything that training changes, as plain arrays by name; consistent while trainers run."""
        with self._training:
            (version, weights), mean_squares = self._current, self._mean_squares
        arrays = {f"network/{i}": w.numpy() for i, w in enumerate(tf.nest.flatten(weights))}
        arrays |= {f"optimizer/{i}": v.numpy() for i, v in enumerate(mean_squares)}
        return arrays | {"version": np.int64(version)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `state`. Raises ConfigError where the arrays are of another network."""

        def read(prefix: str, like: Sequence) -> tuple:
            saved = [arrays.get(f"{prefix}/{i}") for i in range(len(like))]
            if any(s is None or s.shape != tuple(t.shape) for s, t in zip(saved, like, strict=True)):
                raise ConfigError(f"The checkpoint does not fit the network '{self.network_name}' of this game.")
            if any(
                s.dtype != t.dtype.as_numpy_dtype or not np.isfinite(s).all() for s, t in zip(saved, like, strict=True)
            ):
                raise ConfigError("The checkpoint holds weights that are no finite numbers.")
            return tuple(tf.constant(s) for s in saved)

        version = arrays.get("version")
        if not (
            np.ndim(version) == 0
            and isinstance(version, np.ndarray | np.integer)
            and version.dtype.kind == "i"
            and version >= 0
        ):
            raise ConfigError("The checkpoint does not say how many updates made it.")
        with self._training:
            like = self._current[1]
            weights = tf.nest.pack_sequence_as(like, read("network", tf.nest.flatten(like)))
            mean_squares = rmsprop.initial_state(weights.trained)
            if any(name.startswith("optimizer/") for name in arrays):  # an agent that is shipped comes without
                mean_squares = read("optimizer", mean_squares)
            self._current, self._mean_squares = (int(version), weights), mean_squares
