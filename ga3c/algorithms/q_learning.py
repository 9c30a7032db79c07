"""Losses of Q-learning from replayed transitions, as pure functions of tensors."""

import tensorflow as tf


def action_values(q_values: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    """Q(s, a): of float32 [batch, actions] those of int32 [batch]. Of [batch, actions, atoms] likewise."""
    return tf.gather(q_values, actions, batch_dims=1)


def targets(returns: tf.Tensor, discounts: tf.Tensor, next_values: tf.Tensor, choosing: tf.Tensor) -> tf.Tensor:
    """R + discount Q'(s', argmax_a Q(s', a)).

    Args:
        returns, discounts: float32 [batch]: rewards of n steps, and gamma^n, or 0 where the game has ended.
        next_values: float32 [batch, actions], Q' of the target network (Mnih et al. 2015).
        choosing: the same of the network that chooses the action: the target network, too; or the newest one (van
            Hasselt et al. 2016, Eq. 4: double Q-learning).
    """
    best = tf.argmax(choosing, axis=1, output_type=tf.int32)
    return returns + discounts * action_values(next_values, best)


def huber(errors: tf.Tensor, limit: float = 1.0) -> tf.Tensor:
    """Half the square, and from `limit` on a straight line: its slope is the error clipped to that (Mnih et al. 2015).

    limit: 0: half the square of every error.
    """
    size = tf.abs(errors)
    square = 0.5 * tf.square(errors)
    return tf.where(size <= limit, square, limit * (size - 0.5 * limit)) if limit else square


def projection(
    returns: tf.Tensor, discounts: tf.Tensor, probabilities: tf.Tensor, lowest: float, highest: float
) -> tf.Tensor:
    """The distribution of R + discount Z, on the same atoms as that of Z (Bellemare et al. 2017, Eq. 7).

    What lies between two atoms is shared by them, the nearer one getting more; what is outside goes to the last.

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
    """-sum wanted log softmax(logits): float32 [batch] of two of [batch, atoms]."""
    return -tf.reduce_sum(wanted * tf.nn.log_softmax(logits), axis=1)
