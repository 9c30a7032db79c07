"""Running mean and deviation of what the agents see, as pure functions of tensors.

Images have one deviation for all pixels, and one state for each 20 steps of a rollout is counted: the others are much
the same.
Vectors have one deviation for each number, and all states are counted.

Little moves on an Atari screen: in Pong the squares of the pixels are 800 times their variance. Once the mean is
subtracted, the first layers see what moves, and Pong is learned in a fraction of the steps (results/README.md).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

# No weight changes before so many states are counted, because the scale of the input still changes a lot.
FIRST_STATES = 2_000
STEPS_PER_IMAGE = 20  # so a rollout of fewer than 40 steps has one
# float32 cannot count further. From here on old states lose weight slowly.
_MOST_STATES = 1e7


class Statistics(NamedTuple):
    """Statistics of the states so far, float32."""

    mean: tf.Tensor  # [...], of each element
    variance: tf.Tensor  # [...] of each element, or [] of all
    count: tf.Tensor  # [], states counted


def update_from_rollouts(
    statistics: Statistics, states: tf.Tensor, valid: tf.Tensor, total: Callable = tf.identity
) -> Statistics:
    """Adds states [time, columns, ...] that are valid (bool [time, columns]). total: as for `update`."""
    if statistics.variance.shape.rank == 0:
        pieces = max(1, states.shape[0] // STEPS_PER_IMAGE)
        steps = states.shape[0] // pieces
        pairs = [
            one_of_each(states[t : t + steps], valid[t : t + steps], total) for t in range(0, steps * pieces, steps)
        ]
        counted, which = (tf.concat(parts, 0) for parts in zip(*pairs, strict=True))
        return update(statistics, counted, which, total)
    return update(statistics, tf.reshape(states, (-1, *states.shape[2:])), tf.reshape(valid, (-1,)), total)


def one_of_each(states: tf.Tensor, valid: tf.Tensor, total: Callable = tf.identity) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns one state of each column, and whether it is valid. total: as for `update`.

    It is the first state. Where most columns begin with a row that is not valid, as where games end within a rollout,
    it is the first valid one.
    """
    counted = tf.cast(valid, tf.float32)
    first_valid = tf.argmax(counted, axis=0, output_type=tf.int32)  # 0 where none is
    most_begin = total(tf.reduce_sum(counted[0] - 0.5)) >= 0
    rows = tf.where(most_begin, 0, first_valid)
    places = tf.stack([rows, tf.range(tf.size(rows))], axis=1)
    return tf.gather_nd(states, places), tf.gather_nd(valid, places)


def update(statistics: Statistics, states: tf.Tensor, valid: tf.Tensor, total: Callable = tf.identity) -> Statistics:
    """Adds states [columns, ...] that are valid (bool [columns]), by the rule of Chan, Golub and LeVeque (1983).

    Images have one variance for all elements, so a pixel that hardly ever changes is not blown up when it does.
    total: function that sums a tensor over all devices that learn together.
    """
    mean, variance, count = statistics
    weights = tf.reshape(tf.cast(valid, tf.float32), (-1, *[1] * len(mean.shape)))
    more = total(tf.reduce_sum(weights))
    all_states = tf.maximum(count + more, 1.0)
    states = tf.cast(states, tf.float32)
    distance = (states - mean) * weights
    new_mean = mean + total(tf.reduce_sum(distance, 0)) / all_states
    squares = distance * (states - new_mean)
    squares = tf.reduce_sum(squares, 0) if variance.shape.rank else tf.reduce_sum(squares) / math.prod(mean.shape)
    squares = total(squares)
    new_variance = variance + (squares - more * variance) / all_states
    return Statistics(new_mean, new_variance, tf.minimum(all_states, _MOST_STATES))


def learning_rate(statistics: Statistics, rate: tf.Tensor) -> tf.Tensor:
    """Returns `rate`, or 0 as long as too few states are counted."""
    return tf.where(statistics.count < FIRST_STATES, 0.0, rate)
