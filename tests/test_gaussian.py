"""Continuous actions: the Gaussian against its density, PPO's loss against a loop, and a game that they solve."""

import json

import numpy as np
import pytest
import tensorflow as tf

from ga3c import algorithms, networks
from ga3c.algorithms import gaussian, ppo
from ga3c.algorithms.returns import Played, lambda_returns
from ga3c.environments.reward_scale import RewardScale
from ga3c.errors import ConfigError
from ga3c.model import Model
from ga3c.networks import standardization
from ga3c.rollout import EnvironmentSpec, continuous, rollout_dtype
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from tests import program
from tests.test_loss import differences
from tests.variants import variants

REACH = [
    "--game",
    "tests.tiny_environment:Reach-v0",
    "--preset",
    "ppo-continuous",
    "--t-max",
    "64",
    "--console",
    "plain",
]
REACH += ["--envs-per-agent", "8", "--minimum-batch-steps", "512", "--minibatches", "4", "--learning-rate", "0.003"]
REACH += ["--plot-seconds", "0"]
SPEC = EnvironmentSpec("Reach", (2,), "float32", continuous([-1, -1], [1, 1]), 1)
CLIP, BETA, VALUE_WEIGHT = 0.2, 0.05, 0.7


def density(policy, action):
    """Of one action, element by element."""
    means, deviations = policy[: len(action)], np.exp(policy[len(action) :])
    return np.prod(np.exp(-((action - means) ** 2) / (2 * deviations**2)) / np.sqrt(2 * np.pi * deviations**2))


@pytest.fixture
def steps():
    rng = np.random.default_rng(0)
    policies, values = rng.normal(size=(30, 6)) * 0.5, rng.normal(size=30)
    actions = policies[:, :3] + np.exp(policies[:, 3:]) * rng.normal(size=(30, 3))
    old = policies + rng.normal(size=(30, 6)) * 0.1
    rows = {"action": actions, "log_probability": np.log([density(*row) for row in zip(old, actions, strict=True)])}
    rows |= {name: rng.normal(size=30) for name in ("value", "return", "advantage")}
    return policies, values, {n: a.astype(np.float32) for n, a in rows.items()} | {"valid": rng.random(30) < 0.7}


def test_log_probability_and_entropy(steps):
    policies, _, rows = steps
    log_probabilities, entropies = gaussian.terms(tf.constant(policies, tf.float32), tf.constant(rows["action"]))
    expected = np.log([density(*row) for row in zip(policies, rows["action"], strict=True)])
    np.testing.assert_allclose(log_probabilities, expected, rtol=1e-4, atol=1e-4)
    # The entropy is the mean of -log pi over the policy's own samples; and log(deviation sqrt(2 pi e)) by hand.
    np.testing.assert_allclose(entropies, (policies[:, 3:] + 0.5 * np.log(2 * np.pi * np.e)).sum(axis=1), rtol=1e-5)
    many = np.repeat(policies[:1], 100_000, axis=0).astype(np.float32)
    fields = gaussian.act((tf.constant(many), tf.zeros(len(many))), tf.constant([1, 2]), tf.constant(0.0))
    assert -np.mean(fields["log_probability"]) == pytest.approx(float(entropies[0]), abs=0.02)
    np.testing.assert_allclose(np.mean(fields["action"], axis=0), policies[0, :3], atol=0.03)
    np.testing.assert_allclose(np.std(fields["action"], axis=0), np.exp(policies[0, 3:]), rtol=0.02)


def mean_loss(policies, values, rows):
    """As in test_ppo, with the density for the probability."""
    valid, total = np.flatnonzero(rows["valid"]), 0.0
    for i in valid:
        ratio = density(policies[i], rows["action"][i]) / np.exp(rows["log_probability"][i])
        kept = min(max(ratio, 1 - CLIP), 1 + CLIP)
        total -= min(ratio * rows["advantage"][i], kept * rows["advantage"][i])
        total -= BETA * (policies[i, 3:] + 0.5 * np.log(2 * np.pi * np.e)).sum()
        total += VALUE_WEIGHT * (rows["return"][i] - values[i]) ** 2
    return total / len(valid)


def test_ppos_loss_and_its_gradient(steps):
    policies, values, rows = steps
    by = tf.constant(policies, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(by)
        found = ppo.loss(
            by,
            tf.constant(values, tf.float32),
            {n: tf.constant(field) for n, field in rows.items()},
            LearningSettings(ppo_clip=CLIP, entropy_weight=BETA, value_weight=VALUE_WEIGHT),
            gaussian.terms,
        )
    assert float(found.total) == pytest.approx(mean_loss(policies, values, rows), rel=1e-4)
    expected = differences(lambda x: mean_loss(x, values, rows), policies)
    np.testing.assert_allclose(tape.gradient(found.total, by), expected, rtol=2e-3, atol=1e-4)


def test_long_rollouts_have_the_same_targets():
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(300, 2)).astype(np.float32) for _ in range(2)]
    rows += [rng.random((300, 2)) < share for share in (0.1, 0.1, 0.9)]
    last, constants = np.ones(2, np.float32), {"discount": 0.9, "return_lambda": 0.8}
    long = lambda_returns(Played(*map(tf.constant, rows), tf.constant(last)), **constants).numpy()
    tail = lambda_returns(Played(*(tf.constant(field[100:]) for field in rows), tf.constant(last)), **constants)
    np.testing.assert_allclose(long[100:], tail, rtol=1e-5, atol=1e-6)
    head = lambda_returns(Played(*(tf.constant(field[:100]) for field in rows), tf.constant(rows[1][100])), **constants)
    assert not np.allclose(long[:100], head)  # it looks further than 100 steps
    np.testing.assert_allclose(long[:60], head[:60], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("algorithm", variants(["ppo", "a2c", "a2c-vtrace"], "ppo"))
def test_a_model_learns_what_earns_a_reward(algorithm):
    """The nearer to 0.7 and -0.7 the better, in whatever state."""
    rate = 0.01 if algorithm == "ppo" else 0.005
    settings = LearningSettings(
        algorithm=algorithm, t_max=4, seed=1, learning_rate=rate, epochs=4, minibatches=2, discount=0.0,
        input_scaling="bytes", value_weight=0.5, learning_rate_decay_steps=0, rmsprop_epsilon=1e-5,
    )  # fmt: skip
    learner = Model(SPEC, settings, algorithms.make(Settings(learning=settings), SPEC.actions), 1, xla=False)
    other = Model(SPEC, settings, algorithms.make(Settings(learning=settings), SPEC.actions), 2, xla=False)
    rng, names = np.random.default_rng(0), algorithms.make(Settings(learning=settings)).learns_from
    for _ in range(150):
        record = np.zeros((), rollout_dtype(SPEC, 4, 16))
        record["observation"][:] = rng.normal(size=(4, 16, 2))
        for name, values in learner.predict(record["observation"].reshape(-1, 2))[0].items():
            record[name] = values.reshape(record[name].shape)
        record["reward"][:] = -((record["action"] - [0.7, -0.7]) ** 2).sum(axis=-1)
        record["terminated"][:] = record["valid"][:] = True
        assert learner.train({name: record[name] for name in names}).applied
    _, policies, _ = learner.decide(np.zeros((1, 2), np.float32))[:3]
    best = SPEC.actions.most_likely(policies)[0]
    assert np.abs(best - [0.7, -0.7]).max() < 0.35, best
    other.restore(learner.state())
    np.testing.assert_array_equal(other.decide(np.zeros((1, 2), np.float32))[1], policies)


@pytest.mark.parametrize("algorithm", ["a3c", "pqn"])
def test_algorithms_with_discrete_actions_alone_say_so(algorithm):
    with pytest.raises(ConfigError, match=f"--algorithm {algorithm} discrete ones alone: use --preset ppo-continuous"):
        networks.resolve("auto", SPEC, algorithm)
    assert networks.resolve("auto", SPEC, "ppo") == "separate-mlp"


def test_each_number_of_a_vector_has_its_own_mean_and_deviation():
    """In the network too, which starts near no action at all."""
    model = networks.build("separate-mlp", SPEC, 1, standardize=True)
    statistics = standardization.Statistics(*(tf.convert_to_tensor(v) for v in model.non_trainable_variables))
    rng = np.random.default_rng(0)
    states = (rng.normal(size=(50, 4, 2)) * [1, 100] + [5, -300]).astype(np.float32)
    valid = rng.random((50, 4)) < 0.8
    after = standardization.update_from_rollouts(statistics, tf.constant(states), tf.constant(valid))
    np.testing.assert_allclose(after.mean, states[valid].mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(after.variance, states[valid].var(axis=0), rtol=1e-3)
    assert float(after.count) == valid.sum()
    for variable, value in zip(model.non_trainable_variables, after, strict=True):
        variable.assign(value)
    layer = next(layer for layer in model.layers if layer.name.startswith("standardization"))
    seen = layer(tf.constant(states[0])).numpy()
    np.testing.assert_allclose(seen, (states[0] - after.mean) / np.sqrt(after.variance), rtol=1e-3, atol=1e-4)
    assert layer(tf.constant([[1e6, -1e6]], tf.float32)).numpy().tolist() == [[10, -10]]
    policies, _ = model(tf.constant(states[0]))
    assert np.abs(policies[:, :2]).max() < 0.1
    np.testing.assert_array_equal(policies[:, 2:], 0)


def test_rewards_are_scaled_by_the_deviation_of_the_return():
    rng = np.random.default_rng(0)
    scale, returns, seen = RewardScale(2, 0.9), np.zeros(2), []
    moved = np.ones(2, bool)
    for _ in range(50):
        rewards, ended = rng.normal(size=2) * 30, rng.random(2) < 0.1
        returns = 0.9 * returns + rewards
        seen += returns[moved].tolist()
        scaled = scale.scaled(rewards, moved, ended)
        if len(seen) > 1:
            np.testing.assert_allclose(scaled, rewards / np.std(seen), rtol=1e-6)
        returns[ended | ~moved] = 0
        moved = ~ended


@pytest.mark.parametrize(
    ("sizes", "scaled_from"),
    [
        ([4, -10, 0.01], None),
        ([1, 1, 1000, 1], 2),
        ([0.0, 0.01, 0.02], 2),
        ([0.01, 0.5, 0.01], None),
        ([0, 0, 0], None),
    ],
)
def test_with_a_limit_rewards_are_scaled_where_they_are_large_or_small(sizes, scaled_from):
    """Two games, each of which ends with the second step: what is small is known after as many."""
    scale, always = RewardScale(2, 0.9, limit=10.0), RewardScale(2, 0.9)
    for step, size in enumerate(sizes):
        if step == scaled_from:
            always = RewardScale(2, 0.9)  # the deviation is measured from then on
        rewards, moved, ended = np.array([size, -size]), np.ones(2, bool), np.full(2, step == 2)
        found, divided = (one.scaled(rewards, moved, ended) for one in (scale, always))
        np.testing.assert_array_equal(found, divided if scaled_from is not None and step >= scaled_from else rewards)


def test_a_limited_scale_goes_on_where_it_was():
    first, second = (RewardScale(1, 0.9, limit=10.0) for _ in range(2))
    one = np.ones(1, bool)
    for size in (20.0, 5.0):
        first.scaled(np.array([size]), one, ~one)
    second.restore(first.state())
    found = [scale.scaled(np.array([3.0]), one, ~one) for scale in (first, second)]
    assert found[0] == found[1] != 3.0


def test_ppo_solves_a_game_and_goes_on(tmp_path):
    """Serial, then in lockstep with processes. True scores are logged; the mean plays."""
    run = tmp_path / "run"
    ended = program.run(*REACH, "--serial", "--seed", "1", "--steps", "16000", "--run-dir", run)
    assert ended.returncode == 0, ended.stderr
    scores = [float(row["score"]) for row in program.rows(run / "episodes.csv")]
    assert np.mean(scores[-50:]) > np.mean(scores[:50]) / 2  # they are negative
    assert min(scores) < -20  # and not scaled
    ended = program.run("--resume", run, "--no-serial", "--steps", 17_000)
    assert ended.returncode == 0, ended.stderr
    assert len(program.rows(run / "episodes.csv")) > len(scores)
    scored = tmp_path / "scores.json"
    ended = program.run("evaluate", run, "--episodes", "20", "--json", scored, "--trust")
    assert ended.returncode == 0, ended.stderr
    ways = json.loads(scored.read_text())["ways"]
    assert ways["greedy"]["mean"] > max(-10, ways["sampled"]["mean"])
