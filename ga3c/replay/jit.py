"""Compiles loops to machine code."""

from collections.abc import Callable

from numba import njit


def compiled(function: Callable) -> Callable:
    """Compiles a function at its first call, and keeps the code for the next start where it can be written."""
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither beside the program nor in the home directory
        return njit(nogil=True)(function)
