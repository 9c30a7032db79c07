"""Says who waits for whom, when training stands still or somebody asks."""

import sys
import threading
import time
from pathlib import Path

PACKAGE = Path(__file__).parent.parent


class StallWatch:
    """Notices that there has been no update for `limit_seconds`; 0: never."""

    def __init__(self, limit_seconds: float):
        self._limit_seconds = limit_seconds
        self._updates, self._since, self._said = -1, time.monotonic(), False

    def look(self, updates: int, starting: bool = False) -> str | None:
        """Takes the number of updates so far. Returns what to say: once for each stall, and once when it is over.

        `starting`: games are still being started, and nobody has learnt anything yet.
        """
        now = time.monotonic()
        if starting:
            self._since = now
        if updates != self._updates:
            over = f"Updates again, after {now - self._since:.0f} s without one." if self._said else None
            self._updates, self._since, self._said = updates, now, False
            return over
        if self._limit_seconds and not self._said and now - self._since > self._limit_seconds:
            self._said = True
            return f"No update for {now - self._since:.0f} s. Who waits for whom:"
        return None


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
