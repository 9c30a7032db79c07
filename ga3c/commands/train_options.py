"""The settings of a run from its command line: of a new one, or of one that goes on."""

import contextlib
from dataclasses import dataclass, fields, replace
from pathlib import Path

from ga3c import environments
from ga3c.commands import full_help
from ga3c.commands.command_line import NEWEST, parse, value_of, whole_number
from ga3c.environments import own_games, rewards
from ga3c.errors import ConfigError
from ga3c.records import run_directory
from ga3c.records.description import read_settings
from ga3c.settings import ranges, uses
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings
from ga3c.text import word

DESCRIPTION = """Trains an agent with GA3C. ./run.sh help lists the other commands."""


@dataclass(frozen=True)
class TrainOptions(Settings):
    """The settings, and what is said of a start alone."""

    trust: bool = False
    """A resumed run may use the code of a game that it names (package.module:EnvId), though you have not trained on
    that game here. It is for --resume."""


def _parse(arguments: list[str], default: Settings) -> tuple[Settings, bool]:
    """Settings, and whether --trust is given."""
    options = parse(TrainOptions, arguments, TrainOptions(**vars(default)), DESCRIPTION, "train")
    return Settings(**{name: getattr(options, name) for name in vars(default)}), options.trust


def parse_settings(arguments: list[str]) -> tuple[Settings, Path | None]:
    """Settings from the command line, and the run to go on with, if any. Raises ConfigError."""
    arguments = _resume_with_value(arguments)
    resume = value_of("--resume", arguments)
    preset = value_of("--preset", arguments) or value_of("--algorithm", arguments)  # their constants' name, too
    protocol = value_of("--protocol", arguments)
    default = with_presets(Settings(), preset, protocol, whole_number(value_of("--batch", arguments)))
    if {"--help", "-h"} & set(arguments):
        print(full_help.text_of(TrainOptions(**vars(default))))
        raise SystemExit(0)
    if resume is None:
        default = _with_usual_rewards(default, arguments)
        settings, trusted = _parse(arguments, default)
        run_dir = None
        if trusted:
            raise ConfigError("--trust is for --resume, which runs what another has written: leave it out.")
    else:
        for flag in ("--preset", "--protocol", "--name", "--from", "--secondary-batch"):
            if value_of(flag, arguments) is not None:
                raise ConfigError(f"{flag} belongs to the start of a run: with --resume, leave it out.")
        wanted, _ = _parse(arguments, Settings())
        run_dir = run_directory.find(wanted)
        if run_directory.is_exported(run_dir):
            raise ConfigError(
                f"{run_dir} is an exported agent, not a run: --from {word(run_dir)} begins a new run with its weights."
            )
        if run_directory.is_secondary(run_dir):
            raise ConfigError(f"{run_dir} goes on with the run that it is in: --resume {word(run_dir.parent)}")
        saved = read_settings(run_dir)
        fresh = replace(saved.run, steps=None, minutes=None, episodes=None)
        default = replace(saved, run=fresh)
        settings, trusted = _parse(arguments, default)
        if environments.resolve(settings.environment.game) != environments.resolve(saved.environment.game):
            games = f"{saved.environment.game}, not of {settings.environment.game}"
            raise ConfigError(f"The run in {run_dir} is of {games}: leave --game out.")
        if settings.environment.adapt_spaces != saved.environment.adapt_spaces:
            raise ConfigError(
                f"The run in {run_dir} has learned {'with' if saved.environment.adapt_spaces else 'without'} "
                "--adapt-spaces, and can go on so alone: leave the flag out."
            )
    ranges.check(settings)
    is_atari = environments.resolve(settings.environment.game)[0] == "atari"
    uses.check(settings, default, given(arguments), is_atari)
    if run_dir is None:
        own_games.import_named(settings.environment.game)
    else:
        named = value_of("--game", arguments) is not None
        own_games.import_of_run(settings.environment.game, run_dir, trusted or named)
    return settings, run_dir


def given(arguments: list[str]) -> set[str]:
    """Names of the settings whose flags are among the arguments."""
    words = {word.partition("=")[0].removeprefix("--").replace("_", "-") for word in arguments if word.startswith("--")}
    names = {field.name for group in vars(Settings()).values() for field in fields(group)}
    return {name for name in names if {name.replace("_", "-"), "no-" + name.replace("_", "-")} & words}


def _with_usual_rewards(default: Settings, arguments: list[str]) -> Settings:
    """Who says one thing of the rewards says all: nothing else happens to them then."""
    game = value_of("--game", arguments)
    if game is None or any(value_of(flag, arguments) is not None for flag in rewards.FLAGS):
        return default
    with contextlib.suppress(ConfigError):  # there is no such game: that is said where it is looked for
        named = rewards.usual(replace(default.environment, game=game))
        return replace(default, environment=replace(named, game=default.environment.game))
    return default


def _resume_with_value(arguments: list[str]) -> list[str]:
    """--resume without a value means the newest run."""
    if "--resume" in arguments:
        after = arguments.index("--resume") + 1
        if after == len(arguments) or arguments[after].startswith("--"):
            return [*arguments[:after], NEWEST, *arguments[after:]]
    return arguments
