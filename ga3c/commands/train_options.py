"""The settings of a run from its command line: of a new one, or of one that goes on."""

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ga3c import environments
from ga3c.commands import full_help
from ga3c.commands.command_line import HELP, NEWEST, parse_given, with_values
from ga3c.environments import own_games, rewards
from ga3c.errors import ConfigError
from ga3c.records import run_directory
from ga3c.records.description import read_settings
from ga3c.settings import ranges, uses
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings
from ga3c.text import word

DESCRIPTION = """Trains an agent with GA3C. ./run.sh help lists the other commands."""
OF_A_NEW_RUN = {
    "preset": "--preset",
    "protocol": "--protocol",
    "name": "--name",
    "start_from": "--from",
    "secondary_batch": "--secondary-batch",
}


@dataclass(frozen=True)
class TrainOptions(Settings):
    """The settings, and what is said of a start alone."""

    trust: bool = False
    """A resumed run may use the code of a game that it names (package.module:EnvId), though you have not trained on
    that game here. It is for --resume."""


class Start(NamedTuple):
    """A start of training, as the command line asks for it."""

    settings: Settings
    resumed: Path | None  # the directory of the run that goes on; None: the run is new
    given: frozenset[str]  # names of the settings that were given


def parse_settings(arguments: list[str]) -> Start:
    """Parses the flags once, and lays what they say over the defaults: of the preset, or of the run that goes on.

    Raises ConfigError.
    """
    asked = parse_given(TrainOptions, _resume_with_value(arguments), DESCRIPTION, "train")
    if HELP & set(arguments):
        print(full_help.text_of(TrainOptions(**vars(preset_defaults(asked)))))
        raise SystemExit(0)
    trusted = asked.pop("trust", False)
    resumed = _resumed(asked) if "resume" in asked else None
    if trusted and not resumed:
        raise ConfigError("--trust is for --resume, which runs what another has written: leave it out.")
    default = _saved_settings(resumed) if resumed else _with_usual_rewards(preset_defaults(asked), asked)
    settings, given = with_values(default, asked), frozenset(asked)
    if resumed:
        _check_goes_on(settings, default, resumed)
    ranges.check(settings)
    uses.check(settings, default, given, environments.resolve(settings.environment.game)[0] == "atari")
    if resumed:
        own_games.import_of_run(settings.environment.game, resumed, trusted or "game" in given)
    else:
        own_games.import_named(settings.environment.game)
    return Start(settings, resumed, given)


def preset_defaults(asked: dict[str, Any]) -> Settings:
    """Returns the defaults of the preset, or else of the algorithm, that is asked for."""
    preset = asked.get("preset", asked.get("algorithm"))
    return with_presets(Settings(), preset, asked.get("protocol"), asked.get("batch"))


def _with_usual_rewards(default: Settings, asked: dict[str, Any]) -> Settings:
    """Puts in what is usual for the rewards of the game, unless something is said of them."""
    if "game" not in asked or rewards.SETTINGS & set(asked):
        return default
    with contextlib.suppress(ConfigError):  # there is no such game: that is said where it is looked for
        named = rewards.usual(replace(default.environment, game=asked["game"]))
        return replace(default, environment=replace(named, game=default.environment.game))
    return default


def _resumed(asked: dict[str, Any]) -> Path:
    """Returns the directory of the run that goes on. Raises ConfigError."""
    for name, flag in OF_A_NEW_RUN.items():
        if name in asked:
            raise ConfigError(f"{flag} belongs to the start of a run: with --resume, leave it out.")
    run_dir = run_directory.find(with_values(Settings(), asked))
    if run_directory.is_exported(run_dir):
        raise ConfigError(
            f"{run_dir} is an exported agent, not a run: --from {word(run_dir)} begins a new run with its weights."
        )
    if run_directory.is_secondary(run_dir):
        raise ConfigError(f"{run_dir} goes on with the run that it is in: --resume {word(run_dir.parent)}")
    return run_dir


def _saved_settings(run_dir: Path) -> Settings:
    """Returns the settings of a run, without its limits: those are of each start. Raises ConfigError."""
    saved = read_settings(run_dir)
    return replace(saved, run=replace(saved.run, steps=None, minutes=None, episodes=None))


def _check_goes_on(settings: Settings, saved: Settings, run_dir: Path) -> None:
    """Raises ConfigError where a run would go on with another game than its own."""
    asked, own = settings.environment, saved.environment
    if environments.resolve(asked.game) != environments.resolve(own.game):
        raise ConfigError(f"The run in {run_dir} is of {own.game}, not of {asked.game}: leave --game out.")
    if asked.adapt_spaces != own.adapt_spaces:
        raise ConfigError(
            f"The run in {run_dir} has learned {'with' if own.adapt_spaces else 'without'} "
            "--adapt-spaces, and can go on so alone: leave the flag out."
        )


def _resume_with_value(arguments: list[str]) -> list[str]:
    """--resume without a value means the newest run."""
    if "--resume" in arguments:
        after = arguments.index("--resume") + 1
        if after == len(arguments) or arguments[after].startswith("-"):
            return [*arguments[:after], NEWEST, *arguments[after:]]
    return arguments
