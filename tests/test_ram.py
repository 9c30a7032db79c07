"""Atari games that show the console's memory: on both emulators the same, and as in training with pictures."""

import numpy as np
import pytest

from ga3c import algorithms, environments, networks
from ga3c.commands.train_options import parse_settings
from ga3c.environments.atari_ram import RamAtariEnvironments
from ga3c.environments.emulators import gpu_obstacle
from ga3c.errors import ConfigError
from ga3c.model import Model
from ga3c.play.playing import Stage
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from tests import program
from tests.variants import variants

STEPS = 400


def played(game, **settings):
    """What each step of two copies returns, at random; the second copy begins anew now and then."""
    games = environments.make(EnvironmentSettings(game=game, **settings), 2, 5)
    random, found = np.random.default_rng(0), [(games.reset().copy(),)]
    for number in range(STEPS):
        actions = games.spec.actions.random(random, 2)
        observations, *others = games.step(actions)
        found.append((observations.copy(), *others))
        if number % 150 == 149:
            found.append((games.restart(np.array([False, True])).copy(),))
    spec, kind = games.spec, type(games)
    games.close()
    return found, spec, kind


RULES = {
    "paper": {},
    "sticky": {"sticky_action_probability": 0.25, "full_action_set": True, "no_op_max_steps": 0},
    "fire": {"fire_reset": True, "life_loss_terminates": False},
    "short": {"episode_cap_frames": 350, "frame_skip_frames": 3},
}


@pytest.mark.parametrize("rules", variants(RULES, "sticky", "fire"))
def test_both_emulators_show_the_same_memory(rules):
    ours, spec, _ = played("Breakout", observation="ram", **RULES[rules])
    ale, other, kind = played("Breakout", observation="ram", emulator="ale", **RULES[rules])
    pictures, *_ = played("Breakout", emulator="ale", **RULES[rules])
    assert spec == other
    assert kind is RamAtariEnvironments
    assert ours[0][0].shape == (2, 128)
    assert any(step[2].any() | step[3].any() for step in ours if len(step) > 1)
    for one, two, seen in zip(ours, ale, pictures, strict=True):
        for ours_of, theirs in zip(one, two, strict=True):
            np.testing.assert_array_equal(ours_of, theirs)
        for ours_of, theirs in zip(one[1:], seen[1:], strict=True):  # rewards and ends are those of the same game
            np.testing.assert_array_equal(ours_of, theirs)


def test_a_network_for_vectors_gets_it_standardised_or_from_0_to_1():
    games = environments.make(EnvironmentSettings(game="Pong", observation="ram"), 3, 0)
    rows = games.reset()
    for algorithm, name in (("a3c", "mlp"), ("dqn", "dqn-mlp"), ("pqn", "pqn-mlp")):
        assert networks.resolve("auto", games.spec, algorithm) == name
        for scaling, groups in (("standardized", 1), ("bytes", 0)):
            settings = LearningSettings(algorithm=algorithm, input_scaling=scaling, t_max=2)
            made = algorithms.make(Settings(learning=settings), games.spec.actions)
            model = Model(games.spec, settings, made, 1, xla=False)
            assert len(model._current[1].statistics) == groups
            assert model.predict(rows)[0]["action"].shape == (3,)
    games.close()


def test_what_does_not_go_with_it_says_so():
    for words, says in (
        (
            "--game CartPole-v1 --observation ram",
            "--observation ram does not go with the game CartPole-v1: it is for Atari",
        ),
        ("--game Pong --observation flat", "--observation flat does not go with the game Pong: it is for other games"),
        ("--game Pong --observation ram --frame-stack 2", "--frame-stack 2 does not go with --observation ram"),
    ):
        with pytest.raises(ConfigError, match=says):
            parse_settings(words.split())
    settings = EnvironmentSettings(game="Pong", observation="ram")
    assert "--observation ram" in gpu_obstacle("pong", settings)
    games = environments.make(settings, 1, 0)
    with pytest.raises(ConfigError, match="--network small needs images"):
        networks.resolve("small", games.spec)


@pytest.mark.parametrize("emulator", ["ours", "ale"])
def test_a_person_sees_the_picture(emulator):
    stage = Stage(EnvironmentSettings(game="Pong", observation="ram", emulator=emulator), 1, 0)
    assert stage.reset().shape == (1, 128)
    assert stage.pictures.shape == (1, 210, 160, 3)
    assert stage.step(np.array([2]))[0].shape == (1, 128)
    stage.close()


def test_a_run_trains_on_it_and_is_evaluated(tmp_path):
    run = tmp_path / "run"
    words = ["--game", "Pong", "--observation", "ram", "--serial", "--steps", 500, "--envs-per-agent", 4]
    ended = program.run("train", *words, "--run-dir", run, "--plot-seconds", 0)
    assert ended.returncode == 0, ended.stderr
    ended = program.run("evaluate", run, "--episodes", 1, "--most-steps", 50)
    assert ended.returncode == 0, ended.stderr
    refused = program.run("--resume", run, "--observation", "auto", "--steps", 600)
    assert refused.returncode == 2
    assert "The observations of the game" in refused.stderr
