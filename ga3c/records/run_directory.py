"""Where runs lie: results/GAME/START-TIME/, with config.json, logs, checkpoints and plot in it."""

import contextlib
import itertools
import json
import os
import re
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from ga3c import environments
from ga3c.environments import atari
from ga3c.errors import ConfigError
from ga3c.records.columns import LOGS
from ga3c.records.description import describe, read_settings, resumed
from ga3c.records.files import make_directory, reason, remove, sync_directory, write_whole
from ga3c.records.lock import LOCK, hold
from ga3c.settings.run import RunSettings, Settings
from ga3c.text import place, word

SECONDARY = "secondary"  # in a run: the run of a network that learns from its replay, too
GAME_OUTPUT = "game-output.txt"  # what games print, where that is much
# What a run opens to write into it, where it lies; all else that it writes takes the place of what was there.
FILES = (LOCK, *(f"{log}.csv" for log in LOGS), GAME_OUTPUT)
DIRECTORIES = ("checkpoints", "tensorboard", SECONDARY)
RESULTS = Path(__file__).resolve().parents[2] / "results"
PRETRAINED = RESULTS / "pretrained"  # agents that come with the program: GAME/, laid out as a run


def game_directory(game: str) -> Path:
    """results/GAME for any spelling of the game. Raises ConfigError for an unknown one."""
    kind, name = environments.resolve(game)
    name = atari.display_name(name) if kind == "atari" else re.sub(r"^\.+|[^\w.-]", "-", name.rpartition(":")[2])
    return RESULTS / name


def create(settings: Settings) -> Path:
    """Makes the directory of a new run. Raises ConfigError where a run lies already or nothing can be written."""
    of_game, name = game_directory(settings.environment.game), settings.run.name
    if name is not None and not re.fullmatch(r"\w[\w.+=-]*", name):
        raise ConfigError(f"--name {name!r}: give it a name of letters, digits and _.+=-, which begins with a letter.")
    named = settings.run.run_dir or (of_game / name if name else None)
    path = Path(named or of_game / time.strftime("%Y-%m-%d_%H-%M-%S"))
    if (path / "config.json").exists() and named:
        raise ConfigError(
            f"There is a run in {path} already: --resume {word(path)} goes on with it; or give another name."
        )
    made = not (named and path.is_dir())
    try:
        if not named:
            path = _make_new(path)
        elif made:
            make_directory(path)
        lock(path, settings.run)
        write_whole(path / "config.json", json.dumps(describe(settings), indent=2) + "\n")
    except (OSError, MemoryError, ConfigError) as error:
        with contextlib.suppress(OSError):  # something lies there: then it stays
            if made:
                path.rmdir()
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"Cannot write to {path}: {reason(error)}.") from error
    return path


def _make_new(path: Path) -> Path:
    """A directory that was not there before: of two starts in the same second each gets its own."""
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
    """Takes the directory of a run that is resumed, and writes down what was asked for, in the place of what it
    returns. Raises ConfigError."""
    try:
        lock(path, settings.run)
        before = (path / "config.json").read_text()
        write_whole(path / "config.json", json.dumps(resumed(path, settings), indent=2) + "\n")
    except (OSError, MemoryError) as error:
        raise ConfigError(f"Cannot write to {path}: {reason(error)}.") from error
    return before


def take_back(path: Path, before: str) -> None:
    """Of a resume that was refused: its settings are not the run's. `before`: what `go_on` returned."""
    with contextlib.suppress(OSError, MemoryError):
        write_whole(path / "config.json", before)


def check_secondary(path: Path) -> None:
    """Raises ConfigError where the run of a secondary learner that lies in this run belongs to another one."""
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
    """The run of a secondary learner, which goes on with the run that it is in."""
    return path.resolve().name == SECONDARY and (path.resolve().parent / "config.json").exists()


def name(path: Path) -> str:
    """What to call a run by where it lies."""
    return f"{path.resolve().parent.name}-{path.name}" if is_secondary(path) else path.name


def is_exported(path: Path) -> bool:
    """An agent that was exported, not a run."""
    return (path / "evaluation.json").exists() and not (path / "throughput.csv").exists()


def lock(path: Path, limits: RunSettings) -> None:
    """As `lock.hold`. Raises ConfigError, also where a file there is a link."""
    _check_files(path)
    hold(path, limits)


def _check_files(path: Path) -> None:
    """Raises ConfigError where what a run writes would end somewhere else."""
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
    """Takes back `create`, for a run that never began, as far as the disk lets it: what is wrong is said elsewhere."""
    for name in ("config.json", *FILES):
        with contextlib.suppress(OSError):
            remove(path / name)
    with contextlib.suppress(OSError):
        for events in (path / "tensorboard").glob("events.out.tfevents.*"):
            remove(events)
    for empty in (path / "tensorboard", path):
        with contextlib.suppress(OSError):  # not ours alone: leave what lies there
            empty.rmdir()


def find(settings: Settings) -> Path:
    """The run that --resume means: the one named, else the newest of the game. Raises ConfigError."""
    named = settings.run.run_dir if settings.run.resume == "newest" else settings.run.resume
    if named is not None:
        return existing(named)
    try:
        return newest(settings.environment.game)
    except ConfigError:  # one that came to no checkpoint begins anew
        return newest(settings.environment.game, with_checkpoint=False)


def existing(path: str) -> Path:
    """The directory of a run. Raises ConfigError if there is no run in it."""
    if not (Path(path) / "config.json").is_file():
        where = place(Path(path))
        raise ConfigError(f"There is no run in {where} (no config.json there): name its directory, or --game GAME.")
    return Path(path)


def chosen(path: str | None, game: str | None, with_checkpoint: bool = True) -> Path:
    """The run in a directory, or without one the newest run of the game. Raises ConfigError if there is none."""
    return existing(path) if path else newest(game, with_checkpoint)


def below(results: Path) -> Iterable[Path]:
    """All runs in results/GAME/RUN, and those of their secondary learners. Raises OSError."""
    for pattern in ("*/*", f"*/*/{SECONDARY}"):
        yield from (path.parent for path in results.glob(f"{pattern}/config.json"))


def newest(game: str | None, with_checkpoint: bool = True) -> Path:
    """The run of `game` (None: of any game) that was written last. Raises ConfigError if there is none."""
    name = game_directory(game).name if game else "*"
    runs = [
        path.parent
        for path in RESULTS.glob(f"{name}/*/config.json")
        if path.parent.parent.name != PRETRAINED.name
        if not with_checkpoint or any((path.parent / "checkpoints").glob("checkpoint-*.npz"))
    ]
    if not runs:
        which, example = (f" for {name}", name) if game else ("", "Boxing")
        raise ConfigError(f"No trained agent{which} yet. Train one: ./run.sh --game {example}")
    return max(runs, key=_last_written)


def trained(game: str | None) -> Path:
    """The newest run of `game` (None: of any) with a checkpoint, else an agent that comes with the program.

    Raises ConfigError if there is neither.
    """
    try:
        return newest(game)
    except ConfigError:
        name = game_directory(game).name if game else "*"
        if shipped := sorted(PRETRAINED.glob(f"{name}/config.json")):
            return shipped[-1].parent
        raise


def _last_written(run: Path) -> float:
    return max(path.stat().st_mtime for path in [run / "config.json", *(run / "checkpoints").glob("checkpoint-*.npz")])
