"""A2C (Stooke and Abbeel 2018, sections 3.1 and 5.3), and A2C with V-trace (Dalton et al. 2020, appendix A.1)."""

from functools import partial

import tensorflow as tf

from ga3c.algorithms import optimizers, vtrace
from ga3c.algorithms.a3c import A3C, Loss, loss, scale
from ga3c.algorithms.returns import Played, lambda_returns, played
from ga3c.algorithms.sequences import flat, last_value, outputs_of

# A sum over 320 steps begins with a mean square of 1. A mean is 320 times smaller, so its square is divided by 320^2.
FIRST_MEAN_SQUARE = 1e-5


class A2C(A3C):
    """A3C with all values from the newest weights, a loss that is a mean, and a learning rate that follows the batch.

    So it learns as soon as a rollout is complete: it needs no prediction for the state after it. The weights of the
    loss and the limit of the gradient's norm are those of a mean, and so fit every size of the batch.
    """

    learns_from = (
        *("observation", "action", "log_probability", "reward", "terminated", "truncated", "valid", "last_observation"),
    )

    # Mean squares begin small: those of a mean would fall for thousands of updates from 1 to where they stay.
    _own_optimizer = staticmethod(partial(optimizers.of_rmsprop, first_mean_square=FIRST_MEAN_SQUARE))

    def update(self, apply, weights, state, learning_rate, batch):
        """Makes one update. The learning rate grows with the square root of the batch (section 5.3)."""
        if base := self._settings.learning_rate_batch_steps:
            steps = self.devices.sum(tf.cast(tf.size(batch["valid"]), tf.float32))
            learning_rate = learning_rate * tf.sqrt(steps / base)
        return super().update(apply, weights, state, learning_rate, batch)

    def _weight(self, batch):
        return tf.reduce_sum(tf.cast(batch["valid"], tf.float32))

    def _loss(self, apply, weights, batch) -> tuple[Loss, tf.Tensor]:
        settings, shape = self._settings, tf.shape(batch["valid"])
        (policies, values, *deviation), remembered = outputs_of(apply, weights, batch)
        after = tf.stop_gradient(last_value(apply, weights, batch, remembered))
        rollouts = played(batch, tf.stop_gradient(tf.reshape(values, shape)), after)
        returns, advantages = self._targets(batch, policies, rollouts)
        steps = {"action": batch["action"], "return": returns, "valid": batch["valid"], "advantage": advantages}
        steps = {name: flat(field) for name, field in steps.items()} | scale(deviation)
        found = loss(policies, values, steps, settings, self._policy.terms)
        return found._replace(total=found.policy - settings.entropy_weight * found.entropy + found.value), returns

    def _targets(self, batch, policies, rollouts: Played) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns targets and advantages [time, columns]. policies: [time * columns, policy_size]."""
        returns = lambda_returns(rollouts, self._settings.discount, self._settings.return_lambda)
        return returns, returns - rollouts.values


class A2CVtrace(A2C):
    """A2C with V-trace's correction for steps that older policies took."""

    def _targets(self, batch, policies, rollouts: Played) -> tuple[tf.Tensor, tf.Tensor]:
        now = self._policy.log_probabilities(policies, flat(batch["action"]))
        log_ratios = tf.reshape(now, tf.shape(rollouts.values)) - batch["log_probability"]
        return vtrace.targets(rollouts, log_ratios, self._settings)
