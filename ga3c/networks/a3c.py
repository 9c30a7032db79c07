"""The paper's networks (sections 3.2 and 5.1, footnote 2). Convolutions are unpadded, as in Mnih et al. 2016."""

import keras
from keras import layers


def _network(observation_shape: tuple[int, int, int], actions: int, convolutions: list[tuple[int, int, int]]):
    """Convolutions (filters, kernel, stride), 256 units, two heads.

    Input: uint8 [batch, channels, height, width]. Output: (logits [batch, actions], value [batch]), float32.
    """
    observations = keras.Input(observation_shape, dtype="uint8")
    # Channels last: what convolutions on a CPU need. The emulator gives channels first.
    hidden = layers.Permute((2, 3, 1))(observations)
    hidden = layers.Rescaling(1 / 255)(hidden)
    for filters, kernel, stride in convolutions:
        hidden = layers.Conv2D(filters, kernel, stride, activation="relu", kernel_initializer="he_uniform")(hidden)
    hidden = layers.Flatten()(hidden)
    hidden = layers.Dense(256, activation="relu", kernel_initializer="he_uniform")(hidden)
    logits = layers.Dense(actions, kernel_initializer=keras.initializers.Orthogonal(0.01), name="policy")(hidden)
    value = layers.Dense(1, name="value")(hidden)
    return keras.Model(observations, (logits, layers.Reshape(())(value)))


def small(observation_shape: tuple[int, int, int], actions: int) -> keras.Model:
    """16 filters 8x8 stride 4, 32 filters 4x4 stride 2, 256 units."""
    return _network(observation_shape, actions, [(16, 8, 4), (32, 4, 2)])


def large(observation_shape: tuple[int, int, int], actions: int, first_stride: int) -> keras.Model:
    """32 filters 8x8 with stride 1 to 4, 32 filters 4x4 stride 2, 64 filters 4x4 stride 2, 256 units."""
    return _network(observation_shape, actions, [(32, 8, first_stride), (32, 4, 2), (64, 4, 2)])
