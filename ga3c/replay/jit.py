"""Loops as machine code."""

from collections.abc import Callable

from numba import njit


def compiled(function: Callable) -> Callable:
    """Compiled at its first call; the code is kept for the next start, where there is a directory for it."""
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither beside the program nor in the home directory
        return njit(nogil=True)(function)
