"""Compiles loops to machine code."""

from collections.abc import Callable
from contextlib import suppress

from numba import njit


def compiled(function: Callable) -> Callable:
    """Compiles a function at its first call, and keeps the code for the next start where it can be written."""
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither beside the program nor in the home directory
        return njit(nogil=True)(function)


def compile_now(*calls: Callable[[], object]) -> None:
    """Compiles by calls: it takes seconds, unless an earlier start has left the code behind."""
    for call in calls:
        with suppress(OSError):  # compiled, but the disk does not take the code
            call()
