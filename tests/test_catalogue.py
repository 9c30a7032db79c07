"""The catalogue of algorithms: its rows are true, and the README's table is made of it."""

from dataclasses import fields
from pathlib import Path

import pytest

from ga3c import algorithms
from ga3c.commands import help
from ga3c.rollout import continuous, discrete
from ga3c.settings import catalogue
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings

EACH = pytest.mark.parametrize("name", catalogue.ALGORITHMS)
SETTINGS = {setting.name for group in vars(Settings()).values() for setting in fields(group)}


@EACH
def test_what_a_row_says_of_the_class_is_so(name):
    row = catalogue.ALGORITHMS[name]
    actions = discrete(2) if "discrete" in row.actions else continuous([-1.0], [1.0])
    made = algorithms.make(with_presets(Settings(), name, None), actions)
    if row.presets:
        assert (made.replays, algorithms.learns_at_once(made)) == (row.replays, row.learns_at_once)


@EACH
def test_a_row_names_settings_that_there_are(name):
    row = catalogue.ALGORITHMS[name]
    assert set(row.settings) <= SETTINGS
    assert {name for one in row.presets for group in (one.learning, one.schedule) for name in group} <= SETTINGS
    assert not [one for one in row.presets if one.replay and not row.replays]


def test_the_readme_has_the_table():
    assert catalogue.table() in Path(__file__).parent.parent.joinpath("ga3c", "algorithms", "README.md").read_text()


def test_the_help_says_what_the_catalogue_says():
    texts = {name: text for group in fields(Settings) for name, text in help.texts(group.default_factory).items()}
    assert texts["ppo_clip"].endswith("It is for ppo and appo.")
    assert texts["exploration"].splitlines()[0].endswith("It is for pqn, dqn and c51.")
    assert texts["device_updates"].endswith("It works with a2c, a2c-vtrace, ppo, dqn and c51.")
    assert "It is for" not in texts["discount"]
    for row in catalogue.ALGORITHMS.values():
        assert f"\n{row.name}: {row.text}" in texts["algorithm"]
