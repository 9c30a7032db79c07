"""GA3C's algorithm: how it acts, its loss (paper, Eq. 5 and f_v in section 3.2), and its update (Eq. 3)."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from ga3c.algorithms import gaussian, masked, norms, optimizers, schedules, sequences, softmax
from ga3c.algorithms.algorithm import Tensors
from ga3c.algorithms.alone import ALONE
from ga3c.algorithms.clipping import clip
from ga3c.algorithms.product import Product
from ga3c.algorithms.returns import lambda_returns, played
from ga3c.algorithms.sequences import flat, outputs_of
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings


class Loss(NamedTuple):
    """Scalars, float32, from the valid steps of a batch. All but `total` are means."""

    total: tf.Tensor  # what an update reduces: a sum for A3C, a mean for A2C
    policy: tf.Tensor
    value: tf.Tensor
    entropy: tf.Tensor
    mean_value: tf.Tensor
    value_error: tf.Tensor  # root of the mean square of R - V
    explained_variance: tf.Tensor  # `masked.explained_variance`


def loss(
    policies: tf.Tensor,
    values: tf.Tensor,
    steps: dict[str, tf.Tensor],
    settings: LearningSettings,
    terms: Callable = softmax.terms,
) -> Loss:
    """-[log(pi(a) + eps) (R - V) + beta H] + value_weight (R - V)^2, summed over the valid steps.

    H = -sum_a pi log(pi + eps). The advantage R - V is a constant to the policy term. With `normalize_advantages` its
    mean in the batch is subtracted, and it is divided by its standard deviation.

    Args:
        policies, values: float32 [batch, policy_size] and [batch], outputs of the newest network. For discrete actions
            a policy is its logits.
        steps: [batch, ...] each: action, return (R), valid (steps that are not count nothing), advantage, if it is
            another than R - V, and deviation, if values are normalised: what the error in the value term is divided by.
        settings: the constants.
        terms: `softmax.terms` or `gaussian.terms`, which fits the policies.
    """
    returns, valid = steps["return"], steps["valid"]
    log_probabilities, entropy = terms(policies, steps["action"], settings.log_epsilon)
    error = returns - values
    advantages = tf.stop_gradient(steps.get("advantage", error))
    if settings.normalize_advantages:
        advantages = masked.normalized(advantages, valid)
    policy = -log_probabilities * advantages
    value = settings.value_weight * tf.square(error / steps.get("deviation", 1.0))
    return Loss(
        total=masked.total(policy - settings.entropy_weight * entropy + value, valid),
        policy=masked.mean(policy, valid),
        value=masked.mean(value, valid),
        entropy=masked.mean(entropy, valid),
        mean_value=masked.mean(values, valid),
        value_error=masked.root_mean_square(error, valid),
        explained_variance=masked.explained_variance(returns, values, valid),
    )


def scale(deviation: list[tf.Tensor]) -> dict[str, tf.Tensor]:
    """Returns the third output of a network, if there is one, as a field of `loss`."""
    return {"deviation": deviation[0]} if deviation else {}


def policy_of(actions):
    """Returns the policy for a game's kind of actions (`rollout.Actions`): an object with the functions that `softmax`
    has."""
    if actions.sizes:
        return Product(actions.sizes)
    return gaussian if actions.continuous else softmax


class A3C:
    """An `algorithm.Algorithm` that learns from rollouts. Its targets are made of the values by which agents acted.

    Outputs of its network: (policies float32 [batch, policy_size], values float32 [batch]), and with normalised values
    their deviation, float32 [batch]. With a memory it learns from whole rollouts (`sequences`).
    """

    learns_from = ("observation", "action", "reward", "value", "terminated", "truncated", "valid", "bootstrap_value")
    replays = False
    _own_optimizer = staticmethod(optimizers.of_rmsprop)
    devices = ALONE
    central = None
    local_steps = 1

    def __init__(self, settings: Settings, actions=None):
        """actions: those of the game, a `rollout.Actions`. None: discrete ones."""
        self._settings, self._run_steps = settings.learning, settings.run.steps
        self.network_options = {"normalize_values": True} if settings.learning.normalize_values else {}
        self.remembers = settings.learning.recurrent_size > 0
        if self.remembers:
            self.learns_from = (*self.learns_from, *sequences.FIELDS)
        self._policy = policy_of(actions) if actions else softmax

    def act(self, outputs: tuple[tf.Tensor, tf.Tensor], seed: tf.Tensor, explore: tf.Tensor) -> dict[str, tf.Tensor]:
        """Samples actions from the policy, as `softmax.act` says."""
        return self._policy.act(outputs, seed, explore)

    def exploration(self, steps: int, games: int = 0) -> float:
        """Returns 0: the policy explores by itself."""
        return 0.0

    def initial_state(self, weights: Tensors) -> Tensors:
        """Returns the state of the optimizer before the first update."""
        return self._optimizer.initial_state(weights)

    @property
    def _optimizer(self) -> optimizers.Optimizer:
        return optimizers.chosen(self._settings, self._own_optimizer)

    @property
    def decays(self) -> tuple[float | None, ...]:
        """The decays of the running means in the optimizer's state."""
        return self._optimizer.decays

    def learning_rate(self, steps: int) -> float:
        """Returns the step size after so many steps of play."""
        return schedules.learning_rate(steps, self._settings, self._run_steps)

    def update(self, apply: Callable, weights: Tensors, state: Tensors, learning_rate: tf.Tensor, batch: dict) -> tuple:
        """Makes one update from a batch of rollouts [time, columns, ...], as `algorithm.Algorithm.update` says."""
        settings = self._settings
        with tf.GradientTape() as tape:
            tape.watch(weights)
            found, targets = self._loss(apply, weights, batch)
        gradients = self.devices.gradients(tape.gradient(found.total, weights), self._weight(batch))
        limited, norm, clipped = clip(gradients, settings.gradient_clip_norm)
        rule = self._optimizer.update
        if self.central is not None:
            rule = functools.partial(self.central.step, rule)
        new_weights, state = rule(weights, state, limited, learning_rate)
        numbers = {
            "entropy": found.entropy,
            "value": found.mean_value,
            "loss": found.total,
            "policy_loss": found.policy,
            "value_loss": found.value,
            "value_error": found.value_error,
            "explained_variance": found.explained_variance,
            "gradient_norm": norm,  # before it was clipped
            "clipped_share": clipped,  # 1 if it was clipped, else 0
        }
        numbers |= norms.of_update(settings, weights, new_weights, gradients)
        return new_weights, state, numbers, *([targets] if self.network_options else [])

    def _weight(self, batch: dict[str, tf.Tensor]) -> tf.Tensor | None:
        """The weight of this device's gradient in the mean over all devices. None: they are summed."""
        return None

    def _loss(self, apply: Callable, weights: Tensors, batch: dict[str, tf.Tensor]) -> tuple[Loss, tf.Tensor]:
        """Returns the loss, and the targets of the values [time, columns]."""
        settings = self._settings
        (policies, values, *deviation), _ = outputs_of(apply, weights, batch)
        rollouts = played(batch, batch["value"], batch["bootstrap_value"])
        returns = lambda_returns(rollouts, settings.discount, settings.return_lambda)
        steps = {"action": batch["action"], "return": returns, "valid": batch["valid"]}
        steps = {name: flat(field) for name, field in steps.items()} | scale(deviation)
        return loss(policies, values, steps, settings, self._policy.terms), returns
