"""PPO against loops over its formulas and finite differences: the loss, the epochs, and what a model makes of both."""

import threading
from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

from ga3c import algorithms
from ga3c.algorithms import ppo, schedules
from ga3c.algorithms.returns import lambda_returns, played
from ga3c.model import Model
from ga3c.prediction_queue import PredictionQueue
from ga3c.predictor import predict
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import RunSettings, Settings
from ga3c.stats import Stats, Totals
from ga3c.transport.agent_memory import AgentMemory
from tests import test_a2c
from tests.test_a2c import ACTIONS, SIZE, WEIGHTS, apply
from tests.test_loss import differences, softmax
from tests.variants import long

CLIP, BETA, VALUE_WEIGHT = 0.2, 0.05, 0.7
CONSTANTS = LearningSettings(ppo_clip=CLIP, entropy_weight=BETA, value_weight=VALUE_WEIGHT)


def batch(seed=0, copies=1):
    """A batch of games that were played by the weights."""
    fields = test_a2c.batch(seed, copies)
    return fields | {"value": (fields["observation"] @ WEIGHTS[:, ACTIONS]).astype(np.float32)}


def mean_loss(logits, values, rows, value_clip, normalize):
    """Eq. 7 and 9 of Schulman et al. 2017 (as a loss: negated): the mean over the valid steps, in float64."""
    valid, advantages, total = np.flatnonzero(rows["valid"]), rows["advantage"].astype(float), 0.0
    if normalize:
        advantages = (advantages - advantages[valid].mean()) / advantages[valid].std()
    for i in valid:
        pi = softmax(logits[i])
        ratio = pi[rows["action"][i]] / np.exp(rows["log_probability"][i])
        kept = min(max(ratio, 1 - CLIP), 1 + CLIP)
        total -= min(ratio * advantages[i], kept * advantages[i])
        total += BETA * (pi * np.log(pi)).sum()
        square = (rows["return"][i] - values[i]) ** 2
        if value_clip:
            moved = min(max(values[i] - rows["value"][i], -value_clip), value_clip)
            square = max(square, (rows["return"][i] - rows["value"][i] - moved) ** 2)
        total += VALUE_WEIGHT * square
    return total / len(valid)


def of_package(logits, values, rows, value_clip=0.0, normalize=False):
    """The package's Loss, and the gradients of its total."""
    logits, values = tf.constant(logits, tf.float32), tf.constant(values, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch((logits, values))
        found = ppo.loss(
            logits,
            values,
            {name: tf.constant(field) for name, field in rows.items()},
            replace(CONSTANTS, value_clip=value_clip, normalize_advantages=normalize),
        )
    return found, *(gradient.numpy() for gradient in tape.gradient(found.total, (logits, values)))


@pytest.fixture
def steps():
    rng = np.random.default_rng(0)
    logits, values = rng.normal(size=(30, 4)), rng.normal(size=30)
    rows = {
        "action": rng.integers(4, size=30).astype(np.int32),
        "log_probability": np.log([softmax(row) for row in logits + rng.normal(size=(30, 4)) * 0.3])[:, 0],
        "value": values + rng.normal(size=30) * 0.3,
        "return": rng.normal(size=30),
        "advantage": rng.normal(size=30),
    }
    return logits, values, {n: a.astype(a.dtype if a.dtype == np.int32 else np.float32) for n, a in rows.items()} | {
        "valid": rng.random(30) < 0.7
    }  # fmt: skip


@pytest.mark.parametrize("value_clip", [0.0, 0.2])
@pytest.mark.parametrize("normalize", [False, True])
def test_value_and_gradients(steps, value_clip, normalize):
    logits, values, rows = steps
    rest = rows, value_clip, normalize
    found, by_logits, by_values = of_package(*steps, value_clip, normalize)
    assert float(found.total) == pytest.approx(mean_loss(logits, values, *rest), rel=1e-5)
    expected = differences(lambda x: mean_loss(x, values, *rest), logits)
    np.testing.assert_allclose(by_logits, expected, rtol=1e-3, atol=1e-5)
    expected = differences(lambda x: mean_loss(logits, x, *rest), values)
    np.testing.assert_allclose(by_values, expected, rtol=1e-3, atol=1e-5)
    assert 0 < float(found.clip_fraction) < 1


def test_steps_that_are_not_valid_count_nothing(steps):
    logits, values, rows = steps
    junk = {name: np.float32(-1e6) for name in ("log_probability", "value", "return", "advantage")}
    changed = rows | {name: np.where(rows["valid"], rows[name], junk[name]) for name in junk}
    found, by_logits, _ = of_package(logits, values, changed, 0.2, True)
    np.testing.assert_array_equal(np.array(found), np.array(of_package(*steps, 0.2, True)[0]))
    assert np.isfinite(by_logits).all()
    nothing, by_logits, by_values = of_package(logits, values, rows | {"valid": np.zeros(30, bool)}, 0.2, True)
    assert not any(np.any(array) for array in (nothing, by_logits, by_values))


def test_what_the_clip_and_the_distance_say():
    """pi is even over two actions; it was 0.5, 0.4 and 0.8 for what was taken."""
    rows = {"log_probability": np.log([0.5, 0.4, 0.8]).astype(np.float32), "action": np.zeros(3, np.int32)}
    rows |= dict.fromkeys(("value", "return", "advantage"), np.zeros(3, np.float32)) | {"valid": np.ones(3, bool)}
    found, *_ = of_package(np.zeros((3, 2)), np.zeros(3), rows)
    ratios = np.array([1, 1.25, 0.625])
    assert float(found.clip_fraction) == pytest.approx(2 / 3)
    assert float(found.approximate_kl) == pytest.approx((ratios - 1 - np.log(ratios)).mean(), rel=1e-4)


def update(fields, **changed):
    settings = LearningSettings(
        **{"algorithm": "ppo", "discount": 0.9, "return_lambda": 0.8, "seed": 3, "gradient_clip_norm": 0.0} | changed
    )
    algorithm = algorithms.make(Settings(learning=settings))
    weights = (tf.constant(WEIGHTS, tf.float32),)
    tensors = {name: tf.constant(array) for name, array in fields.items()}
    (new,), state, numbers = algorithm.update(
        apply, weights, algorithm.initial_state(weights), tf.constant(0.01), tensors
    )
    return new.numpy(), state, {name: float(number) for name, number in numbers.items()}


def acted(fields, weights):
    """The probabilities of what the policy of these weights took."""
    logits = fields["observation"] @ weights[:, :ACTIONS]
    logits = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
    return np.take_along_axis(logits, fields["action"][..., None], 2)[..., 0].astype(np.float32)


def test_the_first_minibatch_of_what_it_played_itself_has_ratio_one():
    fields = batch()
    fields["log_probability"] = acted(fields, WEIGHTS)
    *_, first = update(fields, epochs=1, minibatches=1, ppo_clip=1e-4)
    assert first["clip_fraction"] == 0
    assert first["approximate_kl"] == pytest.approx(0, abs=1e-6)
    *_, later = update(fields, epochs=2, minibatches=1, ppo_clip=1e-4)
    assert later["clip_fraction"] > 0.3
    assert later["approximate_kl"] > 1e-6


def test_advantages_are_those_from_before_the_first_epoch():
    fields = batch()
    values, last = ((fields[of] @ WEIGHTS[:, ACTIONS]).astype(np.float32) for of in ("observation", "last_observation"))
    returns = lambda_returns(played(fields, values, last), 0.9, 0.8).numpy()
    advantages, valid = returns - values, fields["valid"]
    new, state, numbers = update(fields, epochs=3, minibatches=2)
    assert numbers["value"] == pytest.approx(values[valid].mean(), rel=1e-4)
    assert numbers["value_error"] == pytest.approx(np.sqrt((advantages[valid] ** 2).mean()), rel=1e-4)
    expected = 1 - advantages[valid].var() / returns[valid].var()
    assert numbers["explained_variance"] == pytest.approx(max(expected, -1), rel=1e-3)
    assert numbers["update_norm"] == pytest.approx(np.linalg.norm(new - WEIGHTS), rel=1e-3)
    assert state[0] == 6


def test_values_are_those_by_which_it_acted_and_the_network_says_what_comes_after():
    fields = batch()
    fields["valid"][2, 3] = False  # padding: the rollout was cut after its second row
    fields["observation"][2, 3] = fields["last_observation"][3]
    fields["value"][2, 3] = fields["last_observation"][3] @ WEIGHTS[:, ACTIONS]
    expected, *_ = update(fields)
    padded = fields | {"value": fields["value"].copy()}
    padded["value"][2, 3] = np.nan
    np.testing.assert_allclose(update(padded)[0], expected, rtol=1e-6)
    assert not np.allclose(update(fields | {"value": fields["value"] + 1})[0], expected, rtol=1e-3)


def test_the_same_seed_gives_the_same_weights_and_another_one_others():
    first, again, other = (update(batch(), seed=seed)[0] for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_rate_ends_with_the_run():
    settings = LearningSettings(algorithm="ppo", learning_rate=0.8, learning_rate_schedule="linear")
    algorithm = algorithms.make(Settings(learning=settings, run=RunSettings(steps=1000)))
    np.testing.assert_allclose([algorithm.learning_rate(steps) for steps in (0, 250, 1000, 2000)], [0.8, 0.6, 0, 0])


def test_a_rate_that_follows_kl_is_kept_with_adam_and_goes_on_where_it_was():
    spec = EnvironmentSpec("Test", (SIZE,), "float32", discrete(ACTIONS), 1)
    settings = LearningSettings(
        algorithm="ppo", t_max=3, seed=3, learning_rate=1e-3, learning_rate_schedule="kl", kl_target=0.02
    )
    model, other = (Model(spec, settings, algorithms.make(Settings(learning=settings)), seed, False) for seed in (1, 2))
    expected, used = [np.float32(1e-3)], []
    for number in range(8):
        fields = batch(number, copies=8)
        answers = model.predict(fields["observation"].reshape(-1, SIZE))[0]
        for name in ("action", "log_probability", "value"):
            fields[name] = answers[name].reshape(fields[name].shape)
        numbers = model.train(fields).numbers
        if number == 5:
            other.restore(model.state())
        elif number > 5:
            assert other.train(fields).numbers == numbers
        used.append(numbers["learning_rate"])
        expected.append(float(schedules.following_kl(expected[-1], numbers["approximate_kl"], 0.02)))
    np.testing.assert_allclose(used, expected[:-1], rtol=1e-5)
    assert len(set(used)) > 3
    ours, theirs = model.state(), other.state()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_the_target_of_the_kl_divergence_falls_as_the_square_of_a_rate():
    settings = LearningSettings(algorithm="ppo", learning_rate=1e-3, learning_rate_schedule="kl", kl_target=1e-2)
    steps = batch()["valid"].size
    quick, slow = (
        algorithms.make(Settings(learning=replace(settings, learning_rate_decay_steps=half_steps)))
        for half_steps in (steps, 0)
    )
    rates = []
    for algorithm in (quick, slow):
        weights = (tf.constant(WEIGHTS, tf.float32),)
        state = algorithm.initial_state(weights)
        expected = 1e-3
        for number in range(6):
            fields = batch(number)
            fields["log_probability"] = acted(fields, weights[0].numpy())
            tensors = {name: tf.constant(array) for name, array in fields.items()}
            weights, state, numbers = algorithm.update(apply, weights, state, tf.constant(1e-3), tensors)
            target = 1e-2 / (2.0 + number) ** 2 if algorithm is quick else 1e-2
            expected = float(schedules.following_kl(expected, numbers["approximate_kl"], target))
            assert float(state[-1]) == pytest.approx(expected, rel=1e-5)
        rates.append(expected)
    assert rates[0] < rates[1]


def test_the_entropy_s_weight_follows_a_target_that_falls_and_is_kept_with_adam():
    settings = LearningSettings(
        algorithm="ppo", learning_rate=1e-3, epochs=2, minibatches=2, entropy_weight=0.02,
        learning_rate_schedule="kl", entropy_target=0.9, entropy_target_decay_steps=20,
    )  # fmt: skip
    algorithm = algorithms.make(Settings(learning=settings), discrete(ACTIONS))
    weights, steps = (tf.constant(WEIGHTS, tf.float32),), batch()["valid"].size
    state, expected = algorithm.initial_state(weights), np.float32(0.02)
    for number in range(4):
        assert float(state[-1]) == pytest.approx(expected, rel=1e-5)
        fields = batch(number)
        fields["log_probability"] = acted(fields, weights[0].numpy())
        tensors = {name: tf.constant(array) for name, array in fields.items()}
        entropy_weighs_nothing = (*state[:-1], tf.constant(0.0))
        rate = tf.constant(1e-3)
        other, *_ = algorithm.update(apply, weights, entropy_weighs_nothing, rate, tensors)
        weights, state, numbers = algorithm.update(apply, weights, state, rate, tensors)
        assert not np.array_equal(other[0], weights[0])
        target = 0.9 / (1 + (number + 1) * steps / 20)
        share = float(numbers["entropy"]) / np.log(ACTIONS)
        expected = float(schedules.following_entropy(expected, share, target))
    assert expected != pytest.approx(0.02, rel=1e-2)
    assert len(algorithm.initial_state(weights)) == 5  # count, two means, rate, weight


def test_where_actions_are_forbidden_the_entropy_s_weight_stays():
    """The largest entropy is that of what is allowed, and no state is said to have it."""
    settings = Settings(learning=LearningSettings(algorithm="ppo", entropy_target=0.9))
    weights, actions = (tf.constant(WEIGHTS, tf.float32),), discrete(ACTIONS)
    states = [
        algorithms.make(settings, kind).initial_state(weights) for kind in (actions, actions._replace(masked=True))
    ]
    assert [len(state) for state in states] == [4, 3]  # count, two means, weight


def test_a_rate_that_follows_kl_stays_as_long_as_nothing_is_learned():
    """Then the policy does not move: it would grow without end."""
    settings = LearningSettings(algorithm="ppo", learning_rate=1e-3, learning_rate_schedule="kl")
    algorithm, start = algorithms.make(Settings(learning=settings)), (tf.constant(WEIGHTS, tf.float32),)
    fields = batch()
    fields["log_probability"] = acted(fields, WEIGHTS)
    tensors = {name: tf.constant(array) for name, array in fields.items()}
    (same,), state, numbers = algorithm.update(apply, start, algorithm.initial_state(start), tf.constant(0.0), tensors)
    np.testing.assert_array_equal(same, start[0])
    assert (float(state[-1]), float(numbers["learning_rate"])) == (pytest.approx(1e-3), 0)


@pytest.mark.parametrize("xla", [False, long(True)])
def test_a_model_learns_with_it_what_earns_a_reward(xla):
    """Action 2 earns 1, the others nothing. Another that takes its place in between goes on as it does."""
    settings = LearningSettings(
        algorithm="ppo", t_max=3, seed=1, learning_rate=0.01, epochs=2, minibatches=2, discount=0.0
    )
    spec = EnvironmentSpec("Test", (SIZE,), "float32", discrete(ACTIONS), 1)
    algorithm = algorithms.make(Settings(learning=settings))
    learner = Model(spec, settings, algorithm, 1, xla)
    other = None if xla else Model(spec, settings, algorithm, 2, xla)
    for number in range(30):
        fields = batch(number, copies=8)
        answers = learner.predict(fields["observation"].reshape(-1, SIZE))[0]
        for name in ("action", "log_probability", "value"):
            fields[name] = answers[name].reshape(fields[name].shape)
        fields["reward"] = (fields["action"] == 2).astype(np.float32)
        assert learner.train(fields).applied
        if other and number == 20:
            other.restore(learner.state())
        elif other and number > 20:
            other.train(fields)
    logits = learner.decide(fields["observation"][0])[1]
    assert np.mean([softmax(row)[2] for row in logits]) > 0.7
    if other:
        np.testing.assert_array_equal(logits, other.decide(fields["observation"][0])[1])


def test_a_rollout_under_way_takes_up_the_newest_weights_at_its_next_step():
    """APPO's do so every 64 steps, in the paper: here a predictor has no weights of its own."""
    settings = LearningSettings(algorithm="appo", t_max=3, seed=1, learning_rate=0.01, epochs=1, minibatches=1)
    spec = EnvironmentSpec("Test", (SIZE,), "float32", discrete(ACTIONS), 1)
    model = Model(spec, settings, algorithms.make(Settings(learning=settings)), 1, False)
    dtype = rollout_dtype(spec, 3, 1)
    memory, queue = AgentMemory(dtype, 1), PredictionQueue()
    _, client = queue.connect(memory)
    arguments = queue, model, Stats(Totals()), dtype, 1, []
    threading.Thread(target=predict, args=arguments, daemon=True).start()
    for row in range(3):
        client.ask(0, row)
        client.wait()
        assert model.train(batch(row)).applied
    queue.close()
    assert memory.slots["version"][0].tolist() == [0, 1, 2]
