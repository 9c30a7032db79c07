"""The controller's rule of the paper (section 4.3)."""

import math
import random
from collections.abc import Generator

from ga3c.controller.counts import Counts, Decision, Report, Signals, mean_lag, rate


def propose(counts: Counts, rng: random.Random) -> Counts:
    """Returns the counts with one of the three, at random, one up or one down; never below one."""
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
            decision = Decision(
                seconds=end.seconds,
                steps=end.steps,
                tried=trial,
                before=self.counts,
                tps=tps,
                tps_before=tps_in_use,
                effect_percent=effect,
                effect_error_percent=math.nan,
                policy_lag_updates=lag,
                policy_lag_before_updates=math.nan,
                measured_seconds=seconds,
                kept=kept,
                reason=reason,
            )
            report(decision)
            if kept:
                self.counts, tps_in_use = trial, tps
