"""Settings as files hold them."""

import copy
import json

import pytest

from ga3c.errors import ConfigError
from ga3c.settings.run import Settings
from ga3c.settings.saved import from_dict, to_dict


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
    ],
)
def test_what_makes_no_sense_is_refused(group, name, value):
    saved = copy.deepcopy(to_dict(Settings()))
    saved[group][name] = value
    with pytest.raises(ConfigError):
        from_dict(saved)


def test_whole_numbers_may_stand_for_others_and_what_is_missing_has_its_default():
    saved = to_dict(Settings())
    saved["learning"]["discount"] = 1
    del saved["run"]["plot_seconds"]
    read = from_dict(saved)
    assert read.learning.discount == 1
    assert read.run == Settings().run
