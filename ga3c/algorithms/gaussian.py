"""The policy over continuous actions: a Gaussian with independent elements, as pure functions of tensors.

A policy is means and the logarithms of standard deviations side by side, float32 [batch, 2n]; actions are float32
[batch, n] (Schulman et al. 2017, section 6.1). `softmax` has the same functions for discrete actions.
"""

import math

import tensorflow as tf


def act(outputs: tuple[tf.Tensor, tf.Tensor], seed: tf.Tensor, explore: tf.Tensor) -> dict[str, tf.Tensor]:
    """Samples actions, without bounds. Returns their fields, [batch, ...] each, by name. seed: as `softmax.act`."""
    policy, values = outputs[:2]
    means, log_deviations = tf.split(policy, 2, axis=1)
    actions = means + tf.exp(log_deviations) * tf.random.stateless_normal(tf.shape(means), seed)
    return {"action": actions, "log_probability": log_probabilities(policy, actions), "value": values}


def log_probabilities(policy: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    """Returns the logarithms of the density, float32 [batch]: the sum of -z^2 / 2 - log deviation - log(2 pi) / 2.

    z is the distance from the mean in standard deviations.
    """
    means, log_deviations = tf.split(policy, 2, axis=1)
    z = (actions - means) * tf.exp(-log_deviations)
    return -tf.reduce_sum(0.5 * tf.square(z) + log_deviations + 0.5 * math.log(2 * math.pi), axis=1)


def terms(policy: tf.Tensor, actions: tf.Tensor, log_epsilon: float = 0.0) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns log pi(a) and the entropy, float32 [batch] each. log_epsilon: not used; a density is never zero."""
    log_deviations = tf.split(policy, 2, axis=1)[1]
    entropies = tf.reduce_sum(log_deviations + 0.5 * math.log(2 * math.pi * math.e), axis=1)
    return log_probabilities(policy, actions), entropies
