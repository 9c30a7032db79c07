"""A network's numbers, apart from the network: it is given them with each call, and nobody changes them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from ga3c.networks import saved_tensors, standardization
from ga3c.networks.standardization import Statistics


class Weights(NamedTuple):
    """Those that gradients change, and what the network knows of its observations, if it does."""

    trained: tuple[tf.Tensor, ...]
    statistics: Statistics | tuple[()]

    def rate(self, learning_rate: tf.Tensor) -> tf.Tensor:
        """The step size, or 0 as long as too little is known of the observations."""
        return standardization.learning_rate(self.statistics, learning_rate) if self.statistics else learning_rate

    @property
    def missing_states(self) -> int:
        """How many states are still to be counted before an update changes a weight."""
        return max(0, standardization.FIRST_STATES - int(self.statistics.count)) if self.statistics else 0

    def statistics_with(self, batch: dict[str, tf.Tensor], total: Callable) -> Statistics | tuple[()]:
        """What it knows of its observations after those of a batch, if there are any in it. `total`: of a tensor on
        each device the sum."""
        if not self.statistics or "observation" not in batch:
            return self.statistics
        states = batch["observation"]
        valid = batch.get("valid", tf.ones(tf.shape(states)[:2], tf.bool))
        return standardization.update_from_rollouts(self.statistics, states, valid, total)


def first(network) -> Weights:
    """Those that a keras.Model was built with."""
    trained, others = (
        tuple(tf.convert_to_tensor(v) for v in variables)
        for variables in (network.trainable_variables, network.non_trainable_variables)
    )
    return Weights(trained, Statistics(*others) if others else ())


def to_arrays(group: str, weights: Weights) -> dict[str, np.ndarray]:
    """As `saved_tensors.to_arrays`."""
    return saved_tensors.to_arrays(group, tf.nest.flatten(weights))


def from_arrays(arrays: dict[str, np.ndarray], group: str, like: Weights, network: str) -> Weights:
    """As `saved_tensors.from_arrays`. Raises ConfigError."""
    flat = saved_tensors.from_arrays(arrays, group, tf.nest.flatten(like), network)
    return tf.nest.pack_sequence_as(like, flat)
