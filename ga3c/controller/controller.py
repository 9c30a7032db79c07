"""Controller: changes the numbers of agents, predictors and trainers to raise TPS (paper, section 4.3).

A rule decides: `tuner.Tuner`, or `paper_rule.PaperRule`. It knows neither clock nor threads: it gets the running
totals once a period, and returns the setting that it wants until the next.

Synchronised and alternating sampling have no controller. In lockstep an update takes one rollout of every agent, so
another number of agents is another batch size, which changes what is learned and not only how fast. And as all wait for
each other, a second predictor or trainer would have nothing to do.
"""

import threading
from collections.abc import Callable

from ga3c.controller.counts import Counts, Decision, Rule, Signals


class Controller(threading.Thread):
    """Gives a rule the signals once a period, applies the setting that it wants, and writes its decisions down."""

    def __init__(
        self,
        rule: Rule,
        apply: Callable[[Counts], None],
        signals: Callable[[], Signals],
        say: Callable[[str], None],
        write: Callable[[list[list]], None],
    ):
        """`write` takes rows of controller.csv."""
        super().__init__(name="controller", daemon=True)
        self._rule, self._apply, self._signals, self._say, self._write = rule, apply, signals, say, write
        self._ended = threading.Event()

    @property
    def counts(self) -> Counts:
        """The setting in use, without a trial in progress."""
        return self._rule.counts

    def finish(self) -> None:
        """Ends the thread; a trial in progress is left as it is."""
        self._ended.set()

    def run(self) -> None:
        steps = self._rule.run(self._log)
        applied = next(steps)
        while True:
            wanted = steps.send(self._signals())
            if wanted != applied:
                self._apply(wanted)
                applied = wanted
            if self._ended.wait(self._rule.period_seconds):
                return

    def _log(self, decision: Decision) -> None:
        self._say(f"Controller: {decision.reason}")
        self._write([decision.row()])
