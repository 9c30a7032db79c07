"""Targets, as pure functions of tensors [time, columns]."""

import tensorflow as tf

_UNROLLED_STEPS = 256  # longer rollouts are a loop in the graph: it would take minutes to trace


def lambda_returns(
    rewards: tf.Tensor,
    values: tf.Tensor,
    terminated: tf.Tensor,
    truncated: tf.Tensor,
    valid: tf.Tensor,
    bootstrap_value: tf.Tensor,
    *,
    discount: float,
    return_lambda: float,
) -> tf.Tensor:
    """R_t = r_t + discount ((1 - lambda) V(s_{t+1}) + lambda R_{t+1}), from the end of the rollout backwards.

    lambda = 1: the n-step return (paper, section 3.2). Below, a mean of those of 1, 2, ... n steps, with weights that
    fall by lambda (Sutton and Barto 2018, Eq. 12.18): R_t - V(s_t) is then what is called GAE (Schulman et al. 2016).

    Args:
        rewards, values: float32 [time, columns]; `values` is V(s_t), as predicted when the agent acted or as it is now.
        terminated: bool [time, columns]; s_{t+1} ended the episode: it is worth nothing.
        truncated: bool [time, columns]; the episode was cut at s_{t+1}: it is worth V(s_{t+1}), the value in
            the next row, or the bootstrap value after the last row.
        valid: bool [time, columns]; False marks rows that are no transition. They pass R_{t+1} on unchanged; those
            that are truncated, V(s_t): the episode was cut there.
        bootstrap_value: float32 [columns], V of the state after the last row.

    Returns: float32 [time, columns]. Rows that are not valid hold no meaning.
    """

    def before(after, row):
        """R and V of a row, from those of the row after it."""
        (target, next_value), (reward, value, terminates, truncates, counts) = after, row
        ahead = next_value + return_lambda * (target - next_value)
        future = tf.where(terminates, 0.0, tf.where(truncates, next_value, ahead))
        return tf.where(counts, reward + discount * future, tf.where(truncates, value, target)), value

    rows, after, targets = (rewards, values, terminated, truncated, valid), (bootstrap_value, bootstrap_value), []
    if rewards.shape[0] > _UNROLLED_STEPS:
        return tf.scan(before, rows, after, reverse=True)[0]
    for t in reversed(range(rewards.shape[0])):
        after = before(after, [field[t] for field in rows])
        targets.append(after[0])
    return tf.stack(targets[::-1])
