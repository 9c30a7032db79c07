"""Users' own games (package.module:EnvId), wrappers, networks and algorithms: when their module may be imported, and
where it is looked for.

Importing a module runs it, and a run's files may come from anybody. So a module is imported only for a game that the
user names, for a run that they trust, and for a game that they have trained on before. The same holds for the other
objects, and for the cluster that a run joins. A file of notes, outside of all runs, has their names and the working
directories of their runs.
"""

import contextlib
import json
import os
import sys
from collections.abc import Collection
from pathlib import Path

from ga3c import environments
from ga3c.environments import gymnasium
from ga3c.errors import ConfigError
from ga3c.settings.game import game_arguments
from ga3c.settings.named_objects import is_name, is_of_no_module
from ga3c.settings.run import Settings


def named(settings: Settings) -> dict[str, str]:
    """Returns the settings that name an object of the user's own, by that name."""
    learning, wrappers = settings.learning, settings.environment.wrapper
    all_named = {settings.environment.game: "game", **dict.fromkeys(wrappers, "wrapper")}
    all_named |= {learning.network: "network", learning.own_algorithm: "own_algorithm"}
    return {name: setting for name, setting in all_named.items() if is_name(name)}


def _arguments(settings: Settings) -> str:
    """Returns the game with the arguments that it is made with, as they are noted; "" if it has none, and for a game of
    no module: whoever loads its run hands it over."""
    game, arguments = settings.environment.game, game_arguments(settings.environment)
    return f"{game} {json.dumps(arguments, sort_keys=True)}" if arguments and not is_of_no_module(game) else ""


def import_all(settings: Settings, run: object = None, trusted: bool = True, given: Collection[str] = ()) -> None:
    """Imports the modules of all objects that settings name: those of a run, if one is given. Raises ConfigError.

    `trusted`, `given`: the user trusts all that the run names, or names these settings themselves.
    """
    environments.resolve(settings.environment.game)
    for name, setting in named(settings).items():
        what = setting.removeprefix("own_")
        if run is None:
            import_named(name, what)
        else:
            import_of_run(name, run, trusted or setting in given, what)
    arguments = _arguments(settings)
    if arguments and run is not None and not (trusted or "environment_arguments" in given or _noted(arguments)):
        raise ConfigError(
            f"{run} makes its game with arguments that no run of yours has had here ({arguments}): they may name files "
            "and programs. Add --trust if you trust it."
        )


def _cluster(settings: Settings) -> str:
    """Returns the cluster that a run joins, as it is noted; "" for none, and for one of this machine alone."""
    where = settings.schedule.cluster
    return f"--cluster: {where}" if where and where != "local" else ""


def check_cluster(settings: Settings, run: object, trusted: bool, given: Collection[str]) -> None:
    """Raises ConfigError where a run names a cluster on which the user has not trained. `trusted`, `given`: as above.

    Whoever joins a cluster shows it their Ray token, and runs there what the cluster's owner likes.
    """
    cluster = _cluster(settings)
    if cluster and not (trusted or "cluster" in given or _noted(cluster)):
        raise ConfigError(
            f"{run} joins the cluster at {settings.schedule.cluster}, on which you have trained no run here. Add "
            "--trust if you trust it, or name a cluster with --cluster."
        )


def _imported(name: str, what: str) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # a module with a network loads TensorFlow, in agents too
    gymnasium.registered(name, what)


def import_named(name: str, what: str = "game") -> None:
    """Imports the module of a game that the user names, if it has one, or of another object (`what`).

    Raises ConfigError if there is no such game.
    """
    environments.resolve(name)
    if ":" in name:
        _look_in(here())
        _imported(name, what)


def import_of_run(name: str, run: object, trusted: bool, what: str = "game") -> None:
    """Imports the module of the game, or of `what`, that a run or a checkpoint names. Raises ConfigError if it is not
    trusted.

    `trusted`: the user says that they trust it, or names the game themselves.
    """
    if ":" not in name:
        return
    environments.resolve(name)
    working, noted = here(), _noted(name)
    if not (noted or trusted or is_of_no_module(name)):
        has, module = "is of" if what == "game" else "has", name.partition(":")[0]
        raise ConfigError(
            f"{run} {has} the {what} '{name}': to play it is to run the module '{module}', on which you have trained "
            "no run here. Add --trust if you trust it."
        )
    for directory in [working] * (working in noted) + noted[::-1] + [working] * trusted:
        _look_in(directory)
    _imported(name, what)


def note_all(settings: Settings, directory: str, given: Collection[str] | None = None) -> None:
    """Notes all objects that settings name, the arguments of the game and the cluster, as `note` does. `given`: only
    what these settings name."""
    named_by = {_arguments(settings): "environment_arguments", _cluster(settings): "cluster"} | named(settings)
    for name, setting in named_by.items():
        if name and (given is None or setting in given):
            note(name, directory)


def note(game: str, directory: str) -> None:
    """Notes that the user trains on this game from a working directory, so that its runs may be played later.

    If the file cannot be written, they can be played with --trust.
    """
    file = _notes()
    if is_name(game) and not is_of_no_module(game) and directory and file and _noted(game)[-1:] != [directory]:
        with contextlib.suppress(OSError):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as opened:
                opened.write(json.dumps([game, directory]) + "\n")


def _noted(game: str) -> list[str]:
    """Returns the working directories noted for a game, the newest last."""
    found = []
    with contextlib.suppress(OSError, AttributeError):  # there is no such file, or no folder for it
        for line in _notes().read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, TypeError):  # an incomplete line
                name, directory = json.loads(line)
                if name == game and os.path.isabs(directory):
                    found.append(directory)
    return found


def _notes() -> Path | None:
    """Returns the file of the notes; None if there is no home. A relative path could lie in somebody else's folder."""
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = state if os.path.isabs(state) else os.path.expanduser("~/.local/state")
    return Path(folder, "ga3c", "games.jsonl") if os.path.isabs(folder) else None


def here() -> str:
    """Returns the working directory; an empty text if it was deleted. Call it before any game's code is loaded."""
    with contextlib.suppress(OSError):
        return os.getcwd()
    return ""


def _look_in(directory: str) -> None:
    """Adds a directory at the end of the module path, so that it hides no package. Agents inherit the path."""
    if directory and directory not in sys.path:
        sys.path.append(directory)
