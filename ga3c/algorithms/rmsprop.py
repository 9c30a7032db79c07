"""RMSProp with shared statistics, as pure functions of tensors: non-centred (paper, Eq. 3), and centred.

Keras's RMSProp differs in two ways that matter here. Its mean square starts at zero, but at one in the TensorFlow of
the paper. And it changes weights in place, but ours are only replaced.
"""

import tensorflow as tf

from ga3c.algorithms.algorithm import Tensors


def initial_state(weights: Tensors, first: float = 1.0) -> Tensors:
    """Returns the mean squares before the first update, all of them `first`."""
    return tuple(tf.ones_like(weight) * first for weight in weights)


def update(
    weights: Tensors,
    mean_squares: Tensors,
    gradients: Tensors,
    learning_rate: tf.Tensor,
    *,
    decay: float,
    epsilon: float,
) -> tuple[Tensors, Tensors]:
    """g <- decay g + (1 - decay) dw^2;  w <- w - learning_rate dw / sqrt(g + epsilon).

    Returns: the new weights and the new mean squares.
    """
    squares = tuple(decay * g + (1 - decay) * tf.square(d) for g, d in zip(mean_squares, gradients, strict=True))
    steps = tuple(learning_rate * d * tf.math.rsqrt(g + epsilon) for g, d in zip(squares, gradients, strict=True))
    return tuple(w - step for w, step in zip(weights, steps, strict=True)), squares


def initial_state_centred(weights: Tensors) -> Tensors:
    """Returns the mean gradients and the mean squares before the first update: zeros."""
    return tuple(tf.zeros_like(weight) for _ in range(2) for weight in weights)


def update_centred(
    weights: Tensors, state: Tensors, gradients: Tensors, learning_rate: tf.Tensor, *, decay: float, epsilon: float
) -> tuple[Tensors, Tensors]:
    """m <- decay m + (1 - decay) dw;  g likewise of dw^2;  w <- w - learning_rate dw / sqrt(g - m^2 + epsilon).

    It divides by the gradient's deviation, not its size (Graves 2013, Eq. 38 to 41; Mnih et al. 2015, extended data
    table 1).

    Returns: the new weights and the new state.
    """
    means, squares = state[: len(weights)], state[len(weights) :]
    means = tuple(decay * m + (1 - decay) * d for m, d in zip(means, gradients, strict=True))
    squares = tuple(decay * g + (1 - decay) * tf.square(d) for g, d in zip(squares, gradients, strict=True))
    weights = tuple(
        w - learning_rate * d * tf.math.rsqrt(tf.maximum(g - tf.square(m), 0.0) + epsilon)
        for w, d, m, g in zip(weights, gradients, means, squares, strict=True)
    )
    return weights, (*means, *squares)
