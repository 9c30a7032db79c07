"""GA3C's algorithm: how it acts, its loss (paper, Eq. 5 and f_v in section 3.2), and its update (Eq. 3)."""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

import tensorflow as tf

from ga3c.algorithms import gaussian, masked, rmsprop, schedules, softmax
from ga3c.algorithms.alone import ALONE
from ga3c.algorithms.clipping import clip
from ga3c.algorithms.returns import lambda_returns
from ga3c.settings.learning import LearningSettings

REWARDED = ("reward", "value", "terminated", "truncated", "valid", "bootstrap_value")  # what the targets are made of


class Loss(NamedTuple):
    """Scalars, float32, of the valid steps of a batch."""

    total: tf.Tensor  # what is made less: summed
    policy: tf.Tensor  # from here on means
    value: tf.Tensor
    entropy: tf.Tensor
    mean_value: tf.Tensor
    value_error: tf.Tensor  # root of the mean square of R - V
    explained_variance: tf.Tensor  # 1 - var(R - V) / var(R), -1 at the least: 1 is perfect, 0 what a constant has


def loss(
    policies: tf.Tensor,
    values: tf.Tensor,
    actions: tf.Tensor,
    returns: tf.Tensor,
    valid: tf.Tensor,
    *,
    entropy_weight: float,
    value_weight: float,
    log_epsilon: float,
    normalize_advantages: bool,
    advantages: tf.Tensor | None = None,
    terms: Callable = softmax.terms,
) -> Loss:
    """-[log(pi(a) + eps) (R - V) + beta H] + value_weight (R - V)^2, summed over the valid steps.

    H = -sum_a pi log(pi + eps). The advantage R - V is a constant to the policy term, as in A3C. With
    `normalize_advantages` it is taken there less its mean and over its standard deviation in the batch.

    Args:
        policies: float32 [batch, policy_size], of the network as it is now: of discrete actions their logits.
        values: float32 [batch], likewise.
        actions: [batch, ...], as taken.
        returns: float32 [batch], the targets R.
        valid: bool [batch]; steps that are not valid count nothing.
        advantages: float32 [batch], what the policy term takes for R - V; not given, that itself.
        terms: of the policy's kind: `softmax.terms` or `gaussian.terms`.
    """
    log_probabilities, entropy = terms(policies, actions, log_epsilon)
    error = returns - values
    advantages = tf.stop_gradient(error if advantages is None else advantages)
    if normalize_advantages:
        advantages = masked.normalized(advantages, valid)
    policy = -log_probabilities * advantages
    value = value_weight * tf.square(error)
    return Loss(
        total=masked.total(policy - entropy_weight * entropy + value, valid),
        policy=masked.mean(policy, valid),
        value=masked.mean(value, valid),
        entropy=masked.mean(entropy, valid),
        mean_value=masked.mean(values, valid),
        value_error=masked.root_mean_square(error, valid),
        explained_variance=masked.explained_variance(returns, values, valid),
    )


def flat(field: tf.Tensor) -> tf.Tensor:
    """[time, columns, ...] as [time * columns, ...]."""
    return tf.reshape(field, (-1, *field.shape[2:]))


class A3C:
    """What a `Model` is given. `learns_from` names the fields of a batch that `update` needs.

    A network's outputs are (policies float32 [batch, policy_size], values float32 [batch]).
    """

    learns_from = ("observation", "action", *REWARDED)
    replays = False  # from transitions of a replay memory
    network_options: ClassVar[dict] = {}  # for `networks.build`
    devices = ALONE  # that learn together

    def __init__(self, settings: LearningSettings, run_steps: int | None = None, continuous: bool = False):
        """run_steps: after which the run ends. continuous: the actions are."""
        self._settings, self._run_steps = settings, run_steps
        self._policy = gaussian if continuous else softmax

    def act(self, outputs: tuple[tf.Tensor, tf.Tensor], seed: tf.Tensor, explore: tf.Tensor) -> dict[str, tf.Tensor]:
        """What goes into the rows that asked: `softmax.act` says it."""
        return self._policy.act(outputs, seed, explore)

    def exploration(self, steps: int, games: int = 0) -> float:
        """How much `act` is to explore after so many steps of play, or [games] of each: nothing beyond the policy."""
        return 0.0

    def initial_state(self, weights: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, ...]:
        """What the optimizer keeps, before the first update."""
        return rmsprop.initial_state(weights)

    @property
    def decays(self) -> tuple[float | None, ...]:
        """Of the optimizer's running means, each group of which is as long as the weights; None: a count of steps."""
        return (self._settings.rmsprop_decay,)

    @property
    def local_steps(self) -> int:
        """Of the optimizer, in one update."""
        return 1

    def learning_rate(self, steps: int) -> float:
        """After so many steps of play."""
        return schedules.learning_rate(steps, self._settings, self._run_steps)

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
        settings = self._settings
        with tf.GradientTape() as tape:
            tape.watch(weights)
            found = self._loss(apply, weights, batch)
        gradients = self.devices.gradients(tape.gradient(found.total, weights), self._weight(batch))
        gradients, norm, clipped = clip(gradients, settings.gradient_clip_norm)
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

    def _weight(self, batch: dict[str, tf.Tensor]) -> tf.Tensor | None:
        """Of this device's gradient among others. None: the loss is a sum."""
        return None

    def _loss(self, apply: Callable, weights: tuple[tf.Tensor, ...], batch: dict[str, tf.Tensor]) -> Loss:
        settings = self._settings
        policies, values = apply(weights, flat(batch["observation"]))
        constants = {"discount": settings.discount, "return_lambda": settings.return_lambda}
        return loss(
            policies,
            values,
            flat(batch["action"]),
            flat(lambda_returns(*(batch[name] for name in REWARDED), **constants)),
            flat(batch["valid"]),
            entropy_weight=settings.entropy_weight,
            value_weight=settings.value_weight,
            log_epsilon=settings.log_epsilon,
            normalize_advantages=settings.normalize_advantages,
            terms=self._policy.terms,
        )
