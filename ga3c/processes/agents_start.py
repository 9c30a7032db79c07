"""Starts and wakes the process that agents are forked from, and ends what dead agents have left there."""

import contextlib
import errno
import multiprocessing
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import os
import select
import signal
import tempfile
import threading
import time
from collections.abc import Iterator

from ga3c.environments import own_games
from ga3c.errors import ConfigError
from ga3c.processes import agent_process, family

SCARCE = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)  # files, processes and memory
END_SECONDS = 1.0  # what that process gets to end: it waits for all that others have started by it
_others_preload: list[list[str]] = []  # what a program that uses this one had set, while that process is ours
_prints: list[int] = []  # the file to which agents print, if it is not this process's standard output


def start(prints: int | None = None) -> None:
    """Starts the small process that agents are forked from: it loads all they need, and no TensorFlow.

    It is called early: it loads while the rest of the program does. It ignores the signals that
    reach the whole process group; the server decides when agents end. `prints`: the file to which all of them print,
    which is closed when that process is stopped. Raises ConfigError.
    """
    if prints is not None:
        _prints[:] = [prints]
    try:
        _start()
    except OSError as error:
        if error.errno in SCARCE:
            raise ConfigError(f"Cannot start agents: {error}. Stop other programs, or raise the limit.") from error
        if not own_games.here():
            raise ConfigError("The working directory is gone: change into one that is there.") from error
        raise ConfigError(f"Cannot start agents{_where()}: {error}. Name another folder: TMPDIR=/tmp.") from error


def ensure_running() -> None:
    """Starts that process anew where it has died. Raises OSError."""
    alive = multiprocessing.forkserver._forkserver._forkserver_alive_fd  # it holds the other end of a pipe
    if alive is None:
        _start()
        return
    look = select.poll()
    look.register(alive, 0)
    if not look.poll(0):
        return
    with contextlib.suppress(ChildProcessError):  # its pipe ends before it does
        os.waitid(os.P_PID, multiprocessing.forkserver._forkserver._forkserver_pid, os.WEXITED | os.WNOWAIT)
    with _printing_there():
        multiprocessing.forkserver.ensure_running()  # by itself it ignores the signals only a little later


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


def _printing_there():
    return _streams_to(_prints[0]) if _prints else contextlib.nullcontext()


def _start() -> None:
    server = multiprocessing.forkserver._forkserver
    before_start, preload = server._forkserver_pid, server._preload_modules
    multiprocessing.set_forkserver_preload(["ga3c.processes.agents_parent"])
    in_main = threading.current_thread() is threading.main_thread()  # only there signals can be set
    before = {one: signal.signal(one, signal.SIG_IGN) for one in agent_process.SERVER_SIGNALS if in_main}
    try:
        with _printing_there():
            multiprocessing.forkserver.ensure_running()
            multiprocessing.resource_tracker.ensure_running()  # else it starts with the first agent, and signals end it
        if before_start is None and not _others_preload:
            _others_preload[:] = [preload]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def _where() -> str:
    """Returns by way of which folder agents start: the address of a socket is a path there, of some 100 characters at
    the most."""
    with contextlib.suppress(OSError):  # no folder can be written
        return f" by way of {tempfile.gettempdir()}"
    return ""


def stop() -> None:
    """Ends that process, where a program goes on after its run, and may start another."""
    if _prints:
        os.close(_prints.pop())
    server = multiprocessing.forkserver._forkserver
    if not _others_preload or server._forkserver_pid is None:
        return
    with server._lock:
        pid, server._preload_modules = server._forkserver_pid, _others_preload.pop()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(server._forkserver_address)
        os.close(server._forkserver_alive_fd)
        server._forkserver_pid = server._forkserver_address = server._forkserver_alive_fd = None
    until = time.monotonic() + END_SECONDS
    with contextlib.suppress(ChildProcessError):
        while not os.waitpid(pid, os.WNOHANG)[0] and time.monotonic() < until:
            time.sleep(0.01)


def wake() -> None:
    """Wakes that process: a stopped one would block whoever starts an agent or asks how one ended."""
    with contextlib.suppress(AttributeError, TypeError, OSError):
        os.kill(multiprocessing.forkserver._forkserver._forkserver_pid, signal.SIGCONT)


def end_orphans() -> None:
    """Ends what the games of dead agents have started."""
    parent = multiprocessing.forkserver._forkserver._forkserver_pid
    if parent and _others_preload:  # it may be a new one, after a crash
        family.end_adopted(parent, {process.pid for process in multiprocessing.active_children()})
