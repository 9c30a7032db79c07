"""A3C as a model uses it: what the settings come to in an update, against loops over the formulas."""

import numpy as np
import pytest
import tensorflow as tf

from ga3c.algorithms.a3c import A3C
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings

T_MAX, COLUMNS, ACTIONS = 4, 3, 2
RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=T_MAX * COLUMNS).astype(np.float32)  # of the newest weights


def batch():
    shape = (T_MAX, COLUMNS)
    fields = {
        "observation": np.zeros((*shape, 5), np.float32),
        "action": RNG.integers(ACTIONS, size=shape).astype(np.int32),
        "log_probability": np.full(shape, -np.log(ACTIONS), np.float32),
        "reward": RNG.normal(size=shape).astype(np.float32),
        "value": RNG.normal(size=shape).astype(np.float32),  # as predicted while playing
        "terminated": np.zeros(shape, bool),
        "truncated": np.zeros(shape, bool),
        "valid": np.ones(shape, bool),
        "bootstrap_value": RNG.normal(size=COLUMNS).astype(np.float32),
    }
    fields["terminated"][1, 0] = True
    return {name: tf.constant(array) for name, array in fields.items()}


def update(settings, fields):
    """With weights that are the values themselves, and a policy that is even."""

    def apply(weights, observations):
        return tf.zeros((len(observations), ACTIONS)), weights[0]

    algorithm, weights = A3C(Settings(learning=settings)), (tf.constant(VALUES),)
    return algorithm.update(apply, weights, algorithm.initial_state(weights), tf.constant(0.1), fields)


def returns(fields, discount, weight):
    """lambda-returns, the naive way: a weighted mean of all n-step returns."""
    reward, value, over = (fields[name].numpy() for name in ("reward", "value", "terminated"))
    value = np.concatenate([value, fields["bootstrap_value"].numpy()[None]])
    found = np.zeros((T_MAX, COLUMNS))
    for column in range(COLUMNS):
        for t in range(T_MAX):
            ends = [n for n in range(t, T_MAX) if over[n, column]]
            steps = (ends[0] if ends else T_MAX - 1) - t + 1
            n_step = []
            for n in range(1, steps + 1):
                total = sum(discount**i * reward[t + i, column] for i in range(n))
                if not over[t + n - 1, column]:
                    total += discount**n * value[t + n, column]
                n_step.append(total)
            shares = [(1 - weight) * weight ** (n - 1) for n in range(1, steps)] + [weight ** (steps - 1)]
            found[t, column] = np.dot(shares, n_step)
    return found


@pytest.mark.parametrize(("discount", "weight"), [(0.9, 0.3), (0.3, 0.9), (0.99, 1.0)])
def test_discount_and_lambda_do_each_what_they_are_for(discount, weight):
    fields = batch()
    numbers = update(LearningSettings(discount=discount, return_lambda=weight), fields)[2]
    error = returns(fields, discount, weight).ravel() - VALUES
    assert numbers["value_error"].numpy() == pytest.approx(np.sqrt((error**2).mean()), rel=1e-5)


def test_the_weights_of_the_loss_are_those_of_the_settings():
    fields = batch()
    settings = LearningSettings(value_weight=0.7, entropy_weight=0.2, log_epsilon=1e-6, gradient_clip_norm=0.0)
    numbers = {name: float(number) for name, number in update(settings, fields)[2].items()}
    steps = T_MAX * COLUMNS
    assert numbers["entropy"] == pytest.approx(np.log(ACTIONS), rel=1e-4)
    assert numbers["value_loss"] == pytest.approx(0.7 * numbers["value_error"] ** 2, rel=1e-4)
    parts = numbers["policy_loss"] + numbers["value_loss"] - 0.2 * numbers["entropy"]
    assert numbers["loss"] == pytest.approx(steps * parts, rel=1e-4)


def test_the_update_is_rmsprops():
    fields, settings = batch(), LearningSettings(rmsprop_decay=0.9, rmsprop_epsilon=0.01, gradient_clip_norm=0.0)
    (new,), (squares,), numbers = update(settings, fields)
    error = returns(fields, settings.discount, settings.return_lambda).ravel() - VALUES
    gradient = -2 * settings.value_weight * error
    wanted = 0.9 + 0.1 * gradient**2
    np.testing.assert_allclose(squares, wanted, rtol=1e-5)
    np.testing.assert_allclose(new, VALUES - 0.1 * gradient / np.sqrt(wanted + 0.01), rtol=1e-5)
    assert numbers["gradient_norm"].numpy() == pytest.approx(np.linalg.norm(gradient), rel=1e-5)
