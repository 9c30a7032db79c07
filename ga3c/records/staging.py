"""A directory for files that are not complete yet: what is whole is moved from there to its name."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from ga3c.records.files import PARTIAL


@contextlib.contextmanager
def staging(parent: Path, name: str) -> Iterator[Path]:
    """Yields a new directory in `parent`, and removes it with all that is left in it.

    name: what is made. What killed programs have left of it goes first. Raises OSError.
    """
    _remove_left(parent, name)
    folder = parent / f".{name}.{os.getpid()}{PARTIAL}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sync_files(folder: Path) -> None:
    """Returns when all files below `folder` survive a loss of power. Raises OSError."""
    for file in filter(Path.is_file, folder.rglob("*")):
        with file.open("rb") as opened:
            os.fsync(opened.fileno())


def _remove_left(parent: Path, name: str) -> None:
    """Removes the directories of programs that are gone."""
    pattern = re.compile(rf"\.{re.escape(name)}\.(\d+){re.escape(PARTIAL)}")
    for left in parent.iterdir():
        if found := pattern.fullmatch(left.name):
            try:
                os.kill(int(found[1]), 0)
            except ProcessLookupError:
                shutil.rmtree(left, ignore_errors=True)
            except OSError:  # it is somebody else's, and goes on
                continue
