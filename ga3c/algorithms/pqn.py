"""PQN: parallelised Q-learning without replay and without a target network (Gallici et al. 2024)."""

from functools import partial

import numpy as np
import tensorflow as tf

from ga3c.algorithms import exploration, masked, optimizers
from ga3c.algorithms.ppo import PPO
from ga3c.settings.run import Settings


class PQN(PPO):
    """Q-learning with PPO's passes over each batch, and epsilon-greedy play.

    Targets are Peng's Q(lambda): lambda-returns in which max_a Q(s, a) is the value of a state. They are made before
    the first epoch, of the values by which it acted; in lockstep these are of the newest weights (Gallici et al. 2024,
    algorithm 1).
    """

    _own_optimizer = staticmethod(partial(optimizers.of_adam, rectified=True))
    _names = ("loss", "value", "value_error")
    _follows_entropy = False  # it has no policy

    def __init__(self, settings: Settings, actions=None):
        """actions: as in `dqn.DQN`."""
        super().__init__(settings, actions)
        self._masked = actions is not None and actions.masked

    def act(self, outputs, seed, explore):
        """Returns the best actions, or random ones, as `exploration.act` says."""
        return exploration.act(outputs, seed, explore, self._masked)

    def exploration(self, steps: int, games: int = 0) -> float | np.ndarray:
        """Returns epsilon after so many steps of play, as `exploration.epsilon` says."""
        return exploration.epsilon(steps, self._settings, games)

    def _minibatch_loss(self, apply, _entropy_weight, weights, minibatch):
        """Returns half the mean of (R - Q(s, a))^2 over the valid steps, and the numbers of `_names`."""
        q_values, best_values = apply(weights, minibatch["observation"])
        taken = tf.gather(q_values, minibatch["action"], batch_dims=1)
        error, valid = minibatch["return"] - taken, minibatch["valid"]
        loss = 0.5 * masked.mean(tf.square(error), valid)
        return loss, (loss, masked.mean(best_values, valid), masked.root_mean_square(error, valid))
