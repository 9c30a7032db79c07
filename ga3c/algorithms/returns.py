"""Targets from rollouts, as pure functions of tensors [time, columns]."""

from dataclasses import dataclass

import tensorflow as tf


@dataclass(frozen=True)
class Played:
    """Rollouts, and the values of their states. [time, columns] each, but for `last_value`."""

    rewards: tf.Tensor  # float32
    values: tf.Tensor  # float32, V(s_t): as predicted when the agent acted, or of the newest weights
    terminated: tf.Tensor  # bool: s_{t+1} ended the episode, and is worth nothing
    truncated: tf.Tensor  # bool: the episode was cut at s_{t+1}, which is worth V(s_{t+1}): the value in the next row
    valid: tf.Tensor  # bool: False where a row is no transition
    last_value: tf.Tensor  # float32 [columns], V of the state after the last row


def played(batch: dict[str, tf.Tensor], values: tf.Tensor, last_value: tf.Tensor) -> Played:
    """Returns the rollouts of a batch, with these values for their states."""
    return Played(batch["reward"], values, batch["terminated"], batch["truncated"], batch["valid"], last_value)


def lambda_returns(played: Played, discount: float, return_lambda: float) -> tf.Tensor:
    """R_t = r_t + discount ((1 - lambda) V(s_{t+1}) + lambda R_{t+1}), from the end of the rollout backwards.

    With lambda = 1 it is the n-step return (GA3C paper, section 3.2). With less it is a mean of the returns of 1, 2,
    ... n steps, with weights that fall by lambda (Sutton and Barto 2018, Eq. 12.18), and R_t - V(s_t) is the advantage
    that is called GAE (Schulman et al. 2016).

    A row that is not valid passes R_{t+1} on unchanged. If it is truncated, it passes V(s_t) on: the episode was cut
    there.

    Returns: float32 [time, columns]. Rows that are not valid hold no meaning.
    """
    discounted = discount * after(played.values, played.last_value)
    ends, valid = played.terminated | played.truncated, played.valid
    ahead = tf.where(played.terminated, 0.0, tf.where(played.truncated, 1.0, 1 - return_lambda)) * discounted
    offsets = tf.where(valid, played.rewards + ahead, tf.where(played.truncated, played.values, 0.0))
    factors = tf.where(valid, tf.where(ends, 0.0, discount * return_lambda), tf.where(played.truncated, 0.0, 1.0))
    return backwards(offsets, factors, played.last_value)


def backwards(offsets: tf.Tensor, factors: tf.Tensor, last: tf.Tensor) -> tf.Tensor:
    """Returns x_t = offsets_t + factors_t x_{t+1}, [time, columns], where x is `last`, [columns], after the last row.

    Each round doubles the number of rows that are summed up (a parallel scan: Blelloch 1990), so the graph is small and
    the arrays are large, however long the rollouts are.
    """
    x = tf.concat([offsets, last[None]], axis=0)
    factors = tf.concat([factors, tf.zeros_like(last)[None]], axis=0)
    summed = 1
    while summed < x.shape[0]:
        x, factors = (
            tf.concat([x[:-summed] + factors[:-summed] * x[summed:], x[-summed:]], axis=0),
            tf.concat([factors[:-summed] * factors[summed:], factors[-summed:]], axis=0),
        )
        summed *= 2
    return x[:-1]


def after(rows: tf.Tensor, last: tf.Tensor) -> tf.Tensor:
    """Returns for each row the one after it, which for the last row is `last`."""
    return tf.concat([rows[1:], last[None]], axis=0)
