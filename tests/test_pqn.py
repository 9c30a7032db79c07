"""PQN against loops over its formulas: acting, targets, loss and update; its networks; and a model that learns."""

import numpy as np
import pytest
import tensorflow as tf

from ga3c import algorithms, networks
from ga3c.algorithms import adam, exploration
from ga3c.errors import ConfigError
from ga3c.model import Acting, Model
from ga3c.rollout import EnvironmentSpec, discrete
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from tests.test_a2c import ACTIONS, SIZE, WEIGHTS, batch
from tests.test_loss import differences
from tests.test_networks import ATARI, VECTOR
from tests.test_returns import naive


def apply(weights, observations):
    """A linear network."""
    q_values = observations @ weights[0]
    return q_values, tf.reduce_max(q_values, axis=1)


def test_actions_are_the_best_but_for_as_many_as_are_to_explore():
    q_values = np.tile([0.0, 2.0, 1.0], (30_000, 1)).astype(np.float32)
    outputs = q_values, q_values.max(axis=1)
    for explore in (0.0, 0.3, 1.0):
        fields = exploration.act(outputs, np.array([1, 2], np.int32), tf.constant(explore))
        actions = fields["action"].numpy()
        expected = explore / 3 + np.array([0, 1 - explore, 0])
        frequencies = np.bincount(actions, minlength=3) / len(actions)
        assert (abs(frequencies - expected) <= 5 * np.sqrt(expected * (1 - expected) / len(actions)) + 1e-6).all()
        np.testing.assert_allclose(np.exp(fields["log_probability"]), expected[actions], rtol=1e-4)
        np.testing.assert_array_equal(fields["value"], np.float32(2))


def test_exploration_falls_in_a_straight_line():
    settings = LearningSettings(
        algorithm="pqn", exploration_start=0.9, exploration_end=0.1, exploration_decay_steps=100
    )
    algorithm = algorithms.make(Settings(learning=settings))
    np.testing.assert_allclose([algorithm.exploration(steps) for steps in (0, 50, 100, 10**9)], [0.9, 0.5, 0.1, 0.1])


def test_each_game_explores_as_much_as_its_number_says():
    """Horgan et al. 2018, section 4.1, with eps 0.4 and alpha 7: of a model, in the graph."""
    settings = LearningSettings(algorithm="pqn", exploration="per-game")
    algorithm = algorithms.make(Settings(learning=settings))
    expected = [0.4 ** (1 + 7 * i / 3) for i in range(4)]
    np.testing.assert_allclose(algorithm.exploration(10**6, 4), expected, rtol=1e-5)
    np.testing.assert_allclose(algorithm.exploration(0, 1), [0.4])
    player = Model(VECTOR, settings, algorithm, 1, xla=False, acting=Acting(games=4))
    player.warm_up(1, 1, 1)
    states, games = np.ones((40_000, *VECTOR.observation_shape), np.float32), np.arange(40_000, dtype=np.int32) % 5
    actions = player.predict(states, games)[0]["action"]
    (best,) = set(player.decide(states)[0])  # which does not explore
    count = VECTOR.actions.count
    for game in range(5):  # the fifth is a first one again
        share = np.mean(actions[games == game] != best) * count / (count - 1)
        assert abs(share - expected[game % 4]) < 0.04


def test_an_update_goes_down_half_the_square_of_the_distance_to_q_lambda():
    """With one epoch of one minibatch: the gradient against finite differences of the loss, targets held."""
    fields, weights = batch(), WEIGHTS[:, :ACTIONS]
    settings = LearningSettings(
        algorithm="pqn", epochs=1, minibatches=1, discount=0.9, return_lambda=0.7, gradient_clip_norm=0.0
    )
    best, last = ((fields[of] @ weights).max(axis=-1) for of in ("observation", "last_observation"))
    arrays = (fields["reward"], best, *(fields[of] for of in ("terminated", "truncated", "valid")))
    columns = [naive(*(a[:, c] for a in arrays), last[c], 0.9, 0.7) for c in range(best.shape[1])]
    targets, valid = np.stack(columns, axis=1), fields["valid"]

    def loss(weights):
        taken = np.take_along_axis(fields["observation"] @ weights, fields["action"][..., None], 2)[..., 0]
        return 0.5 * ((targets - taken)[valid] ** 2).mean()

    algorithm, start = algorithms.make(Settings(learning=settings)), (tf.constant(weights, tf.float32),)
    tensors = {name: tf.constant(array) for name, array in fields.items()}
    tensors["value"] = tf.constant(best, tf.float32)  # as these weights have acted
    rate = tf.constant(0.01)
    new, _, numbers = algorithm.update(apply, start, algorithm.initial_state(start), rate, tensors)
    gradient = differences(loss, weights)
    assert float(numbers["loss"]) == pytest.approx(loss(weights), rel=1e-4)
    assert float(numbers["gradient_norm"]) == pytest.approx(np.linalg.norm(gradient), rel=1e-3)
    assert float(numbers["value"]) == pytest.approx(best[valid].mean(), rel=1e-4)
    expected, _ = adam.update(
        start, adam.initial_state(start), (tf.constant(gradient, tf.float32),), rate, epsilon=1e-5, rectified=True
    )
    np.testing.assert_allclose(new[0], expected[0], rtol=1e-4)


def test_networks():
    """Each layer is inputs * outputs + biases, and a scale and an offset for each output that is normalized."""
    image, vector = networks.build("pqn", ATARI, seed=1), networks.build("pqn-mlp", VECTOR, seed=1)
    convolutions = (
        (4 * 8 * 8 * 32 + 3 * 32) + (32 * 4 * 4 * 64 + 3 * 64) + (64 * 3 * 3 * 64 + 3 * 64)
    )  # 84 -> 20 -> 9 -> 7
    assert image.count_params() == convolutions + (64 * 7 * 7 * 512 + 3 * 512) + (512 * 6 + 6)
    assert vector.count_params() == (10 * 128 + 3 * 128) + (128 * 128 + 3 * 128) + (128 * 6 + 6)
    rng = np.random.default_rng(0)
    for network, states in (
        (image, rng.integers(256, size=(2, 84, 84, 4)).astype(np.uint8)),
        (vector, rng.normal(size=(2, 10)).astype(np.float32)),
    ):
        q_values, best = (output.numpy() for output in network(states))
        assert (q_values.shape, q_values.dtype) == ((2, 6), np.float32)
        np.testing.assert_array_equal(best, q_values.max(axis=1))


def test_the_network_is_that_of_the_algorithm():
    assert [networks.resolve("auto", spec, "pqn") for spec in (ATARI, VECTOR)] == ["pqn", "pqn-mlp"]
    for name, algorithm in (("small", "pqn"), ("mlp", "pqn"), ("pqn", "ppo"), ("pqn-mlp", "a3c")):
        with pytest.raises(ConfigError, match=f"--network {name} does not fit --algorithm {algorithm}"):
            networks.resolve(name, ATARI, algorithm)
    with pytest.raises(ConfigError, match="use --network pqn-mlp"):
        networks.resolve("pqn", VECTOR, "pqn")


def test_a_model_learns_with_it_what_earns_a_reward():
    """Action 2 earns 1, the others nothing. It explores as the steps of play say, and not at all where it is asked."""
    settings = LearningSettings(
        algorithm="pqn", t_max=3, seed=1, learning_rate=0.01, epochs=2, minibatches=2, discount=0.0,
        exploration_end=0.0, exploration_decay_steps=1000,
    )  # fmt: skip
    spec = EnvironmentSpec("Test", (SIZE,), "float32", discrete(ACTIONS), 1)
    learner = Model(spec, settings, algorithms.make(Settings(learning=settings)), 1, xla=False)
    for number in range(30):
        fields = batch(number, copies=8)
        answers = learner.predict(fields["observation"].reshape(-1, SIZE))[0]
        actions = answers["action"]
        fields |= {name: answers[name].reshape(fields["action"].shape) for name in ("action", "value")}
        fields["reward"] = (fields["action"] == 2).astype(np.float32)
        assert len(np.unique(actions)) == ACTIONS  # it explores
        assert learner.train(fields, steps=100).applied
    states = batch(99, copies=8)["observation"].reshape(-1, SIZE)
    actions, q_values, values = learner.decide(states)[:3]
    np.testing.assert_array_equal(actions, q_values.argmax(axis=1))
    np.testing.assert_array_equal(values, q_values.max(axis=1))
    assert (actions == 2).mean() > 0.8
    learner.train(fields, steps=1000)
    fields = learner.predict(states)[0]
    np.testing.assert_array_equal(fields["action"], learner.decide(states)[0])
    other = Model(spec, settings, algorithms.make(Settings(learning=settings)), 1, xla=False, acting=Acting(1000))
    other.restore(learner.state())
    np.testing.assert_array_equal(other.predict(states)[0]["action"], fields["action"])
