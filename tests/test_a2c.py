"""A2C and A2C with V-trace as a model uses them, against loops over the formulas and finite differences."""

import numpy as np
import pytest
import tensorflow as tf

from ga3c import algorithms
from ga3c.algorithms import vtrace
from ga3c.algorithms.returns import Played, lambda_returns
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from tests.test_loss import differences, softmax

T_MAX, COLUMNS, ACTIONS, SIZE = 3, 4, 3, 2


def batch(seed=0, copies=1):
    rng = np.random.default_rng(seed)
    shape = (T_MAX, COLUMNS)
    fields = {
        "observation": rng.normal(size=(*shape, SIZE)).astype(np.float32),
        "action": rng.integers(ACTIONS, size=shape).astype(np.int32),
        "log_probability": rng.normal(-1, 0.5, size=shape).astype(np.float32),
        "reward": rng.normal(size=shape).astype(np.float32),
        "terminated": np.zeros(shape, bool),
        "truncated": np.zeros(shape, bool),
        "valid": np.ones(shape, bool),
        "last_observation": rng.normal(size=(COLUMNS, SIZE)).astype(np.float32),
    }
    fields["terminated"][0, 0] = fields["truncated"][1, 1] = fields["truncated"][2, 2] = True
    fields["valid"][1, 0] = fields["valid"][2, 1] = False  # the games start again
    return {n: np.concatenate([a] * copies, 0 if n == "last_observation" else 1) for n, a in fields.items()}


def apply(weights, observations):
    """A linear network."""
    outputs = observations @ weights[0]
    return outputs[:, :ACTIONS], outputs[:, ACTIONS]


WEIGHTS = np.random.default_rng(1).normal(size=(SIZE, ACTIONS + 1))


def update(settings, fields, rate=0.1):
    algorithm, weights = algorithms.make(Settings(learning=settings)), (tf.constant(WEIGHTS, tf.float32),)
    assert set(algorithm.learns_from) == set(fields)
    tensors = {name: tf.constant(array) for name, array in fields.items()}
    (new,), _, numbers = algorithm.update(
        apply, weights, algorithm.initial_state(weights), tf.constant(rate, tf.float32), tensors
    )
    return new.numpy(), {name: float(number) for name, number in numbers.items()}


def mean_loss(weights, fields, targets, advantages, settings):
    """Section 3.1, and the squared error of the value: the mean over the valid steps; targets are constants."""
    outputs, total = fields["observation"] @ weights, 0.0
    for t, column in zip(*np.nonzero(fields["valid"]), strict=True):
        pi = softmax(outputs[t, column, :ACTIONS])
        total -= np.log(pi[fields["action"][t, column]]) * advantages[t, column]
        total += settings.entropy_weight * (pi * np.log(pi)).sum()
        total += settings.value_weight * (targets[t, column] - outputs[t, column, ACTIONS]) ** 2
    return total / fields["valid"].sum()


@pytest.mark.parametrize("name", ["a2c", "a2c-vtrace"])
def test_an_update_goes_down_the_mean_of_the_loss(name):
    fields = batch()
    settings = LearningSettings(
        algorithm=name, gradient_clip_norm=0.0, log_epsilon=1e-12, entropy_weight=0.1, value_weight=0.3,
        vtrace_rho_limit=0.9, vtrace_c_limit=0.8, discount=0.9, return_lambda=0.8, rmsprop_decay=0.9,
    )  # fmt: skip
    values, last = (fields[of] @ WEIGHTS[:, ACTIONS] for of in ("observation", "last_observation"))
    rollout = [a.astype(np.float32) for a in (fields["reward"], values)]
    rollout += [fields[of] for of in ("terminated", "truncated", "valid")] + [last.astype(np.float32)]
    if name == "a2c":
        targets = lambda_returns(Played(*rollout), 0.9, 0.8).numpy()
        advantages = targets - values
    else:
        logits = fields["observation"] @ WEIGHTS[:, :ACTIONS]
        logs = np.take_along_axis(logits, fields["action"][..., None], 2)[..., 0] - np.log(np.exp(logits).sum(2))
        ratios = (logs - fields["log_probability"]).astype(np.float32)
        targets, advantages = (x.numpy() for x in vtrace.targets(Played(*rollout), ratios, settings))
    rest = fields, targets, advantages, settings
    new, numbers = update(settings, fields)
    assert numbers["loss"] == pytest.approx(mean_loss(WEIGHTS, *rest), rel=1e-4)
    gradient = differences(lambda w: mean_loss(w, *rest), WEIGHTS)
    assert numbers["gradient_norm"] == pytest.approx(np.linalg.norm(gradient), rel=1e-3)
    expected = WEIGHTS - 0.1 * gradient / np.sqrt(0.9e-5 + 0.1 * gradient**2 + settings.rmsprop_epsilon)
    np.testing.assert_allclose(new, expected, rtol=1e-3, atol=1e-5)


def test_the_loss_is_a_mean_and_the_rate_grows_with_the_root_of_the_batch():
    constant = LearningSettings(algorithm="a2c", learning_rate_batch_steps=0)
    growing = LearningSettings(algorithm="a2c", learning_rate_batch_steps=T_MAX * COLUMNS)
    (once, numbers), (four_times, of_four) = (update(constant, batch(copies=n)) for n in (1, 4))
    assert numbers == pytest.approx(of_four, rel=1e-4)
    np.testing.assert_allclose(once, four_times, rtol=1e-4)
    np.testing.assert_allclose(once, update(growing, batch())[0], rtol=1e-5)
    moved = update(growing, batch(copies=4))[0] - WEIGHTS
    np.testing.assert_allclose(moved, 2 * (once - WEIGHTS), rtol=1e-3, atol=1e-6)
