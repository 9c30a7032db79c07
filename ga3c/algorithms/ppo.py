"""Proximal policy optimization (Schulman et al. 2017), synchronous and asynchronous (Stooke and Abbeel 2018)."""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from ga3c.algorithms import adam, gaussian, masked, minibatches, schedules, softmax
from ga3c.algorithms.a3c import A3C, flat
from ga3c.algorithms.returns import lambda_returns
from ga3c.settings.learning import LearningSettings


class Loss(NamedTuple):
    """Means over the valid steps of a minibatch, float32."""

    total: tf.Tensor
    policy: tf.Tensor
    value: tf.Tensor
    entropy: tf.Tensor
    clip_fraction: tf.Tensor  # steps whose ratio is out of bounds
    approximate_kl: tf.Tensor  # of the policy now from that which acted: mean of ratio - 1 - log ratio, never negative


def loss(
    policies: tf.Tensor,
    values: tf.Tensor,
    minibatch: dict[str, tf.Tensor],
    *,
    ratio_clip: float,
    value_clip: float,
    entropy_weight: float,
    value_weight: float,
    normalize_advantages: bool,
    terms: Callable = softmax.terms,
) -> Loss:
    """-min(ratio A, clip(ratio, 1 - ratio_clip, 1 + ratio_clip) A) - entropy_weight H + value_weight (R - V)^2.

    Eq. 7 and 9, with ratio = pi(a) / mu(a), mu as it was when the step was taken. With `value_clip` the square is the
    larger of that and of the one with V kept within value_clip of what it was before the first epoch.

    Args:
        policies, values: float32 [batch, policy_size] and [batch], of the network as it is now.
        minibatch: [batch, ...] each: action, log_probability (log mu(a)), value (before the first epoch), return (R),
            advantage (A) and valid.
        terms: of the policy's kind: `softmax.terms` or `gaussian.terms`.
    """
    valid, returns, advantages = minibatch["valid"], minibatch["return"], minibatch["advantage"]
    if normalize_advantages:
        advantages = masked.normalized(advantages, valid)
    taken, entropies = terms(policies, minibatch["action"])
    log_ratio = tf.where(valid, taken - minibatch["log_probability"], 0.0)  # rows that are not valid hold anything
    ratio = tf.exp(log_ratio)
    clipped = tf.clip_by_value(ratio, 1 - ratio_clip, 1 + ratio_clip)
    policy = masked.mean(-tf.minimum(ratio * advantages, clipped * advantages), valid)
    squares = tf.square(returns - values)
    if value_clip:
        kept = minibatch["value"] + tf.clip_by_value(values - minibatch["value"], -value_clip, value_clip)
        squares = tf.maximum(squares, tf.square(returns - kept))
    value = value_weight * masked.mean(squares, valid)
    entropy = masked.mean(entropies, valid)
    return Loss(
        total=policy - entropy_weight * entropy + value,
        policy=policy,
        value=value,
        entropy=entropy,
        clip_fraction=masked.mean(tf.cast(tf.abs(ratio - 1) > ratio_clip, tf.float32), valid),
        approximate_kl=masked.mean(ratio - 1 - log_ratio, valid),
    )


class PPO:
    """What a `Model` is given, as `a3c.A3C`; one `update` makes all epochs.

    Advantages are lambda-returns less values (GAE), both of the newest weights before the first epoch. In lockstep
    they are the values by which the agents acted; asynchronously all are of one network, the state after the last
    row, which nobody has acted in yet, among them.

    APPO is the same on asynchronous experience: the probabilities are those of sampling, whichever weights that had.
    Every prediction takes the newest weights, so a rollout goes on with those of an update at its next step; in the
    paper it does so every 64 steps.
    """

    learns_from = (
        *("observation", "action", "log_probability", "reward", "terminated", "truncated", "valid"),
        "last_observation",
    )
    replays, network_options, devices = A3C.replays, A3C.network_options, A3C.devices

    def __init__(self, settings: LearningSettings, run_steps: int | None = None, continuous: bool = False):
        """As `a3c.A3C.__init__`."""
        self._settings, self._run_steps = settings, run_steps
        self._policy = gaussian if continuous else softmax

    def act(self, outputs, seed, explore):
        """As `a3c.A3C.act`."""
        return self._policy.act(outputs, seed, explore)

    def exploration(self, steps: int, games: int = 0) -> float:
        """As `a3c.A3C.exploration`."""
        return 0.0

    def initial_state(self, weights: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, ...]:
        """What the optimizer keeps, before the first update."""
        return adam.initial_state(weights)

    @property
    def decays(self) -> tuple[float | None, ...]:
        """As `a3c.A3C.decays`."""
        return None, adam.FIRST_DECAY, adam.SECOND_DECAY

    @property
    def local_steps(self) -> int:
        """As `a3c.A3C.local_steps`."""
        return self._settings.epochs * self._settings.minibatches

    def learning_rate(self, steps: int) -> float:
        """After so many steps of play."""
        return schedules.learning_rate(steps, self._settings, self._run_steps)

    def update(self, apply, weights, state, learning_rate, batch):
        """All epochs with one batch. Arguments and result: as `a3c.A3C.update`.

        Of the numbers, value, value_error and explained_variance are of before the first epoch; update_norm is of all
        that was added to the weights; the others are means over the minibatches.
        """
        settings, rows = self._settings, self._rows(apply, weights, batch)

        def of_minibatch(weights, minibatch):
            found = loss(
                *apply(weights, minibatch["observation"]),
                minibatch,
                ratio_clip=settings.ppo_clip,
                value_clip=settings.value_clip,
                entropy_weight=settings.entropy_weight,
                value_weight=settings.value_weight,
                normalize_advantages=settings.normalize_advantages,
                terms=self._policy.terms,
            )
            return found.total, found

        names = ("loss", "policy_loss", "value_loss", "entropy", "clip_fraction", "approximate_kl")
        new_weights, state, numbers = minibatches.learn(
            of_minibatch, names, weights, state, learning_rate, rows, settings, rectified=False, devices=self.devices
        )
        numbers |= {
            "value": masked.mean(rows["value"], rows["valid"]),
            "value_error": masked.root_mean_square(rows["advantage"], rows["valid"]),
            "explained_variance": masked.explained_variance(rows["return"], rows["value"], rows["valid"]),
            "update_norm": tf.linalg.global_norm([new - old for new, old in zip(new_weights, weights, strict=True)]),
        }
        return new_weights, state, numbers

    def _rows(self, apply, weights, batch) -> dict[str, tf.Tensor]:
        """What `loss` needs of each step, [time * columns, ...], and its observation."""
        observations = flat(batch["observation"])
        values = tf.reshape(apply(weights, observations)[1], tf.shape(batch["valid"]))
        last_value = apply(weights, batch["last_observation"])[1]
        ends = (batch[name] for name in ("terminated", "truncated", "valid"))
        constants = {"discount": self._settings.discount, "return_lambda": self._settings.return_lambda}
        returns = lambda_returns(batch["reward"], values, *ends, last_value, **constants)
        fields = {name: batch[name] for name in ("action", "log_probability", "valid")}
        fields |= {"value": values, "return": returns, "advantage": returns - values}
        return {name: flat(field) for name, field in fields.items()} | {"observation": observations}
