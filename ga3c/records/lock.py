"""The lock of a run's directory: one process alone trains there, and who looks on sees that it does."""

import contextlib
import errno
import fcntl
import hashlib
import json
import math
import os
import socket
import sys
import time
from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.records.files import open_to_read, open_to_write, overwrite, read_json, reason
from ga3c.settings.run import RunSettings

LOCK = ".lock"


def hold(path: Path, limits: RunSettings) -> None:
    """Keeps every other process from training in this directory, for as long as this one lives.

    What is in the lock tells who looks on when this start was and where it is to end. Raises ConfigError if another
    process trains there. A file system without locks does not keep anybody out.
    """
    file = None
    try:
        _claim(path)
        file = open_to_write(path / LOCK, os.O_RDWR)  # never closed: the lock goes with it
        _take(file)
    except BlockingIOError:
        raise ConfigError(f"Another process trains in {path}: stop it first, or name another directory.") from None
    except OSError as error:
        if file is None or error.errno not in (errno.ENOLCK, errno.ENOTSUP):
            raise ConfigError(f"Cannot write to {path}: {reason(error)}.") from error
    start = {"time": time.time(), "steps": limits.steps, "minutes": limits.minutes, "episodes": limits.episodes}
    with contextlib.suppress(OSError, MemoryError):  # a full disk: then nobody is told
        overwrite(file, json.dumps(start).encode())


def _claim(path: Path) -> None:
    """Takes the path, too, for as long as this process lives: its directory may be moved, and another one made there.

    Linux alone has names for this that go with the process. Raises BlockingIOError if another process has it.
    """
    if sys.platform != "linux":
        return
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as claim:
        try:
            claim.bind(f"\0ga3c-{name}")
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise BlockingIOError from None
            return  # not here: then it is not kept from anybody
        claim.detach()  # never closed


def _take(file: int) -> None:
    """Somebody who looks whether a run goes on holds its lock for a moment."""
    for _ in range(5):
        with contextlib.suppress(BlockingIOError):
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(0.05)
    return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked(path: Path) -> bool:
    """Whether a process trains in this directory."""
    try:
        with open_to_read(path / LOCK) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def read_start(path: Path) -> dict:
    """Of the process that trains there: `time` (seconds since the epoch) and its limits, where there are any."""
    try:
        start = {name: float(value) for name, value in read_json(path / LOCK).items() if value is not None}
    except (ValueError, AttributeError, TypeError, OverflowError):
        return {}
    return start if "time" in start and all(map(math.isfinite, start.values())) else {}
