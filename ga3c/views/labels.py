"""Labels of runs beside each other: the name, and the settings in which they differ."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ga3c.environments import rewards
from ga3c.errors import ConfigError
from ga3c.records import description, run_directory
from ga3c.records.description import read_settings
from ga3c.settings import saved_settings
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings
from ga3c.text import one_line

GROUPS = ("environment", "schedule", "learning", "replay")  # the rest is about files and limits
MOST_SETTINGS = 3  # in a label


class Known(NamedTuple):
    """The facts known of a run; if it cannot be read, those that its path tells."""

    game: str
    name: str
    settings: dict[str, object]  # of GROUPS, without the game, and without a seed that was drawn
    changed: dict[str, object]  # of these, what differs from the defaults

    def without_seed(self) -> "Known":
        settings, changed = ({k: v for k, v in of.items() if k != "seed"} for of in (self.settings, self.changed))
        return self._replace(settings=settings, changed=changed)


def know(run: Path) -> Known:
    try:
        settings = read_settings(run)
        game = run_directory.game_directory(settings.environment.game).name
    except ConfigError:
        return Known(one_line(run.parent.name), one_line(run.name), {}, {})
    name = settings.run.name or run_directory.name(run)
    found = Known(game, one_line(name), _flat(settings), changed(settings))
    return found if _seed_was_given(run) else found.without_seed()


def changed(settings: Settings) -> dict[str, object]:
    """Returns the settings that differ from the defaults: the preset or protocol, and what differs from that."""
    preset, protocol = settings.learning.preset, settings.environment.protocol
    plain, defaults = _flat(Settings()), with_presets(Settings(), preset, protocol)
    environment = rewards.usual(replace(defaults.environment, game=settings.environment.game))
    usual = _flat(replace(defaults, environment=environment))
    named = {"preset": preset, "protocol": protocol}
    found = {name: value for name, value in named.items() if value != plain[name]}
    return found | {name: value for name, value in _flat(settings).items() if value != usual[name]}


def _flat(settings: Settings) -> dict[str, object]:
    groups = saved_settings.to_dict(settings)
    return {name: value for group in GROUPS for name, value in groups[group].items() if name != "game"}


def _seed_was_given(run: Path) -> bool:
    """Not known: it was."""
    try:
        return any("--seed" in str(word) for word in description.read(run)["command"])
    except (ConfigError, KeyError, TypeError):
        return True


def said(settings: dict[str, object], most: int | None = None) -> str:
    """As text: t_max 5, seed 3."""
    words = [f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in settings.items()]
    return one_line(", ".join(words[:most] + ["..."] * (most is not None and len(words) > most)))


def labels(runs: list[Known]) -> list[str]:
    """A label for each that none of the others has."""
    games = len({run.game for run in runs}) > 1
    names = dict.fromkeys(name for run in runs for name in run.settings)
    differ = [name for name in names if len({repr(run.settings[name]) for run in runs if name in run.settings}) > 1]
    plain = []
    for run in runs:
        settings = said({name: run.settings[name] for name in differ if name in run.settings}, MOST_SETTINGS)
        plain.append((f"{run.game} {run.name}" if games else run.name) + f": {settings}" * bool(settings))
    before = [plain[:index].count(label) for index, label in enumerate(plain)]
    return [f"{label} ({count + 1})" if count else label for label, count in zip(plain, before, strict=True)]
