"""The signals that ask the program to save and to end."""

import signal
from collections.abc import Callable

# A closed terminal sends SIGHUP; SLURM sends SIGUSR1 before the time of a job is over (--signal=USR1@60).
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
_MAY_BE_IGNORED = (signal.SIGHUP, signal.SIGUSR1)  # SIGHUP is, where the program was started by nohup


def handle(handler: Callable, signals: tuple[signal.Signals, ...] = STOP_SIGNALS) -> None:
    """Calls `handler(number, frame)` on each of these signals.

    SIGHUP and SIGUSR1 stay ignored if the program was started so, as nohup does.
    """
    for number in signals:
        if not (number in _MAY_BE_IGNORED and signal.getsignal(number) == signal.SIG_IGN):
            signal.signal(number, handler)
