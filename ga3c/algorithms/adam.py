"""Adam and its rectified form, as pure functions of tensors."""

import math

import tensorflow as tf

from ga3c.algorithms.algorithm import Tensors

FIRST_DECAY, SECOND_DECAY = 0.9, 0.999  # as in both papers


def initial_state(weights: Tensors) -> Tensors:
    """Returns the number of updates, int32 [], and the means of the gradients and of their squares: all zero."""
    return (tf.constant(0), *(tf.zeros_like(weight) for _ in range(2) for weight in weights))


def update(
    weights: Tensors,
    state: Tensors,
    gradients: Tensors,
    learning_rate: tf.Tensor,
    *,
    epsilon: float,
    first_decay: float = FIRST_DECAY,
    rectified: bool = False,
) -> tuple[Tensors, Tensors]:
    """m <- b1 m + (1 - b1) d;  v <- b2 v + (1 - b2) d^2;  w <- w - learning_rate m' / (sqrt(v') + epsilon).

    m' and v' are m / (1 - b1^t) and v / (1 - b2^t) after t updates (Kingma and Ba 2015, algorithm 1). `rectified`:
    RAdam (Liu et al. 2020, algorithm 2): the step is small at first and grows as v becomes known. For the first five
    updates v cannot be estimated, and the step is learning_rate m'.

    Returns: the new weights and the new state.
    """
    count = state[0] + 1
    firsts, seconds = state[1 : 1 + len(weights)], state[1 + len(weights) :]
    firsts = tuple(first_decay * m + (1 - first_decay) * d for m, d in zip(firsts, gradients, strict=True))
    seconds = tuple(
        SECOND_DECAY * v + (1 - SECOND_DECAY) * tf.square(d) for v, d in zip(seconds, gradients, strict=True)
    )
    updates = tf.cast(count, tf.float32)
    first_known, second_known = (-tf.math.expm1(updates * math.log(decay)) for decay in (first_decay, SECOND_DECAY))
    rate = learning_rate / first_known

    def adaptive(mean, square):
        return mean / (tf.sqrt(square / second_known) + epsilon)

    if not rectified:
        steps = tuple(rate * adaptive(m, v) for m, v in zip(firsts, seconds, strict=True))
    else:
        most = 2 / (1 - SECOND_DECAY) - 1  # rho of the paper: how many gradients v is a mean of
        length = most - 2 * updates * (1 - second_known) / second_known
        known = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
        factor = tf.sqrt(tf.maximum(known, 0.0))
        steps = tuple(
            rate * tf.where(length >= 5.0, factor * adaptive(m, v), m) for m, v in zip(firsts, seconds, strict=True)
        )
    return tuple(w - step for w, step in zip(weights, steps, strict=True)), (count, *firsts, *seconds)
