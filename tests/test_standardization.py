"""Running statistics against those of all states at once, and what the model does with them."""

import numpy as np
import pytest
import tensorflow as tf

from ga3c.algorithms.a3c import A3C
from ga3c.model import Model
from ga3c.networks import standardization
from ga3c.networks.policy_value import StandardizingConvolution
from ga3c.networks.standardization import Statistics
from ga3c.rollout import EnvironmentSpec, column_axis, discrete, rollout_dtype
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings

SHAPE = (36, 36, 2)
SPEC = EnvironmentSpec("Test", SHAPE, "uint8", discrete(3), 4)
START = Statistics(tf.zeros(SHAPE), tf.constant(128.0**2), tf.constant(0.0))
SCREEN = np.random.default_rng(0).integers(50, 200, SHAPE)  # what stands behind all that moves


def states(seed, count=16):
    """The screen, and here and there something else."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((count, *SHAPE)) < 0.01, rng.integers(256, size=(count, *SHAPE)), SCREEN).astype(
        np.uint8
    )


def model_of(settings, seed):
    return Model(SPEC, settings, A3C(Settings(learning=settings)), seed, xla=False)


def batch(seed):
    record = np.zeros((), rollout_dtype(SPEC, t_max=1, envs=16))
    made = {name: record[name] for name in A3C.learns_from}
    made["observation"][:] = states(seed)
    made["reward"][:] = np.random.default_rng(seed).normal(size=(1, 16))
    made["terminated"][:] = made["valid"][:] = True
    return made


def test_statistics_are_those_of_all_valid_states_at_once():
    statistics, seen = START, []
    for seed in range(20):
        batch_states, valid = states(seed), np.random.default_rng(seed).random(16) < 0.7
        statistics = standardization.update(statistics, batch_states, valid)
        seen.append(batch_states[valid].astype(np.float64))
    seen = np.concatenate(seen)
    assert statistics.count == len(seen)
    np.testing.assert_allclose(statistics.mean, seen.mean(axis=0), rtol=1e-4)
    assert statistics.variance.numpy() == pytest.approx(seen.var(axis=0).mean(), rel=1e-4)


def test_a_batch_without_a_valid_state_changes_nothing():
    for before in (START, standardization.update(START, states(0), np.ones(16, bool))):
        after = standardization.update(before, states(1), np.zeros(16, bool))
        np.testing.assert_array_equal(after.mean, before.mean)
        assert after.variance == before.variance


def test_of_images_the_first_row_is_counted_where_most_rollouts_begin_with_a_step():
    shown = np.arange(3 * 4).reshape(3, 4, 1)
    valid = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [1, 1, 1, 1]], bool)
    counted, which = standardization.one_of_each(tf.constant(shown), tf.constant(valid))
    np.testing.assert_array_equal(counted[:, 0], [0, 1, 2, 3])
    np.testing.assert_array_equal(which, [True, True, False, True])


def test_of_images_what_is_valid_is_counted_where_most_rollouts_begin_with_no_step():
    shown = np.arange(3 * 4).reshape(3, 4, 1)
    valid = np.array([[0, 0, 0, 1], [1, 0, 0, 1], [1, 1, 0, 1]], bool)
    counted, which = standardization.one_of_each(tf.constant(shown), tf.constant(valid))
    np.testing.assert_array_equal(which, [True, True, False, True])
    np.testing.assert_array_equal(counted[:, 0][which], [4, 9, 3])


@pytest.mark.parametrize(("t_max", "counted"), [(10, [0]), (39, [0]), (40, [0, 20]), (64, [0, 21, 42])])
def test_of_images_one_is_counted_for_each_twenty_steps(t_max, counted):
    shown = tf.reshape(tf.range(2.0 * t_max), (t_max, 2, 1))
    start = Statistics(tf.zeros(1), tf.constant(1.0), tf.constant(0.0))
    after = standardization.update_from_rollouts(start, shown, tf.ones((t_max, 2), bool))
    assert after.count == 2 * len(counted)
    assert after.mean[0] == np.mean([shown[t] for t in counted])


def test_the_convolution_sees_standardized_states():
    convolution = StandardizingConvolution(4, 8, 4, activation="relu", bias_initializer="random_normal")
    convolution.build((None, *SHAPE))
    statistics = standardization.update(START, states(0, 64), np.ones(64, bool))
    for weight, value in zip(convolution.non_trainable_variables, statistics, strict=True):
        weight.assign(value)
    inputs = states(1)
    standardized = (inputs - statistics.mean.numpy()) / np.sqrt(statistics.variance.numpy())
    assert abs(standardized.mean()) < 0.1
    assert 0.8 < standardized.std() < 1.2
    by_hand = tf.nn.conv2d((standardized / 4).astype(np.float32), convolution.kernel, 4, "VALID") + convolution.bias
    np.testing.assert_allclose(convolution(inputs), tf.nn.relu(by_hand), rtol=1e-3, atol=1e-3)


def test_a_screen_that_never_changes():
    convolution = StandardizingConvolution(4, 8, 4)
    convolution.build((None, *SHAPE))
    statistics = standardization.update(START, np.repeat(states(0, 1), 16, axis=0), np.ones(16, bool))
    assert statistics.variance.numpy() == pytest.approx(0, abs=1e-3)
    for weight, value in zip(convolution.non_trainable_variables, statistics, strict=True):
        weight.assign(value)
    np.testing.assert_allclose(convolution(states(0, 1)), 0, atol=1e-3)


def test_the_model_gathers_statistics_before_it_learns_and_goes_on_with_both():
    model, other = (model_of(LearningSettings(t_max=1), seed) for seed in (1, 2))
    count = next(name for name, array in reversed(model.state().items()) if name[0] == "n" and array.shape == ())
    trained = [name for name in model.state() if name.startswith("optimizer/")]
    names = [name.replace("optimizer", "network") for name in trained]
    before, seed, moved = model.state(), 0, []
    while len(moved) < 140:
        version, update = model.version, model.train(batch(seed))
        seed += 1
        assert (update.version, model.version) == (version, version + 1)
        moved.append(update.numbers["update_norm"] > 0)
    after = model.state()
    assert moved == [False] * 125 + [True] * 15  # 125 batches of 16 are 2,000 states
    assert after[count] == 140 * 16
    (mean,) = (name for name, array in after.items() if array.shape == SHAPE)
    seen = np.concatenate([states(seed) for seed in range(140)])
    np.testing.assert_allclose(after[mean], seen.mean(axis=0), rtol=1e-3)
    assert any((after[name] != before[name]).any() for name in names)
    other.restore(after)
    for ours, theirs in zip(model.decide(states(500))[1:3], other.decide(states(500))[1:3], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert model.train(batch(600)) == other.train(batch(600))


def test_the_model_learns_where_every_rollout_begins_with_the_restart_of_its_game():
    settings = LearningSettings(t_max=2)
    model, seed = model_of(settings, 1), 0
    while not model.train(restarted(seed)).numbers["update_norm"]:
        seed += 1
        assert seed <= 125  # 125 batches of 16 are 2,000 states


def restarted(seed):
    """As `batch`, each step after a row that is none."""
    record = np.zeros((), rollout_dtype(SPEC, t_max=2, envs=16))
    made = {name: record[name] for name in A3C.learns_from}
    for name, array in batch(seed).items():
        if column_axis(name):
            made[name][1:] = array
    return made


def test_bytes_leave_the_model_without_statistics():
    scaled, plain = (
        model_of(LearningSettings(t_max=1, input_scaling=scaling), 1) for scaling in ("standardized", "bytes")
    )
    assert scaled.parameters == plain.parameters
    assert len(scaled.state()) == len(plain.state()) + len(Statistics._fields)
    plain.train(batch(0))  # learns at once
    assert plain.train(batch(1)).numbers["update_norm"] > 0
