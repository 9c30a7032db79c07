"""A2C (Stooke and Abbeel 2018, sections 3.1 and 5.3), and A2C with V-trace (Dalton et al. 2020, appendix A.1)."""

import tensorflow as tf

from ga3c.algorithms import vtrace
from ga3c.algorithms.a3c import A3C, Loss, flat, loss
from ga3c.algorithms.returns import lambda_returns

FIRST_MEAN_SQUARE = 1e-5  # one, over the square of as many steps as an update has by default


class A2C(A3C):
    """A3C with every value of the newest weights, the mean of the loss instead of its sum, and a rate for its batch.

    So it learns at once when the last step is made: it needs no prediction for the state after it. `value_weight`,
    `gradient_clip_norm` and the rest are of the mean: they stand for any size of the batch.
    """

    learns_from = (
        *("observation", "action", "log_probability", "reward", "terminated", "truncated", "valid"),
        "last_observation",
    )

    def initial_state(self, weights):
        """Mean squares before the first update. From one, as a sum's, a mean's would fall for thousands of updates."""
        return tuple(one * FIRST_MEAN_SQUARE for one in super().initial_state(weights))

    def update(self, apply, weights, state, learning_rate, batch):
        """As A3C's. The rate grows with the square root of the batch (section 5.3)."""
        if base := self._settings.learning_rate_batch_steps:
            steps = self.devices.sum(tf.cast(tf.size(batch["valid"]), tf.float32))
            learning_rate = learning_rate * tf.sqrt(steps / base)
        return super().update(apply, weights, state, learning_rate, batch)

    def _weight(self, batch):
        return tf.reduce_sum(tf.cast(batch["valid"], tf.float32))

    def _loss(self, apply, weights, batch) -> Loss:
        settings, shape = self._settings, tf.shape(batch["valid"])
        policies, values = apply(weights, flat(batch["observation"]))
        last_value = apply(weights, batch["last_observation"])[1]
        targets, advantages = self._targets(
            batch, policies, *(tf.stop_gradient(value) for value in (tf.reshape(values, shape), last_value))
        )
        found = loss(
            policies,
            values,
            flat(batch["action"]),
            flat(targets),
            flat(batch["valid"]),
            advantages=flat(advantages),
            entropy_weight=settings.entropy_weight,
            value_weight=settings.value_weight,
            log_epsilon=settings.log_epsilon,
            normalize_advantages=settings.normalize_advantages,
            terms=self._policy.terms,
        )
        return found._replace(total=found.policy - settings.entropy_weight * found.entropy + found.value)

    def _targets(self, batch, policies, values, last_value) -> tuple[tf.Tensor, tf.Tensor]:
        """Targets and advantages [time, columns]; policies [time * columns, policy_size]."""
        fields = (batch[name] for name in ("terminated", "truncated", "valid"))
        weights = {"discount": self._settings.discount, "return_lambda": self._settings.return_lambda}
        returns = lambda_returns(batch["reward"], values, *fields, last_value, **weights)
        return returns, returns - values


class A2CVtrace(A2C):
    """A2C on what older policies played."""

    def _targets(self, batch, policies, values, last_value) -> tuple[tf.Tensor, tf.Tensor]:
        settings = self._settings
        now = tf.reshape(self._policy.log_probabilities(policies, flat(batch["action"])), tf.shape(values))
        return vtrace.targets(
            now - batch["log_probability"],
            batch["reward"],
            values,
            *(batch[name] for name in ("terminated", "truncated", "valid")),
            last_value,
            discount=settings.discount,
            return_lambda=settings.return_lambda,
            rho_limit=settings.vtrace_rho_limit,
            c_limit=settings.vtrace_c_limit,
        )
