"""The folders of data sets: their names, where they are found, and how one appears when it is whole."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.records.files import make_directory, reason, sync_directory
from ga3c.records.staging import staging, sync_files

SHORT = ".npz"  # how the name of a file in the short form ends
_NAME = re.compile(r"(?:[-_\w]+/)*[-_\w]+?-v\d+")


def root() -> Path:
    """Returns the folder in which Minari looks for data sets. Raises ConfigError if there is no home."""
    folder = os.environ.get("MINARI_DATASETS_PATH") or os.path.expanduser("~/.minari/datasets")
    if folder.startswith("~"):
        raise ConfigError("There is no home for data sets: set MINARI_DATASETS_PATH to a folder.")
    return Path(folder)


def named(name: str) -> Path:
    """Returns the folder of the data set that Minari finds under a name. Raises ConfigError for a wrong name."""
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"The name {name!r} is none that Minari takes: use letters, digits, - and _, with -v0 at the end, as in "
            "pong/ga3c-v0."
        )
    return root() / name


def free_name(start: str) -> str:
    """Returns `start` with the first version that no data set has: pong/ga3c-v0."""
    return next(name for number in range(10**6) if not named(name := f"{start}-v{number}").exists())


def _at(path: Path) -> Path | None:
    """Returns the data set or the file in the short form that lies at a path; None if there is none."""
    if path.suffix == SHORT and os.path.isfile(path):  # it raises nothing, whatever the path is
        return path
    return next((folder for folder in (path, path / "data") if os.path.isfile(folder / "metadata.json")), None)


def absolute(text: str) -> str:
    """Returns what a user names: a path of a data set as an absolute one, and the name of one as it is."""
    return os.path.abspath(text) if _at(Path(text)) else text


def data_of(text: str) -> Path:
    """Returns what a user names: a data set by its name or its folder, or a file in the short form.

    Raises ConfigError.
    """
    if found := _at(Path(text)) or (_at(named(text)) if _NAME.fullmatch(text) else None):
        return found
    raise ConfigError(
        f"There is no data set {text}: name one of {root()}, its folder, or a file in the short form ({SHORT})."
    )


def check_free(path: Path) -> None:
    """Raises ConfigError where something lies at the path already, or nothing can be written there."""
    if os.path.exists(path):
        raise ConfigError(f"There is something in {path} already: give another name, or remove it.")
    above = path.absolute().parent
    while not os.path.exists(above):
        above = above.parent
    if not (above.is_dir() and os.access(above, os.W_OK)):
        raise ConfigError(f"Nothing can be written in {above}: name another folder.")


@contextlib.contextmanager
def whole(folder: Path) -> Iterator[Path]:
    """Yields a folder to write into, which gets the name `folder` when everything in it is on disk.

    Where the block fails, what it has written is removed. What killed programs have left of this folder is, too.
    Raises ConfigError where the disk does not take it.
    """
    try:
        make_directory(folder.parent)
        with staging(folder.parent, folder.name) as partial:
            yield partial
            sync_files(partial)
            os.rename(partial, folder)
        sync_directory(folder.parent)
    except (OSError, RuntimeError) as error:  # RuntimeError is what h5py raises where the disk is full
        raise ConfigError(f"Cannot write {folder}: {reason(error)}.") from error
