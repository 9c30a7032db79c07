"""What networks end in."""

import keras
from keras import layers, ops

from ga3c.rollout import Actions


class Deviation(layers.Layer):
    """Puts log deviations beside means [batch, n]: [batch, 2n]. They are weights, the same in all states, first 0."""

    def build(self, input_shape):
        self.log_deviation = self.add_weight(name="log_deviation", shape=input_shape[1:], initializer="zeros")

    def call(self, means):
        return ops.concatenate([means, ops.broadcast_to(self.log_deviation, ops.shape(means))], axis=1)


def policy(hidden, actions: Actions):
    """float32 [batch, actions.policy_size]: logits, or means and log deviations. Starts near zero."""
    size = actions.shape[0] if actions.continuous else actions.count
    first = layers.Dense(size, kernel_initializer=keras.initializers.Orthogonal(0.01), name="policy")(hidden)
    return Deviation()(first) if actions.continuous else first
