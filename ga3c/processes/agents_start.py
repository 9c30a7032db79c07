"""Starts and wakes the process that agents are forked from, and ends what dead agents have left there."""

import contextlib
import errno
import multiprocessing
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import os
import signal
import sys
import tempfile
import threading
import types
from collections.abc import Iterator

from ga3c.errors import ConfigError
from ga3c.processes import agent_process, family

SCARCE = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)  # files, processes and memory
_started: set[int] = set()  # ids of the processes that were started here, and not by a program that uses this one


def start(prints: int | None = None) -> None:
    """Starts the small process that agents are forked from: it loads all they need, and no TensorFlow.

    It is called early: it loads while the rest of the program does. It ignores the signals that
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
    before_start = multiprocessing.forkserver._forkserver._forkserver_pid
    multiprocessing.set_forkserver_preload(["ga3c.processes.agents_parent"])
    in_main = threading.current_thread() is threading.main_thread()  # only there signals can be set
    before = {one: signal.signal(one, signal.SIG_IGN) for one in agent_process.SERVER_SIGNALS if in_main}
    try:
        multiprocessing.forkserver.ensure_running()
        multiprocessing.resource_tracker.ensure_running()  # else it starts with the first agent, and signals end it
        if before_start is None:
            _started.add(multiprocessing.forkserver._forkserver._forkserver_pid)
    except OSError as error:
        if error.errno in SCARCE:
            raise ConfigError(f"Cannot start agents: {error}. Stop other programs, or raise the limit.") from error
        folder = tempfile.gettempdir()  # the address of a socket is a path there, of some 100 characters at the most
        raise ConfigError(f"Cannot start agents by way of {folder}: {error}. Name another: TMPDIR=/tmp.") from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Lets a process that is started meanwhile not import the main module.

    That may be a user's script, which would train again. Agents need nothing of it: `named_objects.packed`.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def stop() -> None:
    """Ends that process, where a program goes on after its run, and may start another."""
    server = multiprocessing.forkserver._forkserver
    if server._forkserver_pid in _started:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(server._forkserver_address)  # first: so it does not remove the folder, which is still in use
            server._stop()  # misses the file


def wake() -> None:
    """Wakes that process: a stopped one would block whoever starts an agent or asks how one ended."""
    with contextlib.suppress(AttributeError, TypeError, OSError):
        os.kill(multiprocessing.forkserver._forkserver._forkserver_pid, signal.SIGCONT)


def end_orphans() -> None:
    """Ends what the games of dead agents have started."""
    if parent := multiprocessing.forkserver._forkserver._forkserver_pid:
        family.end_adopted(parent, {process.pid for process in multiprocessing.active_children()})
