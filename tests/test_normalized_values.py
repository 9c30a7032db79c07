"""--normalize-values: a network's values, their statistics and their loss against closed forms."""

import numpy as np
import pytest
import tensorflow as tf

from ga3c import algorithms, networks
from ga3c.algorithms import a3c, ppo
from ga3c.algorithms.returns import lambda_returns, played
from ga3c.model import Model
from ga3c.networks import weights
from ga3c.rollout import EnvironmentSpec, discrete
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from tests.test_a2c import ACTIONS, SIZE, batch
from tests.variants import variants

SPEC = EnvironmentSpec("Test", (SIZE,), "float32", discrete(ACTIONS), 1)
POLICIES = ("a3c", "a2c", "a2c-vtrace", "ppo", "appo")


def model_of(algorithm, seed=1):
    settings = LearningSettings(
        algorithm=algorithm, normalize_values=True, t_max=3, discount=0.9, return_lambda=0.8, learning_rate=0.01,
        seed=3, epochs=2, minibatches=2, gradient_clip_norm=0.5,
    )  # fmt: skip
    return Model(SPEC, settings, algorithms.make(Settings(learning=settings)), seed, xla=False)


def rewarded(number=0, mean=50.0):
    """Rollouts with large rewards, and what a3c learns from besides."""
    fields, rng = batch(number, copies=8), np.random.default_rng(number)
    fields["reward"] = (mean + 20 * fields["reward"]).astype(np.float32)
    shape = fields["reward"].shape
    values = {"value": rng.normal(size=shape), "bootstrap_value": rng.normal(size=shape[1:])}
    return fields | {name: array.astype(np.float32) for name, array in values.items()}


def of_targets(model):
    return model._current[1].of_targets


def test_the_statistics_are_those_of_all_targets_and_what_the_network_says_is_denormalized():
    model, seen = model_of("ppo"), []
    for number in range(5):
        fields = rewarded(number)
        flat = fields["observation"].reshape(-1, SIZE)
        values = fields["value"] = model.decide(flat)[2].reshape(fields["reward"].shape)
        returns = lambda_returns(played(fields, values, model.decide(fields["last_observation"])[2]), 0.9, 0.8)
        seen.extend(returns.numpy()[fields["valid"]])
        before = of_targets(model)
        assert model.train(fields).applied
    mean, variance, count = (float(number) for number in of_targets(model))
    assert count == len(seen)
    assert (mean, variance) == pytest.approx((np.mean(seen), np.var(seen)), rel=1e-3)
    assert np.sqrt(variance) > 10
    assert before != of_targets(model)
    values = model.decide(flat)[2]
    model._current = (
        model.version,
        model._current[1]._replace(of_targets=type(before)(*map(tf.constant, (0.0, 1.0, 0.0)))),
    )
    np.testing.assert_allclose(values, model.decide(flat)[2] * np.sqrt(variance) + mean, rtol=1e-4)


def test_targets_that_are_all_the_same_have_a_least_deviation():
    network = networks.build("mlp", SPEC, 1, normalize_values=True)
    start = weights.first(network)
    same = start.of_targets_with(tf.fill((2, 3), 5.0), tf.ones((2, 3), bool), tf.identity)
    (_, values, deviation), _ = network.stateless_call(
        start.trained, start._replace(of_targets=same).fixed, tf.zeros((4, SIZE))
    )
    np.testing.assert_allclose(deviation, [0.01] * 4)
    np.testing.assert_allclose(values, [5.0] * 4, atol=0.01)


@pytest.mark.parametrize("value_clip", [0.0, 0.2])
@pytest.mark.parametrize("loss", [a3c.loss, ppo.loss])
def test_the_loss_of_the_value_is_that_of_normalized_values_and_targets(loss, value_clip):
    rng, (mean, deviation) = np.random.default_rng(0), (3.0, 25.0)
    normalized = tf.constant(rng.normal(size=30), tf.float32)
    columns = {name: rng.normal(size=30).astype(np.float32) for name in ("value", "return", "advantage")}
    rows = {
        "action": np.zeros(30, np.int32),
        "log_probability": np.full(30, -1, np.float32),
        "valid": np.ones(30, bool),
    }
    settings = LearningSettings(value_clip=value_clip)
    found, gradients = [], []
    for scaled in (False, True):
        fields = rows | columns
        if scaled:
            fields |= {name: columns[name] * deviation + mean for name in ("value", "return")}
            fields |= {"deviation": tf.fill(30, deviation)}
        with tf.GradientTape() as tape:
            tape.watch(normalized)
            values = normalized * deviation + mean if scaled else normalized
            found.append(loss(tf.zeros((30, ACTIONS)), values, fields, settings))
        gradients.append(tape.gradient(found[-1].total, normalized))
    assert float(found[0].value) == pytest.approx(float(found[1].value), rel=1e-4)
    assert float(found[0].policy) == float(found[1].policy)
    np.testing.assert_allclose(*gradients, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("algorithm", variants(POLICIES, "a3c", "ppo"))
def test_a_model_goes_on_with_the_statistics_of_another_bit_for_bit(algorithm):
    model, other = model_of(algorithm), model_of(algorithm, seed=2)
    for number in range(4):
        assert model.train(rewarded(number)).applied
    assert float(of_targets(model).count) == 4 * rewarded()["valid"].sum()
    other.restore(model.state())
    for number in range(4, 6):
        assert model.train(rewarded(number)) == other.train(rewarded(number))
    ours, theirs = model.state(), other.state()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name])


@pytest.mark.parametrize(("network", "groups"), [("small", 2), ("separate-mlp", 2), ("mlp", 1)])
def test_each_network_has_its_own_statistics_and_those_of_its_targets_apart(network, groups):
    shape, dtype = ((84, 84, 4), "uint8") if network == "small" else ((SIZE,), "float32")
    spec = EnvironmentSpec("Test", shape, dtype, discrete(ACTIONS), 1)
    made = weights.first(networks.build(network, spec, 1, True, normalize_values=True))
    assert len(made.fixed) == 3 * groups
    assert made.of_targets.mean.shape == ()
    assert bool(made.statistics) == (groups == 2)
    if made.statistics:
        assert made.statistics[0].mean.shape == shape
    plain = weights.first(networks.build(network, spec, 1, True))
    assert not plain.of_targets
    assert sorted(w.numpy().tobytes() for w in made.trained) == sorted(w.numpy().tobytes() for w in plain.trained)
