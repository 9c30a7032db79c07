"""The settings of a run from its command line: of a new one, or of one that goes on."""

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ga3c import environments
from ga3c.commands import clone_options, full_help, resume_options
from ga3c.commands.command_line import HELP, parse_given, with_values
from ga3c.datasets import folders
from ga3c.environments import own_games, rewards
from ga3c.errors import ConfigError
from ga3c.installation import check_ray
from ga3c.settings import ranges, uses
from ga3c.settings.presets import USUAL_FOR_ATARI, with_presets
from ga3c.settings.run import Settings
from ga3c.tracking import trackers

_FOR_OTHERS = {"network", "own_algorithm"}  # with one of these, an Atari game has the constants of other games
DESCRIPTION = """Trains an agent with GA3C. ./run.sh help lists the other commands."""


@dataclass(frozen=True)
class TrainOptions(Settings):
    """The settings, and what is said of a start alone."""

    trust: bool = False
    """A resumed run or a data set may use the code of a game that it names (package.module:EnvId), and a resumed run
    the cluster that it names, though you have not trained on that here. It is for --resume and --dataset."""


class Start(NamedTuple):
    """A start of training, as the command line asks for it."""

    settings: Settings
    resumed: Path | None  # the directory of the run that goes on; None: the run is new
    given: frozenset[str]  # names of the settings that were given


def parse_settings(arguments: list[str]) -> Start:
    """Parses the flags once, and lays what they say over the defaults: of the preset, or of the run that goes on.

    Raises ConfigError.
    """
    asked = parse_given(TrainOptions, resume_options.with_value(arguments), DESCRIPTION, "train")
    if HELP & set(arguments):
        print(full_help.text_of(TrainOptions(**vars(preset_defaults(asked)))))
        raise SystemExit(0)
    if "start_from" in asked and "resume" not in asked:
        resume_options.take_game(asked)
    if asked.get("dataset"):
        asked["dataset"] = folders.absolute(asked["dataset"])
    trusted = asked.pop("trust", False)
    resumed = resume_options.resumed(asked) if "resume" in asked else None
    if trusted and not resumed and "dataset" not in asked:
        raise ConfigError("--trust is for --resume and --dataset, which run what another has written: leave it out.")
    default = resume_options.saved_settings(resumed) if resumed else preset_defaults(asked, trusted)
    settings, given = clone_options.with_end(with_values(default, asked)), frozenset(asked)
    if resumed:
        resume_options.check_goes_on(settings, default, resumed)
    ranges.check(settings)
    uses.check(settings, default, given, environments.resolve(settings.environment.game)[0] == "atari")
    trackers.check_installed(settings.run.track)
    if settings.schedule.cluster:
        check_ray("--cluster")
    if resumed:
        own_games.check_cluster(settings, resumed, trusted, given)
    own_games.import_all(settings, resumed, trusted, given)
    return Start(settings, resumed, given)


def preset_defaults(asked: dict[str, Any], trusted: bool = False) -> Settings:
    """Returns the defaults of the preset or the algorithm that is asked for; else those of the agent whose weights are
    taken; else those that the game usually has. Rewards are as usual for the game.

    trusted: the user trusts who has written the data set, if one is named.
    """
    return _with_usual_rewards(_of_preset(asked, trusted), asked)


def _of_preset(asked: dict[str, Any], trusted: bool) -> Settings:
    preset = asked.get("preset", asked.get("algorithm"))
    if preset == "clone" and "dataset" in asked:
        return clone_options.defaults(asked, trusted)
    if preset is None and "start_from" in asked:
        preset = resume_options.preset_of(asked["start_from"])
    if preset is None and not _FOR_OTHERS & set(asked) and asked.get("observation") != "ram" and _is_atari(asked):
        preset = USUAL_FOR_ATARI
    return with_presets(Settings(), preset, asked.get("protocol"), asked.get("batch"))


def _is_atari(asked: dict[str, Any]) -> bool:
    with contextlib.suppress(ConfigError):  # there is no such game: that is said where it is looked for
        return environments.resolve(asked.get("game", Settings().environment.game))[0] == "atari"
    return False


def _with_usual_rewards(default: Settings, asked: dict[str, Any]) -> Settings:
    """Puts in what is usual for the rewards of the game, unless something is said of them."""
    if "game" not in asked or rewards.SETTINGS & set(asked):
        return default
    with contextlib.suppress(ConfigError):  # there is no such game: that is said where it is looked for
        named = rewards.usual(replace(default.environment, game=asked["game"]))
        return replace(default, environment=replace(named, game=default.environment.game))
    return default
