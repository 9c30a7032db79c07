"""The process of one tracker: it reads the logs of a run, and sends what is new."""

import contextlib
import json
import os
import select
import signal
import sys
import threading
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from ga3c.machine import signal_at_parents_end
from ga3c.records.csv_reading import GrowingLog
from ga3c.records.files import reason
from ga3c.tracking.new_rows import Points, new_rows
from ga3c.tracking.secrets_left_out import without_secrets
from ga3c.tracking.tracked_run import TrackedRun, sent_so_far

LOOK_SECONDS = 2.0  # between two looks for new rows
RETRY_SECONDS = 30.0  # between two tries after one that failed
SLOW_SECONDS = 120.0  # a call that takes longer is reported: on a busy machine loading a package takes a minute
GRACE_SECONDS = 20.0  # time to come to an end when the run was killed: a call that is cut short may be made twice
POINTS_AT_ONCE = 100
NICENESS = 10  # it yields to the run


def main() -> None:
    """Sends the run that the arguments name until that ends, or is gone: then standard input is closed."""
    tracker, run = sys.argv[1], TrackedRun(*json.loads(sys.argv[2]))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the tracker's packages print goes into its log
    signal_at_parents_end(signal.SIGCONT)  # a stopped process could not end
    os.nice(NICENESS)
    sys.exit(0 if Sender(tracker, run, answers).run() else 1)


class Sender:
    """Sends what is new every LOOK_SECONDS. What fails is tried again later: all rows are in the run's logs."""

    def __init__(self, name: str, run: TrackedRun, answers):
        """`name`: of the tracker. `answers`: a stream to the trainer, with an object of JSON in each line."""
        self._name, self._run, self._answers = name, run, answers
        self._sent = sent_so_far(run, name)
        self._points = Points(run.path, self._sent.steps)
        self._messages = GrowingLog(run.path / "messages.csv")
        self._unsent: list = []
        self._lines: list[str] = []
        self._skipped = self._sent.messages
        self._tracker = None
        self._retry_at = self._busy_since = 0.0
        self._order: dict[str, Any] | None = None  # how the run has ended
        self._ending = threading.Event()
        threading.Thread(target=self._follow, daemon=True).start()

    def run(self) -> bool:
        """Returns whether the tracker has got all, once the run has ended."""
        while True:
            ended = self._ending.wait(LOOK_SECONDS)
            done = (ended or time.monotonic() >= self._retry_at) and self._attempt(ended)
            if ended:
                return done

    def _attempt(self, ended: bool) -> bool:
        self._busy_since = time.monotonic()
        try:
            self._send()
            if ended:
                self._finish(self._order or {})
        except Exception as error:  # packages of others raise whatever they like
            self._fail(f"{type(error).__name__}: {reason(error)}", traceback.format_exc())
            return False
        finally:
            self._busy_since = 0.0
        return True

    def _send(self) -> None:
        if self._tracker is None:
            begin = import_module(f"ga3c.tracking.to_{self._name}").begin
            self._tracker = begin(self._run, self._sent)
            self._sent.write(self._run, self._name)
            self._answer(say=self._tracker.where, then=self._tracker.then)
        self._unsent += self._points.new()
        while self._unsent:
            points = self._unsent[:POINTS_AT_ONCE]
            self._tracker.log(points)
            del self._unsent[:POINTS_AT_ONCE]
            self._sent.steps = points[-1][0]
            self._sent.write(self._run, self._name)
        lines = [row["message"] for row in new_rows(self._messages)]
        self._lines += lines[self._skipped :]
        self._skipped = max(0, self._skipped - len(lines))
        if self._lines:
            self._tracker.say(self._lines)
            self._sent.messages, self._lines = self._sent.messages + len(self._lines), []
            self._sent.write(self._run, self._name)

    def _finish(self, order: dict[str, Any]) -> None:
        try:
            for path in map(Path, order.get("files", ())):
                self._tracker.keep(path)
        finally:
            self._tracker.close(failed=order.get("failed", True))  # without an order the run was killed

    def _follow(self) -> None:
        """Waits for the order of the end, or for the trainer's end; looks meanwhile how long a call takes."""
        received = b""
        while True:
            if not select.select([0], [], [], 1.0)[0]:
                if self._busy_since and time.monotonic() - self._busy_since > SLOW_SECONDS:
                    self._answer(failed=f"it has not answered for {SLOW_SECONDS:.0f} s")
                continue
            part = os.read(0, 100_000)
            received += part
            if received.endswith(b"\n") and self._order is None:
                self._order = json.loads(received)
            if self._order is not None or not part:
                self._ending.set()
            if not part:
                break
        time.sleep(GRACE_SECONDS)
        os.killpg(0, signal.SIGKILL)

    def _fail(self, what: str, trace: str) -> None:
        self._retry_at = time.monotonic() + RETRY_SECONDS
        print(without_secrets(trace), file=sys.stderr, flush=True)
        self._answer(failed=without_secrets(what))

    def _answer(self, **what: Any) -> None:
        with contextlib.suppress(OSError):  # the trainer is gone
            print(json.dumps(what), file=self._answers, flush=True)
