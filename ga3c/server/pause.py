"""A pause that a signal handler can end."""

import contextlib
import os

from ga3c.records.files import has_something


class Pause:
    """Waits on a pipe: an Event must not be set in a signal handler."""

    def __init__(self):
        self._ended, self._end = os.pipe()
        for pipe in (self._ended, self._end):
            os.set_blocking(pipe, False)

    def wait(self, seconds: float) -> None:
        """Waits for so long, or until `end` is called, which may be before."""
        if has_something(self._ended, seconds):
            with contextlib.suppress(BlockingIOError):
                os.read(self._ended, 1000)

    def end(self) -> None:
        """Ends the pause, or the next one. Safe in a signal handler."""
        with contextlib.suppress(OSError):  # full: it will end; or it is closed
            os.write(self._end, b"!")

    def close(self) -> None:
        """Closes the pipe. A signal handler may still call `end`."""
        pipes, self._ended, self._end = (self._ended, self._end), -1, -1  # the numbers may soon be those of other files
        for pipe in pipes:
            os.close(pipe)
