"""Protocols: the same rules have the same fingerprint, other rules another."""

from dataclasses import fields, replace

import pytest

from ga3c.environments import protocols
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings

PAPER = EnvironmentSettings()
MACHADO = with_presets(Settings(), None, "machado").environment


def test_the_names():
    assert protocols.fingerprint(PAPER).startswith("paper-")
    assert protocols.fingerprint(MACHADO).startswith("machado-")
    dqn = protocols.under(MACHADO, "dqn")
    assert dqn == replace(PAPER, episode_cap_frames=5 * 60 * 60, life_loss_terminates=False)
    assert protocols.fingerprint(dqn).startswith("dqn-")
    assert protocols.fingerprint(replace(PAPER, sticky_action_probability=0.1)).startswith("own-")


def test_fingerprints_do_not_change_with_time():
    """They stand in results that people keep."""
    assert protocols.fingerprint(PAPER) == "paper-5818c1c8"
    assert protocols.fingerprint(MACHADO) == "machado-9ae5317a"


OTHER = {
    "frame_skip_frames": 3,
    "no_op_max_steps": 7,
    "sticky_action_probability": 0.3,
    "full_action_set": True,
    "fire_reset": True,
    "episode_cap_frames": 18_000,
}
OF_THE_AGENT = {
    "game": "Boxing",
    "protocol": "machado",
    "frame_size_pixels": 64,
    "frame_stack": 2,
    "life_loss_terminates": True,
    "reward_clip": 0.0,
    "reward_scaling_discount": 0.9,
    "reward_scaling_limit": 10.0,
    "start_steps_limit": 7,
    "stall_limit_steps": 50,
    "emulator": "ours",
    "adapt_spaces": False,
    "observation": "flat",
    "action_masks": False,
}
OF_GYMNASIUM = {"environment_arguments": '{"size": 8}', "wrapper": ("package.module:Wrapper",)}


def test_every_setting_of_the_environment_is_one_or_the_other():
    assert {field.name for field in fields(EnvironmentSettings)} == set(OTHER) | set(OF_THE_AGENT) | set(OF_GYMNASIUM)


@pytest.mark.parametrize("name", OF_GYMNASIUM)
def test_arguments_and_wrappers_make_another_game(name):
    plain = EnvironmentSettings(game="CartPole-v1")
    assert protocols.fingerprint(plain) == "gymnasium"
    assert protocols.fingerprint(replace(plain, **{name: OF_GYMNASIUM[name]})).startswith("gymnasium-")


@pytest.mark.parametrize("name", OTHER)
def test_other_rules_another_fingerprint(name):
    assert protocols.fingerprint(replace(PAPER, **{name: OTHER[name]})) != protocols.fingerprint(PAPER)


@pytest.mark.parametrize("name", OF_THE_AGENT)
def test_what_is_the_agents_own_business(name):
    assert protocols.fingerprint(replace(PAPER, **{name: OF_THE_AGENT[name]})) == protocols.fingerprint(PAPER)


def test_whole_numbers_and_fractions_are_the_same():
    assert protocols.fingerprint(replace(PAPER, sticky_action_probability=0)) == protocols.fingerprint(PAPER)


def test_a_gymnasium_environment_has_no_rules_of_ours():
    settings = replace(PAPER, game="CartPole-v1")
    assert protocols.fingerprint(settings) == protocols.fingerprint(replace(settings, frame_skip_frames=2))
    assert protocols.rules(settings) == {}


def test_under_another_protocol_the_agent_sees_as_before():
    small = replace(PAPER, frame_size_pixels=64, frame_stack=2)
    asked = protocols.under(small, "machado")
    assert protocols.fingerprint(asked) == protocols.fingerprint(MACHADO)
    assert (asked.protocol, asked.frame_size_pixels, asked.frame_stack, asked.game) == ("machado", 64, 2, "Pong")


def test_a_mix_is_said():
    assert protocols.mix(["a", "a"]) is None
    assert protocols.mix([]) is None
    assert protocols.mix(["b", "a", "b"]) == "different protocols: a, b"
