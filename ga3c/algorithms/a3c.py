"""GA3C's algorithm: how it acts, its loss (paper, Eq. 5 and f_v in section 3.2), and its update (Eq. 3)."""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from ga3c.algorithms import rmsprop
from ga3c.algorithms.returns import lag_correction, lambda_returns
from ga3c.settings.learning import LearningSettings

REWARDED = ("reward", "value", "terminated", "truncated", "valid", "bootstrap_value")  # what the targets are made of


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


class A3C:
    """What a `Model` is given. `learns_from` names the fields of a batch that `update` needs.

    A network's outputs are (logits float32 [batch, actions], values float32 [batch]).
    """

    learns_from = ("observation", "action", "log_probability", *REWARDED)

    def __init__(self, settings: LearningSettings):
        self._settings = settings

    def act(self, outputs: tuple[tf.Tensor, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
        """Samples actions. Returns what goes into the rows that asked, [batch] each, by the names of their fields.

        seed: int32 [2], of this batch alone.
        """
        logits, values = outputs
        # Gumbel-max: the largest of logit + Gumbel noise is a sample of the softmax.
        noise = tf.random.stateless_uniform(tf.shape(logits), seed, minval=1e-20)
        actions = tf.argmax(logits - tf.math.log(-tf.math.log(noise)), axis=1, output_type=tf.int32)
        log_probabilities = tf.gather(tf.nn.log_softmax(logits), actions, batch_dims=1)
        return {"action": actions, "log_probability": log_probabilities, "value": values}

    def initial_state(self, weights: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, ...]:
        """What the optimizer keeps, before the first update."""
        return rmsprop.initial_state(weights)

    def learning_rate(self, steps: int) -> float:
        """After so many steps of play."""
        return rmsprop.learning_rate(steps, self._settings.learning_rate, self._settings.learning_rate_decay_steps)

    def update(
        self,
        apply: Callable,
        weights: tuple[tf.Tensor, ...],
        state: tuple[tf.Tensor, ...],
        learning_rate: tf.Tensor,
        batch: dict[str, tf.Tensor],
    ) -> tuple[tuple[tf.Tensor, ...], tuple[tf.Tensor, ...], dict[str, tf.Tensor]]:
        """One update from a batch of rollouts, [time, columns] each. `apply(weights, observations)` gives the outputs.

        Returns: new weights, new state of the optimizer, and numbers by name (float32 []): the logs have those names.
        """
        settings, observations = self._settings, batch["observation"]
        with tf.GradientTape() as tape:
            tape.watch(weights)
            logits, values = apply(weights, tf.reshape(observations, (-1, *observations.shape[2:])))
            found = loss(
                logits,
                values,
                tf.reshape(batch["action"], (-1,)),
                tf.reshape(self._returns(batch, logits, values), (-1,)),
                tf.reshape(batch["valid"], (-1,)),
                entropy_weight=settings.entropy_weight,
                value_weight=settings.value_weight,
                log_epsilon=settings.log_epsilon,
                normalize_advantages=settings.normalize_advantages,
            )
        gradients = tape.gradient(found.total, weights)
        norm, clipped = tf.linalg.global_norm(gradients), tf.constant(0.0)
        if settings.gradient_clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, settings.gradient_clip_norm, use_norm=norm)
            clipped = tf.cast(norm > settings.gradient_clip_norm, tf.float32)
        constants = {"decay": settings.rmsprop_decay, "epsilon": settings.rmsprop_epsilon}
        weights, state, steps = rmsprop.update(weights, state, gradients, learning_rate, **constants)
        numbers = {
            "entropy": found.entropy,
            "value": found.mean_value,
            "loss": found.total,
            "policy_loss": found.policy,
            "value_loss": found.value,
            "value_error": found.value_error,
            "explained_variance": found.explained_variance,
            "gradient_norm": norm,  # before it was clipped
            "clipped_share": clipped,  # 1: it was; the mean over updates is a share
            "update_norm": tf.linalg.global_norm(steps),  # of what was added to the weights
        }
        return weights, state, numbers

    def _returns(self, batch: dict[str, tf.Tensor], logits: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
        """The targets [time, columns]; logits and values [time * columns, ...] are of the newest weights."""
        settings, corrected = self._settings, None
        if settings.lag_correction:
            corrected = lag_correction(logits, values, batch["action"], batch["log_probability"])
        fields = (batch[name] for name in REWARDED)
        weights = {"discount": settings.discount, "return_lambda": settings.return_lambda}
        return lambda_returns(*fields, **weights, correction=corrected)
