"""The end of a run says how good its score is."""

from dataclasses import replace

import pytest

from ga3c.settings.game import EnvironmentSettings
from ga3c.views.standing import standing
from tests import program

PONG = EnvironmentSettings()
PUBLISHED = "In this game a random player has -20.7, a human 14.6."


@pytest.mark.parametrize(
    ("settings", "steps", "says"),
    [
        (PONG, 100, PUBLISHED),
        (PONG, 80_000, f"{PUBLISHED} The agent that comes with the program had -21 after as many steps."),
        (PONG, 10**9, f"{PUBLISHED} The agent that comes with the program ended with 19.4, after 2.2 million steps."),
        (replace(PONG, game="ALE/Qbert-v5"), 100, "In this game a random player has 163.9, a human 13,455."),
        (replace(PONG, sticky_action_probability=0.25), 80_000, PUBLISHED),  # other rules: it says nothing of the agent
        (replace(PONG, game="Alien"), 80_000, "In this game a random player has 227.8, a human 7,127.7."),
        (replace(PONG, game="CartPole-v1"), 80_000, "Gymnasium calls this game solved at 475."),
        (replace(PONG, game="Pendulum-v1"), 80_000, ""),
        (replace(PONG, game="tests.tiny_environment:Match-v0"), 80_000, ""),
    ],
)
def test_what_is_known_of_a_game(settings, steps, says):
    assert standing(settings, steps) == says


def test_a_run_says_it_at_its_end(tmp_path):
    run = ["--game", "CartPole-v1", "--serial", "--envs-per-agent", 4, "--agents", 1, "--run-dir", tmp_path / "run"]
    ended = program.run(*run, "--steps", 400)
    assert ended.returncode == 0, ended.stderr
    assert "Gymnasium calls this game solved at 475." in ended.stdout
