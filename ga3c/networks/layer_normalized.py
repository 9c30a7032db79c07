"""PQN's networks (Gallici et al. 2024). Each layer is normalized, so they learn without a target network."""

import math

import keras
from keras import layers

from ga3c.networks.policy_value import PixelConvolution, StandardizingConvolution


def _normalized(hidden, dtype: str = "float32"):
    return layers.Activation("relu", dtype=dtype)(layers.LayerNormalization(epsilon=1e-6, dtype=dtype)(hidden))


def _heads(observations, hidden, actions: int) -> keras.Model:
    """Output: (action values [batch, actions], the largest of them [batch]), float32."""
    q_values = layers.Dense(actions, name="q")(hidden)
    return keras.Model(observations, (q_values, keras.ops.max(q_values, axis=1)))


def images(
    observation_shape: tuple[int, int, int], actions: int, standardize: bool, dtype: str = "float32"
) -> keras.Model:
    """Returns a network of 32 filters 8x8 stride 4, 64 filters 4x4 stride 2, 64 filters 3x3, unpadded; 512 units."""
    observations = keras.Input(observation_shape, dtype="uint8")
    hidden, convolution = observations, StandardizingConvolution if standardize else PixelConvolution
    for filters, kernel, stride in ((32, 8, 4), (64, 4, 2), (64, 3, 1)):
        convolve = convolution(filters, kernel, stride, kernel_initializer="he_normal", dtype=dtype)
        hidden, convolution = _normalized(convolve(hidden), dtype), layers.Conv2D
    flat = layers.Flatten(dtype=dtype)(hidden)
    hidden = layers.Dense(512, kernel_initializer="he_normal", dtype=dtype)(flat)
    return _heads(observations, _normalized(hidden, dtype), actions)


def vectors(observation_shape: tuple[int, ...], actions: int) -> keras.Model:
    """Returns a network of two layers of 128 units. Input: [batch, *observation_shape], any dtype."""
    observations = keras.Input(observation_shape)
    hidden = layers.Reshape((math.prod(observation_shape),))(observations)
    for _ in range(2):
        hidden = _normalized(layers.Dense(128, kernel_initializer="he_normal")(hidden))
    return _heads(observations, hidden, actions)
