"""--resume: which run goes on, with which settings, and what may not be said of it."""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ga3c import environments
from ga3c.commands.command_line import NEWEST, with_values
from ga3c.errors import ConfigError
from ga3c.records import checkpoint, chosen_runs, run_directory
from ga3c.records.checkpoint_meta import from_meta
from ga3c.records.description import read_settings
from ga3c.settings import named_objects
from ga3c.settings.run import Settings
from ga3c.text import word

OF_A_NEW_RUN = {
    "preset": "--preset",
    "protocol": "--protocol",
    "name": "--name",
    "start_from": "--from",
    "secondary_batch": "--secondary-batch",
}


def resumed(asked: dict[str, Any]) -> Path:
    """Returns the directory of the run that goes on. Raises ConfigError."""
    for name, flag in OF_A_NEW_RUN.items():
        if name in asked:
            raise ConfigError(f"{flag} belongs to the start of a run: with --resume, leave it out.")
    if "run_dir" in asked and asked["resume"] != NEWEST:
        raise ConfigError(f"--run-dir is for a new run: --resume goes on in {asked['resume']}. Leave it out.")
    run_dir = chosen_runs.find(with_values(Settings(), asked).run, asked.get("game"))
    if run_directory.is_exported(run_dir):
        raise ConfigError(
            f"{run_dir} is an exported agent, not a run: --from {word(run_dir)} begins a new run with its weights."
        )
    if run_directory.is_secondary(run_dir):
        raise ConfigError(f"{run_dir} goes on with the run that it is in: --resume {word(run_dir.parent)}")
    return run_dir


def saved_settings(run_dir: Path) -> Settings:
    """Returns the settings of a run, without its limits: those are of each start. Raises ConfigError."""
    saved = read_settings(run_dir)
    return replace(saved, run=replace(saved.run, steps=None, minutes=None, episodes=None))


def take_game(asked: dict[str, Any]) -> None:
    """Puts in the game of the agent that --from names, where no game and no data set is named. Raises ConfigError, also
    where there is no such agent."""
    agent = asked["start_from"]
    is_run = os.path.isfile(os.path.join(agent, "config.json"))
    if not is_run and not os.path.isfile(agent):
        raise ConfigError(f"--from {agent}: there is no such run or checkpoint.")
    if "game" in asked or "dataset" in asked:
        return
    path = Path(agent)
    known = read_settings(path) if is_run else from_meta(checkpoint.load(path)[1], path).settings
    if named_objects.is_name(known.environment.game):
        raise ConfigError(f"--from {agent} is an agent of {known.environment.game}: name the game, too, with --game.")
    asked["game"] = known.environment.game


def preset_of(agent: str) -> str | None:
    """Returns the preset with which a run or a checkpoint was trained; None if it cannot be read, and for a clone of
    recorded games alone, which have none."""
    preset = None
    with suppress(ConfigError):
        if Path(agent).is_dir():
            preset = read_settings(chosen_runs.existing(agent)).learning.preset
        else:
            preset = from_meta(checkpoint.load(Path(agent))[1], Path(agent)).settings.learning.preset
    return None if preset == "clone" else preset


def check_goes_on(settings: Settings, saved: Settings, run_dir: Path) -> None:
    """Raises ConfigError where a run would go on with another game than its own."""
    asked, own = settings.environment, saved.environment
    if environments.resolve(asked.game) != environments.resolve(own.game):
        raise ConfigError(f"The run in {run_dir} is of {own.game}, not of {asked.game}: leave --game out.")
    if asked.adapt_spaces != own.adapt_spaces:
        raise ConfigError(
            f"The run in {run_dir} has learned {'with' if own.adapt_spaces else 'without'} "
            "--adapt-spaces, and can go on only in that way: leave the flag out."
        )


def with_value(arguments: list[str]) -> list[str]:
    """--resume without a value means the newest run."""
    if "--resume" in arguments:
        after = arguments.index("--resume") + 1
        if after == len(arguments) or arguments[after].startswith("-"):
            return [*arguments[:after], NEWEST, *arguments[after:]]
    return arguments
