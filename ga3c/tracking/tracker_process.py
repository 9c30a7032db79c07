"""The process of one tracker, as the trainer sees it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

from ga3c.records.files import make_directory, open_to_write
from ga3c.text import count
from ga3c.tracking.new_rows import rows_after
from ga3c.tracking.tracked_run import TrackedRun, sent_so_far

# The process finds its modules where this one does.
PROGRAM = "import sys; sys.path[:] = {path!r}; from ga3c.tracking.sending import main; main()"


class TrackerProcess:
    """Starts the process and says what comes of it. Only `finish` waits for it, once it has killed it."""

    def __init__(self, name: str, title: str, run: TrackedRun, say: Callable[[str], None]):
        """Raises OSError."""
        self._name, self._title, self._run, self._say = name, title, run, say
        self._then: list[str] = []  # lines for the end: how to send, or to see, what was written offline
        self._has_failed = self._is_ending = False
        make_directory(run.folder)
        log = open_to_write(run.folder / f"{name}.log", os.O_WRONLY | os.O_APPEND)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM.format(path=sys.path), name, json.dumps(run)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # signals of the terminal are for the trainer
            )
        finally:
            os.close(log)
        self._listener = threading.Thread(target=self._listen, name=f"{title} listener", daemon=True)
        self._listener.start()

    @property
    def is_alive(self) -> bool:
        return self._listener.is_alive()

    def end(self, files: list[str], failed: bool) -> None:
        """Asks it to send what is left, these files too, and to end."""
        self._is_ending = True
        with contextlib.suppress(OSError):  # it has ended already
            os.write(self._process.stdin.fileno(), json.dumps({"files": files, "failed": failed}).encode() + b"\n")

    def finish(self) -> None:
        """Ends it if it still runs, and says what it has not sent."""
        was_cut = self.is_alive
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)  # what it has started, too
        status = self._process.wait()
        self._listener.join()
        self._process.stdin.close()
        try:
            unsent = rows_after(self._run.path, sent_so_far(self._run, self._name).steps)
        except OSError:  # the disk fails: that is said elsewhere
            return
        if unsent:
            rows = f"{count(unsent, 'row')} of throughput.csv"
            self._say(f"{self._title}: {rows} {'was' if unsent == 1 else 'were'} not sent. --resume sends them.")
        elif was_cut or status:
            self._say(f"{self._title}: all rows were sent, and perhaps not all of the rest.")
        for line in self._then:
            self._say(line)

    def _listen(self) -> None:
        with self._process.stdout as answers:
            for line in answers:
                try:
                    said = json.loads(line)
                except ValueError:  # a package printed it
                    continue
                if "failed" in said:
                    self._fail(said["failed"])
                else:
                    self._then = said["then"]
                    self._say(f"{self._title}: {said['say']}")
        if not self._is_ending:
            self._fail(f"its process has ended with status {self._process.wait()}")

    def _fail(self, what: str) -> None:
        """Says the first failure. The log in the run's directory has the others."""
        if not self._has_failed:
            self._has_failed = True
            self._say(f"{self._title} fails: {what.rstrip('.')}. Training goes on; the end says what was not sent.")
