"""What training makes of rewards, by the game."""

from dataclasses import replace

import pytest

from ga3c.commands.train_options import parse_settings
from ga3c.environments import rewards
from ga3c.records import description, run_directory
from ga3c.settings import saved_settings
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.run import Settings
from ga3c.views import labels

MATCH = "tests.tiny_environment:Match-v0"
CLIPPED, KEPT, NEVER = (1.0, 0.0, 0.0), (10.0, 0.99, 10.0), (0.0, 0.0, 0.0)


def environment_of(*arguments):
    return parse_settings([str(argument) for argument in arguments])[0].environment


def handling(settings):
    return settings.reward_clip, settings.reward_scaling_discount, settings.reward_scaling_limit


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], CLIPPED),
        (["--game", "ms_pacman", "--preset", "rainbow"], CLIPPED),
        (["--game", MATCH], KEPT),
        (["--game", "CartPole-v1", "--preset", "dqn"], KEPT),
        (["--game", "CartPole-v1", "--preset", "apex-dqn", "--cluster", "local"], KEPT),
        (["--game", "CartPole-v1", "--preset", "lockstep"], KEPT),
        (["--game", "CartPole-v1", "--reward-clip", 1], CLIPPED),
        (["--game", "CartPole-v1", "--reward-clip", 0], NEVER),
        (["--game", "Pendulum-v1", "--preset", "ppo-continuous"], (10.0, 0.99, 0.0)),
        (["--game", "humanoid-walk", "--preset", "apex-dpg"], NEVER),
    ],
)
def test_atari_alone_clips_them_and_presets_and_flags_keep_their_word(arguments, expected):
    assert handling(environment_of(*arguments)) == expected


def test_an_older_run_goes_on_as_it_was(tmp_path):
    """Its settings have no limit, and clip."""
    old = Settings(environment=EnvironmentSettings(game="CartPole-v1"))
    old = replace(old, learning=replace(old.learning, seed=1), run=replace(old.run, run_dir=str(tmp_path / "run")))
    run = run_directory.create(old)
    written = saved_settings.to_dict(description.read_settings(run))
    del written["environment"]["reward_scaling_limit"]
    assert handling(saved_settings.from_dict(written).environment) == CLIPPED
    assert handling(environment_of("--resume", run)) == CLIPPED


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (
            ["--game", MATCH],
            "Rewards are kept, but where one is above 10 or all are below 0.1 in size, they are divided",
        ),
        (["--game", MATCH, "--reward-clip", 1], "Rewards are clipped to +-1 (--reward-clip)."),
        (["--game", MATCH, "--reward-clip", 0], "Rewards are kept as they are."),
        (["--game", "Pendulum-v1", "--preset", "ppo-continuous"], "Rewards are divided by the running deviation"),
    ],
)
def test_the_start_says_what_is_made_of_them(arguments, start):
    assert rewards.line(environment_of(*arguments)).startswith(start)


def test_the_start_says_nothing_of_ataris_which_its_protocol_clips():
    assert rewards.line(environment_of()) is None


def test_what_is_usual_for_a_game_is_no_setting_that_differs_from_the_defaults():
    settings = parse_settings(["--game", "CartPole-v1"])[0]
    assert labels.changed(settings) == {}
    assert labels.changed(parse_settings(["--game", "CartPole-v1", "--reward-clip", "0"])[0])["reward_clip"] == 0
