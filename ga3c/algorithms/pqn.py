"""PQN: parallelised Q-learning without replay and without a target network (Gallici et al. 2024)."""

import numpy as np
import tensorflow as tf

from ga3c.algorithms import exploration, masked, minibatches
from ga3c.algorithms.ppo import PPO


class PQN(PPO):
    """PPO's passes over each batch, with a loss of action values.

    Targets are Peng's Q(lambda): lambda-returns with max_a Q(s, a) for the value of a state, of the newest weights
    before the first epoch (Gallici et al. 2024, algorithm 1).
    """

    act = staticmethod(exploration.act)

    def exploration(self, steps: int, games: int = 0) -> float | np.ndarray:
        """Epsilon after so many steps of play, as `exploration.epsilon`."""
        return exploration.epsilon(steps, self._settings, games)

    def update(self, apply, weights, state, learning_rate, batch):
        """As PPO's. The loss is half the mean of (R - Q(s, a))^2 over the valid steps."""
        rows = self._rows(apply, weights, batch)

        def of_minibatch(weights, minibatch):
            q_values, best_values = apply(weights, minibatch["observation"])
            taken = tf.gather(q_values, minibatch["action"], batch_dims=1)
            error, valid = minibatch["return"] - taken, minibatch["valid"]
            loss = 0.5 * masked.mean(tf.square(error), valid)
            return loss, (loss, masked.mean(best_values, valid), masked.root_mean_square(error, valid))

        names = ("loss", "value", "value_error")
        new_weights, state, numbers = minibatches.learn(
            of_minibatch,
            names,
            weights,
            state,
            learning_rate,
            rows,
            self._settings,
            rectified=True,
            devices=self.devices,
        )
        numbers |= {
            "explained_variance": masked.explained_variance(rows["return"], rows["value"], rows["valid"]),
            "update_norm": tf.linalg.global_norm([new - old for new, old in zip(new_weights, weights, strict=True)]),
        }
        return new_weights, state, numbers
