"""The policy over several choices at once: a product of softmaxes, as pure functions of tensors.

The choices are independent of each other, so the logarithms of their probabilities add, and so do their entropies. A
policy is the logits of all choices side by side, float32 [batch, sum of sizes]; actions are int32 [batch, choices].
"""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from ga3c.algorithms import softmax
from ga3c.rollout import FORBIDDEN


class Product:
    """Choices of so many options each. It has the functions of `softmax`, which is a product of one choice."""

    def __init__(self, sizes: Sequence[int]):
        self._choices, most = len(sizes), max(sizes)
        # Choices with fewer options than the largest are filled up with logits that give no probability.
        options = np.arange(most) < np.reshape(sizes, (-1, 1))
        self._filled = np.where(options, np.cumsum(options).reshape(options.shape) - 1, sum(sizes))

    def act(self, outputs: tuple[tf.Tensor, tf.Tensor], seed: tf.Tensor, explore: tf.Tensor) -> dict[str, tf.Tensor]:
        """Samples actions. Arguments and result are those of `softmax.act`."""
        policy, values = outputs[:2]
        by_choice = self._by_choice(policy)
        actions = tf.reshape(softmax.sample(by_choice, seed), (-1, self._choices))
        return {"action": actions, "log_probability": self.log_probabilities(policy, actions), "value": values}

    def log_probabilities(self, policy: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
        """Returns log pi(a), float32 [batch]: the sum over the choices."""
        return self._sum(softmax.log_probabilities(self._by_choice(policy), tf.reshape(actions, (-1,))))

    def terms(self, policy: tf.Tensor, actions: tf.Tensor, log_epsilon: float = 0.0) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns log pi(a) and the entropy, float32 [batch] each: sums of what `softmax.terms` returns."""
        of_choices = softmax.terms(self._by_choice(policy), tf.reshape(actions, (-1,)), log_epsilon)
        return self._sum(of_choices[0]), self._sum(of_choices[1])

    def _by_choice(self, policy: tf.Tensor) -> tf.Tensor:
        """Returns the logits of each choice in a row of its own, [batch * choices, most options]."""
        filled = tf.pad(policy, [[0, 0], [0, 1]], constant_values=FORBIDDEN)
        return tf.reshape(tf.gather(filled, self._filled, axis=1), (-1, self._filled.shape[1]))

    def _sum(self, of_choices: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.reshape(of_choices, (-1, self._choices)), axis=1)
