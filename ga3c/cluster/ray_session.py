"""Removes the temporary folder of a Ray that was started here: Ray itself leaves it."""

import contextlib
import fcntl
import shutil
from pathlib import Path
from typing import IO

MARK = "ga3c"  # a file in the folder, locked by the learner while it lives
_MARKS: dict[Path, IO] = {}  # of this process, by their folders


def keep(folder: Path) -> None:
    """Marks a folder as this process's own, and removes those that killed processes have left beside it."""
    with contextlib.suppress(OSError):  # a file system without locks: it stays, if this process is killed
        mark = (folder / f".{MARK}").open("w")
        fcntl.flock(mark, fcntl.LOCK_EX)
        Path(mark.name).rename(folder / MARK)  # now: another start takes a mark that is not locked for a left one
        _MARKS[folder] = mark
    for mark in folder.parent.glob(f"session_*/{MARK}"):
        with contextlib.suppress(OSError), mark.open() as other:  # its owner lives
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(mark.parent)


def end(folder: Path) -> None:
    if mark := _MARKS.pop(folder, None):
        mark.close()
        _remove(folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    newest = folder.parent / "session_latest"
    if newest.is_symlink() and not newest.exists():
        newest.unlink(missing_ok=True)
