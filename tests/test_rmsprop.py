"""RMSProp against a loop over the paper's Eq. 2 and 3."""

import numpy as np
import tensorflow as tf

from ga3c.algorithms import rmsprop

RATE, DECAY, EPSILON = 0.1, 0.9, 0.5


def test_several_updates():
    rng = np.random.default_rng(0)
    shapes = ((3, 2), (4,))
    expected = [rng.normal(size=shape) for shape in shapes]
    weights = tuple(tf.constant(w, tf.float32) for w in expected)
    squares, expected_squares = rmsprop.initial_state(weights), [np.ones(shape) for shape in shapes]
    for _ in range(5):
        gradients = [rng.normal(size=shape) * 3 for shape in shapes]
        for i, d in enumerate(gradients):
            expected_squares[i] = DECAY * expected_squares[i] + (1 - DECAY) * d**2
            expected[i] = expected[i] - RATE * d / np.sqrt(expected_squares[i] + EPSILON)
        tensors = tuple(tf.constant(d, tf.float32) for d in gradients)
        rate = tf.constant(RATE)
        weights, squares = rmsprop.update(weights, squares, tensors, rate, decay=DECAY, epsilon=EPSILON)
    for ours, by_loop in zip((*weights, *squares), (*expected, *expected_squares), strict=True):
        np.testing.assert_allclose(ours.numpy(), by_loop, rtol=1e-4, atol=1e-5)


def test_the_arguments_stay_as_they_are():
    arguments = [(tf.Variable([value]),) for value in (1.0, 2.0, 3.0)]
    (new,), (square,) = rmsprop.update(*arguments, tf.constant(RATE), decay=DECAY, epsilon=EPSILON)
    assert [float(a[0][0]) for a in arguments] == [1.0, 2.0, 3.0]
    assert float(new[0]) != 1.0
    assert float(square[0]) != 2.0
