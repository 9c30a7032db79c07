"""What pods and nodes are at, in the run's directory, for those who watch."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from ga3c.records.disk import Disk
from ga3c.records.files import write_whole

NAME = "cluster.json"


class ClusterFile:
    """Holds the newest alone."""

    def __init__(self, run_dir: Path, interval: float, disk: Disk):
        self._path, self._interval, self._disk = run_dir / NAME, interval, disk
        self._written = -interval

    def look(self, state: Callable[[], dict]) -> None:
        """Now and then. Writes what `state` says, if it is time for that."""
        if time.monotonic() - self._written >= self._interval:
            self._written, content = time.monotonic(), json.dumps(state())
            self._disk.attempt(self._path, lambda: write_whole(self._path, content))
