"""The signals that ask the program to save and to end."""

import signal
from collections.abc import Callable
from typing import Any

# A closed terminal sends SIGHUP; SLURM sends SIGUSR1 before the time of a job is over (--signal=USR1@60).
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
_MAY_BE_IGNORED = (signal.SIGHUP, signal.SIGUSR1)  # SIGHUP is, where the program was started by nohup


def handle(handler: Callable, signals: tuple[signal.Signals, ...] = STOP_SIGNALS) -> dict[int, Any]:
    """Calls `handler(number, frame)` on each of these signals. Returns the handlers before, by signal.

    SIGHUP and SIGUSR1 stay ignored if the program was started so, as nohup does.
    """
    before = {}
    for number in signals:
        if not (number in _MAY_BE_IGNORED and signal.getsignal(number) == signal.SIG_IGN):
            before[number] = signal.signal(number, handler)
    return before
