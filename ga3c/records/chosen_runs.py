"""Which run is meant: the one in a directory, or the newest of a game."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from ga3c import environments
from ga3c.errors import ConfigError
from ga3c.records import run_directory
from ga3c.records.description import read_settings
from ga3c.records.files import written_at
from ga3c.records.run_directory import SECONDARY, game_directory
from ga3c.settings.run import RunSettings
from ga3c.text import place


def find(limits: RunSettings, game: str | None) -> Path:
    """Returns the run that --resume means: the one named, else the newest of `game` (None: of any game).

    Raises ConfigError.
    """
    named = limits.run_dir if limits.resume == "newest" else limits.resume
    if named is not None:
        return existing(named)
    try:
        return newest(game)
    except ConfigError:  # a run without a checkpoint begins anew
        return newest(game, with_checkpoint=False)


def existing(path: str) -> Path:
    """Returns the directory of a run. Raises ConfigError if there is no run in it."""
    if not os.path.isfile(os.path.join(path, "config.json")):
        where = place(Path(path))
        raise ConfigError(f"There is no run in {where} (no config.json there): name its directory, or --game GAME.")
    return Path(path)


def chosen(path: str | None, game: str | None, with_checkpoint: bool = True) -> Path:
    """Returns the run in a directory, or without one the newest of the game. Raises ConfigError if there is none, and
    if that in the directory is of another game."""
    if not path:
        return newest(game, with_checkpoint)
    run = existing(path)
    if game and (known := game_directory(read_settings(run).environment.game)) != game_directory(game):
        raise ConfigError(f"{place(run)} is a run of {known.name}: leave out --game {game}, or the run.")
    return run


def below(results: Path) -> Iterable[Path]:
    """Yields all runs in results/GAME/RUN, and those of their secondary learners. Raises OSError."""
    for pattern in ("*/*", f"*/*/{SECONDARY}"):
        yield from (path.parent for path in results.glob(f"{pattern}/config.json"))


def newest(game: str | None, with_checkpoint: bool = True) -> Path:
    """Returns the run of `game` (None: any game) that was written last. Raises ConfigError if there is none."""
    name = game_directory(game).name if game else "*"
    runs = [
        path.parent
        for path in run_directory.RESULTS.glob(f"{name}/*/config.json")
        if not run_directory.is_shipped(path.parent)
        if not with_checkpoint or any((path.parent / "checkpoints").glob("checkpoint-*.npz"))
    ]
    for run in sorted(runs, key=_last_written, reverse=True):
        if not game or _is_of(run, game):
            return run
    which, example = (f" for {name}", game) if game else ("", "Boxing")
    raise ConfigError(f"No trained agent{which} yet. Train one: ./run.sh --game {example}")


def _is_of(run: Path, game: str) -> bool:
    """Returns whether a run is of the game: others of its name, from another module, are in the same directory."""
    with contextlib.suppress(ConfigError):  # what is damaged is said where it is read
        return environments.resolve(read_settings(run).environment.game) == environments.resolve(game)
    return True


def trained(game: str | None) -> Path:
    """Returns the newest run of `game` (None: any) with a checkpoint, else an agent that comes with the program.

    Raises ConfigError if there is neither.
    """
    try:
        return newest(game)
    except ConfigError:
        name = game_directory(game).name if game else "*"
        if shipped := sorted(run_directory.PRETRAINED.glob(f"{name}/config.json")):
            return shipped[-1].parent
        raise


def _last_written(run: Path) -> float:
    return max(map(written_at, (run / "config.json", *(run / "checkpoints").glob("checkpoint-*.npz"))))
