"""Compiles functions of this folder to machine code, and caches it for the next start."""

import fcntl
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from numba import config, njit

from ga3c.emulator import machine_code

_FOLDER = Path(__file__).parent
SOURCES, _CACHE_DIRECTORY = machine_code.sources(), machine_code.cache_directory()
_njit = partial(njit, nogil=True, boundscheck=False, no_cfunc_wrapper=True)  # C calls none of them


def compiled(function: Callable) -> Callable:
    """Compiles a function at its first call. The machine code is cached until a file of this folder changes.

    Machine code includes that of the functions it calls, so a change in any file invalidates the whole cache.
    """
    return cached(_njit, function)


def inner(function: Callable) -> Callable:
    """Compiles a function that only compiled ones call. That takes less time: no code unpacks Python's arguments."""
    return cached(partial(_njit, no_cpython_wrapper=True), function)


def cached(compiler: Callable, function: Callable) -> Callable:
    """Returns what `compiler(cache=True)` makes of a function, with a cache that is valid until a file changes."""
    before, config.CACHE_DIR = config.CACHE_DIR, config.CACHE_DIR or _CACHE_DIRECTORY
    try:
        result = compiler(cache=True)(function)
    except RuntimeError:  # no folder for a cache, neither beside the program nor in the home directory
        return compiler()(function)
    finally:
        config.CACHE_DIR = before
    result._cache._cache_file._source_stamp = SOURCES
    return result


def is_missing(function: Callable) -> bool:
    """Returns True if the machine code of a function is not cached yet, but could be."""
    file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    return file is not None and not file._load_index()


@contextmanager
def one_at_a_time(folder: Path | str = _FOLDER) -> Iterator[None]:
    """Holds a folder's lock while it compiles: other processes wait, and then load the cached code."""
    folder = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a file system without locks: then several processes compile the same code
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextmanager
def told(every_seconds: float = 20) -> Iterator[None]:
    """Prints a line now and then for as long as something compiles."""
    over = threading.Event()

    def tell() -> None:
        seconds = 0.0
        while not over.wait(every_seconds):
            seconds += every_seconds
            print(f"Still compiling: {seconds:g} seconds so far.", file=sys.stderr, flush=True)

    threading.Thread(target=tell, name="compiling", daemon=True).start()
    try:
        yield
    finally:
        over.set()


@contextmanager
def without_collection() -> Iterator[None]:
    """Turns the collection of cycles off, which takes a sixth of a compilation's time: it makes millions of objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
