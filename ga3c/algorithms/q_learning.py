"""Losses of Q-learning from replayed transitions, as pure functions of tensors."""

import tensorflow as tf


def action_values(q_values: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    """Returns Q(s, a) [batch, ...] from values [batch, actions, ...] and actions int32 [batch]."""
    return tf.gather(q_values, actions, batch_dims=1)


def targets(returns: tf.Tensor, discounts: tf.Tensor, next_values: tf.Tensor, choosing: tf.Tensor) -> tf.Tensor:
    """Returns R + discount Q'(s', argmax_a Q(s', a)), float32 [batch].

    Args:
        returns, discounts: float32 [batch]: the rewards of n steps; and gamma^n, or 0 where the game has ended.
        next_values: float32 [batch, actions], Q' of the target network (Mnih et al. 2015).
        choosing: the action values of the network that chooses the action: the target network, or the newest one for
            double Q-learning (van Hasselt et al. 2016, Eq. 4).
    """
    best = tf.argmax(choosing, axis=1, output_type=tf.int32)
    return returns + discounts * action_values(next_values, best)


def huber(errors: tf.Tensor, limit: float = 1.0) -> tf.Tensor:
    """Returns half the squares of errors up to `limit`, and a straight line beyond: the slope is limited (Mnih et al.
    2015). A limit of 0 means none.
    """
    size = tf.abs(errors)
    square = 0.5 * tf.square(errors)
    return tf.where(size <= limit, square, limit * (size - 0.5 * limit)) if limit else square


def projection(
    returns: tf.Tensor, discounts: tf.Tensor, probabilities: tf.Tensor, lowest: float, highest: float
) -> tf.Tensor:
    """Returns the distribution of R + discount Z on the atoms of Z (Bellemare et al. 2017, Eq. 7), [batch, atoms].

    A value between two atoms is shared by them, and the nearer one gets more. A value outside goes to the last atom.

    Args:
        returns, discounts: float32 [batch].
        probabilities: float32 [batch, atoms], of Z at values from lowest to highest, evenly spaced.
    """
    atoms = probabilities.shape[1]
    values = tf.linspace(lowest, highest, atoms)
    moved = tf.clip_by_value(returns[:, None] + discounts[:, None] * values, lowest, highest)
    apart = tf.abs(moved[:, :, None] - values) * ((atoms - 1) / (highest - lowest))  # [batch, from, to], in atoms
    return tf.reduce_sum(probabilities[:, :, None] * tf.maximum(1.0 - apart, 0.0), axis=1)


def cross_entropy(wanted: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """Returns -sum wanted log softmax(logits), float32 [batch]; both arguments are [batch, atoms]."""
    return -tf.reduce_sum(wanted * tf.nn.log_softmax(logits), axis=1)
