"""Signals of a training run: the first stop signal ends it in good order, a second one of the command at once."""

import os
import signal
import time

from ga3c.processes import stop_signals
from ga3c.server.server import Server

SAME_WISH_SECONDS = 1.0  # some programs send two signals for one stop


class Signals:
    """Passes the stop signals and SIGQUIT, which asks for a report, to the server."""

    def __init__(self, server: Server, second_ends: bool = True):
        """`second_ends`: a second stop signal ends this process. Else it is left to the first."""
        self._server, self._first = server, None  # the first stop signal: its number, and when it came
        self.count = 0  # of the stop signals so far
        self._second_ends = second_ends
        self._before = stop_signals.handle(self._stop)
        self._before[signal.SIGQUIT] = signal.signal(signal.SIGQUIT, lambda *_: server.request_report())

    def _stop(self, number: int, _frame) -> None:
        if self._second_ends and self._first and time.monotonic() - self._first[1] > SAME_WISH_SECONDS:
            os._exit(128 + number)  # agents end when their connections do
        self.count += 1
        self._first = self._first or (number, time.monotonic())
        self._server.request_stop()

    def restore(self) -> None:
        """Gives the signals back to whoever had them. One that ends this process, such as SIGTERM, is sent again."""
        for number, handler in self._before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        if self._first and self._first[0] != signal.SIGINT:
            os.kill(os.getpid(), self._first[0])

    @property
    def status(self) -> int:
        """The exit status that the signal asks for; 0 without a signal."""
        return 128 + self._first[0] if self._first else 0
