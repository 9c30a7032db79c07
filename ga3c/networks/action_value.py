"""The network of DQN (Mnih et al. 2015), with dueling streams and with distributions of values."""

import keras
import numpy as np
from keras import layers, ops

from ga3c.networks import inputs
from ga3c.networks.inputs import Seen
from ga3c.networks.policy_value import DQN, convolved


def images(
    seen: Seen,
    actions: int,
    dueling: bool,
    support: tuple | None,
    dtype: str = "float32",
) -> keras.Model:
    """Returns a network of 32 filters 8x8 stride 4, 64 filters 4x4 stride 2, 64 filters 3x3, unpadded; 512 units."""
    observations, features = convolved(seen, DQN, dtype, activation="relu", kernel_initializer="he_uniform")
    return with_last_layers(observations, features, 512, actions, dueling, support, dtype)


def vectors(seen: Seen, actions: int, dueling: bool, support: tuple | None) -> keras.Model:
    """Returns a network of two layers of 128 units. Input: [batch, *shape], any dtype; or a dict of parts."""
    observations, hidden = inputs.vectors(seen)
    hidden = layers.Dense(128, activation="relu", kernel_initializer="he_uniform")(hidden)
    return with_last_layers(observations, hidden, 128, actions, dueling, support)


def with_last_layers(
    observations, hidden, units: int, actions: int, dueling: bool, support: tuple | None, dtype: str = "float32"
) -> keras.Model:
    """Returns the network. Output: (action values [batch, actions], the largest of them [batch]), float32.

    support: lowest value, highest value, atoms. It then gives a distribution over so many values, evenly spaced
        (Bellemare et al. 2017). Its logits [batch, actions, atoms] are a third output, its means the action values.
    dueling: values are V(s) + A(s, a) - mean A(s, .), from two streams of layers (Wang et al. 2016, Eq. 9). The
        gradient that both send into the layers before them is multiplied by 1 / sqrt(2) (section 4.2).
    """
    atoms = support[2] if support else 1
    if dueling:
        fixed = ops.stop_gradient(hidden)
        hidden = fixed + (hidden - fixed) * float(np.sqrt(0.5))  # the same numbers, with another gradient

    def stream(width: int, name: str):
        own = layers.Dense(units, activation="relu", kernel_initializer="he_uniform", dtype=dtype)(hidden)
        first = keras.initializers.Orthogonal(0.01)
        return layers.Reshape((width, atoms))(layers.Dense(width * atoms, kernel_initializer=first, name=name)(own))

    values = stream(actions, "advantage" if dueling else "q")
    if dueling:
        values = values - ops.mean(values, axis=1, keepdims=True) + stream(1, "value")
    if not support:
        q_values = ops.squeeze(values, axis=2)
        return keras.Model(observations, (q_values, ops.max(q_values, axis=1)))
    lowest, highest, atoms = support
    support_values = np.linspace(lowest, highest, atoms, dtype=np.float32)  # a tensor would be an input of each call
    q_values = ops.sum(ops.softmax(values) * support_values, axis=2)
    return keras.Model(observations, (q_values, ops.max(q_values, axis=1), values))
