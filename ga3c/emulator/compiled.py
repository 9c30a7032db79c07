"""Functions of this folder as machine code, kept for the next start."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from numba import njit

_FOLDER = Path(__file__).parent


def _sources() -> str:
    """What all files of this folder hold, as one short text."""
    files = sorted(_FOLDER.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


SOURCES = _sources()


def compiled(function: Callable) -> Callable:
    """Compiled at its first call; the code is kept, where there is a directory for it, until a file here changes.

    A function holds those that it calls, so a change of any file makes what was kept for all of them old.
    """
    try:
        result = njit(cache=True, nogil=True, boundscheck=False)(function)
    except RuntimeError:  # neither beside the program nor in the home directory
        return njit(nogil=True, boundscheck=False)(function)
    result._cache._cache_file._source_stamp = SOURCES
    return result


def is_missing(function: Callable) -> bool:
    """Whether no start has left the machine code of a compiled function yet, though it could be kept."""
    file = getattr(function._cache, "_cache_file", None)
    return file is not None and not file._load_index()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """While others compile, this waits: then it finds what they have left."""
    folder = os.open(_FOLDER, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a file system without locks: then several starts compile the same
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
