"""Proximal policy optimization (Schulman et al. 2017), synchronous and asynchronous (Stooke and Abbeel 2018)."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import tensorflow as tf

from ga3c.algorithms import masked, minibatches, norms, optimizers, schedules, sequences, softmax
from ga3c.algorithms.a2c import A2C
from ga3c.algorithms.a3c import A3C, scale
from ga3c.algorithms.algorithm import Tensors
from ga3c.algorithms.returns import lambda_returns, played
from ga3c.algorithms.sequences import by_column, flat, last_value, outputs_of
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings


class Loss(NamedTuple):
    """Means over the valid steps of a minibatch, float32."""

    total: tf.Tensor
    policy: tf.Tensor
    value: tf.Tensor
    entropy: tf.Tensor
    clip_fraction: tf.Tensor  # the share of steps whose ratio is clipped
    approximate_kl: tf.Tensor  # from mu to pi: the mean of ratio - 1 - log ratio, never negative


def loss(
    policies: tf.Tensor,
    values: tf.Tensor,
    minibatch: dict[str, tf.Tensor],
    settings: LearningSettings,
    terms: Callable = softmax.terms,
    entropy_weight: tf.Tensor | None = None,
) -> Loss:
    """-min(ratio A, clip(ratio, 1 - ppo_clip, 1 + ppo_clip) A) - entropy_weight H + value_weight (R - V)^2.

    Eq. 7 and 9, with ratio = pi(a) / mu(a), where mu is the policy that took the step. With `value_clip` there is a
    second square, of a V kept within value_clip of what it was before the first epoch: the larger square counts.

    Args:
        policies, values: float32 [batch, policy_size] and [batch], outputs of the newest network.
        minibatch: [batch, ...] each: action, log_probability (log mu(a)), value (before the first epoch), return (R),
            advantage (A) and valid; and deviation, if values are normalised: the unit of values in the loss.
        settings: the constants.
        entropy_weight: None: that of the settings.
        terms: `softmax.terms` or `gaussian.terms`, which fits the policies.
    """
    valid, returns, advantages = minibatch["valid"], minibatch["return"], minibatch["advantage"]
    if settings.normalize_advantages:
        advantages = masked.normalized(advantages, valid)
    taken, entropies = terms(policies, minibatch["action"])
    log_ratio = tf.where(valid, taken - minibatch["log_probability"], 0.0)  # rows that are not valid hold anything
    ratio = tf.exp(log_ratio)
    clipped = tf.clip_by_value(ratio, 1 - settings.ppo_clip, 1 + settings.ppo_clip)
    policy = masked.mean(-tf.minimum(ratio * advantages, clipped * advantages), valid)
    deviation = minibatch.get("deviation", 1.0)
    squares = tf.square((returns - values) / deviation)
    if settings.value_clip:
        limit = settings.value_clip * deviation
        kept = minibatch["value"] + tf.clip_by_value(values - minibatch["value"], -limit, limit)
        squares = tf.maximum(squares, tf.square((returns - kept) / deviation))
    value = settings.value_weight * masked.mean(squares, valid)
    entropy = masked.mean(entropies, valid)
    weight = settings.entropy_weight if entropy_weight is None else entropy_weight
    return Loss(
        total=policy - weight * entropy + value,
        policy=policy,
        value=value,
        entropy=entropy,
        clip_fraction=masked.mean(tf.cast(tf.abs(ratio - 1) > settings.ppo_clip, tf.float32), valid),
        approximate_kl=masked.mean(ratio - 1 - log_ratio, valid),
    )


class PPO(A3C):
    """PPO, whose `update` makes all epochs with a batch. It acts as A3C does.

    Advantages are lambda-returns minus values (GAE). Values and probabilities are those by which the agents acted, so
    that the network does not run over the batch once more; the newest weights say what the state after the last row is
    worth. With asynchronous sampling (APPO) every prediction takes the newest weights, so they change within a rollout;
    in the paper they change every 64 steps. With a memory values are of the newest weights before the first epoch, and
    minibatches are of whole rollouts, from the states that were stored with them (`sequences`).
    """

    learns_from = A2C.learns_from
    _own_optimizer = staticmethod(optimizers.of_adam)
    _names = ("loss", "policy_loss", "value_loss", "entropy", "clip_fraction", "approximate_kl")
    _largest_entropy = 0.0  # of the game's actions

    def __init__(self, settings: Settings, actions=None):
        super().__init__(settings, actions)
        if actions is not None and not actions.masked:  # a policy may never have it where some are forbidden
            self._largest_entropy = actions.largest_entropy
        if not self.remembers:
            self.learns_from = (*self.learns_from, "value")

    def initial_state(self, weights: Tensors) -> Tensors:
        """Returns the state of the optimizer before the first update; after it the step size, if that follows KL, and
        the entropy's weight, if that follows the entropy."""
        settings = self._settings
        rate = [tf.constant(settings.learning_rate)] if self._follows_kl else []
        weight = [tf.constant(settings.entropy_weight)] if self._follows_entropy else []
        return *super().initial_state(weights), *rate, *weight

    @property
    def _follows_kl(self) -> bool:
        return self._settings.learning_rate_schedule == "kl"

    @property
    def _follows_entropy(self) -> bool:
        return self._settings.entropy_target > 0 and self._largest_entropy > 0

    @property
    def decays(self) -> tuple[float | None, ...]:
        """The optimizer's; the entropy's weight has none."""
        return *super().decays, *[None] * self._follows_entropy

    @property
    def local_steps(self) -> int:
        """The number of minibatches in all epochs: each is a step of the optimizer."""
        return minibatches.number(self._settings)

    def update(self, apply, weights, state, learning_rate, batch):
        """Makes all epochs with one batch. If the step size follows KL, the state's is taken, and the one for the next
        update is made of approximate_kl; so is the entropy's weight of the entropy, if it follows that. A
        `learning_rate` of 0 means that nothing is to be learned yet: then neither number changes.

        Of the numbers, value, value_error and explained_variance are from before the first epoch; update_norm is the
        norm of all that was added to the weights; the others are means over the minibatches.
        """
        settings, learns, following = self._settings, learning_rate > 0, []
        *state, weight = state if self._follows_entropy else (*state, None)
        *state, rate = state if self._follows_kl else (*state, learning_rate)
        learning_rate = tf.where(learns, rate, 0.0)
        learned = self._learn(apply, weights, tuple(state), learning_rate, batch, weight)
        weights, state, numbers, *targets = learned
        if self._follows_kl or self._follows_entropy:
            steps = self._steps(state[0], batch)
        if self._follows_kl:
            kl = self.devices.mean(numbers["approximate_kl"])
            target = schedules.kl_target(steps, settings)
            following.append(tf.where(learns, schedules.following_kl(rate, kl, target), rate))
            numbers |= {"learning_rate": learning_rate}
        if self._follows_entropy:
            share = self.devices.mean(numbers["entropy"]) / self._largest_entropy
            target = schedules.inverse(steps, settings.entropy_target, settings.entropy_target_decay_steps)
            following.append(tf.where(learns, schedules.following_entropy(weight, share, target), weight))
        return weights, (*state, *following), numbers, *targets

    def _steps(self, local_steps: tf.Tensor, batch: Tensors) -> tf.Tensor:
        """Returns the number of steps of play in all batches, after so many steps of the optimizer."""
        batch_steps = self.devices.sum(tf.cast(tf.size(batch["valid"]), tf.float32))
        return tf.cast(local_steps // self.local_steps, tf.float32) * batch_steps

    def _learn(self, apply, weights, state, learning_rate, batch, entropy_weight):
        rows = self._rows(apply, weights, batch)
        passes = minibatches.Passes(self._settings, self._optimizer, self.devices, self.central)
        of_minibatch = partial(self._minibatch_loss, apply, entropy_weight)
        learned = minibatches.learn(of_minibatch, self._names, weights, state, learning_rate, rows, passes)
        new_weights, state, numbers = learned
        before = {
            "value": masked.mean(rows["value"], rows["valid"]),
            "value_error": masked.root_mean_square(rows["advantage"], rows["valid"]),
            "explained_variance": masked.explained_variance(rows["return"], rows["value"], rows["valid"]),
        }
        numbers |= {name: before[name] for name in before if name not in numbers}
        numbers |= norms.of_update(self._settings, weights, new_weights, ())
        returns = by_column({"return": rows["return"]})["return"] if self.remembers else rows["return"]
        targets = [tf.reshape(returns, tf.shape(batch["valid"]))] if self.network_options else []
        return new_weights, state, numbers, *targets

    def _minibatch_loss(self, apply, entropy_weight, weights, minibatch) -> tuple[tf.Tensor, Tensors]:
        """Returns what to reduce, and the numbers of `_names`."""
        if self.remembers:
            minibatch = by_column(minibatch)
            (policies, values, *deviation), _ = outputs_of(apply, weights, minibatch)
            minibatch = {name: flat(field) for name, field in minibatch.items() if name not in sequences.FIELDS}
        else:
            policies, values, *deviation = apply(weights, minibatch["observation"])
        minibatch |= scale(deviation)
        found = loss(policies, values, minibatch, self._settings, self._policy.terms, entropy_weight)
        return found.total, found

    def _rows(self, apply, weights, batch) -> dict[str, tf.Tensor]:
        """Returns what `loss` needs of each step, [time * columns, ...], and its observation. With a memory minibatches
        are of whole rollouts, and so the fields are [columns, time, ...]."""
        if self.remembers:
            (_, values, *_), remembered = outputs_of(apply, weights, batch)
            values, last = tf.reshape(values, tf.shape(batch["valid"])), last_value(apply, weights, batch, remembered)
        else:
            last = last_value(apply, weights, batch, None)
            values = tf.where(tf.math.is_nan(batch["value"]), last, batch["value"])
        rollouts = played(batch, values, last)
        returns = lambda_returns(rollouts, self._settings.discount, self._settings.return_lambda)
        fields = {name: batch[name] for name in ("action", "log_probability", "valid")}
        fields |= {"value": values, "return": returns, "advantage": returns - values}
        fields["observation"] = batch["observation"]
        if self.remembers:
            return by_column(fields | {name: batch[name] for name in sequences.FIELDS})
        return {name: flat(field) for name, field in fields.items()}
