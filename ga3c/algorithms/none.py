"""No learning: games are only played, to measure the speed of sampling (Stooke and Abbeel 2018, section 5.2)."""

import tensorflow as tf

from ga3c.algorithms.a3c import A3C


class NoLearning(A3C):
    """Plays as A3C does. An update leaves the weights as they are and takes next to no time."""

    learns_from = ("valid",)

    def initial_state(self, weights):
        return ()

    def update(self, apply, weights, state, learning_rate, batch):
        return weights, state, {"valid_share": tf.reduce_mean(tf.cast(batch["valid"], tf.float32))}
