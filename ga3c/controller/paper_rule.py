"""The controller's rule of the paper (section 4.3)."""

import math
import random
from collections.abc import Generator

from ga3c.controller.counts import Counts, Decision, Report, Signals, mean_lag, rate


def propose(counts: Counts, rng: random.Random) -> Counts:
    """The paper's rule: one of the three, at random, one up or one down; never below one."""
    neighbours = [
        counts._replace(**{name: value + change})
        for name, value in counts._asdict().items()
        for change in (-1, 1)
        if value + change >= 1
    ]
    return rng.choice(neighbours)


class PaperRule:
    """Tries a neighbouring setting each `period_seconds`; keeps it if TPS rose, else goes back."""

    def __init__(self, counts: Counts, period_seconds: float, seed: int, proposal=propose):
        self.counts, self.period_seconds = counts, period_seconds
        self._rng, self._proposal = random.Random(seed), proposal

    def run(self, report: Report) -> Generator[Counts, Signals, None]:
        start = yield self.counts
        end = yield self.counts
        tps_in_use = rate(start, end)
        while True:
            trial = self._proposal(self.counts, self._rng)
            start, end = end, (yield trial)
            tps, lag = rate(start, end), mean_lag(start, end)
            kept = tps > tps_in_use
            effect, seconds = 100 * (tps / tps_in_use - 1) if tps_in_use else math.nan, end.seconds - start.seconds
            reason = (
                f"{self.counts.change_to(trial)}, drawn at random: TPS {tps:.0f} after {tps_in_use:.0f}: "
                f"{'kept' if kept else 'went back'}."
            )
            measured = tps, tps_in_use, effect, math.nan, lag, math.nan, seconds, kept, reason
            report(Decision(end.seconds, end.steps, *trial, *self.counts, *measured))
            if kept:
                self.counts, tps_in_use = trial, tps
