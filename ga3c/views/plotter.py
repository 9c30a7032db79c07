"""Draws a run's plot while it trains."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path


class Plotter:
    """Now and then, in a process of its own: matplotlib must not slow the threads down."""

    def __init__(self, runs: list[Path], seconds: float):
        self._runs, self._seconds = runs, seconds
        self._last = time.monotonic()
        self._drawing: subprocess.Popen | None = None

    def tick(self) -> None:
        """Starts a drawing if it is time for one and the one before it has ended."""
        due = self._seconds and time.monotonic() - self._last >= self._seconds
        if not due or (self._drawing and self._drawing.poll() is None):
            return
        self._last = time.monotonic()
        command = [sys.executable, "-m", "ga3c", "plot", *map(str, self._runs)]
        command += ["--out", str(self._runs[0] / "plot.png")]
        nowhere = subprocess.DEVNULL
        with contextlib.suppress(OSError):  # too many processes or files: there is a next time
            self._drawing = subprocess.Popen(command, stdout=nowhere, stderr=nowhere, start_new_session=True)
            os.setpriority(os.PRIO_PROCESS, self._drawing.pid, 10)

    def end(self) -> None:
        """Ends a drawing that goes on: it would replace the last one, which is drawn at the end of the run."""
        if self._drawing:
            self._drawing.kill()
            self._drawing.wait()
