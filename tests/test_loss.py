"""The loss against a loop over the paper's Eq. 5 and f_v, and its gradient against finite differences."""

import math

import numpy as np
import pytest
import tensorflow as tf

from ga3c.algorithms import a3c
from ga3c.settings.learning import LearningSettings

BETA, VALUE_WEIGHT = 0.05, 0.5


def softmax(logits):
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def loop(logits, values, actions, returns, valid, epsilon, advantages):
    """Eq. 5 (as a loss: negated) and f_v, in float64; `advantages` are constants of the policy term."""
    total = 0.0
    for i in np.flatnonzero(valid):
        pi = softmax(logits[i])
        entropy = -sum(p * math.log(p + epsilon) for p in pi)
        total -= math.log(pi[actions[i]] + epsilon) * advantages[i] + BETA * entropy
        total += VALUE_WEIGHT * (returns[i] - values[i]) ** 2
    return total


def differences(function, x, h=1e-5):
    """Central finite differences of a scalar function of one array."""
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = h
        gradient[index] = (function(x + step) - function(x - step)) / (2 * h)
    return gradient


def of_package(logits, values, actions, returns, valid, epsilon, normalize=False):
    """The package's Loss, and the gradients of its total."""
    logits, values = tf.constant(logits, tf.float32), tf.constant(values, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch((logits, values))
        loss = a3c.loss(
            logits,
            values,
            {"action": tf.constant(actions, tf.int32), "return": tf.constant(returns, tf.float32), "valid": valid},
            LearningSettings(
                entropy_weight=BETA, value_weight=VALUE_WEIGHT, log_epsilon=epsilon, normalize_advantages=normalize
            ),
        )
    return loss, *(gradient.numpy() for gradient in tape.gradient(loss.total, (logits, values)))


@pytest.fixture
def batch():
    rng = np.random.default_rng(0)
    logits, (values, returns) = rng.normal(size=(6, 4)) * 2, rng.normal(size=(2, 6)) * 3
    return logits, values, rng.integers(4, size=6), returns, np.array([1, 1, 0, 1, 1, 0], bool)


@pytest.mark.parametrize("epsilon", [1e-6, 0.05])
def test_value_and_gradients(batch, epsilon):
    logits, values, actions, returns, valid = batch
    rest = (actions, returns, valid, epsilon, returns - values)
    loss, by_logits, by_values = of_package(*batch, epsilon)
    assert float(loss.total) == pytest.approx(loop(logits, values, *rest), rel=1e-5)
    expected = differences(lambda x: loop(x, values, *rest), logits)
    np.testing.assert_allclose(by_logits, expected, rtol=1e-3, atol=1e-4)
    expected = differences(lambda x: loop(logits, x, *rest), values)
    np.testing.assert_allclose(by_values, expected, rtol=1e-3, atol=1e-4)


def test_normalized_advantages(batch):
    """In the policy's term alone, and of the valid steps alone."""
    logits, values, actions, returns, valid = batch
    advantages = (returns - values - (returns - values)[valid].mean()) / (returns - values)[valid].std()
    rest = (actions, returns, valid, 1e-6, advantages)
    loss, by_logits, by_values = of_package(*batch, 1e-6, normalize=True)
    assert float(loss.total) == pytest.approx(loop(logits, values, *rest), rel=1e-5)
    np.testing.assert_allclose(by_logits, differences(lambda x: loop(x, values, *rest), logits), rtol=1e-3, atol=1e-4)
    expected = differences(lambda x: loop(logits, x, *rest), values)
    np.testing.assert_allclose(by_values, expected, rtol=1e-3, atol=1e-4)


def test_how_well_the_values_fit(batch):
    values, returns, valid = batch[1], batch[3], batch[4]
    loss = of_package(*batch, 1e-6)[0]
    error = (returns - values)[valid]
    assert float(loss.value_error) == pytest.approx(np.sqrt((error**2).mean()), rel=1e-5)
    assert float(loss.explained_variance) == pytest.approx(max(1 - error.var() / returns[valid].var(), -1), rel=1e-4)
    close = returns + 0.1 * np.random.default_rng(1).normal(size=returns.shape) + 5  # a constant error counts nothing
    loss = of_package(batch[0], close, *batch[2:], 1e-6)[0]
    assert float(loss.explained_variance) == pytest.approx(1 - (returns - close)[valid].var() / returns[valid].var())
    assert float(loss.explained_variance) > 0.99


def test_total_is_a_sum_and_the_others_are_means(batch):
    once, gradient, _ = of_package(*batch, 1e-6)
    twice, gradient_twice, _ = of_package(*(np.concatenate([x, x]) for x in batch), 1e-6)
    assert float(twice.total) == pytest.approx(2 * float(once.total), rel=1e-5)
    np.testing.assert_allclose(gradient_twice, np.concatenate([gradient, gradient]), rtol=1e-5)
    np.testing.assert_allclose(np.array(twice[1:]), np.array(once[1:]), rtol=1e-5)
    parts = float(once.policy) + float(once.value) - BETA * float(once.entropy)
    assert float(once.total) == pytest.approx(batch[4].sum() * parts, rel=1e-5)
    assert float(once.mean_value) == pytest.approx(batch[1][batch[4]].mean(), rel=1e-5)


def test_an_action_of_probability_zero_keeps_everything_finite():
    """The case for which Eq. 5 has its epsilon."""
    logits = np.array([[-1e4, 0.0, 0.0]])
    assert tf.nn.softmax(tf.constant(logits, tf.float32))[0, 0] == 0
    loss, by_logits, by_values = of_package(logits, [0.0], [0], [1.0], [True], 1e-6)
    assert float(loss.policy) == pytest.approx(-math.log(1e-6), rel=1e-5)
    assert np.isfinite([*map(float, loss), *by_logits[0], *by_values]).all()


def test_steps_that_are_not_valid_count_nothing(batch):
    logits, values, actions, returns, valid = batch
    logits, values = np.where(valid[:, None], logits, 99.0), np.where(valid, values, -1e6)
    actions, returns = np.where(valid, actions, 0), np.where(valid, returns, 1e6)
    changed, by_logits, by_values = of_package(logits, values, actions, returns, valid, 1e-6)
    np.testing.assert_array_equal(np.array(changed), np.array(of_package(*batch, 1e-6)[0]))
    assert not by_logits[~valid].any()
    assert not by_values[~valid].any()
    nothing = of_package(*batch[:4], np.zeros(6, bool), 1e-6)[0]
    np.testing.assert_array_equal(np.array(nothing), [0, 0, 0, 0, 0, 0, 1])  # no variance is all explained
