"""The last layers of networks for a policy."""

import keras
from keras import layers, ops

from ga3c.rollout import Actions

_LEAST_DEVIATION = 0.01  # before the first reward all targets are much the same


class Deviation(layers.Layer):
    """Appends log deviations to means [batch, n]: [batch, 2n]. They are weights, the same in all states, 0 at first."""

    def build(self, input_shape):
        self.log_deviation = self.add_weight(name="log_deviation", shape=input_shape[1:], initializer="zeros")

    def call(self, means):
        return ops.concatenate([means, ops.broadcast_to(self.log_deviation, ops.shape(means))], axis=1)


class Denormalization(layers.Layer):
    """Turns normalised values [batch] into (values, the deviation of the targets), float32 [batch] each.

    Its three weights, which no gradient changes, are the `standardization.Statistics` of the targets, in that order.
    """

    def build(self, input_shape):
        for name, initializer in (("mean", "zeros"), ("variance", "ones"), ("count", "zeros")):
            setattr(self, name, self.add_weight(name=name, shape=(), initializer=initializer, trainable=False))

    def call(self, normalized):
        deviation = self.deviation()
        return normalized * deviation + self.mean, ops.broadcast_to(deviation, ops.shape(normalized))

    def deviation(self):
        """Returns what normalised values are multiplied by: float32 []."""
        return ops.maximum(ops.sqrt(ops.convert_to_tensor(self.variance)), _LEAST_DEVIATION)


def value(hidden, initializer, normalize: bool) -> tuple:
    """Returns (values,), float32 [batch]; where they are to `normalize`, what a `Denormalization` returns."""
    values = layers.Reshape(())(layers.Dense(1, kernel_initializer=initializer, name="value")(hidden))
    return Denormalization(name="values")(values) if normalize else (values,)


def policy(hidden, actions: Actions):
    """Returns float32 [batch, actions.policy_size]: logits, or means and log deviations, near zero at first."""
    size = actions.shape[0] if actions.continuous else actions.policy_size
    first = layers.Dense(size, kernel_initializer=keras.initializers.Orthogonal(0.01), name="policy")(hidden)
    return Deviation()(first) if actions.continuous else first


def policy_and_value(hidden, actions: Actions, gain: float, normalize: bool) -> tuple:
    """Returns (policy, *value), as `policy` and `value` do. gain: that of the value's first weights, which are
    orthogonal; 0: Glorot's."""
    first = policy(hidden, actions)
    # After the policy's: an initializer draws its seed when it is made.
    initializer = keras.initializers.Orthogonal(gain) if gain else "glorot_uniform"
    return first, *value(hidden, initializer, normalize)
