"""Behaviour cloning (Pomerleau 1991): the policy is made to choose what was chosen in recorded games."""

import tensorflow as tf

from ga3c.algorithms import masked, norms, optimizers
from ga3c.algorithms.a3c import A3C
from ga3c.algorithms.clipping import clip
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

    @property
    def _optimizer(self):
        return optimizers.chosen(self._settings, optimizers.of_adam(self._settings))

    def update(self, apply, weights, state, learning_rate, batch):
        """Makes one step of the optimizer with a batch of recorded steps, as `algorithm.Algorithm.update` says."""
        settings, valid = self._settings, flat(batch["valid"])
        returns, actions = flat(batch["value"]), flat(batch["action"])
        with tf.GradientTape() as tape:
            tape.watch(weights)
            policies, values, *deviation = apply(weights, flat(batch["observation"]))
            chosen, entropies = self._policy.terms(policies, actions)
            policy, entropy = masked.mean(-chosen, valid), masked.mean(entropies, valid)
            scale = deviation[0] if deviation else tf.sqrt(masked.variance(returns, valid) + LEAST_VARIANCE)
            value = settings.value_weight * masked.mean(tf.square((returns - values) / scale), valid)
            loss = policy - settings.entropy_weight * entropy + value
        gradients = tape.gradient(loss, weights)
        limited, norm, clipped = clip(gradients, settings.gradient_clip_norm)
        new_weights, state = self._optimizer.update(weights, state, limited, learning_rate)
        numbers = {
            "entropy": entropy,
            "value": masked.mean(values, valid),
            "loss": loss,
            "policy_loss": policy,
            "value_loss": value,
            "value_error": masked.root_mean_square(returns - values, valid),
            "explained_variance": masked.explained_variance(returns, values, valid),
            "gradient_norm": norm,  # before it was clipped
            "clipped_share": clipped,  # 1 if it was clipped, else 0
            "update_norm": tf.linalg.global_norm([new - old for new, old in zip(new_weights, weights, strict=True)]),
        }
        numbers |= norms.of_update(settings, weights, new_weights, gradients)
        return new_weights, state, numbers, *([batch["value"]] if self.network_options else [])
