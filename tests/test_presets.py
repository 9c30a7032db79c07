"""Presets: which constants a name stands for, and what goes over them."""

from dataclasses import fields
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.machine import usable_cores
from ga3c.progress import counts_of
from ga3c.records import run_directory
from ga3c.settings import presets, ranges
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from ga3c.settings.saved_settings import from_dict, to_dict

HINTS = get_type_hints(LearningSettings)
NAMES = [name for name in get_args(HINTS["preset"]) if name not in ("ga3c", "paper")]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cores", [1, 2, 6, 64])
def test_the_games_of_a_preset_are_as_many_on_every_machine(name, cores, monkeypatch):
    monkeypatch.setattr(presets, "usable_cores", lambda: cores)
    settings = presets.with_presets(Settings(), name, None)
    ranges.check(settings)
    learning, schedule = settings.learning, settings.schedule
    others = {
        "ppo-paper": "ppo",
        "ppo-continuous": "ppo",
        "fast-dqn": "dqn",
        "rainbow": "c51",
        "apex-dqn": "dqn",
        "apex-dpg": "dpg",
        "ga3c-ppo": "appo",
    }
    others |= {"a3c-cores": "a2c", "cule": "a2c-vtrace", "lockstep": "a2c"}
    algorithm = others.get(name, name)
    assert (learning.preset, learning.algorithm) == (name, algorithm)
    for field in fields(learning):
        if get_origin(HINTS[field.name]) is Literal:
            assert getattr(learning, field.name) in get_args(HINTS[field.name])
    if name not in ("a2c-vtrace", "a3c-cores", "apex-dqn", "apex-dpg", "cule", "ga3c-ppo"):
        assert schedule.agents <= cores
        games = schedule.games or schedule.agents * schedule.envs_per_agent
        assert games * learning.t_max == learning.minimum_batch_steps


@pytest.mark.parametrize(("cores", "games"), [(1, 48), (2, 32), (4, 20), (16, 4), (64, 4)])
def test_what_atari_games_are_learned_with_has_about_as_many_games_everywhere(cores, games, monkeypatch):
    monkeypatch.setattr(presets, "usable_cores", lambda: cores)
    settings = parse_settings(["--game", "Boxing"])[0]
    assert (settings.learning.preset, settings.schedule.envs_per_agent) == ("ga3c-ppo", games)
    assert parse_settings(["--game", "CartPole-v1"])[0].schedule.envs_per_agent == 32
    for own in (["--network", "small"], ["--observation", "ram"], ["--own-algorithm", "tests.test_python:Own"]):
        assert parse_settings(["--game", "Boxing", *own])[0].schedule.envs_per_agent == 32, own  # as the page says


def test_a_run_that_begins_with_an_agent_s_weights_has_its_preset(tmp_path):
    shipped = ["--game", "Pong", "--from", str(run_directory.PRETRAINED / "Pong")]
    assert parse_settings(shipped)[0].learning.preset == "ga3c"
    (checkpoint,) = (run_directory.PRETRAINED / "Pong" / "checkpoints").glob("*.npz")
    assert parse_settings([*shipped[:3], str(checkpoint)])[0].learning.preset == "ga3c"
    assert parse_settings([*shipped, "--preset", "ga3c-ppo"])[0].learning.preset == "ga3c-ppo"
    with pytest.raises(ConfigError, match="there is no such run or checkpoint"):
        parse_settings([*shipped[:3], str(tmp_path)])


def test_a_run_of_the_preset_that_was_once_called_default_is_of_ga3c():
    saved = to_dict(Settings())
    saved["learning"]["preset"] = "default"
    assert from_dict(saved) == Settings()


def test_an_algorithm_brings_its_constants_unless_others_are_named():
    by_algorithm, by_preset = (parse_settings([flag, "ppo"])[0] for flag in ("--algorithm", "--preset"))
    assert by_algorithm == by_preset
    assert (by_preset.learning.ppo_clip, by_preset.schedule.sampling) == (0.2, "batched")
    assert parse_settings(["--algorithm", "a3c"])[0] == Settings()
    plain = parse_settings(["--algorithm", "ppo", "--preset", "ga3c"])[0]
    assert (plain.learning.algorithm, plain.learning.learning_rate) == ("ppo", LearningSettings().learning_rate)
    other = parse_settings(["--preset", "ppo-paper", "--algorithm", "appo", "--epochs", "2"])[0].learning
    assert (other.preset, other.algorithm, other.epochs, other.t_max) == ("ppo-paper", "appo", 2, 128)


@pytest.mark.parametrize("cores", [1, 2, 16])
def test_a3c_is_a_game_and_weights_of_its_own_for_each_core(cores, monkeypatch):
    monkeypatch.setattr(presets, "usable_cores", lambda: cores)
    settings = presets.with_presets(Settings(), "a3c-cores", None)
    assert (settings.schedule.agents, settings.schedule.envs_per_agent, settings.learning.t_max) == (cores, 1, 5)
    several = (f"cpu:{cores}", "asynchronous")
    assert (settings.run.devices, settings.run.device_updates) == (several if cores > 1 else (None, "synchronous"))


def test_lockstep_is_the_default_with_a_mean_in_place_of_its_sum():
    """RMSProp sees the gradient of either alike: what is measured by it is as many times smaller as there are steps."""
    default = LearningSettings()
    learning, steps = presets.with_presets(Settings(), "lockstep", None).learning, default.minimum_batch_steps
    differ = {f.name for f in fields(learning) if getattr(learning, f.name) != getattr(default, f.name)}
    assert differ == {"preset", "algorithm", "gradient_clip_norm", "rmsprop_epsilon"}
    assert learning.gradient_clip_norm == default.gradient_clip_norm / steps
    assert learning.rmsprop_epsilon == pytest.approx(default.rmsprop_epsilon / steps**2, rel=0.1)


def test_appo_is_ppo_with_a_quarter_of_the_rate_and_no_schedule():
    ppo, appo = (presets.with_presets(Settings(), name, None) for name in ("ppo-paper", "appo"))
    assert appo.learning.learning_rate == ppo.learning.learning_rate / 4
    assert (appo.learning.learning_rate_schedule, appo.learning.learning_rate_decay_steps) == ("inverse", 0)
    assert appo.schedule.sampling == "asynchronous"


def test_start_states_are_decorrelated_where_the_paper_says_so_and_not_in_ga3c():
    by_preset = {name: presets.with_presets(Settings(), name, None).environment for name in (*NAMES, "paper", None)}
    decorrelated = {name for name, environment in by_preset.items() if environment.start_steps_limit}
    assert decorrelated == {"a2c", "appo", "lockstep"}
    assert not by_preset["paper"].life_loss_terminates


def test_constants_that_a_paper_says_in_frames_are_in_steps_here():
    """Hessel et al. 2018: 250,000 frames of exploration, 80,000 before the first update, 32,000 between two copies."""
    settings = presets.with_presets(Settings(), "rainbow", None)
    learning, replay = settings.learning, settings.replay
    steps = (
        learning.exploration_decay_steps,
        replay.replay_minimum_transitions,
        replay.target_updates * replay.steps_per_update,
    )
    assert [4 * one for one in steps] == [250_000, 80_000, 32_000]


def test_the_controller_is_off_without_a_word_where_nobody_has_asked_for_it():
    assert parse_settings(["--sampling", "alternating"])[0].schedule.sampling == "alternating"
    assert parse_settings(["--sampling", "alternating", "--controller", "off"])[0].schedule.controller == "off"
    assert parse_settings(["--algorithm", "appo", "--controller", "on"])[0].schedule.controller == "on"


@pytest.mark.parametrize("name", NAMES)
def test_the_help_says_what_it_stands_for(name, capsys):
    with pytest.raises(SystemExit):
        parse_settings(["--help"])
    assert f"{name}: " in capsys.readouterr().out


def test_as_many_agents_as_cores_where_all_wait_for_each_other():
    cores = usable_cores()
    for sampling, agents in (
        ("asynchronous", cores + 1),
        ("synchronised", max(2, cores)),
        ("alternating", max(2, cores)),
    ):
        assert counts_of(parse_settings(["--sampling", sampling])[0]).agents == agents


def test_with_larger_batches_each_transition_is_learned_from_as_often():
    for preset, rates in (
        ("dqn", {32: 2.5e-4, 512: 7.5e-4, 1024: 1.5e-3, 2048: 1.5e-3, 8: 2.5e-4}),
        ("c51", {32: 2.5e-4, 256: 4.2e-4, 2048: 4.2e-4}),
        ("rainbow", {512: 6.25e-5}),
    ):
        plain = parse_settings(["--preset", preset])[0]
        for batch, rate in rates.items():
            learning, replay = (s := parse_settings(["--preset", preset, "--batch", str(batch)])[0]).learning, s.replay
            assert learning.learning_rate == pytest.approx(rate)
            assert (replay.batch, replay.batch / replay.steps_per_update) == (batch, 8)
            steps = plain.replay.target_updates * plain.replay.steps_per_update
            assert abs(replay.target_updates * replay.steps_per_update - steps) <= replay.steps_per_update / 2
    assert parse_settings(["--preset", "c51", "--batch", "512"])[0].learning.adam_epsilon == pytest.approx(0.01 / 512)
    assert parse_settings(["--preset", "rainbow", "--batch", "512"])[0].learning.adam_epsilon == pytest.approx(
        0.005 / 512
    )
    between = parse_settings(["--preset", "dqn", "--batch", "128"])[0].learning.learning_rate
    assert between == pytest.approx((2.5e-4 * 7.5e-4) ** 0.5)
    own = parse_settings(["--preset", "dqn", "--batch", "512", "--learning-rate", "1e-3", "--steps-per-update", "4"])[0]
    assert (own.learning.learning_rate, own.replay.steps_per_update) == (1e-3, 4)
