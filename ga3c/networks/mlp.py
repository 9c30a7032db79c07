"""Small fully connected networks for vectors."""

import math
from functools import partial

import keras
from keras import layers, ops

from ga3c.networks import heads
from ga3c.networks.recurrent import Memory, Recurrent, network
from ga3c.rollout import Actions

_FURTHEST = 10.0  # standardized numbers are clipped to plus or minus this


class Standardization(layers.Layer):
    """Subtracts the mean of each number of a vector, divides by its standard deviation, and clips.

    Its three weights, which no gradient changes, are `standardization.Statistics`, in that order.
    """

    def build(self, input_shape):
        for name, shape, initializer in (
            ("mean", input_shape[1:], "zeros"),
            ("variance", input_shape[1:], "ones"),
            ("count", (), "zeros"),
        ):
            setattr(self, name, self.add_weight(name=name, shape=shape, initializer=initializer, trainable=False))

    def call(self, vectors):
        deviation = ops.sqrt(ops.convert_to_tensor(self.variance) + 1e-8)
        return ops.clip((vectors - ops.convert_to_tensor(self.mean)) / deviation, -_FURTHEST, _FURTHEST)


def _hidden(vectors):
    """Two layers of 64 units, tanh."""
    for _ in range(2):
        vectors = layers.Dense(64, activation="tanh", kernel_initializer=keras.initializers.Orthogonal(2**0.5))(vectors)
    return vectors


def mlp(
    observation_shape: tuple[int, ...], actions: Actions, normalize_values: bool = False, memory: Memory | None = None
) -> keras.Model | Recurrent:
    """Returns a network of two hidden layers of 64 units, tanh, and a `memory` after them if there is to be one.

    Input: [batch, *observation_shape], any dtype.
    Output: (policy [batch, actions.policy_size], *`heads.value`), float32.
    """
    observations = keras.Input(observation_shape)
    hidden = _hidden(layers.Reshape((math.prod(observation_shape),))(observations))
    last = partial(heads.policy_and_value, actions=actions, gain=0.0, normalize=normalize_values)
    return network(observations, hidden, last, memory)


def separate(
    observation_shape: tuple[int, ...],
    actions: Actions,
    standardize: bool,
    normalize_values: bool = False,
    memory: Memory | None = None,
) -> keras.Model | Recurrent:
    """Returns two networks as one, for policy and value: they share nothing (Schulman et al. 2017, section 6.1), but a
    `memory` if there is to be one."""
    observations = keras.Input(observation_shape)
    vectors = Standardization()(observations) if standardize else observations
    vectors = layers.Reshape((math.prod(observation_shape),))(vectors)
    if memory:
        both = layers.Concatenate()([_hidden(vectors), _hidden(vectors)])
        last = partial(heads.policy_and_value, actions=actions, gain=1.0, normalize=normalize_values)
        return network(observations, both, last, memory)
    start = keras.initializers.Orthogonal(1.0)  # before the policy's: it draws its seed now
    policy = heads.policy(_hidden(vectors), actions)
    value = heads.value(_hidden(vectors), start, normalize_values)
    return keras.Model(observations, (policy, *value))
