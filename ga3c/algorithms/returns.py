"""n-step targets, as pure functions of tensors [time, columns]."""

import tensorflow as tf


def n_step_returns(
    rewards: tf.Tensor,
    values: tf.Tensor,
    terminated: tf.Tensor,
    truncated: tf.Tensor,
    valid: tf.Tensor,
    bootstrap_value: tf.Tensor,
    discount: float,
) -> tf.Tensor:
    """R_t = r_t + discount * R_{t+1}, from the end of the rollout backwards (paper, section 3.2).

    Args:
        rewards, values: float32 [time, columns]; `values` is V(s_t) as predicted when the agent acted.
        terminated: bool [time, columns]; s_{t+1} ended the episode: it is worth nothing.
        truncated: bool [time, columns]; the episode was cut at s_{t+1}: it is worth V(s_{t+1}), the value in
            the next row, or the bootstrap value after the last row.
        valid: bool [time, columns]; False marks rows that are no transition. They pass R_{t+1} on unchanged.
        bootstrap_value: float32 [columns], V of the state after the last row.

    Returns: float32 [time, columns]. Rows that are not valid hold no meaning.
    """
    target = next_value = bootstrap_value
    targets = []
    for t in reversed(range(rewards.shape[0])):
        future = tf.where(terminated[t], 0.0, tf.where(truncated[t], next_value, target))
        target = tf.where(valid[t], rewards[t] + discount * future, target)
        next_value = values[t]
        targets.append(target)
    return tf.stack(targets[::-1])
