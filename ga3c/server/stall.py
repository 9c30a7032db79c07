"""Says who waits for whom, when training stands still or somebody asks."""

import sys
import threading
import time
from pathlib import Path
from types import TracebackType

PACKAGE = Path(__file__).parent.parent


class StallWatch:
    """Notices that nothing was played or learned for `limit_seconds`; 0: never."""

    def __init__(self, limit_seconds: float):
        self._limit_seconds = limit_seconds
        self._done, self._since, self._said = -1, time.monotonic(), False

    def look(self, done: int, starting: bool = False) -> str | None:
        """Takes a number that grows with every step and every update. Returns what to say: once for each stall, and
        once when it is over.

        `starting`: games are still being started, and nobody has learnt anything yet.
        """
        now = time.monotonic()
        if starting:
            self._since = now
        if done != self._done:
            over = f"Updates again, after {now - self._since:.0f} s without one." if self._said else None
            self._done, self._since, self._said = done, now, False
            return over
        if self._limit_seconds and not self._said and now - self._since > self._limit_seconds:
            self._said = True
            return f"No update for {now - self._since:.0f} s. Who waits for whom:"
        return None


def began_here(traceback: TracebackType | None) -> bool:
    """Tells whether a thread that ended by an exception was started to run a function of this program."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename == threading.__file__:
        traceback = traceback.tb_next
    return traceback is None or Path(traceback.tb_frame.f_code.co_filename).is_relative_to(PACKAGE)


def threads_report() -> list[str]:
    """A line for each thread of this process: which of our own functions it is in, the outermost first."""
    frames = sys._current_frames()
    return [f"Thread {thread.name}: {_place(frames.get(thread.ident))}" for thread in threading.enumerate()]


def _place(frame) -> str:
    places = []
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(PACKAGE):
            places.append(f"{frame.f_code.co_name} ({file.relative_to(PACKAGE)}:{frame.f_lineno})")
        frame = frame.f_back
    return ", ".join(reversed(places)) or "outside of this program"
