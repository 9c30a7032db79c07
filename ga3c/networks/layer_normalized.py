"""PQN's networks (Gallici et al. 2024). Each layer is normalized, so they learn without a target network."""

from functools import partial

import keras
from keras import layers

from ga3c.networks import inputs
from ga3c.networks.inputs import Seen
from ga3c.networks.policy_value import DQN, convolved


def _normalized(hidden, dtype: str = "float32"):
    return layers.Activation("relu", dtype=dtype)(layers.LayerNormalization(epsilon=1e-6, dtype=dtype)(hidden))


def _heads(observations, hidden, actions: int) -> keras.Model:
    """Output: (action values [batch, actions], the largest of them [batch]), float32."""
    q_values = layers.Dense(actions, name="q")(hidden)
    return keras.Model(observations, (q_values, keras.ops.max(q_values, axis=1)))


def images(seen: Seen, actions: int, dtype: str = "float32") -> keras.Model:
    """Returns a network of 32 filters 8x8 stride 4, 64 filters 4x4 stride 2, 64 filters 3x3, unpadded; 512 units."""
    options = {"dtype": dtype, "kernel_initializer": "he_normal"}
    observations, features = convolved(seen, DQN, after=partial(_normalized, dtype=dtype), **options)
    hidden = layers.Dense(512, **options)(features)
    return _heads(observations, _normalized(hidden, dtype), actions)


def vectors(seen: Seen, actions: int) -> keras.Model:
    """Returns a network of two layers of 128 units. Input: [batch, *shape], any dtype; or a dict of parts."""
    observations, hidden = inputs.vectors(seen)
    for _ in range(2):
        hidden = _normalized(layers.Dense(128, kernel_initializer="he_normal")(hidden))
    return _heads(observations, hidden, actions)
