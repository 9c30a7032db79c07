"""The signals that ask the program to stop."""

import errno
import os
import signal

import pytest

from ga3c.commands import reproduce
from ga3c.errors import ConfigError
from ga3c.processes import agents_start, stop_signals
from ga3c.processes.agent_process import SERVER_SIGNALS
from tests import program
from tests.program import TINY


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_has_not_begun_is_taken_back(number, tmp_path):
    code = (
        f"import time\nfrom ga3c.commands import train\ntrain._server = lambda *_: time.sleep({program.HANG_SECONDS})"
    )
    started = program.Started(tmp_path / "log", *TINY, "--run-dir", tmp_path / "run", code=code)
    started.wait_for(lambda: "Training " in started.log.read_text())
    os.kill(started.process.pid, number)
    assert started.process.wait(program.HANG_SECONDS) == 128 + number
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("number", "of_the_folder"), [(errno.EMFILE, False), (errno.ENAMETOOLONG, True)])
def test_a_start_of_agents_that_fails_gives_the_signals_back(number, of_the_folder, monkeypatch):
    def fail():
        raise OSError(number, "why")

    monkeypatch.setattr("multiprocessing.forkserver.ensure_running", fail)
    before = [signal.getsignal(one) for one in SERVER_SIGNALS]
    with pytest.raises(ConfigError, match="Cannot start agents") as refusal:
        agents_start.start()
    assert [signal.getsignal(one) for one in SERVER_SIGNALS] == before
    assert ("TMPDIR" in str(refusal.value)) == of_the_folder
