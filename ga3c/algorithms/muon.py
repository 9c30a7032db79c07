"""Muon (Jordan et al. 2024), as pure functions of tensors."""

import tensorflow as tf

from ga3c.algorithms import adam
from ga3c.algorithms.algorithm import Tensors

MOMENTUM = 0.95  # as there, and for what Adam changes
NARROWEST = 32  # rows and columns. The layers that say what to do are narrower in most networks: they are Adam's
ROUNDS, FACTORS = 5, (3.4445, -4.7750, 2.0315)  # as there: singular values of 0.003 and more become 0.7 to 1.2
ADAMS_SIZE = 0.2  # of an element of a step, as Adam's are with the same rate (Liu et al. 2025, eq. 4)


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
    firsts, seconds = (list(state[first : first + len(weights)]) for first in (1, 1 + len(weights)))
    new, others = list(weights), [number for number, weight in enumerate(weights) if not _is_matrix(weight)]
    before = (tuple(tensors[number] for number in others) for tensors in (weights, firsts, seconds, gradients))
    of_adam, first, second, gradient = before
    changed, (count, *means) = adam.update(
        of_adam, (state[0], *first, *second), gradient, learning_rate, epsilon=epsilon, first_decay=MOMENTUM
    )
    for place, number in enumerate(others):
        new[number], firsts[number], seconds[number] = changed[place], means[place], means[len(others) + place]
    for number in set(range(len(weights))) - set(others):
        gradient = (1 - MOMENTUM) * gradients[number]
        firsts[number] = MOMENTUM * firsts[number] + gradient
        matrix = tf.reshape(gradient + MOMENTUM * firsts[number], (-1, gradient.shape[-1]))
        rate = learning_rate * ADAMS_SIZE * max(matrix.shape) ** 0.5
        new[number] -= rate * tf.reshape(orthogonal(matrix), gradient.shape)
    return tuple(new), (count, *firsts, *seconds)


def orthogonal(matrix: tf.Tensor) -> tf.Tensor:
    """Returns the matrix with singular values near 1, by rounds of a X + b X X'X + c X X'X X'X."""
    a, b, c = FACTORS
    wide = matrix.shape[0] <= matrix.shape[1]
    found = matrix if wide else tf.transpose(matrix)
    found /= tf.norm(found) + 1e-7  # a gradient of zeros stays zero
    for _ in range(ROUNDS):
        square = tf.matmul(found, found, transpose_b=True)
        found = a * found + tf.matmul(b * square + c * tf.matmul(square, square), found)
    return found if wide else tf.transpose(found)


def _is_matrix(weight: tf.Tensor) -> bool:
    return weight.shape.rank > 2 or (weight.shape.rank == 2 and min(weight.shape) >= NARROWEST)
