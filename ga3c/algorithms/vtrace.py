"""V-trace: targets of steps that an older policy took (Espeholt et al. 2018, section 4.1), as a pure function."""

from typing import NamedTuple

import tensorflow as tf


class Targets(NamedTuple):
    """float32 [time, columns], constants to the gradient. Rows that are not valid hold no meaning."""

    values: tf.Tensor  # v_t, what V(s_t) is to become
    advantages: tf.Tensor  # rho_t (r_t + discount v_{t+1} - V(s_t)), what the policy's gradient is weighted with


def targets(
    log_ratios: tf.Tensor,
    rewards: tf.Tensor,
    values: tf.Tensor,
    terminated: tf.Tensor,
    truncated: tf.Tensor,
    valid: tf.Tensor,
    last_value: tf.Tensor,
    *,
    discount: float,
    return_lambda: float,
    rho_limit: float,
    c_limit: float,
) -> Targets:
    """v_t = V(s_t) + delta_t + discount c_t (v_{t+1} - V(s_{t+1})), from the end of the rollout backwards, with

    delta_t = rho_t (r_t + discount V(s_{t+1}) - V(s_t)), rho_t = min(rho_limit, pi(a_t) / mu(a_t)) and
    c_t = lambda min(c_limit, pi(a_t) / mu(a_t)): Eq. 1 and remarks 1 and 2; Dalton et al. 2020 (CuLE), Eq. 4 to 9.
    With lambda < 1 the advantage looks as far ahead as the target: v_{t+1} is mixed with V(s_{t+1}). So with equal
    policies the targets are the lambda-returns of `returns.lambda_returns`, and the advantages their errors.

    Args:
        log_ratios: float32 [time, columns], log pi(a_t) - log mu(a_t): the newest policy's less that which acted.
        rewards, terminated, truncated, valid: as for `returns.lambda_returns`.
        values, last_value: float32 [time, columns] and [columns], of the newest weights: V(s_t), and V of the state
            after the last row.
    """
    ratios = tf.exp(log_ratios)
    rho, c = tf.minimum(ratios, rho_limit), return_lambda * tf.minimum(ratios, c_limit)
    target = next_value = last_value
    found, advantages = [], []
    for t in reversed(range(rewards.shape[0])):
        following = tf.where(terminated[t], 0.0, next_value)  # V(s_{t+1})
        ahead = tf.where(terminated[t] | truncated[t], following, target)  # v_{t+1}: the next row is another episode's
        delta = rho[t] * (rewards[t] + discount * following - values[t])
        reached = values[t] + delta + discount * c[t] * (ahead - following)
        mixed = following + return_lambda * (ahead - following)
        advantages.append(rho[t] * (rewards[t] + discount * mixed - values[t]))
        target = tf.where(valid[t], reached, tf.where(truncated[t], values[t], target))
        next_value = values[t]
        found.append(target)
    return Targets(*(tf.stop_gradient(tf.stack(rows[::-1])) for rows in (found, advantages)))
