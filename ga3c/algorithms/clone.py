"""Behaviour cloning (Pomerleau 1991): the policy is made to choose what was chosen in recorded games."""

import tensorflow as tf

from ga3c.algorithms import masked, optimizers
from ga3c.algorithms.a3c import A3C, Loss
from ga3c.algorithms.sequences import flat

LEAST_VARIANCE = 0.01  # of returns, which may all be the same


class Clone(A3C):
    """Learns the actions of recorded games, and the returns that followed them. It acts as A3C does.

    The loss is the mean of -log pi(a) - entropy_weight H + value_weight ((R - V) / d)^2, in which a is the recorded
    action. For discrete actions its first part is the cross entropy, for continuous ones that of a Gaussian. R is the
    discounted return that followed in the recording: it stands in the field `value`. d is the standard deviation of R,
    so that the policy is learned as fast where returns are large.
    """

    learns_from = ("observation", "action", "value", "valid")
    _own_optimizer = staticmethod(optimizers.of_adam)

    def _loss(self, apply, weights, batch) -> tuple[Loss, tf.Tensor]:
        """Returns the loss, and the targets of the values, as `A3C._loss` does."""
        settings, valid = self._settings, flat(batch["valid"])
        returns, actions = flat(batch["value"]), flat(batch["action"])
        policies, values, *deviation = apply(weights, flat(batch["observation"]))
        chosen, entropies = self._policy.terms(policies, actions)
        policy, entropy = masked.mean(-chosen, valid), masked.mean(entropies, valid)
        scale = deviation[0] if deviation else tf.sqrt(masked.variance(returns, valid) + LEAST_VARIANCE)
        value = settings.value_weight * masked.mean(tf.square((returns - values) / scale), valid)
        found = Loss(
            total=policy - settings.entropy_weight * entropy + value,
            policy=policy,
            value=value,
            entropy=entropy,
            mean_value=masked.mean(values, valid),
            value_error=masked.root_mean_square(returns - values, valid),
            explained_variance=masked.explained_variance(returns, values, valid),
        )
        return found, batch["value"]
