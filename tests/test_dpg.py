"""Deterministic policy gradients: updates against loops in NumPy, the networks, and games with continuous actions."""

import numpy as np
import pytest
import tensorflow as tf

from ga3c import algorithms, networks
from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.model import Model
from ga3c.networks.actor_critic import ActorCritic
from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Replay
from ga3c.rollout import EnvironmentSpec, continuous, discrete, rollout_dtype, transition_dtype
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from tests import program
from tests.program import Started
from tests.test_apex import books
from tests.test_dqn import adam
from tests.test_loss import differences
from tests.variants import long

SIZE, N, COUNT = 3, 2, 12
SPEC = EnvironmentSpec("Test", (SIZE,), "float32", continuous([-1, 0], [1, 4]), 1)
LOW, HIGH = np.array(SPEC.actions.low), np.array(SPEC.actions.high)


def batch(seed):
    """Transitions of one to three steps, of which some end the game."""
    random, record = np.random.default_rng(seed), np.zeros((), transition_dtype(SPEC, COUNT))
    for name in ("observation", "next_observation"):
        record[name] = random.normal(size=record[name].shape)
    record["action"] = random.uniform(LOW, HIGH, size=(1, COUNT, N))
    record["return"] = random.normal(0, 2, size=(1, COUNT))
    record["discount"] = 0.9 ** random.integers(1, 4, size=(1, COUNT)) * (random.random((1, COUNT)) < 0.8)
    record["weight"] = random.uniform(0.1, 1.0, size=(1, COUNT))
    return {name: record[name] for name in record.dtype.names}


def apply(weights, observations):
    """An actor of one layer, and a critic of one."""

    def values_of(actions):
        return tf.reduce_sum(tf.tanh(tf.concat([observations, actions], axis=1) @ weights[1]), axis=1)

    actions = tf.tanh(observations @ weights[0])
    return actions, values_of(actions), values_of


def value(critic, state, action):
    return np.tanh(np.concatenate([state, action]) @ critic).sum()


def naive_errors(actor, critic, held, fields):
    """Transition by transition."""
    errors = []
    for i in range(COUNT):
        state, action, following = (fields[name][0, i] for name in ("observation", "action", "next_observation"))
        after = value(held[1], following, np.tanh(following @ held[0]))
        errors.append(fields["return"][0, i] + fields["discount"][0, i] * after - value(critic, state, action))
    return np.array(errors)


def naive_losses(actor, critic, held, fields):
    errors = naive_errors(actor, critic, held, fields)
    policy = [-value(critic, state, np.tanh(state @ actor)) for state in fields["observation"][0]]
    return (0.5 * fields["weight"][0] * errors**2).mean(), np.mean(policy)


@pytest.mark.parametrize(("clip", "actor_clip"), [(0.0, 0.0), long(0.05, 0.0), long(0.0, 0.02), (0.05, 0.02)])
def test_updates(clip, actor_clip):
    """Several, with the same target networks: each network by its own loss alone."""
    learning = LearningSettings(
        algorithm="dpg", adam_epsilon=0.01, gradient_clip_norm=clip, actor_gradient_clip=actor_clip
    )
    learner = algorithms.make(Settings(learning=learning), SPEC.actions)
    random = np.random.default_rng(1)
    shapes = (SIZE, N), (SIZE + N, 4)
    actor, critic = (random.normal(size=shape) for shape in shapes)
    held = [random.normal(size=shape) for shape in shapes]
    weights, target = ([tf.constant(w, tf.float32) for w in some] for some in ((actor, critic), held))
    weights, state = tuple(weights), learner.initial_state(tuple(weights))
    of_actor, of_critic = adam(0.01), adam(0.01)
    for number in range(4):
        fields = batch(number)
        loss, policy_loss = naive_losses(actor, critic, held, fields)
        errors = naive_errors(actor, critic, held, fields)
        up = differences(lambda w: naive_losses(w, critic, held, fields)[1], actor)  # noqa: B023
        down = differences(lambda w: naive_losses(actor, w, held, fields)[0], critic)  # noqa: B023
        norm = np.linalg.norm(down)
        before = actor, critic
        actor = actor - 0.1 * of_actor(np.clip(up, -actor_clip, actor_clip) if actor_clip else up)
        critic = critic - 0.1 * of_critic(down * (min(1.0, clip / norm) if clip else 1.0))
        tensors = {name: tf.constant(array) for name, array in fields.items()}
        weights, state, numbers, found = learner.update(
            apply, weights, state, tf.constant(0.1), tensors, lambda states: apply(target, states)
        )
        np.testing.assert_allclose(found, errors, atol=2e-4)
        np.testing.assert_allclose(weights[0], actor, atol=2e-3)
        np.testing.assert_allclose(weights[1], critic, atol=2e-3)
        change = np.sqrt(sum(np.square(new - old).sum() for new, old in zip((actor, critic), before, strict=True)))
        wanted = {"loss": loss, "policy_loss": policy_loss, "gradient_norm": norm, "update_norm": change}
        wanted |= {"value_error": np.sqrt(np.mean(errors**2)), "clipped_share": float(bool(clip))}
        found = {name: float(number) for name, number in numbers.items() if name in wanted}
        assert found == pytest.approx(wanted, rel=1e-2, abs=2e-3)


def test_what_is_played_is_the_policy_with_noise_within_bounds_and_is_judged_as_it_is_played():
    learner = algorithms.make(Settings(learning=LearningSettings(algorithm="dpg")), SPEC.actions)
    states = tf.zeros((20_000, SIZE))

    def outputs(actions):
        return actions, tf.zeros(len(actions)), lambda taken: 10 * taken[:, 0] + taken[:, 1]

    middle = tf.constant(np.tile([0.0, 2.0], (len(states), 1)), tf.float32)
    fields = learner.act(outputs(middle), tf.constant([1, 2]), tf.constant(0.1))
    actions = fields["action"].numpy()
    np.testing.assert_allclose(actions.std(axis=0), [0.1, 0.2], rtol=0.03)  # in halves of what there is: 1 and 2
    np.testing.assert_allclose(actions.mean(axis=0), [0, 2], atol=0.01)
    np.testing.assert_allclose(fields["action_value"], 10 * actions[:, 0] + actions[:, 1], rtol=1e-5)
    actions = learner.act(outputs(middle), tf.constant([1, 2]), tf.constant(2.0))["action"].numpy()
    assert (actions.min(axis=0).tolist(), actions.max(axis=0).tolist()) == (LOW.tolist(), HIGH.tolist())
    np.testing.assert_array_equal(learner.act(outputs(middle), tf.constant([1, 2]), tf.constant(0.0))["action"], middle)
    assert learner.exploration(10**9) == 0.3


def test_the_networks_have_the_layers_of_the_paper():
    network = networks.build("dpg-mlp", SPEC, 1)
    layers = [(SIZE, 300), (300, 200), (200, N), (SIZE + N, 400), (400, 300), (300, 1)]
    assert sum(np.prod(variable.shape) for variable in network.trainable_variables) == sum(
        (inputs + 1) * outputs for inputs, outputs in layers
    )
    states = tf.constant(np.random.default_rng(0).normal(size=(50, SIZE)), tf.float32)
    weights = [tf.convert_to_tensor(variable) for variable in network.trainable_variables]
    (actions, values, values_of), _ = network.stateless_call(weights, [], states)
    assert (actions.shape, values.shape) == ((50, N), (50,))
    np.testing.assert_allclose(actions, np.tile([0, 2], (50, 1)), atol=0.05)
    np.testing.assert_allclose(values_of(actions), values)
    larger = [10 * weight for weight in weights]
    actions = network.stateless_call([1000 * weight for weight in weights], [], states)[0][0].numpy()
    assert (np.isclose(actions, LOW) | np.isclose(actions, HIGH)).mean() > 0.7
    values_of = network.stateless_call(larger, [], states)[0][2]
    assert np.ptp(values_of(tf.constant(np.tile(LOW, (50, 1)), tf.float32)) - values_of(actions)) > 0.01


def test_both_networks_are_saved_and_go_on_as_they_would_have():
    settings = LearningSettings(algorithm="dpg", seed=1, learning_rate=0.001)
    first, second = (
        Model(SPEC, settings, algorithms.make(Settings(learning=settings), SPEC.actions), seed, xla=False)
        for seed in (1, 2)
    )
    states = batch(9)["observation"][0]
    before = first.decide(states)[:3]
    first.train(batch(0))
    first.copy_to_target(0)
    assert first.train(batch(1)).applied
    second.restore(first.state())
    for one in (first, second):
        one.train(batch(2))
    for own, other, old in zip(first.decide(states)[:3], second.decide(states)[:3], before, strict=True):
        np.testing.assert_array_equal(own, other)
        assert not np.allclose(own, old)
    fields, version = second.predict(states)
    assert version == 3
    assert set(fields) == {"action", "value", "action_value"}


def test_a_replay_holds_vectors_of_actions():
    memory = Replay(Recipe(SPEC, 1, 2, 100, 1, 0.9, priority_alpha=0.6, compressed=True))
    random, record = np.random.default_rng(0), np.zeros((), rollout_dtype(SPEC, 5, 2))
    memory.begin(0, record["observation"][0])
    record["action"] = random.uniform(LOW, HIGH, size=record["action"].shape)
    record["observation"], record["valid"] = record["action"][..., :1], True
    memory.add(0, record, 5)
    memory.offer()
    drawn = memory.draw(30).arrays
    assert drawn["action"].shape == (1, 30, N)
    np.testing.assert_array_equal(drawn["observation"][0, :, 0], drawn["action"][0, :, 0])
    again = Replay(Recipe(SPEC, 1, 2, 100, 1, 0.9, priority_alpha=0.6, compressed=True))
    for wrong in (False, True):
        parts = iter([part.copy() for part in memory.parts()])

        def read(array):
            np.copyto(array, next(parts))  # noqa: B023
            if wrong and array.shape == (memory.length * 2, N):  # noqa: B023
                array[3] = np.nan

        if wrong:
            with pytest.raises(ValueError, match="actions"):
                again.restore(read, lambda: None)
        else:
            other = Replay(Recipe(SPEC, 1, 2, 100, 1, 0.9, priority_alpha=0.6, compressed=True))
            other.restore(read, lambda: None)
            assert sorted(other.places()) == sorted(memory.places())


def test_the_preset_has_the_constants_of_the_paper():
    settings = parse_settings(["--preset", "apex-dpg", "--game", "Pendulum-v1"])[0]
    learning, own = settings.learning, settings.replay
    assert (learning.algorithm, learning.learning_rate, learning.learning_rate_decay_steps) == ("dpg", 1e-4, 0)
    assert (learning.actor_gradient_clip, learning.gradient_clip_norm, learning.exploration_noise) == (1.0, 40.0, 0.3)
    assert (own.batch, own.n_steps, own.target_updates, own.steps_per_update) == (256, 3, 100, 0)
    assert (own.priority_alpha, own.priority_beta, own.priority_beta_final) == (0.6, 0.4, 0.4)
    assert own.replay_transitions == 1_000_000
    assert settings.environment.reward_clip == 0
    assert parse_settings(["--algorithm", "dpg", "--game", "Pendulum-v1"])[0] == settings


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (EnvironmentSpec("Test", (3,), "float32", discrete(2), 1), "discrete actions.*continuous ones alone"),
        (EnvironmentSpec("Test", (84, 84, 4), "uint8", SPEC.actions, 1), "images.*vectors alone"),
    ],
)
def test_other_games_are_refused_in_one_line(spec, words):
    with pytest.raises(ConfigError, match=words):
        networks.resolve("auto", spec, "dpg")
    assert networks.resolve("auto", SPEC, "dpg") == "dpg-mlp"
    assert isinstance(networks.build("dpg-mlp", SPEC, 1), ActorCritic)


def test_a_real_run_solves_a_game_and_is_played(tmp_path):
    """A run may end with an actor that stays at a bound, so other seeds are tried after it."""
    small = ["--agents", 2, "--envs-per-agent", 4, "--replay-minimum-transitions", 400, "--replay-transitions", 10_000]
    small += ["--batch", 64, "--learning-rate", 0.001, "--discount", 0.5, "--log-seconds", 0.5]
    game = "tests.tiny_environment:Name-v0"

    def scores():
        return [float(row["score"]) for row in program.rows(run / "episodes.csv")]

    def solved():
        return len(scores()) >= 40 and np.mean(scores()[-40:]) > -6  # of noise alone 3.6; who names 0 loses 13

    for seed in range(1, 5):
        run = tmp_path / f"run-{seed}"
        started = Started(
            tmp_path / "log",
            "--preset",
            "apex-dpg",
            "--game",
            game,
            *small,
            "--run-dir",
            run,
            "--seed",
            seed,
            code=program.PATIENT_STOP,
        )
        started.wait_for(lambda: solved() or len(scores()) > 1200)  # six seeds had solved it after 236 to 429
        found = solved()
        assert started.stop() == 130
        assert books(run)["lost_steps"] == 0
        if found:
            break
    assert found
    ended = program.run("evaluate", run, "--episodes", 10, "--trust")
    assert ended.returncode == 0, ended.stderr
    assert "best" in ended.stdout
