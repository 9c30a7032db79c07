"""The directory of a run: results/GAME/START-TIME/, with config.json, logs, checkpoints and plot."""

import contextlib
import itertools
import json
import os
import re
import stat
import time
from pathlib import Path

from ga3c import environments, installation
from ga3c.environments import atari, parallel_names
from ga3c.errors import ConfigError
from ga3c.records.columns import LOGS
from ga3c.records.description import describe, read_settings, resumed
from ga3c.records.files import PARTIAL, make_directory, reason, remove, sync_directory, write_whole
from ga3c.records.lock import LOCK, hold
from ga3c.settings.run import RunSettings, Settings
from ga3c.text import word

SECONDARY = "secondary"  # directory in a run: the run of the second network that learns from its replay
GAME_OUTPUT = "game-output.txt"  # what games print, where that is much
# The files that a run opens to write into; all others it replaces as a whole.
FILES = (LOCK, *(f"{log}.csv" for log in LOGS), GAME_OUTPUT)
DIRECTORIES = ("checkpoints", "tensorboard", "tracking", SECONDARY)
OWN = (*FILES[1:], "checkpoints", "tensorboard")  # where a run adds and removes: a new one finds nothing there
RESULTS = installation.results()
# Agents that come with the program: GAME/, laid out as a run. A package has them within.
PRETRAINED = (installation.SOURCES / "ga3c" if installation.IS_INSTALLED else RESULTS) / "pretrained"


def game_directory(game: str) -> Path:
    """Returns results/GAME for any spelling of the game. Raises ConfigError for an unknown one."""
    kind, name = environments.resolve(game)
    plain = atari.display_name(name) if kind == "atari" else parallel_names.shown_name(name)
    return RESULTS / (plain if kind == "atari" else re.sub(r"^\.+|[^\w.-]", "-", plain))


def check_apart(names: list[str]) -> None:
    """Raises ConfigError where two of these names of directories are the same, as those of two games may be."""
    if doubled := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"Two of them have the name {doubled[0]}: make them apart, or name a game otherwise.")


def create(settings: Settings) -> Path:
    """Makes the directory of a new run. Raises ConfigError if there is a run already, files that a run would take for
    its own, or if nothing can be written."""
    of_game, name = game_directory(settings.environment.game), settings.run.name
    if name is not None and not re.fullmatch(r"\w[\w.+=-]*", name):
        raise ConfigError(f"--name {name!r}: give it a name of letters, digits and _.+=-, which begins with a letter.")
    named = settings.run.run_dir or (of_game / name if name else None)
    path = Path(named or of_game / time.strftime("%Y-%m-%d_%H-%M-%S"))
    if (path / "config.json").exists() and named:
        raise ConfigError(
            f"There is a run in {path} already: --resume {word(path)} goes on with it; or give another name."
        )
    made = False
    try:
        if not named:
            path, made = _make_new(path), True
        elif path.is_dir():
            _check_free(path)
        else:
            made = True
            make_directory(path)
        lock(path, settings.run)
        write_whole(path / "config.json", json.dumps(describe(settings), indent=2) + "\n")
    except (OSError, MemoryError, ConfigError) as error:
        with contextlib.suppress(OSError):  # it is not empty: it stays
            if made:
                (path / LOCK).unlink(missing_ok=True)
                path.rmdir()
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"Cannot write to {path}: {reason(error)}.") from error
    return path


def _check_free(path: Path) -> None:
    """Raises ConfigError if a file lies in a directory that a run would take for its own."""
    for name in OWN:
        one = path / name
        if any(one.iterdir()) if one.is_dir() else one.exists():
            raise ConfigError(f"There is {name} in {path}, which a run would take for its own: name another directory.")


def _make_new(path: Path) -> Path:
    """Makes a directory that was not there before: two starts in the same second get one each."""
    if not path.parent.is_dir():
        make_directory(path.parent)
    for number in itertools.count(2):
        with contextlib.suppress(FileExistsError):
            path.mkdir()
            sync_directory(path.parent)
            return path
        path = path.with_name(f"{path.name.partition('+')[0]}+{number}")
    raise AssertionError


def go_on(path: Path, settings: Settings) -> str:
    """Takes the directory of a resumed run and writes its config.json anew. Returns the old content.

    Raises ConfigError.
    """
    try:
        lock(path, settings.run)
        for folder in (path, path / "tracking", path / SECONDARY):
            for left in folder.glob(f".*{PARTIAL}"):  # by a program that was killed
                remove(left)
        before = (path / "config.json").read_text()
        write_whole(path / "config.json", json.dumps(resumed(path, settings), indent=2) + "\n")
    except (OSError, MemoryError) as error:
        raise ConfigError(f"Cannot write to {path}: {reason(error)}.") from error
    return before


def take_back(path: Path, before: str) -> None:
    """Puts back the settings of a run whose resume was refused. `before`: what `go_on` returned."""
    with contextlib.suppress(OSError, MemoryError):
        write_whole(path / "config.json", before)


def check_secondary(path: Path) -> None:
    """Raises ConfigError if the secondary learner's run in this run belongs to another one."""
    own, found = (read_settings(one) for one in (path, path / SECONDARY))
    for name, ours, theirs in (
        ("game", own.environment.game, found.environment.game),
        ("seed", own.learning.seed, found.learning.seed),
    ):
        if ours != theirs:
            raise ConfigError(
                f"{path / SECONDARY} belongs to another run: its {name} is {theirs}, that of {path} is {ours}. "
                "Move it away, and put the one in its place that belongs there."
            )


def is_secondary(path: Path) -> bool:
    """Returns whether this is the run of a secondary learner, which goes on with the run that it is in."""
    return path.resolve().name == SECONDARY and (path.resolve().parent / "config.json").exists()


def name(path: Path) -> str:
    """Returns the name of a run, by its directory."""
    return f"{path.resolve().parent.name}-{path.name}" if is_secondary(path) else path.name


def is_shipped(path: Path) -> bool:
    """Returns whether this is an agent that comes with the program."""
    return path.parent.name == PRETRAINED.name


def is_exported(path: Path) -> bool:
    """Returns whether this is an exported agent, not a run."""
    return (path / "evaluation.json").exists() and not (path / "throughput.csv").exists()


def lock(path: Path, limits: RunSettings) -> None:
    """Locks the directory, as `lock.hold`. Raises ConfigError, also if a file there is a link."""
    _check_files(path)
    hold(path, limits)


def _check_files(path: Path) -> None:
    """Raises ConfigError if a link would lead what a run writes somewhere else."""
    for name in (*FILES, *DIRECTORIES):
        try:
            status = os.lstat(path / name)
        except OSError:  # it is not there
            continue
        kind, right = ("directory", stat.S_ISDIR) if name in DIRECTORIES else ("file", stat.S_ISREG)
        if not right(status.st_mode) or (name in FILES and status.st_nlink > 1):
            raise ConfigError(
                f"{path / name} is a link, or no {kind}: a run writes to what is its own alone. "
                "Remove it, or copy the run and go on with the copy."
            )


def discard(path: Path) -> None:
    """Takes back `create` for a run that never began, as far as the disk allows."""
    for name in ("config.json", *FILES):
        with contextlib.suppress(OSError):
            remove(path / name)
    with contextlib.suppress(OSError):
        for events in (path / "tensorboard").glob("events.out.tfevents.*"):
            remove(events)
    for empty in (path / "tensorboard", path):
        with contextlib.suppress(OSError):  # other files are in it: they stay
            empty.rmdir()
