"""Starts and wakes the process that agents are forked from, and ends what dead agents have left there."""

import contextlib
import multiprocessing
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import os
import signal
import tempfile
from collections.abc import Iterator

from ga3c.errors import ConfigError
from ga3c.processes import agent_process, family


def start(prints: int | None = None) -> None:
    """Starts the small process that agents are forked from: it loads all they need, and no TensorFlow.

    Called from the main thread, early: it loads while the rest of the program does. It ignores the signals that
    reach the whole process group; the server decides when agents end. `prints`: the file to which all of them print.
    Raises ConfigError.
    """
    with contextlib.nullcontext() if prints is None else _streams_to(prints):
        _start()


@contextlib.contextmanager
def _streams_to(file: int) -> Iterator[None]:
    """Gives what is started meanwhile this file as standard output and error."""
    own = {number: os.dup(number) for number in (1, 2)}
    try:
        for number in own:
            os.dup2(file, number)
        yield
    finally:
        for number, before in own.items():
            os.dup2(before, number)
            os.close(before)


def _start() -> None:
    multiprocessing.set_forkserver_preload(["ga3c.processes.agents_parent"])
    before = [signal.signal(number, signal.SIG_IGN) for number in agent_process.SERVER_SIGNALS]
    try:
        multiprocessing.forkserver.ensure_running()
        multiprocessing.resource_tracker.ensure_running()  # else it starts with the first agent, and signals end it
    except OSError as error:  # the address of a socket is a path there, of some 100 characters at the most
        folder = tempfile.gettempdir()
        raise ConfigError(f"Cannot start agents by way of {folder}: {error}. Name another: TMPDIR=/tmp.") from error
    for number, handler in zip(agent_process.SERVER_SIGNALS, before, strict=True):
        signal.signal(number, handler)


def wake() -> None:
    """Wakes that process: a stopped one would block whoever starts an agent or asks how one ended."""
    with contextlib.suppress(AttributeError, TypeError, OSError):
        os.kill(multiprocessing.forkserver._forkserver._forkserver_pid, signal.SIGCONT)


def end_orphans() -> None:
    """Ends what the games of dead agents have started."""
    if parent := multiprocessing.forkserver._forkserver._forkserver_pid:
        family.end_adopted(parent, {process.pid for process in multiprocessing.active_children()})
