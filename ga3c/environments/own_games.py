"""Games of one's own (package.module:EnvId): when their module may be imported, and where it is looked for.

To import a module is to run it, and what a run's files name may come from anybody. So it is imported for a game that a
person names, for a run that they say they trust, and for a run of a game that they have trained on before: of those a
note is kept, outside of all runs, that says where the person stood.
"""

import contextlib
import json
import os
import sys
from pathlib import Path

from ga3c import environments
from ga3c.environments import gymnasium
from ga3c.errors import ConfigError


def import_named(game: str) -> None:
    """For a game that a person names, one's own or any other. Raises ConfigError where there is none of this name."""
    environments.resolve(game)
    if ":" in game:
        _look_in(here())
        gymnasium.registered(game)


def import_of_run(game: str, run: object, trusted: bool) -> None:
    """For the game that a run, or a checkpoint, names; `trusted`: the person says so, or names the game themselves.

    Raises ConfigError.
    """
    if ":" not in game:
        return
    environments.resolve(game)
    stands, noted = here(), _noted(game)
    if not noted and not trusted:
        raise ConfigError(
            f"{run} is of the game '{game}': to play it is to run the module '{game.partition(':')[0]}', on which you "
            "have trained no run here. Add --trust if you trust it."
        )
    for place in [stands] * (stands in noted) + noted[::-1] + [stands] * trusted:
        _look_in(place)
    gymnasium.registered(game)


def note(game: str, place: str) -> None:
    """That a person trains on this game, and from which `place`: its runs may be played from now on.

    Where nothing can be written, they are played with --trust.
    """
    file = _notes()
    if ":" in game and place and file and _noted(game)[-1:] != [place]:
        with contextlib.suppress(OSError):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as opened:
                opened.write(json.dumps([game, place]) + "\n")


def _noted(game: str) -> list[str]:
    """The directories that a game was found from, the newest last."""
    found = []
    with contextlib.suppress(OSError, AttributeError):  # there is no such file, or no place for it
        for line in _notes().read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, TypeError):  # half a line
                name, directory = json.loads(line)
                if name == game and os.path.isabs(directory):
                    found.append(directory)
    return found


def _notes() -> Path | None:
    """The file of the notes; None: there is no home. A relative path would be one below a stranger's directory."""
    state = os.environ.get("XDG_STATE_HOME", "")
    place = state if os.path.isabs(state) else os.path.expanduser("~/.local/state")
    return Path(place, "ga3c", "games.jsonl") if os.path.isabs(place) else None


def here() -> str:
    """Where the person stands, before any game's code is loaded; empty: the directory is gone."""
    with contextlib.suppress(OSError):
        return os.getcwd()
    return ""


def _look_in(directory: str) -> None:
    """Last, so that nothing there takes a package's place. Agents look where the server does."""
    if directory and directory not in sys.path:
        sys.path.append(directory)
