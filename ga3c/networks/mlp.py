"""Small fully connected networks for vectors."""

from functools import partial

import keras
from keras import layers

from ga3c.networks import heads, inputs
from ga3c.networks.inputs import Seen
from ga3c.networks.recurrent import Memory, Recurrent, network
from ga3c.rollout import Actions


def _hidden(vectors):
    """Two layers of 64 units, tanh."""
    for _ in range(2):
        vectors = layers.Dense(64, activation="tanh", kernel_initializer=keras.initializers.Orthogonal(2**0.5))(vectors)
    return vectors


def mlp(
    seen: Seen, actions: Actions, normalize_values: bool = False, memory: Memory | None = None
) -> keras.Model | Recurrent:
    """Returns a network of two hidden layers of 64 units, tanh, and a `memory` after them if there is to be one.

    Input: [batch, *shape], any dtype; or a dict of parts.
    Output: (policy [batch, actions.policy_size], *`heads.value`), float32.
    """
    observations, vectors = inputs.vectors(seen)
    hidden = _hidden(vectors)
    last = partial(heads.policy_and_value, actions=actions, gain=0.0, normalize=normalize_values)
    return network(observations, hidden, last, memory)


def separate(
    seen: Seen, actions: Actions, normalize_values: bool = False, memory: Memory | None = None
) -> keras.Model | Recurrent:
    """Returns two networks as one, for policy and value: they share nothing (Schulman et al. 2017, section 6.1), but a
    `memory` if there is to be one."""
    observations, vectors = inputs.vectors(seen, alone=True)
    if memory:
        both = layers.Concatenate()([_hidden(vectors), _hidden(vectors)])
        last = partial(heads.policy_and_value, actions=actions, gain=1.0, normalize=normalize_values)
        return network(observations, both, last, memory)
    policy = heads.policy(_hidden(vectors), actions)
    start = keras.initializers.Orthogonal(1.0)
    value = heads.value(_hidden(vectors), start, normalize_values)
    return keras.Model(observations, (policy, *value))
