"""Any optimizer with any algorithm, and the norms that an update reports."""

import numpy as np
import pytest
import tensorflow as tf

from ga3c import algorithms
from ga3c.algorithms import muon, norms, optimizers
from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.model import Model
from ga3c.rollout import EnvironmentSpec, continuous, discrete, rollout_dtype, transition_dtype
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from tests.program import TINY

LAYERS = {"fc0_weight_norm", "fc0_update_norm", "fc0_gradient_norm", "weight_norm"}


@pytest.mark.parametrize(
    "words",
    [
        "--algorithm a2c --optimizer adam --adam-epsilon 1e-3",
        "--preset ppo-paper --optimizer rmsprop --rmsprop-decay 0.9 --epochs 1",
        "--algorithm dqn --optimizer adam",
        "--algorithm appo --optimizer muon --adam-epsilon 1e-3 --epochs 1",
        "--algorithm c51 --optimizer rmsprop --rmsprop-epsilon 1e-3",
    ],
)
def test_an_algorithm_learns_by_the_other_optimizer_and_reports_norms(words):
    flags = [*map(str, TINY), *words.split(), "--record-norms"]
    settings, spec = parse_settings(flags)[0], EnvironmentSpec("Own", (4,), "float32", discrete(2), 1)
    algorithm = algorithms.make(settings, spec.actions)
    model = Model(spec, settings.learning, algorithm, seed=1, xla=False)
    model.warm_up(1, 1, 2)
    before = model.state()
    kind = transition_dtype(spec, 2) if algorithm.replays else rollout_dtype(spec, settings.learning.t_max, 2)
    batch = np.zeros((), kind)
    update = model.train({name: np.ones_like(batch[name]) for name in batch.dtype.names})
    assert update.applied
    assert set(model.numbers) >= LAYERS
    after = model.state()
    weights = [name for name in after if name.startswith("network/")]
    steps = np.concatenate([(after[name] - before[name]).ravel() for name in weights])
    assert update.numbers["update_norm"] == pytest.approx(np.linalg.norm(steps), rel=1e-3)
    both = np.concatenate([after[name].ravel() for name in weights])
    assert update.numbers["weight_norm"] == pytest.approx(np.linalg.norm(both), rel=1e-3)
    again = Model(spec, settings.learning, algorithm, seed=2, xla=False)
    again.restore(after)
    assert all((again.state()[name] == after[name]).all() for name in after)


def test_rmsprop_in_adam_s_place_counts_and_begins_with_zeros():
    settings = LearningSettings(optimizer="rmsprop", rmsprop_decay=0.8, rmsprop_epsilon=0.1)
    rule = optimizers.chosen(settings, optimizers.of_adam)
    weights, state, square = (tf.constant([1.0, -2.0]),), rule.initial_state((tf.zeros(2),)), np.zeros(2)
    expected = np.array([1.0, -2.0])
    for gradient in ([3.0, -1.0], [0.5, 2.0]):
        weights, state = rule.update(weights, state, (tf.constant(gradient),), tf.constant(0.1))
        square = 0.8 * square + 0.2 * np.square(gradient)
        expected = expected - 0.1 * np.array(gradient) / np.sqrt(square + 0.1)
    np.testing.assert_allclose(weights[0], expected, rtol=1e-6)
    assert int(state[0]) == 2
    assert rule.decays == (None, 0.8)


def test_an_optimizer_that_is_named_is_no_variant_of_it():
    """PQN's own is RAdam, whose first step is the gradient times the rate; DQN's own is centred RMSProp."""
    weights, gradients = (tf.zeros(1),), (tf.constant([5.0]),)
    rules = {
        (algorithm, name): algorithms.make(Settings(learning=LearningSettings(algorithm=algorithm, optimizer=name)))
        for algorithm, name in (("pqn", "auto"), ("pqn", "adam"), ("dqn", "auto"), ("dqn", "rmsprop"))
    }
    steps = [
        -float(one._optimizer.update(weights, one.initial_state(weights), gradients, 0.1)[0][0][0])
        for key, one in rules.items()
        if key[0] == "pqn"
    ]
    np.testing.assert_allclose(steps, [0.5, 0.1], rtol=1e-4)
    assert [len(one.decays) for key, one in rules.items() if key[0] == "dqn"] == [2, 2]
    assert rules["dqn", "rmsprop"].decays[0] is None  # it counts, and has no means of gradients


@pytest.mark.parametrize("shape", [(32, 48), (48, 32), (40, 40)])
def test_muon_finds_a_matrix_that_is_nearly_orthogonal(shape):
    matrix = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    found = muon.orthogonal(tf.constant(1e-4 * matrix)).numpy()
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    sizes = np.diag(left.T @ found @ right.T)
    assert 0.6 < sizes.min() < sizes.max() < 1.3
    np.testing.assert_allclose((left * sizes) @ right, found, atol=1e-3)
    assert not muon.orthogonal(tf.zeros(shape)).numpy().any()


def test_muon_steps_along_it_and_adam_changes_all_else():
    """A convolution, a matrix, a head and a bias; a step of Muon's is of the size of one of Adam's."""
    settings, random = LearningSettings(optimizer="muon", adam_epsilon=1e-8), np.random.default_rng(0)
    rule = optimizers.chosen(settings, optimizers.of_adam)
    shapes = (3, 3, 8, 16), (64, 32), (64, 3), (32,)
    weights = tuple(tf.constant(random.normal(size=shape), tf.float32) for shape in shapes)
    state, mean = rule.initial_state(weights), 0.0
    assert [tensor.shape.rank for tensor in state] == [0, 4, 2, 2, 1, 0, 0, 2, 1]
    for _ in range(2):
        gradients = tuple(tf.constant(random.normal(size=shape), tf.float32) for shape in shapes)
        before, (weights, state) = weights, rule.update(weights, state, gradients, tf.constant(0.01))
        steps = [(old - new).numpy() / 0.01 for old, new in zip(before, weights, strict=True)]
        mean = 0.95 * mean + 0.05 * gradients[1].numpy()
        left, _, right = np.linalg.svd(0.05 * gradients[1].numpy() + 0.95 * mean, full_matrices=False)
        sizes = np.diag(left.T @ steps[1] @ right.T) / (0.2 * 64**0.5)
        assert 0.6 < sizes.min() < sizes.max() < 1.3
        for step in steps[:2]:
            assert 0.1 < np.sqrt(np.square(step).mean()) < 0.3
    np.testing.assert_allclose(state[2], mean, rtol=1e-4, atol=1e-6)
    assert int(state[0]) == 2
    firsts, seconds = state[3].numpy() / (1 - 0.95**2), state[7].numpy() / (1 - 0.999**2)
    np.testing.assert_allclose(steps[2], firsts / (np.sqrt(seconds) + 1e-8), rtol=1e-3, atol=1e-5)


def test_norms_are_of_the_first_layers():
    tensors = [tf.fill(shape, 2.0) for shape in ((2, 2, 1, 4), (4,), (3, 3, 4, 4), (8, 2), (2,), (2, 2))]
    found = norms.by_layer("weight", tensors)
    assert {name: float(value) for name, value in found.items()} == {"conv0_weight_norm": 8.0, "fc0_weight_norm": 8.0}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--algorithm a3c --optimizer adam --rmsprop-decay 0.9", "--optimizer adam: it is for --optimizer rmsprop"),
        ("--preset c51 --optimizer rmsprop --adam-epsilon 0.1", "--optimizer rmsprop: it is for --optimizer adam"),
        ("--preset ppo --optimizer muon --rmsprop-decay 0.9", "--optimizer muon: it is for --optimizer rmsprop"),
        ("--algorithm none --record-norms", "--record-norms does not go with --algorithm none"),
    ],
)
def test_what_has_no_effect_is_refused(words, said):
    with pytest.raises(ConfigError, match=said):
        parse_settings([*map(str, TINY), *words.split()])


def test_priorities_by_kl_are_the_loss_without_the_target_s_entropy():
    wanted = tf.constant([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    logits = tf.random.stateless_normal((2, 2, 3), (1, 2))
    outputs, actions = (tf.zeros((2, 2)), tf.zeros(2), logits), tf.constant([1, 0])
    found = {}
    for error in ("cross-entropy", "kl"):
        settings = parse_settings([*map(str, TINY), "--preset", "rainbow", "--priority-error", error])[0]
        losses, found[error], _ = algorithms.make(settings)._losses(outputs, actions, wanted)
        np.testing.assert_array_equal(losses, found["cross-entropy"])
    np.testing.assert_allclose(found["cross-entropy"] - found["kl"], [np.log(2), 0.0], atol=1e-6)
    same = (tf.zeros((2, 2)), tf.zeros(2), tf.repeat(tf.math.log(wanted + 1e-9)[:, None], 2, axis=1))
    np.testing.assert_allclose(algorithms.make(settings)._losses(same, actions, wanted)[1], 0.0, atol=1e-5)


def test_continuous_actions_have_either_optimizer():
    settings = parse_settings(["--game", "Pendulum-v1", "--algorithm", "dpg", "--optimizer", "rmsprop"])[0]
    assert algorithms.make(settings, continuous([-1.0], [1.0])).initial_state((tf.zeros(3),))[0] == 0
