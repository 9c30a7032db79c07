"""Muon (Jordan et al. 2024), as pure functions of tensors."""

from itertools import compress

import tensorflow as tf

from ga3c.algorithms import adam
from ga3c.algorithms.algorithm import Tensors

MOMENTUM = 0.95  # as there, and for what Adam changes
NARROWEST = 32  # rows and columns. The layers that say what to do are narrower in most networks: they are Adam's
ROUNDS, FACTORS = 5, (3.4445, -4.7750, 2.0315)  # as there: singular values of 0.003 and more become 0.7 to 1.2
# The root mean square of a step's elements at rate 1, about that of Adam's (Liu et al. 2025, eq. 4).
ADAMS_SIZE = 0.2


def initial_state(weights: Tensors) -> Tensors:
    """Returns the number of updates, int32 [], the means of the gradients, and of their squares where Adam is used; all
    zero."""
    count, *means = adam.initial_state(weights)
    seconds = (tf.zeros(()) if _is_matrix(weight) else tf.zeros_like(weight) for weight in weights)
    return count, *means[: len(weights)], *seconds


def update(
    weights: Tensors, state: Tensors, gradients: Tensors, learning_rate: tf.Tensor, *, epsilon: float
) -> tuple[Tensors, Tensors]:
    """m <- b m + (1 - b) d;  w <- w - learning_rate 0.2 sqrt(max(rows, columns)) orthogonal((1 - b) d + b m).

    This is for matrices, and for convolutions as matrices [height * width * inputs, filters]. `epsilon`: of Adam's
    rule, which changes all else.

    Returns: the new weights and the new state.
    """
    firsts, seconds = state[1 : 1 + len(weights)], state[1 + len(weights) :]
    adams = [not _is_matrix(weight) for weight in weights]
    some, *means, slopes = (tuple(compress(tensors, adams)) for tensors in (weights, firsts, seconds, gradients))
    changed, (count, *means) = adam.update(
        some, (state[0], *means[0], *means[1]), slopes, learning_rate, epsilon=epsilon, first_decay=MOMENTUM
    )
    by_adam = zip(changed, means[: len(some)], means[len(some) :], strict=True)
    after = [
        next(by_adam) if is_adams else (*_step(weight, mean, gradient, learning_rate), second)
        for is_adams, weight, mean, second, gradient in zip(adams, weights, firsts, seconds, gradients, strict=True)
    ]
    new, firsts, seconds = zip(*after, strict=True)
    return new, (count, *firsts, *seconds)


def _step(weight: tf.Tensor, mean: tf.Tensor, gradient: tf.Tensor, learning_rate: tf.Tensor) -> Tensors:
    """Returns the new weight and the new mean of its gradients."""
    share = (1 - MOMENTUM) * gradient
    mean = MOMENTUM * mean + share
    matrix = tf.reshape(share + MOMENTUM * mean, (-1, weight.shape[-1]))
    rate = learning_rate * ADAMS_SIZE * max(matrix.shape) ** 0.5
    return weight - rate * tf.reshape(orthogonal(matrix), weight.shape), mean


def orthogonal(matrix: tf.Tensor) -> tf.Tensor:
    """Returns the matrix with singular values near 1, by rounds of X <- F X, where F = a I + b X X' + c X X' X X'.

    Each F is a polynomial in the first X X', so all are symmetric and may change places. So the rounds need the small
    squares alone, X X' <- F F X X', and X, which is often far longer, is multiplied once, by the product of all F. That
    takes half of the time, and the result is the same but for rounding.
    """
    a, b, c = FACTORS
    tall = matrix.shape[0] > matrix.shape[1]  # then X is its transpose
    matrix /= tf.norm(matrix) + 1e-7  # a gradient of zeros stays zero
    square = tf.matmul(matrix, matrix, transpose_a=tall, transpose_b=not tall)
    unit = tf.eye(square.shape[0], dtype=square.dtype)

    def polynomial(square):
        return a * unit + b * square + c * tf.matmul(square, square)

    product = factor = polynomial(square)
    for _ in range(ROUNDS - 1):
        square = tf.matmul(factor, tf.matmul(factor, square))
        factor = polynomial(square)
        product = tf.matmul(factor, product)
    return tf.matmul(matrix, product) if tall else tf.matmul(product, matrix)


def _is_matrix(weight: tf.Tensor) -> bool:
    return weight.shape.rank > 2 or (weight.shape.rank == 2 and min(weight.shape) >= NARROWEST)
