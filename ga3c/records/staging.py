"""A directory for files that are not complete yet: what is whole is moved from there to its name."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from ga3c.records.files import PARTIAL, sync_directory

_made: set[Path] = set()  # the folders of this process


@contextlib.contextmanager
def staging(parent: Path, name: str) -> Iterator[Path]:
    """Yields a new directory in `parent`, and removes it with all that is left in it.

    name: what is made. What killed programs have left of it goes first. Raises OSError.
    """
    parent = parent.resolve()
    _remove_left(parent, name)
    folder = parent / f".{name}.{os.getpid()}{PARTIAL}"
    folder.mkdir()
    _made.add(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _made.remove(folder)


def put_in_place(folder: Path, out: Path, last: str) -> None:
    """Moves complete files and directories to their names in `out`, `last` at the end. What had these names goes with
    the folder: a directory cannot be replaced at once. Raises OSError."""
    sync_files(folder)
    for new in sorted(folder.iterdir(), key=lambda file: file.name == last):
        final = out / new.name
        if final.is_dir():
            final.rename(folder / f"{new.name}.old")
        os.replace(new, final)
    sync_directory(out)


def sync_files(folder: Path) -> None:
    """Returns when all files below `folder` survive a loss of power. Raises OSError."""
    for file in filter(Path.is_file, folder.rglob("*")):
        with file.open("rb") as opened:
            os.fsync(opened.fileno())


def _remove_left(parent: Path, name: str) -> None:
    """Removes the directories of programs that are gone. One of these may have had the number of this process."""
    pattern = re.compile(rf"\.{re.escape(name)}\.(\d+){re.escape(PARTIAL)}")
    for left in parent.iterdir():
        found = pattern.fullmatch(left.name)
        if found and left not in _made and (int(found[1]) == os.getpid() or _is_gone(int(found[1]))):
            shutil.rmtree(left, ignore_errors=True)


def _is_gone(process: int) -> bool:
    """Returns whether there is no process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # it is somebody else's, or the number is none of a process
        pass
    return False
