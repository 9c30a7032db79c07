"""Proposes which change of the counts to try next, from the queues, the idle threads and earlier trials."""

import math
import random
from collections.abc import Iterable
from typing import NamedTuple

from ga3c.controller.counts import Counts
from ga3c.controller.effects import Effect, Measurement

UP, DOWN = 1, -1
COARSE, FINE = 2.0, 1.4  # a count is multiplied or divided by one of these
IDLE = 0.3  # a thread that waits for more than this share of its time keeps up
SPARE = 0.1  # so does one that waits for this share, while its queue is almost empty
LOOKS, LOOKS_IF_LIKELY = 1, 2  # unclear trials that are followed by another; the second: a gain above its error
OVER_LIMIT_HANDICAP = 0.2  # is subtracted from the hope for a setting with too much policy lag


class Move(NamedTuple):
    """A change of one count, or of all, up or down."""

    name: str  # of the count; "all": those above one
    direction: int


ALL_DOWN = Move("all", DOWN)


class Proposal(NamedTuple):
    """A setting to try, and why."""

    counts: Counts
    why: str


def moves(counts: Counts, factor: float, most: Counts) -> dict[Move, Counts]:
    """Returns all changes of one count by a factor, but at least by one; and, if coarse, of all counts down."""
    found = {}
    for name, value in counts._asdict().items():
        up, down = max(value + 1, round(value * factor)), min(value - 1, round(value / factor))
        if up <= getattr(most, name):
            found[Move(name, UP)] = counts._replace(**{name: up})
        if down >= 1:
            found[Move(name, DOWN)] = counts._replace(**{name: down})
    if factor == COARSE and sum(value > 1 for value in counts) > 1:
        found[ALL_DOWN] = Counts(*(max(1, round(value / factor)) for value in counts))
    return found


def move_of(before: Counts, after: Counts) -> Move:
    """Returns the move that leads from one setting to the other."""
    changed = [name for name in Counts._fields if getattr(before, name) != getattr(after, name)]
    return Move(changed[0] if len(changed) == 1 else "all", UP if sum(after) > sum(before) else DOWN)


def falling_behind(counts: Counts, seen: Measurement, max_prediction_batch: int) -> dict[Move, str]:
    """Returns moves against a queue that its threads do not keep up with, and why."""
    found = {}
    if not seen.predictor_wait > IDLE:  # or if it is not measured
        if seen.requests_waiting >= max(1, counts.agents / 2):
            why = f"{seen.requests_waiting:.1f} of {counts.agents} agents wait for a predictor"
            found[Move("predictors", UP)] = why
        elif seen.prediction_batch >= 0.8 * max_prediction_batch:
            found[Move("predictors", UP)] = f"predictions are full ({seen.prediction_batch:.0f} states)"
    if seen.rollouts_waiting >= max(2, 0.75 * counts.agents) and not seen.trainer_wait > IDLE:
        found[Move("trainers", UP)] = why = f"{seen.rollouts_waiting:.1f} rollouts wait for a trainer"
        found[Move("agents", DOWN)] = why
    return found


def keeping_up(seen: Measurement) -> set[Move]:
    """Returns moves that cannot help: more threads for a queue that is empty most of the time."""
    found = set()
    if seen.predictor_wait > SPARE and seen.requests_waiting < 1:
        found.add(Move("predictors", UP))
    if seen.trainer_wait > SPARE and seen.rollouts_waiting < 1:
        found.add(Move("trainers", UP))
    return found


def idling(counts: Counts, seen: Measurement) -> dict[Move, str]:
    """Returns moves against threads that have little to do, and why: more agents, or fewer threads."""
    why = f"predictors wait {100 * seen.predictor_wait:.0f} % of the time"
    found = {Move("agents", UP): why if seen.predictor_wait > IDLE else "little waits in the queues"}
    for name, share in (("predictors", seen.predictor_wait), ("trainers", seen.trainer_wait)):
        if share * getattr(counts, name) > 1.2:  # more than one of them would not be missed
            found[Move(name, DOWN)] = f"{name} wait {100 * share:.0f} % of the time"
    return found


class Proposals:
    """Remembers what was tried from the setting in use, and proposes what comes next."""

    def __init__(self, most: Counts, max_prediction_batch: int, seed: int, lag_limit_updates: float = math.inf):
        self._most, self._max_prediction_batch, self._rng = most, max_prediction_batch, random.Random(seed)
        self._lag_limit = lag_limit_updates
        self._too_many_agents = math.inf  # so many had too much policy lag
        self.forget()

    def forget(self, hint: Move | None = None, why: str = "") -> None:
        """Forgets all that was found out: the load of the machine is another. `hint`: a move to try first, and why."""
        self._gained = False  # by more of something
        self._futile: set[Move] = set()  # lost or gained nothing, and no count has gone up since
        self._leave()
        if hint:
            self._hint = {hint: why}

    def _leave(self) -> None:
        self._hint: dict[Move, str] = {}
        self._tried: dict[Counts, Effect] = {}  # from the setting in use
        self._looks: dict[Counts, int] = {}  # trials of these so far
        self._unclear: set[Counts] = set()  # of these, those that deserve a longer one
        self._over_limit: set[Counts] = set()  # of these, those with too much policy lag

    def keep(self, before: Counts, kept: Counts, effect: Effect, once_more: bool) -> None:
        """Notes that a trial is the setting in use now. `once_more`: the same move is promising again."""
        move = move_of(before, kept)
        if move.direction == UP:
            self._gained, self._futile = True, set()
        if kept.agents >= self._too_many_agents:
            self._too_many_agents = math.inf
        self._leave()
        if once_more:
            self._hint = {move: "the last such step was kept"}
        self._tried[before] = Effect(-effect.size, effect.error)

    def refuse(self, counts: Counts, trial: Counts, effect: Effect, clear: bool, over_limit: bool) -> None:
        """Notes a trial that was not kept. `clear`: more measurements would not help."""
        if clear:
            self._futile.add(move_of(counts, trial))
        looks = self._looks[trial] = self._looks.get(trial, 0) + 1
        if not (clear or over_limit) and looks <= (LOOKS_IF_LIKELY if effect.size > effect.error else LOOKS):
            self._unclear.add(trial)
        else:
            self._unclear.discard(trial)
        self._tried[trial] = effect
        if over_limit:
            self._over_limit.add(trial)
        if over_limit and trial.agents > counts.agents:
            self._too_many_agents = min(trial.agents, self._too_many_agents)
        elif trial.agents >= self._too_many_agents:
            self._too_many_agents = math.inf  # no longer

    def earlier(self, trial: Counts) -> Effect | None:
        """Returns the effect that was measured before, from the setting in use."""
        return self._tried.get(trial)

    def next(self, counts: Counts, seen: Measurement) -> Proposal | None:
        """Returns what to try now; None if nothing is worth its cost before a pause.

        Large steps come first: those that the queues ask for, what has just helped, then any. Unclear trials follow,
        then small steps. Moves that were futile before the last step down, small steps down where a large one lost,
        more threads for an empty queue, and more agents than policy lag allowed wait for `after_pause`.
        """
        useless = self._futile | keeping_up(seen)
        coarse, small = (self._within_limit(counts, factor, seen) for factor in (COARSE, FINE))
        fresh = {move: setting for move, setting in coarse.items() if move not in useless}
        reasons = falling_behind(counts, seen, self._max_prediction_batch) | self._hint
        if not self._gained:
            reasons.setdefault(ALL_DOWN, "fewer of everything may do")
        for move, why in idling(counts, seen).items():
            reasons.setdefault(move, why)
        for move, why in reasons.items():
            if move in fresh:
                return Proposal(fresh[move], why)
        if proposal := self._any(fresh):
            return proposal
        if self._unclear:
            return Proposal(self._most_hopeful(self._unclear), "it is not clear yet")
        can_wait = keeping_up(seen) | {move for move in self._futile if move.direction == DOWN}
        return self._any({move: setting for move, setting in small.items() if move not in can_wait})

    def after_pause(self, counts: Counts, seen: Measurement) -> Proposal | None:
        """Returns what had to wait, then the most promising of what was refused; None if there is nothing to try."""
        self._tried = {setting: effect.older() for setting, effect in self._tried.items()}
        for factor in (FINE, COARSE):
            if proposal := self._any(self._untried(counts, factor, seen)):
                return proposal
        again = [setting for setting in self._tried if not self._sure_to_lag(counts, setting, seen)]
        return Proposal(self._most_hopeful(again), "the last time was long ago") if again else None

    def _untried(self, counts: Counts, factor: float, seen: Measurement) -> dict[Move, Counts]:
        found = moves(counts, factor, self._most)
        return {
            move: setting
            for move, setting in found.items()
            if setting not in self._tried and not self._sure_to_lag(counts, setting, seen)
        }

    def _sure_to_lag(self, counts: Counts, trial: Counts, seen: Measurement) -> bool:
        """Returns whether more agents would certainly have too much policy lag: it grows at least with their number.

        Each game has half a rollout under way on average, and what waits in the queues adds to it.
        """
        more = trial.agents / counts.agents
        return more > 1 and seen.policy_lag_updates * more > self._lag_limit

    def _within_limit(self, counts: Counts, factor: float, seen: Measurement) -> dict[Move, Counts]:
        """Returns the untried moves to no more agents than the policy lag allowed, whatever the load was then."""
        most = max(self._too_many_agents - 1, counts.agents)
        return {move: to for move, to in self._untried(counts, factor, seen).items() if to.agents <= most}

    def _any(self, options: dict[Move, Counts]) -> Proposal | None:
        if not options:
            return None
        move = self._rng.choice(list(options))
        return Proposal(options[move], "fewer may do" if move.direction == DOWN else "it was not tried from here")

    def _most_hopeful(self, settings: Iterable[Counts]) -> Counts:
        handicap = OVER_LIMIT_HANDICAP
        return max(settings, key=lambda setting: self._tried[setting].hope - handicap * (setting in self._over_limit))
