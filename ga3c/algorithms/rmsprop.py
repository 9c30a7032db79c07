"""Non-centred RMSProp with shared statistics, as pure functions of tensors (paper, Eq. 3).

Keras's own differs in two ways that matter here: its mean square starts at zero, where the paper's TensorFlow
started at one, and it works in place, while our weights are tensors that nobody changes.
"""

import tensorflow as tf


def initial_state(weights: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, ...]:
    """The mean squares before the first update: ones."""
    return tuple(tf.ones_like(weight) for weight in weights)


def update(
    weights: tuple[tf.Tensor, ...],
    mean_squares: tuple[tf.Tensor, ...],
    gradients: tuple[tf.Tensor, ...],
    learning_rate: tf.Tensor,
    *,
    decay: float,
    epsilon: float,
) -> tuple[tuple[tf.Tensor, ...], tuple[tf.Tensor, ...], tuple[tf.Tensor, ...]]:
    """g <- decay g + (1 - decay) dw^2;  w <- w - learning_rate dw / sqrt(g + epsilon).

    Returns: the new weights, the new mean squares, and what was subtracted from the weights.
    """
    squares = tuple(decay * g + (1 - decay) * tf.square(d) for g, d in zip(mean_squares, gradients, strict=True))
    steps = tuple(learning_rate * d * tf.math.rsqrt(g + epsilon) for g, d in zip(squares, gradients, strict=True))
    return tuple(w - step for w, step in zip(weights, steps, strict=True)), squares, steps
