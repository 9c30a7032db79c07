"""Targets from rollouts, as pure functions of tensors [time, columns]."""

from dataclasses import dataclass

import tensorflow as tf

_UNROLLED_STEPS = 256  # longer rollouts are a loop in the graph, which would otherwise take minutes to trace


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

    def before(after, row):
        """R and V of a row, from those of the row after it."""
        (target, next_value), (reward, value, terminates, truncates, counts) = after, row
        ahead = next_value + return_lambda * (target - next_value)
        future = tf.where(terminates, 0.0, tf.where(truncates, next_value, ahead))
        return tf.where(counts, reward + discount * future, tf.where(truncates, value, target)), value

    rows = (played.rewards, played.values, played.terminated, played.truncated, played.valid)
    after, targets = (played.last_value, played.last_value), []
    if played.rewards.shape[0] > _UNROLLED_STEPS:
        return tf.scan(before, rows, after, reverse=True)[0]
    for t in reversed(range(played.rewards.shape[0])):
        after = before(after, [field[t] for field in rows])
        targets.append(after[0])
    return tf.stack(targets[::-1])
