"""Settings as files hold them."""

import copy
import json
import math
from dataclasses import fields

import pytest

from ga3c.errors import ConfigError
from ga3c.settings.ranges import RANGES
from ga3c.settings.run import Settings
from ga3c.settings.saved_settings import from_dict, to_dict


def test_what_was_saved_is_read_back():
    assert from_dict(json.loads(json.dumps(to_dict(Settings())))) == Settings()


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        ("environment", "game", 5),
        ("environment", "protocol", "own"),
        ("environment", "fire_reset", 1),
        ("schedule", "agents", 2.5),
        ("schedule", "agents", True),
        ("schedule", "agents", 5000),
        ("learning", "discount", "0.99"),
        ("learning", "network", None),
        ("learning", "colour", "green"),
        ("run", "steps", "many"),
        ("run", "steps", 10**400),
        ("run", "minutes", math.inf),
        ("run", "checkpoint_seconds", 10**400),
        ("run", "log_seconds", True),
        ("learning", "discount", math.nan),
        ("learning", "entropy_weight", math.inf),
        ("learning", "value_weight", 10**400),
        ("learning", "two\nlines\x1b[2J", 1),
        ("environment", "game", ["Pong"]),
        ("environment", "game", {"Pong": "a" * 10**6}),
        ("environment", "episode_cap_frames", 2**31),
        ("environment", "network", "a" * 10**6),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_what_makes_no_sense_is_refused(group, name, value):
    saved = copy.deepcopy(to_dict(Settings()))
    saved[group][name] = value
    with pytest.raises(ConfigError) as refused:
        from_dict(saved)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("saved", [None, [], "", 5, {}, {"environment": None}, {"environment": []}])
def test_what_is_no_settings_is_refused(saved):
    with pytest.raises(ConfigError):
        from_dict(saved)


def test_each_number_has_a_range():
    settings = Settings()
    for group in fields(Settings):
        for name, value in vars(getattr(settings, group.name)).items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if number or name in ("steps", "minutes", "episodes"):
                least, most = RANGES[name]
                assert -10 <= least < most <= 1e15


def test_whole_numbers_may_stand_for_others_and_what_is_missing_has_its_default():
    saved = to_dict(Settings())
    saved["learning"]["discount"] = 1
    del saved["run"]["plot_seconds"]
    read = from_dict(saved)
    assert read.learning.discount == 1
    assert read.run == Settings().run


def test_what_an_older_run_could_leave_out_is_left_out():
    saved = to_dict(Settings())
    saved["learning"]["lag_correction"] = False
    assert from_dict(saved) == Settings()
    saved["learning"]["lag_correction"] = True
    with pytest.raises(ConfigError, match="another version"):
        from_dict(saved)
