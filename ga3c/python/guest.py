"""A run within a program that goes on after it: what the run changes in its process is put back."""

import contextlib
import multiprocessing
import random
import sys
import threading
from collections.abc import Iterator

import numpy as np

from ga3c import text
from ga3c.errors import ConfigError
from ga3c.processes import agents_start
from ga3c.records import lock

_running = threading.Lock()


@contextlib.contextmanager
def own_random_numbers() -> Iterator[None]:
    """Puts the random numbers of this process back, as they were: to make a network is to seed them."""
    drawn, drawn_by_numpy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(drawn)
        np.random.set_state(drawn_by_numpy)


@contextlib.contextmanager
def guest() -> Iterator[None]:
    """Lets one run take the standard streams, the random numbers and the locks of this process, and puts them back.

    Raises ConfigError while another run goes on, and in a process that only imports a script.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise ConfigError(
            "A process of an environment imports this script, which trains as it is imported: put what trains below "
            'if __name__ == "__main__":'
        )
    if not _running.acquire(blocking=False):
        raise ConfigError("A run goes on in this process: wait for its end, or start another process.")
    streams, hook, locks = (sys.stdout, sys.stderr), threading.excepthook, lock.held()
    try:
        with text.standing_here(), own_random_numbers():
            yield
    except ConfigError as error:
        raise ConfigError(str(error)) from None  # its line says all: no long traceback stands above it
    finally:
        sys.stdout, sys.stderr = streams
        threading.excepthook = hook
        agents_start.stop()
        lock.release(locks)
        _running.release()
