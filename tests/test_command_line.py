"""Bad input gets one clear line and exit status 2; help names every setting."""

from dataclasses import fields

import pytest

from ga3c.__main__ import main
from ga3c.settings.run import Settings
from tests import program

BAD = [
    (["--game", "Boxin"], "Unknown game 'Boxin'. Nearest: Boxing"),
    (["--game", "CartPole-v9"], "CartPole-v1"),
    (["--game", "nothere:Env-v0"], "Cannot import 'nothere'"),
    (["--game", "tests.tiny_environment:Nope-v0"], "registered no environment 'Nope-v0'"),
    (["--game", "Pendulum-v1", "--minutes", "1"], "only discrete actions"),
    (["--game", "CartPole-v1", "--network", "small"], "needs images"),
    (["--agnets", "3"], "--agents"),
    (["--agents", "many"], "--agents"),
    (["--agents", "-1"], "--agents -1 is out of range"),
    (["--envs-per-agent", "0"], "from 1 to 256"),
    (["--discount", "1.5"], "--discount 1.5 is out of range"),
    (["--controller", "maybe"], "maybe"),
    (["--preset", "papr"], "papr"),
    (["--network", "huge"], "huge"),
    (["--steps"], "--steps"),
    (["--steps", "many"], "Error parsing --steps: invalid literal for int() with base 10: 'many'. See --help."),
    (["--steps", "None"], "Error parsing --steps"),
    (["--resume", "/nowhere"], "There is no run in /nowhere"),
    (["plya"], "did you mean 'play'"),
    (["play", "--checkpoint", "/nowhere.npz"], "/nowhere.npz"),
    (["play", "/nowhere", "--checkpoint", "/nowhere.npz"], "RUN (/nowhere) and --checkpoint name an agent each"),
    (["play", "--record", "film.avi"], ".mp4 or .gif"),
    (["play", "--game", "Skiing"], "./run.sh --game Skiing"),
    (["evaluate", "--episodes", "0"], "--episodes 0"),
    (["plot", "/nowhere"], "There is no run in /nowhere"),
    (["play", "Boxing"], "There is no run in Boxing (no config.json there): name its directory, or --game GAME."),
    (["reproduce"], "{fig2,fig3,fig4,fig5,fig6,fig7,table2,table3,ablation}"),
    (["reproduce", "fig1"], "'fig1'"),
    (["reproduce", "fig3", "--game", "Pung"], "Nearest: Pong"),
    (["reproduce", "fig3", "--game", "Pong", "Boxing"], "--game takes one value"),
    (["reproduce", "fig3", "--agents", "2", "0"], "--agents 0 is out of range"),
    (["reproduce", "table2", "--seconds", "0.5"], "--seconds 0.5 is out of range"),
]


@pytest.mark.parametrize(
    ("arguments", "says"), BAD, ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else ""
)
def test_bad_input_is_one_line_and_status_2(arguments, says, capfd, tmp_path, monkeypatch):
    monkeypatch.setattr("ga3c.records.run_directory.RESULTS", tmp_path)
    status = main(arguments)
    out, err = capfd.readouterr()
    assert status == 2
    assert says in err
    assert len(err.strip().splitlines()) == 1, err
    assert out == ""
    assert list(tmp_path.iterdir()) == [], "a refused start left something behind"


def test_bad_input_in_a_process_of_its_own(tmp_path):
    ended = program.run("--game", "Pung", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Pong" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_help_names_every_setting_with_its_default():
    ended = program.run("--help", env={"COLUMNS": "200"})
    assert ended.returncode == 0
    for group in fields(Settings):
        for setting in fields(group.type):
            assert "--" + setting.name.replace("_", "-") in ended.stdout, setting.name
    assert "(default: 0.99)" in ended.stdout
    assert "--steps INT" in ended.stdout
    assert "None" not in program.run("evaluate", "--help").stdout


def test_flags_go_over_the_preset():
    from ga3c.commands.train import parse_settings

    settings, _ = parse_settings(["--preset", "paper", "--learning-rate", "0.001", "--game", "Boxing"])
    assert settings.learning.preset == "paper"
    assert (settings.learning.t_max, settings.learning.rmsprop_epsilon, settings.schedule.envs_per_agent) == (
        5,
        0.1,
        1,
    )
    assert settings.learning.learning_rate == 0.001


def test_the_papers_constants():
    from ga3c.commands.train import parse_settings

    settings = parse_settings(["--preset=paper"])[0]
    assert not settings.environment.life_loss_terminates
    learning = settings.learning
    assert (learning.t_max, learning.discount, learning.entropy_weight, learning.learning_rate) == (
        5,
        0.99,
        0.01,
        3e-4,
    )
    assert (learning.rmsprop_decay, learning.rmsprop_epsilon, learning.log_epsilon) == (0.99, 0.1, 1e-6)
    assert (learning.value_weight, learning.gradient_clip_norm, learning.minimum_batch_steps) == (1.0, 0.0, 40)
    assert learning.learning_rate_decay_steps == 0
    assert settings.schedule.policy_lag_limit_updates == 0
    assert learning.input_scaling == "bytes"
    assert (learning.return_lambda, learning.normalize_advantages) == (1.0, False)  # Eq. 5 as it stands


def test_the_machado_protocol():
    from ga3c.commands.train import parse_settings

    environment = parse_settings(["--protocol", "machado"])[0].environment
    assert (environment.sticky_action_probability, environment.full_action_set) == (0.25, True)
    assert (environment.no_op_max_steps, environment.life_loss_terminates) == (0, False)
