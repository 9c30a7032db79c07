"""Numbers that fall with the steps of play, and two that follow the policy: a step size and the entropy's weight."""

import tensorflow as tf

from ga3c.settings.learning import LearningSettings

ENTROPY_GAIN, ENTROPY_LEAST_WEIGHT, ENTROPY_LARGEST_WEIGHT = 0.2, 1e-4, 0.05
KL_FACTOR, KL_LEAST_RATE, KL_LARGEST_RATE = 1.5, 1e-6, 1e-2


def inverse(steps: float | tf.Tensor, start: float, half_steps: int) -> float | tf.Tensor:
    """Returns start / (1 + steps / half_steps), or start where half_steps is 0."""
    return start / (1 + steps / half_steps) if half_steps else start


def linear(steps: int, start: float, end: float, over_steps: int) -> float:
    """Returns a point on the straight line from start to end over so many steps. 0 steps: it stays at start."""
    return start + (end - start) * min(1.0, steps / over_steps) if over_steps else start


def learning_rate(steps: int, settings: LearningSettings, run_steps: int | None) -> float:
    """Returns the step size after so many steps of play, in a run that ends after `run_steps`."""
    if settings.learning_rate_schedule == "kl":
        return settings.learning_rate
    if settings.learning_rate_schedule == "linear":
        return linear(steps, settings.learning_rate, 0.0, run_steps or settings.learning_rate_decay_steps)
    return inverse(steps, settings.learning_rate, settings.learning_rate_decay_steps)


def kl_target(steps: tf.Tensor, settings: LearningSettings) -> tf.Tensor | float:
    """Returns the KL divergence to aim at after so many steps of play.

    A small step of the policy has a divergence that grows with the square of its size. So the target falls as the
    square of the inverse schedule, for a step size that falls as that schedule.
    """
    return settings.kl_target * inverse(steps, 1.0, settings.learning_rate_decay_steps) ** 2


def following_kl(rate: tf.Tensor, kl: tf.Tensor, target: tf.Tensor | float) -> tf.Tensor:
    """Returns the step size after an update with `rate` that moved the policy by `kl`, a mean over its steps.

    Above twice the target it is divided by KL_FACTOR, and below half of it multiplied. Schulman et al. 2017, section 4,
    change the weight of a penalty by such a rule.
    """
    factor = tf.where(kl > 2 * target, 1 / KL_FACTOR, tf.where(kl < target / 2, KL_FACTOR, 1.0))
    return tf.clip_by_value(rate * factor, KL_LEAST_RATE, KL_LARGEST_RATE)


def following_entropy(weight: tf.Tensor, share: tf.Tensor, target: tf.Tensor) -> tf.Tensor:
    """Returns the entropy's weight after an update in which the policy had `share` of the largest entropy.

    It grows where that is less than the target, and falls where it is more. Haarnoja et al. 2018 (Soft Actor-Critic
    Algorithms and Applications, section 5) adapt their temperature to an entropy so.
    """
    weight *= tf.exp(ENTROPY_GAIN * (target - share))
    return tf.clip_by_value(weight, ENTROPY_LEAST_WEIGHT, ENTROPY_LARGEST_WEIGHT)
