"""The file that says what pods and nodes are doing, for those who watch the run."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from ga3c.records.disk import Disk
from ga3c.records.files import write_whole

NAME = "cluster.json"


class ClusterFile:
    """Holds the newest state alone."""

    def __init__(self, run_dir: Path, interval: float, disk: Disk):
        self._path, self._interval, self._disk = run_dir / NAME, interval, disk
        self._written = -interval

    def look(self, state: Callable[[], dict]) -> None:
        """Writes what `state` returns, if it is time for that. To be called now and then."""
        if time.monotonic() - self._written >= self._interval:
            self._written, content = time.monotonic(), json.dumps(state())
            self._disk.attempt(self._path, lambda: write_whole(self._path, content))
