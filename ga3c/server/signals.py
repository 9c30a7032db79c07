"""Signals of a training run: the first stop signal ends it in good order, a second one at once."""

import os
import signal
import time

from ga3c.processes import stop_signals
from ga3c.server.server import Server

SAME_WISH_SECONDS = 1.0  # some programs send two signals for one stop


class Signals:
    """Passes the stop signals and SIGQUIT, which asks for a report, to the server."""

    def __init__(self, server: Server):
        self._server, self._first = server, None  # the first stop signal: its number, and when it came
        stop_signals.handle(self._stop)
        signal.signal(signal.SIGQUIT, lambda *_: server.request_report())

    def _stop(self, number: int, _frame) -> None:
        if self._first and time.monotonic() - self._first[1] > SAME_WISH_SECONDS:
            os._exit(128 + number)  # agents end when their connections do
        self._first = self._first or (number, time.monotonic())
        self._server.request_stop()

    @property
    def status(self) -> int:
        """The exit status that the signal asks for; 0 without a signal."""
        return 128 + self._first[0] if self._first else 0
