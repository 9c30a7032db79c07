"""The controller's own rule: finds the counts with the most TPS, and takes no noise for a gain.

A trial measures a neighbouring setting and the setting in use in turns until there is a decision. Between settings of
the same TPS the one with fewer processes and threads wins.
"""

import math
from collections.abc import Generator

from ga3c.controller.counts import Counts, Decision, Report, Signals
from ga3c.controller.effects import SURE, Effect, Measurement, Noise, Verdict, compare, judge, mean, measure
from ga3c.controller.proposals import COARSE, DOWN, FINE, UP, Move, Proposal, Proposals, moves

# In samples:
MEASUREMENT = 5
START = 10  # left out after the start of the run
# In measurements:
FIRST_LOOK = 2  # a trial is decided after so many at the earliest, unless it is far slower
TURN = 2  # of one setting before it is the turn of the other
FIRST_TRIAL = 4  # at most, of a setting that was not tried before
RECENT = 4  # of the setting in use, from which proposals are made
MINUTE = 12
PAUSES = (1, 2, 4)  # minutes; the last one again and again

START_SECONDS = 60.0  # the longest wait for agents that start their games
SETTLING_SECONDS = 3.0  # left out after a change, once all agents play; not more than `trial_seconds`
LOAD_CHANGE = 0.15  # a relative change of TPS by itself that means another load of the machine

Steps = Generator[Counts, Signals, None]


class Tuner:
    """A `counts.Rule`. A trial measures the new setting for no longer than `trial_seconds`.

    It takes a sample a second, or 60 in each trial if `trial_seconds` is less than a minute. A setting with a mean
    policy lag above `lag_limit_updates` is refused; 0: no limit. `most`: the largest counts to try.
    """

    def __init__(
        self,
        counts: Counts,
        trial_seconds: float,
        lag_limit_updates: float,
        most: Counts,
        max_prediction_batch: int,
        seed: int,
    ):
        self.counts = counts
        self.period_seconds = min(1.0, trial_seconds / 60)
        self._most_measurements = round(trial_seconds / self.period_seconds / MEASUREMENT)
        self._starting = round(START_SECONDS / self.period_seconds)
        self._settling = round(min(SETTLING_SECONDS, trial_seconds) / self.period_seconds)
        self._most, self._lag_limit = most, lag_limit_updates or math.inf
        self._proposals = Proposals(most, max_prediction_batch, seed, self._lag_limit)
        self._noise = Noise()
        self._given_away = 0.0  # relative TPS that steps down have cost since the last gain
        self._restless = False  # the load of the machine has changed during the run
        self._leave()

    def _leave(self) -> None:
        """Forgets the setting in use: it, or the load of the machine, is another."""
        self._base: list[Measurement] = []  # of the setting in use, the newest last
        self._level = 0.0  # its TPS, followed slowly
        self._no_less_lag: set[Counts] = set()  # tried against too much lag, in vain
        self._pauses = 0

    def run(self, report: Report) -> Steps:
        self._now = yield self.counts
        self._running, self._newest = self.counts, None  # what runs, and its newest measurement
        yield from self._settle(START)
        while True:
            proposal = yield from self._propose()
            if proposal:
                yield from self._try(proposal, report)

    def _propose(self) -> Generator[Counts, Signals, Proposal | None]:
        """Watches the setting in use until something is worth a trial. None: look again."""
        while self._running != self.counts or not self._ready():
            yield from self._watch()
        if proposal := self._against_lag():
            return proposal
        if proposal := self._proposals.next(self.counts, self._seen()):
            return proposal
        minutes = PAUSES[min(self._pauses, len(PAUSES) - 1)]
        self._pauses += 1
        for _ in range(minutes * MINUTE):
            if (yield from self._watch()) or self._against_lag():
                return None
        return self._proposals.after_pause(self.counts, self._seen())

    def _seen(self) -> Measurement:
        """Returns the means of the setting in use, lately."""
        recent = self._base[-RECENT:]
        return Measurement(*(mean(recent, name) for name in Measurement._fields))

    def _ready(self) -> bool:
        """Returns whether the setting in use is measured well enough for a trial against it."""
        lag, recent = self._lag(), self._base[-RECENT:]
        enough = RECENT if self._lag_limit < lag < 2 * self._lag_limit else FIRST_LOOK  # may be chance
        return len(recent) >= enough and mean(recent, "tps") > 0

    def _lag(self) -> float:
        return mean(self._base[-RECENT:], "policy_lag_updates")

    def _measure(self, counts: Counts) -> Generator[Counts, Signals, Measurement]:
        """Measures a setting once, after it has settled."""
        if counts != self._running:
            self._running, self._newest = counts, None
            yield from self._settle(self._settling)
        start, samples = self._now, []
        for _ in range(MEASUREMENT):
            samples.append((yield counts))
        self._now = samples[-1]
        new = measure(counts, start, samples)
        if self._newest:
            self._noise.add(self._newest, new)
        self._newest = new
        return new

    def _settle(self, samples: int) -> Steps:
        """Lets the agents start their games, and then so many samples pass."""
        for _ in range(self._starting):
            self._now = yield self._running
            if not self._now.agents_starting:
                break
        for _ in range(samples - 1):
            self._now = yield self._running

    def _watch(self) -> Generator[Counts, Signals, bool]:
        """Measures the setting in use. Returns whether the load of the machine has changed."""
        new = yield from self._measure(self.counts)
        self._base = [*self._base[-MINUTE:], new]
        recent = mean(self._base[-3:], "tps")
        if len(self._base) < 3 or not self._level:
            self._level = recent
        change = recent - self._level
        if abs(change) <= max(LOAD_CHANGE, 4 * self._noise.error(3, MINUTE, 0.0)) * self._level:
            self._level += (new.tps - self._level) / (2 * MINUTE)
            return False
        why = f"TPS went from {self._level:.0f} to {recent:.0f} by itself"
        self._proposals.forget(Move("agents", UP if change > 0 else DOWN), why)
        self._given_away, self._restless = 0.0, True
        self._leave()
        return True

    def _against_lag(self) -> Proposal | None:
        """Proposes fewer agents if the policy lag of the setting in use is above the limit."""
        lag = self._lag()
        if not (lag > self._lag_limit and self._ready()):
            return None
        factor = COARSE if lag > 2 * self._lag_limit else FINE
        fewer = moves(self.counts, factor, self._most).get(Move("agents", DOWN))
        if fewer is None or fewer in self._no_less_lag:
            return None
        return Proposal(fewer, f"the policy lag of {lag:.1f} updates is above {self._lag_limit:g}")

    def _try(self, proposal: Proposal, report: Report) -> Steps:
        """Runs one trial to its end."""
        trial, against_lag = proposal.counts, self._against_lag() is not None
        most = self._most_measurements if self._proposals.earlier(trial) else FIRST_TRIAL
        base, measured = self._base[-TURN:], []
        verdict = None
        while verdict is None:
            for _ in range(TURN):
                measured.append((yield from self._measure(trial)))
                verdict = self._verdict(trial, base, measured, against_lag, last=False)
                if verdict and verdict.kept and self._restless and len(measured) <= TURN and not against_lag:
                    verdict = None  # the load may have changed as the trial began: measure the setting in use first
                if verdict:
                    break
            else:
                for turn in range(1, TURN + 1):
                    if (yield from self._watch()) or self._moved(base[:TURN], [*base[TURN:], self._base[-1]]):
                        verdict = Verdict(False, "the machine's load has changed")
                        report(self._decision(proposal, base, measured, verdict))
                        self._base, self._restless = self._base[-1:], True
                        return
                    base.append(self._base[-1])
                    # The last turn is half as long: the first had half its weight too.
                    last = len(measured) >= most and turn == TURN // 2
                    if verdict := self._verdict(trial, base, measured, against_lag, last):
                        break
        report(self._decision(proposal, base, measured, verdict))
        effect = self._effect(trial, base, measured)
        if verdict.kept:
            self._keep(trial, effect, measured, against_lag)
            return
        if against_lag:
            self._no_less_lag.add(trial)
        self._proposals.refuse(self.counts, trial, effect, verdict.clear, verdict.over_limit)

    def _moved(self, before: list[Measurement], after: list[Measurement]) -> bool:
        """Returns whether the TPS of the setting in use is another after a turn of the trial than before it."""
        change = compare(before, after, self._noise)
        return abs(change.size) > SURE * change.error

    def _keep(self, trial: Counts, effect: Effect, measured: list[Measurement], against_lag: bool) -> None:
        if against_lag or sum(trial) > sum(self.counts):
            self._given_away = 0.0
        else:
            self._given_away = max(0.0, self._given_away - effect.size)
        self._proposals.keep(self.counts, trial, effect, once_more=not against_lag)
        self._leave()
        self.counts = trial
        self._base = measured[-RECENT:]
        self._level = mean(self._base, "tps")

    def _effect(self, trial: Counts, base: list[Measurement], measured: list[Measurement]) -> Effect:
        effect, earlier = compare(base, measured, self._noise), self._proposals.earlier(trial)
        return effect.with_earlier(earlier) if earlier else effect

    def _verdict(
        self, trial: Counts, base: list[Measurement], measured: list[Measurement], against_lag: bool, last: bool
    ) -> Verdict | None:
        """Returns the decision; None: there is none yet."""
        lag, lag_before = mean(measured, "policy_lag_updates"), mean(base, "policy_lag_updates")
        less_lag, early = lag < 0.95 * lag_before, len(measured) < FIRST_LOOK
        if against_lag:
            return None if early else Verdict(less_lag, "less lag" if less_lag else "no less lag")
        more = sum(trial) > sum(self.counts)
        verdict = judge(self._effect(trial, base, measured), more, self._given_away, early, last)
        over = lag > self._lag_limit and not less_lag and not early
        if over and (lag > 1.25 * self._lag_limit or (verdict and verdict.kept)):
            return Verdict(False, f"its policy lag is above {self._lag_limit:g}", over_limit=True)
        return verdict

    def _decision(
        self, proposal: Proposal, base: list[Measurement], measured: list[Measurement], verdict: Verdict
    ) -> Decision:
        trial, why = proposal
        effect = self._effect(trial, base, measured)
        lag = mean(measured, "policy_lag_updates")
        ending = ("kept" if verdict.kept else "went back") + (f", {verdict.why}." if verdict.why else ".")
        lag_text = "" if math.isnan(lag) else f", policy lag {lag:.1f} updates"
        reason = f"{self.counts.change_to(trial)}, because {why}: {effect}{lag_text}: {ending}"
        return Decision(
            seconds=self._now.seconds,
            steps=self._now.steps,
            tried=trial,
            before=self.counts,
            tps=mean(measured, "tps"),
            tps_before=mean(base, "tps"),
            effect_percent=100 * effect.size,
            effect_error_percent=100 * effect.error,
            policy_lag_updates=lag,
            policy_lag_before_updates=mean(base, "policy_lag_updates"),
            measured_seconds=len(measured) * MEASUREMENT * self.period_seconds,
            kept=verdict.kept,
            reason=reason,
        )
