"""The lock of a run's directory: only one process trains there, and others can see that it does.

Not every file system has all kinds of locks. The first of these that works is used: flock, a POSIX lock, and on Linux a
socket name that stands for the path on this machine.
"""

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
from ga3c.text import one_line

LOCK = ".lock"
FLOCK, POSIX, NONE = "flock", "POSIX", "none"  # kinds of locks
_held: list[int] = []  # open files and sockets: while they are open, this process has its locks


def hold(path: Path, limits: RunSettings) -> None:
    """Keeps every other process from training in this directory, for as long as this one lives, or until `release`.

    The lock holds the time of this start and its limits, for those who watch. Raises ConfigError if another process
    trains there. Says so if the file system has no flock, or no locks at all.
    """
    try:
        claimed = _claim(path)
        file = open_to_write(path / LOCK, os.O_RDWR)  # it stays open: the lock goes with it
        _held.append(file)
        way = take(file)
    except BlockingIOError:
        raise ConfigError(f"Another process trains in {path}: stop it first, or name another directory.") from None
    except OSError as error:
        raise ConfigError(f"Cannot write to {path}: {reason(error)}.") from error
    if way != FLOCK:
        others = "starts on this machine alone are kept out" if claimed else "start no second run there"
        kept = "a POSIX lock is taken" if way == POSIX else others
        print(f"The file system of {one_line(path)} has no {'flock' if way == POSIX else 'locks'}: {kept}.", flush=True)
    start = {"time": time.time(), "steps": limits.steps, "minutes": limits.minutes, "episodes": limits.episodes}
    with contextlib.suppress(OSError, MemoryError):  # on a full disk those who watch are not told
        overwrite(file, json.dumps(start).encode())


def held() -> int:
    """Returns how many files and sockets keep this process's locks, for `release`."""
    return len(_held)


def release(kept: int) -> None:
    """Ends the locks that were taken since `held` was `kept`, where this process goes on after its run."""
    while len(_held) > kept:
        os.close(_held.pop())


def _name(path: Path) -> str:
    return f"ga3c-{hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()}"


def _claim(path: Path) -> bool:
    """Takes the path, too, while this process lives: the directory may be moved, and another one made there.

    Returns False if that is not possible: only Linux has names that end with the process. Raises BlockingIOError if
    another process has the path.
    """
    if sys.platform != "linux":
        return False
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as claim:
        try:
            claim.bind(f"\0{_name(path)}")
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise BlockingIOError from None
            return False  # the path keeps nobody out
        _held.append(claim.detach())
    return True


def _is_claimed(path: Path) -> bool:
    """Returns whether a process of this machine has taken the path."""
    try:
        return f"@{_name(path)}\n" in Path("/proc/net/unix").read_text()
    except OSError:  # not on Linux
        return False


def take(file: int) -> str:
    """Locks an open file. Returns the kind of lock. Raises BlockingIOError if another process holds it."""
    for _ in range(5):
        with contextlib.suppress(BlockingIOError):
            return _lock(file, fcntl.LOCK_EX)
        time.sleep(0.05)  # `is_locked` of another process holds the lock for a moment
    return _lock(file, fcntl.LOCK_EX)


def _lock(file: int, kind: int) -> str:
    """Takes a lock without waiting. Returns its kind. Raises BlockingIOError if it is held (EAGAIN; POSIX: or EACCES).

    Any other error means that the file system has no such lock: ENOLCK, ENOSYS, EBADF, EOPNOTSUPP, 524. A POSIX lock is
    lost if its process opens and closes the file once more.
    """
    for way, lock, held in ((FLOCK, fcntl.flock, (errno.EAGAIN,)), (POSIX, fcntl.lockf, (errno.EAGAIN, errno.EACCES))):
        try:
            lock(file, kind | fcntl.LOCK_NB)
            return way
        except OSError as error:
            if error.errno in held:
                raise BlockingIOError from None
    return NONE


def is_locked(path: Path) -> bool:
    """Returns whether a process trains in this directory."""
    try:
        with open_to_read(path / LOCK) as file:
            return _lock(file.fileno(), fcntl.LOCK_SH) == NONE and _is_claimed(path)
    except BlockingIOError:
        return True
    except OSError:
        return False


def read_start(path: Path) -> dict:
    """Returns when the process that trains there was started (`time`, seconds since the epoch), and its limits."""
    try:
        start = {name: float(value) for name, value in read_json(path / LOCK).items() if value is not None}
    except (ValueError, AttributeError, TypeError, OverflowError):
        return {}
    return start if "time" in start and all(map(math.isfinite, start.values())) else {}
