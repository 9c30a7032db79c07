"""The terminal that the program runs in: whether it may be filled, and its keys."""

import contextlib
import os
import sys
import termios
import tty


def can_show() -> bool:
    """Tells whether standard output is a terminal that this program may fill."""
    return os.isatty(1) and os.environ.get("TERM", "dumb") != "dumb" and in_foreground()


def in_foreground() -> bool:
    """A job in the background must leave the terminal alone."""
    try:
        return os.tcgetpgrp(1) == os.getpgrp()
    except OSError:
        return False


def screen_stream():
    """Standard output for who draws: it takes escape sequences, so the caller makes foreign text harmless."""
    return getattr(sys.stdout, "stream", sys.stdout)


@contextlib.contextmanager
def keys():
    """Reads keys one by one, without showing them, as long as the context lasts. Does nothing without a terminal."""
    if not os.isatty(0):
        yield
        return
    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
