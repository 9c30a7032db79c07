"""DQN and C51: updates against loops in NumPy, their networks' heads, and a model with its target network."""

import itertools
from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

from ga3c import algorithms, networks
from ga3c.model import Acting, Model
from ga3c.rollout import EnvironmentSpec, discrete, transition_dtype
from ga3c.settings.learning import LearningSettings
from ga3c.settings.replay import ReplaySettings
from ga3c.settings.run import Settings
from tests.test_networks import ATARI, VECTOR
from tests.test_q_learning import naive_projection
from tests.variants import long

SIZE, ACTIONS, ATOMS, COUNT, LIMIT = 3, 4, 5, 12, 2.0
SUPPORT = np.linspace(-LIMIT, LIMIT, ATOMS)
SPEC = EnvironmentSpec("Test", (SIZE,), "float32", discrete(ACTIONS), 1)


def batch(seed):
    """Transitions of one to three steps, of which some end the game."""
    random, record = np.random.default_rng(seed), np.zeros((), transition_dtype(SPEC, COUNT))
    for name in ("observation", "next_observation"):
        record[name] = random.normal(size=record[name].shape)
    record["action"] = random.integers(ACTIONS, size=(1, COUNT))
    record["return"] = random.normal(0, 2, size=(1, COUNT))
    record["discount"] = 0.9 ** random.integers(1, 4, size=(1, COUNT)) * (random.random((1, COUNT)) < 0.8)
    record["weight"] = random.uniform(0.1, 1.0, size=(1, COUNT))
    return {name: record[name] for name in record.dtype.names}


def apply_linear(weights, observations):
    """A linear network of action values."""
    q_values = observations @ weights[0]
    return q_values, tf.reduce_max(q_values, axis=1)


def apply_distributions(weights, observations):
    """A linear network of logits."""
    logits = tf.reshape(observations @ weights[0], (-1, ACTIONS, ATOMS))
    q_values = tf.reduce_sum(tf.nn.softmax(logits) * tf.constant(SUPPORT, tf.float32), axis=2)
    return q_values, tf.reduce_max(q_values, axis=1), logits


def softmax(logits):
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)


def best_action(double, online, target):
    return int(np.argmax(online if double else target))


def naive_dqn(weights, target, fields, double, limit=1.0):
    """Transition by transition. Returns: the loss, its gradient, errors and values of the actions taken."""
    loss, gradient, errors, taken = 0.0, np.zeros_like(weights), [], []
    for i in range(COUNT):
        state, following, action, weight = (
            fields[name][0, i] for name in ("observation", "next_observation", "action", "weight")
        )
        best = best_action(double, following @ weights, following @ target)
        wanted = fields["return"][0, i] + fields["discount"][0, i] * (following @ target)[best]
        value = (state @ weights)[action]
        error = wanted - value
        loss += weight * (0.5 * error**2 if abs(error) <= limit else limit * (abs(error) - limit / 2)) / COUNT
        gradient[:, action] -= weight * np.clip(error, -limit, limit) * state / COUNT
        errors.append(error)
        taken.append(value)
    return loss, gradient, errors, taken


def naive_c51(weights, target, fields, double):
    loss, gradient, errors, taken = 0.0, np.zeros_like(weights), [], []
    for i in range(COUNT):
        state, following, action, weight = (
            fields[name][0, i] for name in ("observation", "next_observation", "action", "weight")
        )
        online, judging, now = (
            softmax((s @ w).reshape(ACTIONS, ATOMS))
            for s, w in ((following, weights), (following, target), (state, weights))
        )
        best = best_action(double, online @ SUPPORT, judging @ SUPPORT)
        wanted = naive_projection(fields["return"][0, i], fields["discount"][0, i], judging[best], -LIMIT, LIMIT)
        cross_entropy = -(wanted * np.log(now[action])).sum()
        loss += weight * cross_entropy / COUNT
        slope = np.zeros((ACTIONS, ATOMS))
        slope[action] = now[action] - wanted
        gradient += weight * np.outer(state, slope.ravel()) / COUNT
        errors.append(cross_entropy)
        taken.append(now[action] @ SUPPORT)
    return loss, gradient, errors, taken


def centred_rmsprop(decay, epsilon):
    """A function of gradients that returns by what they change the weights, but for the step size."""
    mean = square = 0.0

    def step(gradient):
        nonlocal mean, square
        mean, square = decay * mean + (1 - decay) * gradient, decay * square + (1 - decay) * gradient**2
        return gradient / np.sqrt(square - mean**2 + epsilon)

    return step


def adam(epsilon):
    mean, square, count = 0.0, 0.0, itertools.count(1)

    def step(gradient):
        nonlocal mean, square
        t, mean, square = next(count), 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        return mean / (1 - 0.9**t) / (np.sqrt(square / (1 - 0.999**t)) + epsilon)

    return step


KINDS = itertools.product(["dqn", "c51", "dqn without error clipping"], [False, True], [0.0, 0.05])


@pytest.mark.parametrize(
    ("algorithm", "double", "clip"), [kind if kind[1] == bool(kind[2]) else long(*kind) for kind in KINDS]
)
def test_updates(algorithm, double, clip):
    """Several, with the same target network."""
    algorithm, _, squared = algorithm.partition(" ")
    learning = LearningSettings(
        algorithm=algorithm, rmsprop_decay=0.8, rmsprop_epsilon=0.01, adam_epsilon=0.01, gradient_clip_norm=clip,
        error_clip=0.0 if squared else 1.0,
    )  # fmt: skip
    replay = ReplaySettings(double_q=double, atoms=ATOMS, value_limit=LIMIT)
    learner = algorithms.make(Settings(learning=learning, replay=replay))
    naive, apply, step = {
        "dqn": (partial(naive_dqn, limit=np.inf) if squared else naive_dqn, apply_linear, centred_rmsprop(0.8, 0.01)),
        "c51": (naive_c51, apply_distributions, adam(0.01)),
    }[algorithm]
    random, width = np.random.default_rng(1), ACTIONS * (ATOMS if algorithm == "c51" else 1)
    expected, target = (random.normal(size=(SIZE, width)) for _ in range(2))
    weights, held = (tf.constant(expected, tf.float32),), (tf.constant(target, tf.float32),)
    state = learner.initial_state(weights)
    for number in range(4):
        fields = batch(number)
        loss, gradient, errors, taken = naive(expected, target, fields, double)
        tensors = {name: tf.constant(array) for name, array in fields.items()}
        before = expected
        norm = np.linalg.norm(gradient)
        expected = expected - 0.1 * step(gradient * (min(1.0, clip / norm) if clip else 1.0))
        weights, state, numbers, found = learner.update(
            apply, weights, state, tf.constant(0.1), tensors, lambda states: apply(held, states)
        )
        np.testing.assert_allclose(found, errors, atol=2e-4)
        np.testing.assert_allclose(weights[0], expected, atol=2e-4)
        of_numbers = {
            "loss": loss,
            "value": np.mean(taken),
            "value_error": np.sqrt(np.mean(np.square(errors))),
            "gradient_norm": norm,
            "clipped_share": float(bool(clip)),
            "update_norm": np.linalg.norm(expected - before),
        }
        assert {name: float(value) for name, value in numbers.items()} == pytest.approx(of_numbers, rel=1e-2, abs=2e-4)


def test_double_q_learning_is_another_target():
    """Else the test above would not tell one from the other."""
    weights, target = (np.random.default_rng(seed).normal(size=(SIZE, ACTIONS)) for seed in (1, 2))
    assert naive_dqn(weights, target, batch(0), True)[0] != naive_dqn(weights, target, batch(0), False)[0]


@pytest.mark.parametrize(("dueling", "share"), [(False, 1.0), (True, np.sqrt(0.5))])
def test_the_gradient_that_two_streams_send_into_the_layers_before_them_is_smaller(dueling, share):
    """Beside the slope of the values along it, from differences. That of the streams' own layers is whole."""
    network = networks.build("dqn-mlp", VECTOR, 1, dueling=dueling, support=None)
    states = np.random.default_rng(0).normal(size=(64, *VECTOR.observation_shape)).astype(np.float32)
    variables = network.trainable_variables
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(network(states)[0][:, 0])
    gradients = tape.gradient(total, [variable.value for variable in variables])
    for at, expected in ((0, share), (2, 1.0)):  # the kernel of the shared layer, and that of a stream
        weight, step = variables[at].numpy(), 1e-2 * gradients[at].numpy() / np.linalg.norm(gradients[at])
        ends = []
        for sign in (-1, 1):
            variables[at].assign(weight + sign * step)
            ends.append(float(tf.reduce_sum(network(states)[0][:, 0])))
        variables[at].assign(weight)
        slope = (ends[1] - ends[0]) / (2 * np.linalg.norm(step))
        assert np.linalg.norm(gradients[at]) / slope == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("dueling", [False, True])
@pytest.mark.parametrize("support", [None, (-LIMIT, LIMIT, ATOMS)])
def test_heads(dueling, support):
    atoms, random = ATOMS if support else 1, np.random.default_rng(0)
    for name, spec, layers in (
        ("dqn", ATARI, (4 * 8 * 8 * 32 + 32) + (32 * 4 * 4 * 64 + 64) + (64 * 3 * 3 * 64 + 64)),  # 84 -> 20 -> 9 -> 7
        ("dqn-mlp", VECTOR, 10 * 128 + 128),
    ):
        network, actions = networks.build(name, spec, 1, dueling=dueling, support=support), spec.actions.count
        hidden, units = (64 * 7 * 7, 512) if name == "dqn" else (128, 128)
        streams = [actions, 1] if dueling else [actions]
        assert network.count_params() == layers + sum(
            hidden * units + units + (units + 1) * width * atoms for width in streams
        )
        network.set_weights([w + random.normal(0, 0.01, w.shape) for w in network.get_weights()])
        states = random.integers(256, size=(3, *spec.observation_shape)).astype(spec.observation_dtype)
        if name == "dqn-mlp":
            states = states / np.float32(256)
        q_values, best, *logits = (output.numpy() for output in network(states))
        heads = [network.get_layer(head).output for head in (("advantage", "value") if dueling else ("q",))]
        found = tf.nest.flatten(keras.Model(network.input, heads)(states))
        outputs = [np.reshape(output, (3, -1, atoms)) for output in found]
        values = outputs[0]
        if dueling:
            values = outputs[1] + outputs[0] - outputs[0].mean(axis=1, keepdims=True)
        if support:
            np.testing.assert_allclose(logits[0], values, rtol=1e-3, atol=1e-3)
            values = (softmax(logits[0] - logits[0].max(axis=2, keepdims=True)) * SUPPORT).sum(axis=2, keepdims=True)
        np.testing.assert_allclose(q_values, values[..., 0], rtol=1e-3, atol=1e-3)
        np.testing.assert_array_equal(best, q_values.max(axis=1))
        assert (q_values.dtype, len(logits)) == (np.float32, bool(support))
        assert len(np.unique(q_values)) == q_values.size


def model(target_acts=False, **replay):
    learning = LearningSettings(
        algorithm="dqn", seed=1, learning_rate=0.01, rmsprop_epsilon=0.01, exploration_start=1.0, exploration_end=0.0,
        exploration_decay_steps=1000, gradient_clip_norm=0.0,
    )  # fmt: skip
    learner = algorithms.make(Settings(learning=learning, replay=ReplaySettings(**replay)))
    return Model(SPEC, learning, learner, 1, xla=False, acting=Acting(from_target=target_acts))


def group(state, name):
    return [array for key, array in state.items() if key.startswith(name + "/")]


def same(some, others):
    return all(np.array_equal(one, other) for one, other in zip(some, others, strict=True))


def test_targets_are_those_of_the_network_that_was_copied_last():
    learner, judge = model(), model()
    for number in range(6):
        state, fields = learner.state(), batch(number)
        weights = {f"network/{i}": array for i, array in enumerate(group(state, "target"))}
        judge.restore(weights | {"version": np.int64(0)})
        following = judge.decide(fields["next_observation"][0])[2]
        taken = learner.decide(fields["observation"][0])[1][np.arange(COUNT), fields["action"][0]]
        update = learner.train(fields, steps=0)
        assert update.applied
        np.testing.assert_allclose(
            update.errors, fields["return"][0] + fields["discount"][0] * following - taken, atol=1e-5
        )
        after = learner.state()
        assert same(group(after, "target"), group(state, "target"))
        assert not same(group(after, "target"), group(after, "network"))
        if number == 3:
            learner.copy_to_target(0)
            assert same(group(learner.state(), "target"), group(after, "network"))


def test_what_is_saved_goes_on_as_it_would_have():
    """The target network, too."""
    first, second = model(), model()
    first.train(batch(0))
    first.copy_to_target(0)
    first.train(batch(1))
    second.restore(first.state())
    for one in (first, second):
        one.train(batch(2))
    assert same(first.state().values(), second.state().values())


def test_the_target_network_plays_where_it_is_told_to_and_explores_as_of_the_copy():
    learner, states = model(target_acts=True), np.random.default_rng(0).normal(size=(500, SIZE)).astype(np.float32)
    before = learner.decide(states)[:3]
    for number in range(5):
        learner.train(batch(number), steps=10_000)
    np.testing.assert_array_equal(learner.decide(states)[1], before[1])
    fields, version = learner.predict(states)
    assert version == 0
    assert len(np.unique(fields["action"] - before[0])) > 2  # any action: it still explores
    learner.copy_to_target(10_000)
    fields, version = learner.predict(states)
    assert version == 5
    best, q_values, _ = learner.decide(states)[:3]
    np.testing.assert_array_equal(fields["action"], best)
    assert (q_values != before[1]).any()
