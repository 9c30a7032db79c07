"""The controller's own rule: finds the counts with the most TPS, and takes no noise for a gain.

A trial measures a neighbouring setting and the setting in use in turns, until it is decided. Between settings of the
same TPS the one with fewer processes and threads wins.
"""

import math
from collections.abc import Generator

from ga3c.controller.counts import Counts, Decision, Report, Signals
from ga3c.controller.effects import SURE, Block, Effect, Noise, Verdict, block, compare, judge, mean
from ga3c.controller.proposals import COARSE, DOWN, FINE, UP, Move, Proposal, Proposals, moves

# In samples:
BLOCK = 5
START = 10  # left out after the start of the run
# In blocks:
FIRST_LOOK = 2  # a trial is decided after so many at the earliest, unless it is far slower
TURN = 2  # one setting is measured for so long before the other has its turn
FIRST_TRIAL = 4  # of a setting that was not tried before
RECENT = 4  # of the setting in use: what queues, threads and policy lag say
MINUTE = 12
PAUSES = (1, 2, 4)  # minutes; the last one again and again

START_SECONDS = 60.0  # agents that start their games get so much time before they count
SETTLING_SECONDS = 3.0  # left out after a change, once all agents play; not more than `trial_seconds`
LOAD_CHANGE = 0.15  # a relative change of TPS by itself that means another load of the machine

Steps = Generator[Counts, Signals, None]


class Tuner:
    """A `controller.Rule`. A trial measures the new setting for no longer than `trial_seconds`.

    Takes a sample a second; 60 in each trial, faster, if `trial_seconds` is less than a minute. `lag_limit_updates`: a
    setting with a higher mean policy lag is refused; 0: no limit. `most`: the largest counts to try.
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
        self._trial_blocks = round(trial_seconds / self.period_seconds / BLOCK)
        self._starting = round(START_SECONDS / self.period_seconds)
        self._settling = round(min(SETTLING_SECONDS, trial_seconds) / self.period_seconds)
        self._lag_limit = lag_limit_updates or float("inf")
        self._most = most
        self._proposals = Proposals(most, max_prediction_batch, seed, self._lag_limit)
        self._noise = Noise()
        self._given_away = 0.0  # relative TPS that steps down have cost since the last gain
        self._restless = False  # the load of the machine has changed during the run
        self._leave()

    def _leave(self) -> None:
        """The setting in use, or the load of the machine, is another."""
        self._base: list[Block] = []  # of the setting in use, the newest last
        self._level = 0.0  # its TPS, followed slowly
        self._no_less_lag: set[Counts] = set()  # tried against too much lag, in vain
        self._pauses = 0

    def run(self, report: Report) -> Steps:
        self._now = yield self.counts
        self._running, self._newest = self.counts, None  # what runs, and its newest block
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

    def _seen(self) -> Block:
        """Of the setting in use, lately."""
        recent = self._base[-RECENT:]
        return Block(*(mean(recent, name) for name in Block._fields))

    def _ready(self) -> bool:
        """The setting in use is measured well enough for a trial against it."""
        lag, recent = self._lag(), self._base[-RECENT:]
        enough = RECENT if self._lag_limit < lag < 2 * self._lag_limit else FIRST_LOOK  # is it so all the time?
        return len(recent) >= enough and mean(recent, "tps") > 0

    def _lag(self) -> float:
        return mean(self._base[-RECENT:], "policy_lag_updates")

    def _block(self, counts: Counts) -> Generator[Counts, Signals, Block]:
        """Measures a setting for a block, once it has settled."""
        if counts != self._running:
            self._running, self._newest = counts, None
            yield from self._settle(self._settling)
        start, samples = self._now, []
        for _ in range(BLOCK):
            samples.append((yield counts))
        self._now = samples[-1]
        new = block(counts, start, samples)
        if self._newest:
            self._noise.add(self._newest, new)
        self._newest = new
        return new

    def _settle(self, samples: int) -> Steps:
        """Lets the agents start their games, and then the rest of so many samples pass."""
        for _ in range(self._starting):
            self._now = yield self._running
            if not self._now.agents_starting:
                break
        for _ in range(samples - 1):
            self._now = yield self._running

    def _watch(self) -> Generator[Counts, Signals, bool]:
        """Measures the setting in use for a block. True if the load of the machine has changed."""
        new = yield from self._block(self.counts)
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
        """Fewer agents, if the policy lag of the setting in use is above the limit."""
        lag = self._lag()
        if not (lag > self._lag_limit and self._ready()):
            return None
        factor = COARSE if lag > 2 * self._lag_limit else FINE
        fewer = moves(self.counts, factor, self._most).get(Move("agents", DOWN))
        if fewer is None or fewer in self._no_less_lag:
            return None
        return Proposal(fewer, f"the policy lag of {lag:.1f} updates is above {self._lag_limit:g}")

    def _try(self, proposal: Proposal, report: Report) -> Steps:
        """One trial, to its end."""
        trial, against_lag = proposal.counts, self._against_lag() is not None
        most_blocks = self._trial_blocks if self._proposals.earlier(trial) else FIRST_TRIAL
        base, measured = self._base[-TURN:], []
        verdict = None
        while verdict is None:
            for _ in range(TURN):
                measured.append((yield from self._block(trial)))
                verdict = self._verdict(trial, base, measured, against_lag, last=False)
                if verdict and verdict.kept and self._restless and len(measured) <= TURN and not against_lag:
                    verdict = None  # the load may have changed as the trial began: the setting in use comes first
                if verdict:
                    break
            else:
                for turn in range(1, TURN + 1):
                    if (yield from self._watch()) or self._moved(base[:TURN], [*base[TURN:], self._base[-1]]):
                        self._report(proposal, base, measured, Verdict(False, "the machine's load has changed"), report)
                        self._base, self._restless = self._base[-1:], True
                        return
                    base.append(self._base[-1])
                    # The last turn is half as long: the first had half its weight too.
                    last = len(measured) >= most_blocks and turn == TURN // 2
                    if verdict := self._verdict(trial, base, measured, against_lag, last):
                        break
        self._report(proposal, base, measured, verdict, report)
        effect = self._effect(trial, base, measured)
        if verdict.kept:
            self._keep(trial, effect, measured, against_lag)
            return
        if against_lag:
            self._no_less_lag.add(trial)
        self._proposals.refuse(self.counts, trial, effect, verdict.clear, verdict.over_limit)

    def _moved(self, before: list[Block], after: list[Block]) -> bool:
        """The setting in use has another TPS after a turn of the trial than it had before it."""
        change = compare(before, after, self._noise)
        return abs(change.size) > SURE * change.error

    def _keep(self, trial: Counts, effect: Effect, measured: list[Block], against_lag: bool) -> None:
        if against_lag or sum(trial) > sum(self.counts):
            self._given_away = 0.0
        else:
            self._given_away = max(0.0, self._given_away - effect.size)
        self._proposals.keep(self.counts, trial, effect, once_more=not against_lag)
        self._leave()
        self.counts = trial
        self._base = measured[-RECENT:]
        self._level = mean(self._base, "tps")

    def _effect(self, trial: Counts, base: list[Block], measured: list[Block]) -> Effect:
        effect, earlier = compare(base, measured, self._noise), self._proposals.earlier(trial)
        return effect.with_earlier(earlier) if earlier else effect

    def _verdict(
        self, trial: Counts, base: list[Block], measured: list[Block], against_lag: bool, last: bool
    ) -> Verdict | None:
        """None: not decided yet."""
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

    def _report(
        self, proposal: Proposal, base: list[Block], measured: list[Block], verdict: Verdict, report: Report
    ) -> None:
        trial, why = proposal
        effect = self._effect(trial, base, measured)
        lag, lag_before = (mean(blocks, "policy_lag_updates") for blocks in (measured, base))
        ending = ("kept" if verdict.kept else "went back") + (f", {verdict.why}." if verdict.why else ".")
        lag_text = "" if math.isnan(lag) else f", policy lag {lag:.1f} updates"
        reason = f"{self.counts.change_to(trial)}, because {why}: {effect}{lag_text}: {ending}"
        seconds = len(measured) * BLOCK * self.period_seconds
        tps, tps_before = mean(measured, "tps"), mean(base, "tps")
        figures = tps, tps_before, 100 * effect.size, 100 * effect.error, lag, lag_before, seconds
        report(Decision(self._now.seconds, self._now.steps, *trial, *self.counts, *figures, verdict.kept, reason))
