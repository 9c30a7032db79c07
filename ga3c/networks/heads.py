"""The last layers of networks for a policy."""

import keras
from keras import layers, ops

from ga3c.rollout import Actions


class Deviation(layers.Layer):
    """Appends log deviations to means [batch, n]: [batch, 2n]. They are weights, the same in all states, 0 at first."""

    def build(self, input_shape):
        self.log_deviation = self.add_weight(name="log_deviation", shape=input_shape[1:], initializer="zeros")

    def call(self, means):
        return ops.concatenate([means, ops.broadcast_to(self.log_deviation, ops.shape(means))], axis=1)


def policy(hidden, actions: Actions):
    """Returns float32 [batch, actions.policy_size]: logits, or means and log deviations, near zero at first."""
    size = actions.shape[0] if actions.continuous else actions.count
    first = layers.Dense(size, kernel_initializer=keras.initializers.Orthogonal(0.01), name="policy")(hidden)
    return Deviation()(first) if actions.continuous else first
