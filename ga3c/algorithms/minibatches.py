"""Several passes over one batch, a minibatch at a time, as a pure function of tensors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from ga3c.algorithms import norms
from ga3c.algorithms.algorithm import Tensors
from ga3c.algorithms.alone import ALONE, Alone
from ga3c.algorithms.clipping import clip
from ga3c.algorithms.optimizers import Optimizer
from ga3c.settings.learning import LearningSettings

CLIPPING = ("gradient_norm", "clipped_share")  # the norm before it was clipped; 1 if it was clipped, else 0


@dataclass(frozen=True)
class Passes:
    """How a batch is learned from: the constants, the optimizer, and the devices that share each step."""

    settings: LearningSettings
    optimizer: Optimizer
    devices: Alone = ALONE
    central: Any = None  # `algorithm.SharedOptimizer.central`


def number(settings: LearningSettings) -> int:
    """Returns how many minibatches are made of one batch, in all epochs."""
    return settings.minibatches + (settings.epochs - 1) * _later(settings)


def _later(settings: LearningSettings) -> int:
    """Returns how many minibatches an epoch after the first has."""
    return max(1, round(settings.minibatches * settings.later_epochs_share))


def _orders(settings: LearningSettings, rows: dict[str, tf.Tensor], seed: tf.Tensor) -> tf.Tensor:
    """Returns which rows each minibatch takes, int32 [minibatches, size]; numbers beyond the last row fill up."""
    count, later = tf.shape(rows["valid"])[0], _later(settings)
    size = (count + settings.minibatches - 1) // settings.minibatches
    noise = tf.random.stateless_uniform((settings.epochs, size * settings.minibatches), seed)
    if later == settings.minibatches:
        return tf.reshape(tf.argsort(noise), (-1, size))
    sizes = tf.where(rows["valid"], tf.abs(rows["advantage"]), 0.0)
    chances = tf.sqrt(tf.reduce_mean(tf.reshape(sizes, (count, -1)), 1))
    chances = tf.pad(chances, [[0, size * settings.minibatches - count]])
    # Of waiting times with these rates the shortest are those of a draw without replacement (Efraimidis and Spirakis
    # 2006). They are dealt out in turns, so that each minibatch has as many of the likely ones.
    drawn = tf.argsort(-tf.math.log(noise[1:]) / chances)[:, : later * size]
    dealt = tf.transpose(tf.reshape(drawn, (-1, size, later)), (0, 2, 1))
    return tf.concat([tf.reshape(tf.argsort(noise[0]), (-1, size)), tf.reshape(dealt, (-1, size))], 0)


def learn(
    loss: Callable,
    numbers: tuple[str, ...],
    weights: Tensors,
    state: Tensors,
    learning_rate: tf.Tensor,
    rows: dict[str, tf.Tensor],
    passes: Passes,
) -> tuple[Tensors, Tensors, dict[str, tf.Tensor]]:
    """Makes a step of the optimizer with each minibatch of each epoch. Every epoch takes each row once, in an order of
    its own; with `later_epochs_share` below 1 only the first does. Each later epoch draws that share of the rows
    without replacement, with chances in proportion to the root of the advantage's size.

    The order follows from the run's seed and from the updates so far, which the optimizer's state counts: the same seed
    and the same batches give the same weights. Each device makes minibatches of its own rows.

    Args:
        loss: function of (weights, a minibatch of the rows). It returns what to reduce, and the values of `numbers`;
            float32 [] each.
        rows: [batch, ...] each: steps, or whole rollouts. One of them is "valid", bool [batch, ...], and one is
            "advantage", if they are drawn by it. Where the minibatches do not divide the batch, rows that are not valid
            fill the last one up.

    Returns: new weights, new state of the optimizer, and by name the means over the minibatches of `numbers`, CLIPPING
    and the norms that are recorded.
    """
    settings, devices = passes.settings, passes.devices
    count, pieces = tf.shape(rows["valid"])[0], number(settings)
    orders = _orders(settings, rows, tf.stack([settings.seed, state[0]]))

    def step(piece, weights, state, totals):
        order = orders[piece]
        minibatch = {name: tf.gather(field, tf.minimum(order, count - 1)) for name, field in rows.items()}
        minibatch["valid"] &= tf.reshape(order < count, (-1, *[1] * (rows["valid"].shape.rank - 1)))
        with tf.GradientTape() as tape:
            tape.watch(weights)
            total, found = loss(weights, minibatch)
        steps = tf.reduce_sum(tf.cast(minibatch["valid"], tf.float32))
        gradients = devices.gradients(tape.gradient(total, weights), steps)
        of_layers = norms.of_gradients(gradients, settings)
        gradients, norm, clipped = clip(gradients, settings.gradient_clip_norm)
        weights, state = passes.optimizer.update(weights, state, gradients, learning_rate)
        if passes.central is not None:
            weights, state = passes.central.minibatch(piece + 1, pieces, weights, state)
        return piece + 1, weights, state, totals + tf.stack([*found, norm, clipped, *of_layers.values()])

    names = (*numbers, *CLIPPING, *norms.of_gradients(weights, settings))
    start = (tf.constant(0), weights, state, tf.zeros(len(names)))
    _, weights, state, totals = tf.while_loop(lambda piece, *_: piece < pieces, step, start, parallel_iterations=1)
    return weights, state, dict(zip(names, tf.unstack(totals / pieces), strict=True))
