"""Targets, as pure functions of tensors [time, columns]."""

from typing import NamedTuple

import tensorflow as tf


class Correction(NamedTuple):
    """Of steps that an older policy took. float32 [time, columns]."""

    values: tf.Tensor  # V(s_t) of the newest weights
    weights: tf.Tensor  # from 0 to 1


def lag_correction(
    logits: tf.Tensor, values: tf.Tensor, actions: tf.Tensor, behaviour_log_probabilities: tf.Tensor
) -> Correction:
    """What the newest weights say of a step, and min(1, pi(a) / mu(a)): V-trace's rho and c, limited to 1.

    mu is the policy that took the action (Espeholt et al. 2018, section 4.1). Constants to the gradient.

    Args:
        logits, values: float32 [time * columns, actions] and [time * columns], of the newest weights.
        actions, behaviour_log_probabilities: int32 and float32 [time, columns], of the rollouts.
    """
    log_probabilities = -tf.nn.sparse_softmax_cross_entropy_with_logits(tf.reshape(actions, (-1,)), logits)
    shape = tf.shape(actions)
    ratio = tf.reshape(log_probabilities, shape) - behaviour_log_probabilities
    weights = tf.exp(tf.minimum(ratio, 0.0))
    return Correction(tf.stop_gradient(tf.reshape(values, shape)), tf.stop_gradient(weights))


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
    correction: Correction | None = None,
) -> tf.Tensor:
    """R_t = r_t + discount ((1 - lambda) V(s_{t+1}) + lambda R_{t+1}), from the end of the rollout backwards.

    lambda = 1: the n-step return (paper, section 3.2). Below, a mean of those of 1, 2, ... n steps, with weights that
    fall by lambda (Sutton and Barto 2018, Eq. 12.18): R_t - V(s_t) is then what is called GAE (Schulman et al. 2016).

    Args:
        rewards, values: float32 [time, columns]; `values` is V(s_t) as predicted when the agent acted.
        terminated: bool [time, columns]; s_{t+1} ended the episode: it is worth nothing.
        truncated: bool [time, columns]; the episode was cut at s_{t+1}: it is worth V(s_{t+1}), the value in
            the next row, or the bootstrap value after the last row.
        valid: bool [time, columns]; False marks rows that are no transition. They pass R_{t+1} on unchanged.
        bootstrap_value: float32 [columns], V of the state after the last row.
        correction: for policy lag: R_t is then V'(s_t) + w_t (the above - V'(s_t)), with the weights w and the newest
            values V'. Where nothing has changed it is the same; what is no longer likely teaches little.

    Returns: float32 [time, columns]. Rows that are not valid hold no meaning.
    """
    target = next_value = bootstrap_value
    targets = []
    for t in reversed(range(rewards.shape[0])):
        ahead = next_value + return_lambda * (target - next_value)
        future = tf.where(terminated[t], 0.0, tf.where(truncated[t], next_value, ahead))
        reached = rewards[t] + discount * future
        if correction:
            reached = correction.values[t] + correction.weights[t] * (reached - correction.values[t])
        target = tf.where(valid[t], reached, target)
        next_value = values[t]
        targets.append(target)
    return tf.stack(targets[::-1])
