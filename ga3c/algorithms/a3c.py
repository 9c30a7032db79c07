"""The GA3C loss (paper, Eq. 5 and f_v in section 3.2)."""

from typing import NamedTuple

import tensorflow as tf


class Loss(NamedTuple):
    """Scalars, float32. `total` is summed over the batch; the others are of its valid steps, the losses means."""

    total: tf.Tensor
    policy: tf.Tensor
    value: tf.Tensor
    entropy: tf.Tensor
    mean_value: tf.Tensor
    value_error: tf.Tensor  # root of the mean square of R - V
    explained_variance: tf.Tensor  # 1 - var(R - V) / var(R), -1 at the least: 1 is perfect, 0 what a constant has


def loss(
    logits: tf.Tensor,
    values: tf.Tensor,
    actions: tf.Tensor,
    returns: tf.Tensor,
    valid: tf.Tensor,
    *,
    entropy_weight: float,
    value_weight: float,
    log_epsilon: float,
    normalize_advantages: bool,
) -> Loss:
    """-[log(pi(a) + eps) (R - V) + beta H] + value_weight (R - V)^2, summed over the valid steps.

    H = -sum_a pi log(pi + eps). The advantage R - V is a constant to the policy term, as in A3C. With
    `normalize_advantages` it is taken there less its mean and over its standard deviation in the batch.

    Args:
        logits: float32 [batch, actions], of the network as it is now.
        values: float32 [batch], likewise.
        actions: int32 [batch], as taken.
        returns: float32 [batch], the targets R.
        valid: bool [batch]; steps that are not valid count nothing.
    """
    probabilities = tf.nn.softmax(logits)
    taken = tf.gather(probabilities, actions, batch_dims=1)
    error = returns - values
    count = tf.maximum(tf.reduce_sum(tf.cast(valid, tf.float32)), 1.0)

    def total(terms):
        return tf.reduce_sum(tf.where(valid, terms, 0.0))

    def variance(terms):
        return total(tf.square(terms - total(terms) / count)) / count

    advantages = tf.stop_gradient(error)
    if normalize_advantages:
        advantages = (advantages - total(advantages) / count) * tf.math.rsqrt(variance(advantages) + 1e-8)
    policy = -tf.math.log(taken + log_epsilon) * advantages
    entropy = -tf.reduce_sum(probabilities * tf.math.log(probabilities + log_epsilon), axis=1)
    value = value_weight * tf.square(error)
    return Loss(
        total=total(policy - entropy_weight * entropy + value),
        policy=total(policy) / count,
        value=total(value) / count,
        entropy=total(entropy) / count,
        mean_value=total(values) / count,
        value_error=tf.sqrt(total(tf.square(error)) / count),
        explained_variance=tf.maximum(1.0 - variance(error) / tf.maximum(variance(returns), 1e-8), -1.0),
    )
