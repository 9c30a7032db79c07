"""Counts how much is drawn from a replay, and how old it is."""

import math
import time


class Drawing:
    """Counts draws in one thread; another reads the figures."""

    def __init__(self):
        self._drawn = 0, 0.0  # transitions; and steps that were played between them and their draws, summed
        self._row_before = 0, 0.0, time.monotonic()

    def drawn(self, transitions: int, age_steps: float) -> None:
        """Counts a draw. `age_steps`: the mean age of its transitions, in steps of play."""
        before, steps = self._drawn
        self._drawn = before + transitions, steps + transitions * age_steps

    def watched(self, size: int) -> dict[str, float]:
        """Returns figures for a row of the log, since the last row. `size`: transitions that can be drawn."""
        (drawn_before, steps_before, before), now = self._row_before, time.monotonic()
        drawn, steps = self._drawn
        self._row_before = drawn, steps, now
        count = drawn - drawn_before
        return {
            "drawn_per_second": count / max(now - before, 1e-3),
            "experience_age_steps": (steps - steps_before) / count if count else math.nan,
            "replay_size": float(size),
        }
