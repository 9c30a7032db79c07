"""Losses of Q-learning, held against loops over plain numbers; their gradients, against differences."""

import math

import numpy as np
import pytest
import tensorflow as tf

from ga3c.algorithms import q_learning, rmsprop

RANDOM = np.random.default_rng(5)


def test_targets_choose_with_one_network_and_judge_with_the_other():
    returns, discounts = np.float32([1.0, 2.0, 3.0]), np.float32([0.5, 0.5, 0.0])
    judging, choosing = np.float32([[1, 2], [3, 4], [5, 6]]), np.float32([[9, 8], [7, 8], [1, 2]])
    found = q_learning.targets(returns, discounts, judging, choosing)
    np.testing.assert_allclose(found, [1.5, 4.0, 3.0])
    found = q_learning.targets(returns, discounts, judging, judging)
    np.testing.assert_allclose(found, [2.0, 4.0, 3.0])


@pytest.mark.parametrize(
    ("limit", "losses"), [(1.0, (2.5, 0.5, 0.125)), (2.0, (4.0, 0.5, 0.125)), (0.0, (4.5, 0.5, 0.125))]
)
def test_huber_and_its_slope(limit, losses):
    errors = tf.constant([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(errors)
        found = q_learning.huber(errors, limit)
    np.testing.assert_allclose(found, [*losses, 0.0, *reversed(losses)])
    np.testing.assert_allclose(tape.gradient(found, errors), np.clip(errors, -limit, limit) if limit else errors)


def naive_projection(reward, discount, probabilities, lowest, highest):
    """As the paper's algorithm 1 goes through the atoms."""
    atoms = len(probabilities)
    space, found = (highest - lowest) / (atoms - 1), np.zeros(atoms)
    for index, probability in enumerate(probabilities):
        moved = min(max(reward + discount * (lowest + index * space), lowest), highest)
        place = (moved - lowest) / space
        below, above = math.floor(place), math.ceil(place)
        if below == above:
            found[below] += probability
        else:
            found[below] += probability * (above - place)
            found[above] += probability * (place - below)
    return found


@pytest.mark.parametrize(("lowest", "highest", "atoms"), [(-10.0, 10.0, 51), (-2.0, 3.0, 6), (0.0, 1.0, 2)])
def test_the_projection_of_a_distribution(lowest, highest, atoms):
    probabilities = RANDOM.dirichlet(np.ones(atoms), size=40).astype(np.float32)
    returns = RANDOM.normal(0, 8, size=40).astype(np.float32)
    discounts = RANDOM.choice([0.0, 0.99, 0.97, 1.0], size=40).astype(np.float32)
    returns[:8], discounts[:8] = 0.0, 1.0  # nothing moves: each atom stays
    found = q_learning.projection(returns, discounts, probabilities, lowest, highest)
    naive = [naive_projection(*row, lowest, highest) for row in zip(returns, discounts, probabilities, strict=True)]
    np.testing.assert_allclose(found, naive, atol=2e-5)
    np.testing.assert_allclose(np.sum(found, axis=1), 1.0, rtol=1e-5)


def test_cross_entropy_and_its_gradient():
    wanted = RANDOM.dirichlet(np.ones(7), size=5).astype(np.float32)
    logits = tf.constant(RANDOM.normal(size=(5, 7)), tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        found = q_learning.cross_entropy(wanted, logits)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, -(wanted * np.log(chances)).sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(found, logits), chances - wanted, atol=1e-6)


def test_centred_rmsprop_divides_by_the_deviation_of_the_gradient():
    weights, mean, square, expected = (tf.constant([1.0, 2.0]),), 0.0, 0.0, np.array([1.0, 2.0])
    state = rmsprop.initial_state_centred(weights)
    for _ in range(20):
        gradient = RANDOM.normal(size=2)
        mean, square = 0.95 * mean + 0.05 * gradient, 0.95 * square + 0.05 * gradient**2
        expected = expected - 0.1 * gradient / np.sqrt(square - mean**2 + 0.01)
        gradients = (tf.constant(gradient, tf.float32),)
        weights, state = rmsprop.update_centred(weights, state, gradients, 0.1, decay=0.95, epsilon=0.01)
    np.testing.assert_allclose(weights[0], expected, rtol=1e-4)
