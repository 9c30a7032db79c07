"""Networks that remember: training sees what acting saw, wherever games are played, and games that need a memory."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ga3c.devices.device import quiet  # isort: skip (first: it loads TensorFlow)
import keras
import tensorflow as tf

from ga3c import environments, progress
from ga3c.algorithms import minibatches, optimizers, sequences
from ga3c.algorithms.a2c import A2C
from ga3c.algorithms.a3c import A3C
from ga3c.algorithms.ppo import PPO
from ga3c.commands.train_options import parse_settings
from ga3c.errors import ConfigError
from ga3c.experiments import evaluation
from ga3c.model import Model
from ga3c.networks import recurrent
from ga3c.networks.recurrent import Memory, Recurrent
from ga3c.play import trained_agent
from ga3c.play.playing import moments
from ga3c.records import checkpoint
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.systems import system_of
from ga3c.transport.agent_memory import AgentMemory
from tests import program
from tests.program import TINY
from tests.variants import long, variants

assert quiet


@pytest.fixture(autouse=True)
def device(monkeypatch):
    """It can be set up once in each process."""
    monkeypatch.setattr("ga3c.systems.learner.set_up_device", lambda device, threads: "cpu")


def network(kind, units=5, inputs=3):
    keras.utils.set_random_seed(1)
    observations = keras.Input((inputs,))
    hidden = keras.layers.Dense(4, activation="tanh")(observations)

    def last(out):
        return keras.layers.Dense(2)(out), keras.layers.Reshape(())(keras.layers.Dense(1)(out))

    made = recurrent.network(observations, hidden, last, Memory(kind, units))
    assert isinstance(made, Recurrent)
    assert made.recurrent_size == LearningSettings(memory=kind, memory_units=units).recurrent_size
    return made, [tf.convert_to_tensor(variable) for variable in made.trainable_variables]


@pytest.mark.parametrize("time_steps", [4, recurrent._UNROLLED_STEPS + 3])
@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_gradients_go_through_time_as_in_a_naive_loop(kind, time_steps):
    """Through a batch with restarts in it, and a column whose last rows are padding."""
    made, weights = network(kind)
    random, columns = np.random.default_rng(0), 3
    observations = random.normal(size=(time_steps, columns, 3)).astype(np.float32)
    states = random.normal(size=(columns, made.recurrent_size)).astype(np.float32)
    restart = random.random((time_steps, columns)) < 0.2
    held = np.zeros_like(restart)
    held[-2:, 1], restart[-2:, 1], restart[1, 0] = True, False, True
    factors = random.normal(size=(time_steps, columns, 2)).astype(np.float32)

    def naive():
        total, before = 0.0, [states[column : column + 1] for column in range(columns)]
        for t in range(time_steps):
            for column in range(columns):
                hidden = made.encode(weights, [], observations[t, column : column + 1])
                (policy, value), after = made.decide(weights, [], hidden, before[column])
                total += tf.reduce_sum(policy * factors[t, column]) + tf.reduce_sum(value**2)
                if restart[t, column]:
                    before[column] = tf.zeros_like(after)
                elif not held[t, column]:
                    before[column] = after
        return total, tf.concat(before, axis=0)

    @tf.function
    def at_once():
        hidden = made.encode(weights, [], observations.reshape(-1, 3))
        rows = tf.constant(restart), tf.constant(held)
        (policies, values), after = made.decide(weights, [], hidden, tf.constant(states), *rows)
        return tf.reduce_sum(policies * factors.reshape(-1, 2)) + tf.reduce_sum(values**2), after

    found = []
    for play in (naive, at_once):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            total, after = play()
            total += tf.reduce_sum(after**2)
        found.append((total, after, tape.gradient(total, weights)))
    (total, after, gradients), (other_total, other_after, others) = found
    np.testing.assert_allclose(other_total, total, rtol=1e-4)
    np.testing.assert_allclose(other_after, after, atol=1e-5)
    for own, other in zip(gradients, others, strict=True):
        assert float(tf.norm(own)) > 1e-3
        np.testing.assert_allclose(other, own, rtol=2e-3, atol=1e-4)


def test_units_begin_with_memories_of_different_length():
    for kind in ("gru", "lstm"):
        made, weights = network(kind, units=400)
        before = np.random.default_rng(0).normal(size=(1, made.recurrent_size)).astype(np.float32)
        hidden = made.encode(weights, [], np.zeros((1, 3), np.float32))
        after = made.decide(weights, [], hidden, before)[1].numpy()
        size = 400 if kind == "gru" else 800
        kept = (after / before)[0, size - 400 : size]  # an LSTM's cells come second
        assert 0.9 < np.median(kept) < 1.1
        assert np.quantile(kept, 0.1) < np.quantile(kept, 0.9)


def system_with(*words, steps=600, game="tests.tiny_environment:Match-v0", **learning):
    """A system, not started."""
    settings = parse_settings(["--game", game, "--seed", "7", *map(str, words), "--steps", str(steps)])[0]
    settings = replace(settings, learning=replace(settings.learning, **learning))
    spec = environments.make(settings.environment, 1, 0).spec
    return system_of(settings)(settings, spec, progress.beginning(settings), lambda _: None, lambda _: None)


def run(system, ended=lambda system: False):
    """Runs it to its steps, or until it has `ended`."""
    system.start(None)
    deadline = time.monotonic() + program.HANG_SECONDS
    thread = getattr(system, "_thread", None)
    while (thread.is_alive() if thread else not system.has_all_steps) and not ended(system):
        assert time.monotonic() < deadline
        time.sleep(0.01)
        system.watch()
    system.stop()
    return system


SERIAL = ["--serial", "--agents", 2, "--envs-per-agent", 3, "--minimum-batch-steps", 60]
AGENTS = ["--agents", 2, "--envs-per-agent", 3, "--controller", "off"]
ONE_EPOCH = ["--preset", "ga3c", "--epochs", 1, "--minibatches", 2]
CASES = [
    [*SERIAL, "--algorithm", "a3c"],
    [*SERIAL, "--algorithm", "ppo", *ONE_EPOCH, "--t-max", 40, "--start-steps-limit", 30],
    ["--algorithm", "a2c", "--preset", "ga3c", "--sampling", "batched", "--games", 6, "--t-max", 8],
    ["--preset", "cule", "--games", 12, "--batches", 3, "--t-max", 12, "--start-steps-limit", 10],
    [*AGENTS, "--algorithm", "a3c", "--minimum-batch-steps", 60],
    [*AGENTS, "--algorithm", "a3c", "--minimum-batch-steps", 60, "--sampling", "alternating"],
    [*AGENTS, "--algorithm", "appo", *ONE_EPOCH, "--minimum-batch-steps", 60],
    [*AGENTS, "--algorithm", "ppo", *ONE_EPOCH, "--sampling", "synchronised", "--t-max", 8],
    [*AGENTS, "--algorithm", "a2c-vtrace", "--preset", "ga3c", "--sampling", "alternating"],
]


@pytest.mark.parametrize(
    "words", variants(CASES, CASES[1], CASES[3], CASES[4], CASES[7]), ids=lambda words: " ".join(map(str, words))[:60]
)
def test_training_computes_what_the_agents_acted_by(monkeypatch, words):
    """While the weights stay as they are, a batch gives the log-probabilities and values that were predicted when its
    rows were played: through restarts, padding, and from one rollout to the next. Without the restarts, or from empty
    memories, it gives others."""
    for kind in (A3C, A2C, PPO):
        more = {"value", "log_probability", "last_observation"} - set(kind.learns_from)
        monkeypatch.setattr(kind, "learns_from", (*kind.learns_from, *sorted(more)))
    differences, train = [], Model.train

    def difference(model, batch):
        weights = model._current[1]

        def apply(trained, observations, *memory):
            return model._graphs._apply(weights._replace(trained=trained), observations, 1, *memory)

        tensors = {name: tf.convert_to_tensor(np.array(field)) for name, field in batch.items()}
        (policies, values, *_), remembered = sequences.outputs_of(apply, weights.trained, tensors)
        taken = model._algorithm._policy.log_probabilities(policies, sequences.flat(tensors["action"]))
        valid = batch["valid"]
        found = np.abs(np.reshape(taken, valid.shape) - batch["log_probability"])[valid].max()
        found = max(found, np.abs(np.reshape(values, valid.shape) - batch["value"])[valid].max())
        if "bootstrap_value" in batch:
            last = sequences.last_value(apply, weights.trained, tensors, remembered)
            found = max(found, np.abs(last - batch["bootstrap_value"])[valid.any(0)].max())
        return found

    def recorded(model, batch, steps=0):
        if np.any(batch["valid"]) and len(differences) < 6:
            fields = {name: np.array(batch[name]) for name in model._algorithm.learns_from}
            without = fields | {"restart": np.zeros_like(fields["restart"])}
            empty = fields | {"recurrent_state": np.zeros_like(fields["recurrent_state"])}
            differences.append([difference(model, one) for one in (fields, without, empty)])
        return train(model, batch, steps)

    monkeypatch.setattr(Model, "train", recorded)
    run(system_with(*words, "--memory", "gru", "--memory-units", 16, learning_rate=0.0))
    assert len(differences) >= 3
    right, without_restarts, empty = np.max(differences, axis=0)
    assert right < 1e-4
    assert without_restarts > 1e-2
    assert empty > 1e-2


CUE, CART_POLE = (f"tests.remembered_games:{name}-v0" for name in ("Cue", "StillCartPole"))
GAMES = ["--serial", "--agents", 1, "--learning-rate-decay-steps", 0, "--normalize-advantages", "--memory-units", 32]
LEARNS = {
    "a3c": ["--algorithm", "a3c", "--rmsprop-decay", 0.9],
    "a2c-vtrace": ["--preset", "a2c-vtrace", "--rmsprop-epsilon", 1e-8],
    "ppo": ["--preset", "ppo-paper", "--learning-rate-schedule", "inverse", "--minibatches", 4],
}
LEARNS_CUE = {
    "a3c": ["--envs-per-agent", 8, "--t-max", 22, "--minimum-batch-steps", 176, "--value-weight", 0.02],
    "a2c-vtrace": ["--envs-per-agent", 8, "--t-max", 22, "--minimum-batch-steps", 176, "--value-weight", 0.02],
    "ppo": ["--envs-per-agent", 16, "--t-max", 66, "--minimum-batch-steps", 1056, "--epochs", 4],
}
CUE_RATE = {"a3c": 0.005, "a2c-vtrace": 0.01, "ppo": 0.005}
LEARNS_TO_BALANCE = {
    "a3c": ["--envs-per-agent", 16, "--t-max", 20, "--minimum-batch-steps", 320],
    "a2c-vtrace": ["--envs-per-agent", 16, "--t-max", 20, "--minimum-batch-steps", 320],
    "ppo": ["--envs-per-agent", 16, "--t-max", 32, "--minimum-batch-steps", 512, "--epochs", 8, "--ppo-clip", 0.2],
}


def trained(game, algorithm, memory, wanted, steps):
    """Returns the mean score of 100 games when it was as much as `wanted`, or at the end; and the steps until then."""
    words = [*(word for word in GAMES if memory != "none" or word not in ("--memory-units", 32)), "--memory", memory]
    words += [*LEARNS[algorithm], "--gradient-clip-norm", 0.5 if algorithm != "a3c" else 160]
    if game == CUE:
        words += [*LEARNS_CUE[algorithm], "--entropy-weight", 0, "--learning-rate", CUE_RATE[algorithm]]
    else:
        words += [*LEARNS_TO_BALANCE[algorithm], "--normalize-values", "--discount", 0.98, "--learning-rate", 0.003]
        words += ["--reward-clip", 1]
    best = 0.0

    def good(system):
        nonlocal best
        scores = system.stats.recent_scores()
        best = max(best, np.mean(scores) if len(scores) == 100 else 0.0)
        return best >= wanted

    system = run(system_with(*words, game=game, steps=steps), good)
    return best, system.stats.totals().steps


@pytest.mark.parametrize(("algorithm", "memory"), [("a3c", "lstm"), long("a2c-vtrace", "gru"), long("ppo", "gru")])
def test_a_cue_is_remembered_for_twenty_steps(algorithm, memory):
    assert trained(CUE, algorithm, memory, 0.9, steps=600_000)[0] >= 0.9


@pytest.mark.long
@pytest.mark.parametrize(("algorithm", "memory"), [("a3c", "gru"), ("a2c-vtrace", "lstm"), ("ppo", "gru")])
def test_a_pole_is_balanced_by_memory_where_its_speed_is_not_shown(algorithm, memory):
    assert trained(CART_POLE, algorithm, memory, 150, steps=600_000)[0] >= 150


@pytest.mark.long
@pytest.mark.parametrize(("game", "least", "steps"), [(CUE, 0.6, 60_000), (CART_POLE, 120, 60_000)])
def test_without_a_memory_neither_is_learned(game, least, steps):
    """Which is said of the games: one algorithm shows it."""
    best, made = trained(game, "ppo", "none", least, steps)
    assert best < least
    assert made >= steps


def test_the_same_seed_gives_the_same_weights():
    words = [*SERIAL, "--algorithm", "ppo", *ONE_EPOCH, "--memory", "lstm"]
    first, second = (run(system_with(*words)).model.state() for _ in range(2))
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


def test_a_run_goes_on_and_its_agent_plays_with_its_memory(tmp_path):
    made = tmp_path / "run"
    words = [*TINY, "--serial", "--memory", "gru", "--memory-units", 16, "--run-dir", made, "--steps", 1_000]
    ended = program.run(*words)
    assert ended.returncode == 0, ended.stderr
    before = checkpoint.load_newest(made / "checkpoints")[1]
    refused = program.run("--resume", made, "--memory", "lstm")
    assert refused.returncode == 2
    assert "does not fit the network 'mlp' of this game: give --algorithm, --network, --memory" in refused.stderr
    ended = program.run("--resume", made, "--steps", 2_000)
    assert ended.returncode == 0, ended.stderr
    assert checkpoint.load_newest(made / "checkpoints")[1]["version"] > before["version"]
    agent = trained_agent.load(str(made), None, None, 3, trusted=True)
    assert agent.model.decide(np.zeros((2, 4), np.float32))[3].shape == (2, 16)
    outcome = evaluation.evaluate(agent, agent.settings.environment, 3, 1)
    assert len(outcome["scores"]) == 3
    ended = program.run("evaluate", made, "--episodes", 2)
    assert ended.returncode == 0, ended.stderr


class Counting:
    """A policy that remembers how many steps of its game it has seen."""

    def __init__(self):
        self.seen = []

    def __call__(self, observations, remembered):
        counts = np.zeros((len(observations), 1), np.float32) if remembered is None else remembered
        self.seen.append(counts[:, 0].copy())
        actions = np.zeros(len(observations), int)
        return actions, np.zeros((len(observations), 4)), np.zeros(len(observations)), counts + 1


def test_who_plays_forgets_a_game_when_the_next_begins():
    """A game of 20 steps is seen from step 0 to 20, its last state, after which the next one begins."""
    settings, policy = EnvironmentSettings(game="tests.tiny_environment:Match-v0"), Counting()
    evaluation.play_games(policy, settings, evaluation.AT_ONCE + 2, 1, False, 50)
    assert [counts.tolist() for counts in policy.seen] == [[step] * n for n in (32, 2) for step in range(20)]
    games, policy = environments.make(settings, 2, 1), Counting()

    def step(actions):
        observations, rewards, terminated, truncated, _ = games.step(actions)
        return observations, rewards, terminated | truncated

    stage = SimpleNamespace(count=2, actions=games.spec.actions, pictures=None, reset=games.reset, step=step)
    played = moments(stage, policy, False, lambda: None)
    for _ in range(45):
        next(played)
    games.close()
    assert np.transpose(policy.seen).tolist() == [[*range(21), *range(21), *range(3)]] * 2


def test_an_agent_carries_its_states_from_row_to_row_and_from_rollout_to_rollout():
    kind = rollout_dtype(EnvironmentSpec("Test", (1,), "float32", discrete(2), 1), 2, 3, recurrent_size=2)
    memory = AgentMemory(kind, 2)
    assert not memory.recurrent.before.any()
    memory.recurrent.begin(memory.slots, 1)
    after = np.arange(1, 7, dtype=np.float32).reshape(3, 2)
    for _ in range(2):  # a row that is asked for twice is predicted from the same states
        memory.answer(1, 0, {"value": np.zeros(3), "recurrent_state": after}, 5)
        assert not memory.recurrent.before.any()
    memory.slots["valid"][1, 0] = [True, False, True]
    memory.recurrent.stepped(memory.slots, 1, 0)
    np.testing.assert_array_equal(memory.recurrent.before, [[1, 2], [0, 0], [5, 6]])
    assert memory.slots["restart"][1, 0].tolist() == [False, True, False]
    memory.recurrent.begin(memory.slots, 0)
    np.testing.assert_array_equal(memory.slots["recurrent_state"][0], memory.recurrent.before)
    assert not memory.slots["recurrent_state"][1].any()
    assert (
        AgentMemory(rollout_dtype(EnvironmentSpec("Test", (1,), "float32", discrete(2), 1), 2, 3), 2).recurrent is None
    )


def test_minibatches_are_of_whole_rollouts():
    """Each epoch takes each column once, with all of its rows; what fills the last minibatch up is not valid."""
    columns, seen = 5, []
    rows = {
        "valid": tf.ones((columns, 3), tf.bool),
        "column": tf.repeat(tf.range(columns)[:, None], 3, axis=1),
        "recurrent_state": tf.cast(tf.range(columns)[:, None], tf.float32),
    }

    def loss(weights, minibatch):
        taken = tf.where(minibatch["valid"], minibatch["column"], -1)
        seen.append((taken.numpy().tolist(), minibatch["recurrent_state"].numpy()))
        return tf.reduce_sum(weights[0]), (tf.constant(0.0),)

    settings = LearningSettings(epochs=2, minibatches=2)
    weights = (tf.zeros(1),)
    state = (tf.constant(0), tf.zeros(1), tf.zeros(1))
    passes = minibatches.Passes(settings, optimizers.of_adam(settings))
    minibatches.learn(loss, ("loss",), weights, state, tf.constant(0.1), rows, passes)
    assert len(seen) == 4
    for epoch in (seen[:2], seen[2:]):
        rollouts = [rollout for taken, _ in epoch for rollout in taken]
        assert all(len(set(rollout)) == 1 for rollout in rollouts)
        assert sorted(rollout[0] for rollout in rollouts) == [-1, *range(columns)]
        for taken, states in epoch:
            assert all(rollout[0] in (-1, state[0]) for rollout, state in zip(taken, states, strict=True))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--algorithm", "dqn"], "--memory gru does not go with --algorithm dqn: it is for a3c, a2c, a2c-vtrace, ppo"),
        (["--preset", "rainbow"], "--memory gru does not go with --algorithm c51"),
        (["--algorithm", "pqn"], "--memory gru does not go with --algorithm pqn"),
        (["--preset", "apex-dpg"], "--memory gru does not go with --algorithm dpg"),
        (["--preset", "ppo-continuous"], "--memory learns from whole rollouts, and --minibatches 32 does not divide"),
        (["--memory", "none", "--memory-units", 5], "--memory-units 5 does not go with --memory none"),
        (["--memory-units", 0], "--memory-units 0 is out of range"),
    ],
)
def test_what_cannot_remember_says_so_in_a_line(words, said):
    with pytest.raises(ConfigError, match=said) as refused:
        parse_settings(["--game", "CartPole-v1", "--memory", "gru", *map(str, words)])
    assert "\n" not in str(refused.value)
