"""The games of a run on disk, with its newest checkpoint: one file, whole or absent, from which they go on."""

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ga3c.errors import ConfigError
from ga3c.records import checkpoint
from ga3c.records.files import make_directory, remove, write_whole

_NAME = re.compile(r"games-(\d{12})\.npz")


class GamesFile:
    """A file named after the steps of its checkpoint, and written before it, so that no checkpoint lacks its games."""

    def __init__(self, checkpoints: Path, say: Callable[[str], None]):
        self._directory, self._say = checkpoints, say

    def _path(self, steps: int) -> Path:
        return self._directory / f"games-{steps:012d}.npz"

    def save(self, steps: int, content: memoryview) -> None:
        """Writes the games' arrays, as `checkpoint.pack` packs them. Raises OSError."""
        make_directory(self._directory)
        write_whole(self._path(steps), content)

    def drop(self, steps: int) -> None:
        """Removes the games of a checkpoint that could not be written, unless it was there already."""
        with contextlib.suppress(OSError):
            if not checkpoint.path_of(self._directory, steps).exists():
                remove(self._path(steps))

    def drop_others(self, steps: int) -> None:
        """Removes older files, once the checkpoint of so many steps is on disk. Raises OSError."""
        for path in self._directory.glob("games-*.npz"):
            if _NAME.fullmatch(path.name) and path != self._path(steps):
                remove(path)

    def load(self, steps: int) -> dict[str, np.ndarray] | None:
        """Returns the arrays of the games at a checkpoint; or None, and says why."""
        path = self._path(steps)
        if not path.exists():
            self._say("The games begin anew: none were kept with this checkpoint.")
            return None
        try:
            return checkpoint.load(path)[0]
        except ConfigError as error:
            self._say(f"{str(error).replace('the checkpoint', 'the games in')} They begin anew.")
            return None
