"""The disk that a run writes to: where it is full or read-only for a while, training goes on and writes later."""

import errno
import threading
from collections.abc import Callable
from pathlib import Path

from ga3c.records.files import KeptDirectory, reason


class Disk:
    """Says once when something cannot be written, and once when all of it can be written again."""

    def __init__(self, say: Callable[[str], None], run_dir: Path | None = None):
        """`run_dir`: while this directory is not where it was, nothing is written."""
        self._say, self._failing, self._lock = say, set(), threading.Lock()
        self._run_dir, self._directory = run_dir, run_dir and KeptDirectory(run_dir)

    def attempt(self, path: Path, write: Callable[[], None]) -> bool:
        """Calls `write`. Returns False if it failed for want of disk or memory: the caller tries again later."""
        try:
            if self._directory and not self._directory.is_there():
                raise OSError(errno.ENOENT, f"{self._run_dir} was moved or removed")
            write()
        except (OSError, MemoryError) as error:
            with self._lock:
                first, self._failing = not self._failing, self._failing | {path}
            if first:
                self._say(
                    f"Cannot write {path}: {reason(error)}. Training goes on; "
                    "what is missing on disk is written when that is possible again."
                )
            return False
        with self._lock:
            over = self._failing == {path}
            self._failing = self._failing - {path}
        if over:
            self._say("The disk takes everything again.")
        return True

    def close(self) -> None:
        """Lets go of the directory: nothing is written any more."""
        if self._directory:
            self._directory.close()

    def look(self) -> bool:
        """Returns whether the directory is where it was. Says once that it is not."""
        return self.attempt(self._run_dir, lambda: None)
