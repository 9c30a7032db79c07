"""Notices a run that learns nothing: updates follow each other, and no weight changes."""

import time

from ga3c.stats import Stats

SECONDS = 10.0  # of such updates before it is said
PASSING_SECONDS = 60.0  # the same where it passes by itself
FEWEST_UPDATES = 3  # in that time: a single one may take as long


class UnchangedWatch:
    """Notices that the weights do not change, whatever the system and the algorithm."""

    def __init__(self):
        self._said = False
        self._passing_updates = 0  # of those in a row, the ones for whose reason nothing had to be done

    def look(self, stats: Stats, model) -> str | None:
        """Returns what to say: once when no weight changes, and once when that is over.

        `model`: a `model.Model`, which says why.
        """
        updates, seconds = stats.unchanged_in_a_row, time.monotonic() - stats.unchanged_since
        if self._said:
            self._said = updates > 0
            return None if self._said else "Updates change weights now."
        why, passes = model.why_unchanged(stats.trained_steps()) if updates else ("", False)
        if passes and seconds <= PASSING_SECONDS:
            self._passing_updates = updates
            return None
        self._passing_updates = 0 if passes else min(self._passing_updates, updates)
        if updates - self._passing_updates < FEWEST_UPDATES or seconds <= SECONDS:
            return None
        self._said = True
        return f"Nothing is learned: {updates:,} updates in {seconds:.0f} s changed no weight, because {why}."
