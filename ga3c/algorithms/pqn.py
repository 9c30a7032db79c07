"""PQN: parallelised Q-learning without replay and without a target network (Gallici et al. 2024)."""

import numpy as np
import tensorflow as tf

from ga3c.algorithms import exploration, masked, minibatches
from ga3c.algorithms.ppo import PPO


class PQN(PPO):
    """Q-learning with PPO's passes over each batch, and epsilon-greedy play.

    Targets are Peng's Q(lambda): lambda-returns in which max_a Q(s, a) is the value of a state. The newest weights make
    them, before the first epoch (Gallici et al. 2024, algorithm 1).
    """

    act = staticmethod(exploration.act)

    def exploration(self, steps: int, games: int = 0) -> float | np.ndarray:
        """Returns epsilon after so many steps of play, as `exploration.epsilon` says."""
        return exploration.epsilon(steps, self._settings, games)

    def update(self, apply, weights, state, learning_rate, batch):
        """Makes all epochs with one batch. The loss is half the mean of (R - Q(s, a))^2 over the valid steps."""
        rows = self._rows(apply, weights, batch)

        def of_minibatch(weights, minibatch):
            q_values, best_values = apply(weights, minibatch["observation"])
            taken = tf.gather(q_values, minibatch["action"], batch_dims=1)
            error, valid = minibatch["return"] - taken, minibatch["valid"]
            loss = 0.5 * masked.mean(tf.square(error), valid)
            return loss, (loss, masked.mean(best_values, valid), masked.root_mean_square(error, valid))

        names = ("loss", "value", "value_error")
        passes = minibatches.Passes(self._settings, rectified=True, devices=self.devices)
        learnt = minibatches.learn(of_minibatch, names, weights, state, learning_rate, rows, passes)
        new_weights, state, numbers = learnt
        numbers |= {
            "explained_variance": masked.explained_variance(rows["return"], rows["value"], rows["valid"]),
            "update_norm": tf.linalg.global_norm([new - old for new, old in zip(new_weights, weights, strict=True)]),
        }
        return new_weights, state, numbers
