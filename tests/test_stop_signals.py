"""The signals that ask the program to stop."""

import os
import signal

import pytest

from ga3c.commands import reproduce
from ga3c.processes import stop_signals


@pytest.fixture(autouse=True)
def as_they_were():
    before = {number: signal.getsignal(number) for number in stop_signals.STOP_SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR1])
def test_what_was_ignored_at_the_start_stays_ignored(number):
    """As nohup has it."""
    came = []
    signal.signal(number, signal.SIG_IGN)
    stop_signals.handle(lambda number, _frame: came.append(number))
    for other in stop_signals.STOP_SIGNALS:
        os.kill(os.getpid(), other)
    assert set(came) == set(stop_signals.STOP_SIGNALS) - {number}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_what_makes_runs_ends_in_order(tmp_path, number):
    """So that the run that it makes is saved."""
    ended = []

    def make():
        try:
            os.kill(os.getpid(), number)
        finally:
            ended.append(number)

    with pytest.raises(SystemExit) as end:
        reproduce.made(make, tmp_path)
    assert (end.value.code, ended) == (128 + number, [number])
