"""The two networks of Ape-X DPG (Horgan et al. 2018, appendix D): an actor, and a critic that judges its actions."""

import keras
import numpy as np
from keras import layers

from ga3c.networks import inputs
from ga3c.networks.inputs import Seen
from ga3c.rollout import Actions

_FIRST = 3e-3  # the last layers begin near zero, so all actions look alike (Lillicrap et al. 2016, section 7)


class Rescaling(layers.Layer):
    """Scales numbers between -1 and 1 to actions within their bounds, or the inverse."""

    def __init__(self, actions: Actions, inverse: bool):
        super().__init__(trainable=False)
        low, high = np.array(actions.low, np.float32), np.array(actions.high, np.float32)
        self.middle, self.half = (low + high) / 2, np.maximum((high - low) / 2, 1e-6)
        self.inverse = inverse

    def call(self, numbers):
        return (numbers - self.middle) / self.half if self.inverse else self.middle + numbers * self.half


class ActorCritic:
    """The two networks as one, as a `Model` uses it. Its weights are those of the actor, then those of the critic."""

    def __init__(self, seen: Seen, actions: Actions):
        self.actor, self.critic = _actor(seen, actions), _critic(seen, actions)
        self._of_actor = len(self.actor.trainable_variables)
        self.trainable_variables = [*self.actor.trainable_variables, *self.critic.trainable_variables]
        self.non_trainable_variables = []

    def stateless_call(self, weights, others, observations):
        """Returns the outputs, and `others`. Outputs are actions float32 [batch, n] within their bounds, their values
        float32 [batch], and a function from other actions [batch, n] to their values."""
        of_actor, of_critic = list(weights[: self._of_actor]), list(weights[self._of_actor :])
        actions = self.actor.stateless_call(of_actor, [], observations)[0]

        def values_of(actions):
            return self.critic.stateless_call(of_critic, [], (observations, actions))[0]

        return (actions, values_of(actions), values_of), others


def _actor(seen: Seen, actions: Actions) -> keras.Model:
    """Returns a network with layers of 300 and 200 units, tanh. Output: actions [batch, n]."""
    observations, vectors = inputs.vectors(seen)
    hidden = _hidden(vectors, (300, 200))
    first = keras.initializers.RandomUniform(-_FIRST, _FIRST)
    numbers = layers.Dense(actions.shape[0], activation="tanh", kernel_initializer=first, name="actor")(hidden)
    return keras.Model(observations, Rescaling(actions, inverse=False)(numbers))


def _critic(seen: Seen, actions: Actions) -> keras.Model:
    """Returns a network with layers of 400 and 300 units, tanh, from observations and actions to values [batch]."""
    (observations, vectors), taken = inputs.vectors(seen), keras.Input(actions.shape)
    both = layers.Concatenate()([vectors, Rescaling(actions, inverse=True)(taken)])
    first = keras.initializers.RandomUniform(-_FIRST, _FIRST)
    value = layers.Dense(1, kernel_initializer=first, name="critic")(_hidden(both, (400, 300)))
    return keras.Model((observations, taken), layers.Reshape(())(value))


def _hidden(vectors, sizes: tuple[int, int]):
    for units in sizes:
        vectors = layers.Dense(units, activation="tanh")(vectors)
    return vectors
