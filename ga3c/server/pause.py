"""A pause that a signal handler can end."""

import contextlib
import os
import select


class Pause:
    """Waits on a pipe: an Event must not be set in a signal handler."""

    def __init__(self):
        self._ended, self._end = os.pipe()
        for pipe in (self._ended, self._end):
            os.set_blocking(pipe, False)

    def wait(self, seconds: float) -> None:
        """Waits for so long, or until `end` is called, which may be before."""
        if select.select([self._ended], [], [], seconds)[0]:
            with contextlib.suppress(BlockingIOError):
                os.read(self._ended, 1000)

    def end(self) -> None:
        """Ends the pause, or the next one. Safe in a signal handler."""
        with contextlib.suppress(BlockingIOError):  # full: it will end
            os.write(self._end, b"!")
