"""Model: the one network, its optimizer, and the two compiled functions that use them.

The weights are a tuple of tensors that nobody changes: `train` makes a new tuple and puts it in the place of the
old one, in one assignment. So every prediction sees the weights of exactly one update, and never waits for one.
"""

import functools
import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from ga3c import networks
from ga3c.algorithms import a3c, rmsprop
from ga3c.algorithms.returns import lambda_returns
from ga3c.config import ConfigError, LearningSettings
from ga3c.device import quiet
from ga3c.rollout import Batch, EnvironmentSpec, rollout_dtype

# The fields of a rollout that the loss needs.
LEARNT_FROM = ("observation", "action", "reward", "value", "terminated", "truncated", "valid", "bootstrap_value")


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


class _Graph:
    """A function of nested tensors, traced once and called without tf.function's search for the trace that fits.

    That search takes 0.5 ms for the twenty tensors of a call, as long as a small prediction itself. The operations
    run one after the other: side by side they would only take cores from the agents. On a GPU it is an ordinary
    call, so that TensorFlow places the operations.
    """

    def __init__(self, function: Callable, signature: tuple, xla: bool):
        self._function = tf.function(
            function, input_signature=signature, jit_compile=xla, autograph=False
        ).get_concrete_function()
        self._dtypes = [output.dtype for output in tf.nest.flatten(self._function.structured_outputs)]
        self._on_gpu = bool(tf.config.list_logical_devices("GPU"))

    def __call__(self, *arguments):
        if self._on_gpu:
            return self._function(*arguments)
        outputs = tf.raw_ops.PartitionedCall(
            args=tf.nest.flatten(arguments),
            Tout=self._dtypes,
            f=self._function,
            executor_type="SINGLE_THREADED_EXECUTOR",
        )
        return tf.nest.pack_sequence_as(self._function.structured_outputs, outputs)


class Model:
    """`predict` and `train` may be called from any number of threads. `version` counts the updates."""

    def __init__(self, spec: EnvironmentSpec, settings: LearningSettings, seed: int, xla: bool):
        self._spec, self._settings, self._xla = spec, settings, xla
        self.network_name = networks.resolve(settings.network, spec)
        self._network = networks.build(self.network_name, spec, seed)
        # (version, weights): one reference, so that a reader never sees the one without the other.
        self._current = 0, tuple(tf.convert_to_tensor(v) for v in self._network.trainable_variables)
        self._mean_squares = rmsprop.initial_state(self._current[1])
        self._training = threading.Lock()
        self._seed = np.random.SeedSequence(seed).generate_state(1).astype(np.int32)[0]
        self._predictions = 0
        self._weights = tuple(tf.TensorSpec(w.shape, w.dtype) for w in self._current[1])

    @functools.cached_property
    def _predict(self) -> _Graph:
        states = tf.TensorSpec((None, *self._spec.observation_shape), self._spec.observation_dtype)
        return _Graph(self._predict_graph, (self._weights, states, tf.TensorSpec((2,), tf.int32)), self._xla)

    @functools.cached_property
    def _train(self) -> _Graph:
        record, batch = rollout_dtype(self._spec, self._settings.t_max, envs=1), {}
        for name in LEARNT_FROM:
            time_steps = () if name == "bootstrap_value" else (self._settings.t_max,)
            shape = (*time_steps, None, *record[name].shape[len(time_steps) + 1 :])
            batch[name] = tf.TensorSpec(shape, record[name].base)
        rate = tf.TensorSpec((), tf.float32)
        return _Graph(self._train_graph, (self._weights, self._weights, rate, batch), self._xla)

    @property
    def version(self) -> int:
        """Model updates made so far."""
        return self._current[0]

    @property
    def parameters(self) -> int:
        """Trainable numbers of the network."""
        return self._network.count_params()

    def _apply(self, weights, observations):
        return self._network.stateless_call(weights, [], observations)[0]

    def _predict_graph(self, weights, observations, seed):
        logits, values = self._apply(weights, observations)
        # Gumbel-max: the largest of logit + Gumbel noise is a sample of the softmax.
        noise = tf.random.stateless_uniform(tf.shape(logits), seed, minval=1e-20)
        actions = tf.argmax(logits - tf.math.log(-tf.math.log(noise)), axis=1, output_type=tf.int32)
        return actions, tf.gather(tf.nn.log_softmax(logits), actions, batch_dims=1), values, logits

    def _train_graph(self, weights, mean_squares, learning_rate, batch):
        settings = self._settings
        returns = lambda_returns(
            batch["reward"],
            batch["value"],
            batch["terminated"],
            batch["truncated"],
            batch["valid"],
            batch["bootstrap_value"],
            settings.discount,
            settings.return_lambda,
        )
        with tf.GradientTape() as tape:
            tape.watch(weights)
            logits, values = self._apply(weights, tf.reshape(batch["observation"], (-1, *self._spec.observation_shape)))
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
        gradients = tape.gradient(loss.total, weights)
        norm, clipped = tf.linalg.global_norm(gradients), tf.constant(0.0)
        if settings.gradient_clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, settings.gradient_clip_norm, use_norm=norm)
            clipped = tf.cast(norm > settings.gradient_clip_norm, tf.float32)
        constants = {"decay": settings.rmsprop_decay, "epsilon": settings.rmsprop_epsilon}
        weights, mean_squares, steps = rmsprop.update(weights, mean_squares, gradients, learning_rate, **constants)
        numbers = tf.stack([*loss, norm, clipped, tf.linalg.global_norm(steps)])
        return weights, mean_squares, numbers

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

    def train(self, batch: Batch) -> Update:
        """One update from a batch of rollouts; left out where its loss or gradient is not finite."""
        arrays, settings = {name: batch.arrays[name] for name in LEARNT_FROM}, self._settings
        with self._training:
            version, weights = self._current
            # A tensor to the graph, which is not traced anew for each.
            rate = np.float32(
                rmsprop.learning_rate(version, settings.learning_rate, settings.learning_rate_decay_updates)
            )
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
        arrays = {f"network/{i}": w.numpy() for i, w in enumerate(weights)}
        arrays |= {f"optimizer/{i}": v.numpy() for i, v in enumerate(mean_squares)}
        return arrays | {"version": np.int64(version)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `state`. Raises ConfigError where the arrays are of another network."""

        def read(prefix: str, like: tuple) -> tuple:
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
            _, weights = self._current
            weights, mean_squares = read("network", weights), rmsprop.initial_state(weights)
            if any(name.startswith("optimizer/") for name in arrays):  # an agent that is shipped comes without
                mean_squares = read("optimizer", mean_squares)
            self._current, self._mean_squares = (int(version), weights), mean_squares
