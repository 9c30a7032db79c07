"""Settings as config.json and checkpoints hold them, checked when they are read; and as flags of `train`."""

import reprlib
from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Literal, get_args, get_origin, get_type_hints

from ga3c.errors import ConfigError
from ga3c.settings import flag_of
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.presets import with_presets
from ga3c.settings.ranges import check
from ga3c.settings.run import Settings

# Settings of older runs that no longer exist, with the value that had no effect.
_GONE = [("learning", "lag_correction", False)]
_RENAMED = [("learning", "preset", "default", "ga3c")]
_LATER = {"replay": {}}  # groups of settings that older runs do not have, and what they stand for
# Settings that older runs of Gymnasium games do not have.
_BEFORE = {"adapt_spaces": False, "observation": "flat", "action_masks": False}


def to_dict(settings: Settings) -> dict[str, dict]:
    """Returns settings as plain nested dictionaries, for config.json."""
    return asdict(settings)


def from_dict(saved: dict[str, dict], protocol: str | None = None) -> Settings:
    """Returns the settings that `to_dict` has made a dictionary of.

    protocol: the fingerprint of the rules that is saved beside them.

    Raises ConfigError where a name or a value is unknown: another version has written it.
    """
    groups = {}
    for group in fields(Settings):
        try:
            values = {k: v for k, v in (_LATER | saved)[group.name].items() if (group.name, k, v) not in _GONE}
            values |= {k: new for g, k, old, new in _RENAMED if g == group.name and values.get(k) == old}
            if group.name == "environment" and (protocol or "").startswith("gymnasium"):
                values = _BEFORE | values
            values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
            groups[group.name] = made = group.default_factory(**values)
            for name, kind in get_type_hints(type(made)).items():
                if not _is(getattr(made, name), kind):
                    raise TypeError(f"{name} is {reprlib.repr(getattr(made, name))}")
        except (AttributeError, KeyError, TypeError) as error:
            raise ConfigError(f"These settings were written by another version of ga3c ({error}).") from error
    settings = Settings(**groups)
    check(settings)
    return settings


def _is(value, kind) -> bool:
    """Returns True if a value is of a field's type. Whole numbers count as floats, too."""
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_is(one, get_args(kind)[0]) for one in value)
    if get_args(kind):
        return any(_is(value, one) for one in get_args(kind))
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float if kind is float else kind)


def flags_of(settings: Settings, of_game: Callable[[EnvironmentSettings], EnvironmentSettings]) -> list[str]:
    """Returns the flags of `train` for all settings that differ from those of preset and game, without RunSettings.

    of_game: `environments.rewards.usual`.
    """
    learning, environment = settings.learning, settings.environment
    names = learning.preset, environment.protocol
    own, usual = with_presets(Settings(), *names), with_presets(Settings(), *names, settings.replay.batch)
    usual = replace(
        usual,
        environment=replace(of_game(replace(usual.environment, game=environment.game)), game="", protocol="paper"),
        learning=replace(usual.learning, preset=""),  # is always said
        replay=replace(usual.replay, batch=own.replay.batch),
        run=settings.run,
    )
    return to_flags(settings, usual)


def to_flags(options, default) -> list[str]:
    """Returns the flags that turn `default` into `options`, group by group."""
    flags = []
    for field in fields(options):
        value, usual = getattr(options, field.name), getattr(default, field.name)
        if is_dataclass(value):
            flags += to_flags(value, usual)
        elif value != usual and isinstance(value, bool):
            flags.append(flag_of(field.name if value else f"no_{field.name}"))
        elif value != usual:
            flags += [flag_of(field.name), *map(str, value if isinstance(value, tuple) else (value,))]
    return flags
