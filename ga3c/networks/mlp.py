"""A small fully connected network for vectors."""

import math

import keras
from keras import layers


def mlp(observation_shape: tuple[int, ...], actions: int) -> keras.Model:
    """Two hidden layers of 64 units, tanh.

    Input: [batch, *observation_shape], any dtype. Output: (logits [batch, actions], value [batch]), float32.
    """
    observations = keras.Input(observation_shape)
    hidden = layers.Reshape((math.prod(observation_shape),))(observations)
    for _ in range(2):
        hidden = layers.Dense(64, activation="tanh", kernel_initializer=keras.initializers.Orthogonal(2**0.5))(hidden)
    logits = layers.Dense(actions, kernel_initializer=keras.initializers.Orthogonal(0.01), name="policy")(hidden)
    value = layers.Dense(1, name="value")(hidden)
    return keras.Model(observations, (logits, layers.Reshape(())(value)))
