"""A machine with a known best setting, on a simulated clock, for the rules of the controller."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np

from ga3c.controller.counts import Counts, Decision, Rule, Signals

Landscape = Callable[[Counts], float]


def two_cores(counts: Counts) -> float:
    """TPS of two cores without a GPU: 6 to 8 agents are best, more threads hurt a little."""
    agents = float(np.interp(counts.agents, [1, 2, 3, 4, 6, 8], [0.5, 0.8, 0.89, 0.95, 0.99, 1.0]))
    return 550 * agents * (1 - 0.015 * (counts.predictors + counts.trainers - 2))


def one_core_left(counts: Counts) -> float:
    """The same while another program has a core: 2 agents are best, and more cost something."""
    agents = float(np.interp(counts.agents, [1, 2, 3, 8, 64], [0.8, 1.0, 0.97, 0.88, 0.6]))
    return 250 * agents * (1 - 0.03 * (counts.predictors + counts.trainers - 2))


def large_machine(counts: Counts) -> float:
    """64 cores and a GPU: best near 64 agents, 4 predictors and 2 trainers; each can hold the others up."""
    agents = counts.agents if counts.agents <= 64 else 64 - 0.1 * (counts.agents - 64)
    limits = agents, 22 * counts.predictors, 45 * counts.trainers
    extra = max(0, counts.predictors + counts.trainers - 6)
    return 100 * sum(limit**-4 for limit in limits) ** -0.25 * (1 - 0.03 * extra)


def large_machine_waits(counts: Counts) -> tuple[float, float]:
    """Shares of their time that its predictors and its trainers wait."""
    tps = large_machine(counts) / 100
    return 1 - tps / (22 * counts.predictors), 1 - tps / (45 * counts.trainers)


def flat(counts: Counts) -> float:
    return 500.0


def best(landscape: Landscape, agents: int = 128, threads: int = 8) -> float:
    return max(landscape(Counts(*c)) for c in product(range(1, agents + 1), *[range(1, threads + 1)] * 2))


class Machine:
    """TPS follows `landscape(counts)`, noise and drift; `lag(counts)` is the policy lag in updates.

    `later`: other landscapes, by the second from which they hold. `waits(counts)`: shares of their time that predictors
    and trainers wait; without it, the signals say nothing of waits and queues.

    Noise: first-order autoregressive with `noise` standard deviation for samples of a second and `memory_seconds`;
    drift: the same, slow. Agents that are added need `start_seconds`, in which nobody gains from them; those that
    have been there in the last minute are there at once.
    """

    def __init__(
        self,
        landscape,
        seed,
        noise=0.04,
        memory_seconds=2.5,
        drift=0.04,
        drift_seconds=180.0,
        lag=None,
        later=(),
        waits=None,
        start_seconds=3.0,
    ):
        self.later, self.waits, self.start_seconds = dict(later), waits, start_seconds
        self.landscape, self.lag = landscape, lag or (lambda counts: 3.0)
        self.noise, self.memory_seconds, self.drift, self.drift_seconds = noise, memory_seconds, drift, drift_seconds
        self._rng = np.random.default_rng(seed)
        self._wander: list[tuple[float, float]] = []
        self._fast, self._slow = (self._rng.normal(0, deviation) for deviation in (noise, drift))
        self._counts, self._there, self._changed = None, 0, -1e9
        self._last_used: dict[int, float] = {}  # number of agents -> when there were so many
        self.signals = Signals()
        self.used: list[tuple[float, Counts]] = []  # what each second reaches without noise, and the counts

    def _noise(self) -> tuple[float, float]:
        """For this second: the multiplier of TPS, and a standard normal number."""
        if not self._wander:  # in chunks: drawing one at a time is slow
            for fast, slow in self._rng.normal(size=(1000, 2)).tolist():
                for_fast, for_slow = math.exp(-1 / self.memory_seconds), math.exp(-1 / self.drift_seconds)
                self._fast = for_fast * self._fast + self.noise * math.sqrt(1 - for_fast**2) * fast
                self._slow = for_slow * self._slow + self.drift * math.sqrt(1 - for_slow**2) * slow
                self._wander.append((max(0.0, (1 + self._fast) * (1 + self._slow)), fast))
            self._wander.reverse()
        return self._wander.pop()

    def second(self, counts: Counts) -> Signals:
        """Runs for a second."""
        now = self.signals
        self.landscape = self.later.get(now.seconds, self.landscape)
        if counts != self._counts:
            spare = [agents for agents, used in self._last_used.items() if now.seconds - used < 60]
            self._there = max(spare, default=counts.agents)
            self._counts, self._changed = counts, now.seconds
        level = self.landscape(counts)
        more = counts.agents - self._there
        starting = more if more > 0 and now.seconds - self._changed < self.start_seconds else 0
        if starting:
            level = 0.9 * min(level, self.landscape(counts._replace(agents=self._there)))
        else:
            self._last_used[counts.agents] = now.seconds
        self.used.append((level, counts))
        multiplier, normal = self._noise()
        tps, lag = level * multiplier, self.lag(counts) * (1 + 0.1 * normal)
        self.signals = now._replace(
            seconds=now.seconds + 1,
            rollouts=now.rollouts + tps,
            lag_sum=now.lag_sum + lag,
            lag_rows=now.lag_rows + 1,
            agents_starting=starting,
        )
        if self.waits:
            self._add_waits(counts, *self.waits(counts))
        return self.signals

    def _add_waits(self, counts: Counts, predictors_wait: float, trainers_wait: float) -> None:
        now = self.signals
        self.signals = now._replace(
            predictor_wait_seconds=now.predictor_wait_seconds + predictors_wait * counts.predictors,
            trainer_wait_seconds=now.trainer_wait_seconds + trainers_wait * counts.trainers,
            prediction_queue=round(counts.agents * max(0.0, 0.9 - predictors_wait)),
            training_queue=round(counts.agents * max(0.0, 0.9 - trainers_wait)),
        )


def simulate(rule: Rule, machine: Machine, seconds: int) -> list[Decision]:
    """Runs the rule for so many seconds."""
    decisions: list[Decision] = []
    steps = rule.run(decisions.append)
    wanted = next(steps)
    period = round(rule.period_seconds)
    for tick in range(seconds):
        if tick % period == 0:
            wanted = steps.send(machine.signals)
        machine.second(wanted)
    return decisions
