"""Adam and RAdam against loops over the papers' algorithms."""

import math

import numpy as np
import pytest
import tensorflow as tf

from ga3c.algorithms import adam

RATE, EPSILON, B1, B2 = 0.1, 0.01, 0.9, 0.999


def loop(weight, gradients, rectified):
    """Kingma and Ba 2015, algorithm 1; Liu et al. 2020, algorithm 2, with the threshold of its authors' program: 5."""
    m, v, longest = np.zeros_like(weight), np.zeros_like(weight), 2 / (1 - B2) - 1
    for t, d in enumerate(gradients, 1):
        m, v = B1 * m + (1 - B1) * d, B2 * v + (1 - B2) * d**2
        step = m / (1 - B1**t)
        length = longest - 2 * t * B2**t / (1 - B2**t)
        if not rectified or length >= 5:
            step = step / (np.sqrt(v / (1 - B2**t)) + EPSILON)
        if rectified and length >= 5:
            step = step * math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
        weight = weight - RATE * step
    return weight


@pytest.mark.parametrize("rectified", [False, True])
@pytest.mark.parametrize("updates", [1, 5, 6, 40])
def test_several_updates(rectified, updates):
    rng = np.random.default_rng(0)
    expected = [rng.normal(size=shape) for shape in ((3, 2), (4,))]
    gradients = [[rng.normal(size=w.shape) * 3 for w in expected] for _ in range(updates)]
    weights = tuple(tf.constant(w, tf.float32) for w in expected)
    state = adam.initial_state(weights)
    for of_update in gradients:
        tensors = tuple(tf.constant(d, tf.float32) for d in of_update)
        weights, state = adam.update(weights, state, tensors, tf.constant(RATE), epsilon=EPSILON, rectified=rectified)
    for i, (ours, start) in enumerate(zip(weights, expected, strict=True)):
        np.testing.assert_allclose(
            ours.numpy(), loop(start, [d[i] for d in gradients], rectified), rtol=1e-3, atol=1e-5
        )
    assert state[0] == updates
    assert [s.shape for s in state] == [s.shape for s in adam.initial_state(weights)]


def test_the_first_step_is_the_rate_whatever_the_gradient():
    for gradient in (1e-3, 1.0, 1e3):
        weights = (tf.constant([5.0]),)
        (new,), _ = adam.update(
            weights, adam.initial_state(weights), (tf.constant([gradient]),), tf.constant(RATE), epsilon=1e-8
        )
        assert float(weights[0][0] - new[0]) == pytest.approx(RATE, rel=1e-3)
