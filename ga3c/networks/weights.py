"""The weights of a network. They are kept apart from it and given to it with each call, and nobody changes them."""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from ga3c.networks import saved_tensors, standardization
from ga3c.networks.standardization import Statistics


class Weights(NamedTuple):
    """Weights that gradients change, and statistics, if the network has them."""

    trained: tuple[tf.Tensor, ...]
    statistics: tuple[Statistics, ...] = ()  # of the observations: of each picture, and of all vectors
    of_targets: Statistics | tuple[()] = ()  # of the values, where these are normalised

    def rate(self, learning_rate: tf.Tensor) -> tf.Tensor:
        """Returns the step size, or 0 as long as the statistics are from too few observations."""
        for one in self.statistics:
            learning_rate = standardization.learning_rate(one, learning_rate)
        return learning_rate

    @property
    def fixed(self) -> list[tf.Tensor]:
        """The statistics, in the order of the network's weights that no gradient changes."""
        return [*itertools.chain(*self.statistics), *self.of_targets]

    @property
    def missing_states(self) -> int:
        """The number of states that must still be counted before an update changes a weight."""
        return max((max(0, standardization.FIRST_STATES - int(one.count)) for one in self.statistics), default=0)

    def statistics_with(self, batch: dict[str, tf.Tensor], counted: Callable, total: Callable) -> tuple:
        """Returns the statistics with the observations of a batch added, if it has any.

        counted: function from observations to those that each of the statistics is of.
        total: function that sums a tensor over all devices that learn together.
        """
        if not self.statistics or "observation" not in batch:
            return self.statistics
        states = batch["observation"]
        valid = batch.get("valid", tf.ones(tf.shape(states)[:2], tf.bool))
        return tuple(
            standardization.update_from_rollouts(one, seen, valid, total)
            for one, seen in zip(self.statistics, counted(states), strict=True)
        )

    def of_targets_with(self, targets: tf.Tensor, valid: tf.Tensor, total: Callable) -> Statistics:
        """Returns the statistics of the targets with these added, [time, columns] each. total: as above."""
        targets, valid = (tf.reshape(tensor, (-1,)) for tensor in (targets, valid))
        return standardization.update(self.of_targets, targets, valid, total)


def first(network) -> Weights:
    """Returns the weights that a keras.Model was built with."""
    trained, others = (
        tuple(tf.convert_to_tensor(v) for v in variables)
        for variables in (network.trainable_variables, network.non_trainable_variables)
    )
    size = len(Statistics._fields)
    groups = [Statistics._make(others[start : start + size]) for start in range(0, len(others), size)]
    of_targets = groups.pop() if groups and groups[-1].mean.shape.rank == 0 else ()  # one number, unlike observations
    return Weights(trained, tuple(groups), of_targets)


def to_arrays(group: str, weights: Weights) -> dict[str, np.ndarray]:
    """Returns weights as arrays, named by their group and their number."""
    return saved_tensors.to_arrays(group, tf.nest.flatten(weights))


def from_arrays(arrays: dict[str, np.ndarray], group: str, like: Weights, network: str) -> Weights:
    """Returns the weights of a group. Raises ConfigError where they do not fit `like`."""
    flat = saved_tensors.from_arrays(arrays, group, tf.nest.flatten(like), network)
    return tf.nest.pack_sequence_as(like, flat)
