"""Serial: one thread plays all games, predicts and learns, with GA3C's stations and no queue between them.

For a look at what happens in which order, and for the same weights from the same seed, bit for bit.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from ga3c.systems.model_of import model_of  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms, environments, machine
from ga3c.agent import play
from ga3c.model import Model
from ga3c.prediction_queue import Order
from ga3c.rollout import Batch, EnvironmentSpec, rollout_dtype, slots_needed
from ga3c.scheduling.counts import Counts
from ga3c.settings.run import Settings
from ga3c.stats import Stats, Timings
from ga3c.trainer import train
from ga3c.training_queue import Batches, Episode, Rollout
from ga3c.transport.memory import AgentMemory, Doing


class _Predictions:
    """In the place of an agent's `PredictionClient`: who waits for an answer makes it."""

    def __init__(self, memory: AgentMemory, model: Model, stats: Stats, stopping: Callable[[], bool]):
        self._slots, self._model, self._stats, self._stopping = memory.slots, model, stats, stopping

    def ask(self, slot: int, row: int) -> None:
        self._place = slot, row

    def wait(self) -> Order:
        began = time.monotonic()
        fields, version = self._model.predict(self._slots["observation"][self._place])
        for name, values in fields.items():
            self._slots[name][self._place] = values
        self._slots["version"][self._place] = version
        took = time.monotonic() - began
        self._stats.predicted(self._slots["action"].shape[2], Timings(requests=1, request_model=took))
        return Order.FINISH if self._stopping() else Order.GO_ON


class _Training:
    """In the place of an agent's `TrainingClient`, of the server's view of that agent, and of the trainers' queue."""

    def __init__(self, number: int, memory: AgentMemory, batches: Batches, rollouts: int, model: Model, stats: Stats):
        self.number, self.memory, self.trained_steps = number, memory, 0
        self._batches, self._rollouts, self._model, self._stats = batches, rollouts, model, stats
        self._free, self._shipped = deque(range(len(memory.slots))), []
        self.take_back = self._free.append

    def free_slot(self) -> int:
        return self._free.popleft()

    def ship(self, slot: int, length: int, transitions: int, episodes: Sequence[Episode]) -> None:
        self._shipped.append(Rollout(self, slot, length, transitions, tuple(episodes), time.monotonic()))
        train(self, self._model, self._stats)

    def finish(self) -> None:
        """Learns from what is left."""
        self._rollouts = 1
        train(self, self._model, self._stats)

    def next_batch(self) -> Batch | None:
        """None as long as there is not enough."""
        if len(self._shipped) < self._rollouts:
            return None
        taken, self._shipped = self._shipped, []
        return self._batches.of(taken)

    def done(self, batch: Batch) -> None:
        self._batches.done(batch)


class Serial:
    """A system, as `ga3c.systems` describes it."""

    def __init__(
        self,
        settings: Settings,
        spec: EnvironmentSpec,
        begun,
        say: Callable[[str], None],
        log_decisions: Callable[[list[list]], None],
    ):
        """`begun`: a `records.progress.Progress`. Raises ConfigError where this machine is too small."""
        learning, schedule = settings.learning, settings.schedule
        self._settings, self._spec, self._begun, self._say = settings, spec, begun, say
        self._algorithm = algorithms.make(settings, spec.actions.continuous)
        self.counts: Counts = begun.counts
        self._count = begun.counts.agents * schedule.envs_per_agent
        self._dtype = rollout_dtype(spec, learning.t_max, self._count)
        self._slots = slots_needed(learning.t_max, self._count, learning.minimum_batch_steps)
        machine.check_agents_fit(1, self._slots * self._dtype.itemsize, self._count)
        self._memory = AgentMemory(self._dtype, self._slots)
        self._steps_before = begun.totals.steps
        self.next_agent = begun.next_agent + 1
        self._stopping, self._thread = False, None

    @property
    def chosen_counts(self) -> Counts:
        return self.counts

    def start(self, arrays: dict[str, np.ndarray] | None) -> None:
        self._say(f"Serial: {self._count} games in one thread, which predicts and learns, too. No controller.")
        self.device, self.model = model_of(self._settings, self._spec, self._algorithm, self._begun, arrays)
        rollouts = self._slots - 2
        self.model.warm_up(self.model.prediction_sizes(self._count, self._count), rollouts * self._count)
        self.stats = Stats(self._begun.totals, self._begun.recent_scores)
        self._thread = threading.Thread(target=self._play, args=(rollouts,), name="player", daemon=True)
        self._thread.start()

    def _play(self, rollouts: int) -> None:
        settings, number, memory = self._settings, self._begun.next_agent, self._memory
        seed = environments.first_seed(settings.learning.seed, number)
        games = environments.make(settings.environment, self._count, seed)
        batches = Batches(self._dtype, rollouts, self._algorithm.learns_from)
        predictions = _Predictions(memory, self.model, self.stats, self._has_enough)
        training = _Training(number, memory, batches, rollouts, self.model, self.stats)
        try:
            play(
                games,
                memory,
                predictions,
                training,
                settings.environment,
                seed,
                algorithms.learns_at_once(self._algorithm),
            )
            training.finish()
        finally:
            games.close()
            self.stats.agent_ended(memory.steps, memory.steps - training.trained_steps)

    def _has_enough(self) -> bool:
        """At the same step each time: the server would look too late, and now and then."""
        limit = self._settings.run.steps
        return self._stopping or (limit is not None and self._steps_before + self._memory.steps >= limit)

    def watch(self) -> None:
        """There is nobody to watch."""

    def stop(self) -> None:
        """Learns from what was played."""
        self._stopping = True
        if self._thread is not None:
            self._thread.join()

    def waiting(self) -> tuple[int, int]:
        return 0, 0

    def games(self) -> tuple[int, int]:
        begun = self._memory.doing[0] != Doing.STARTING
        return begun * self._count, self._count

    def agents_core_seconds(self) -> float:
        """The server's own hold them."""
        return 0.0

    def report(self) -> list[str]:
        doing, since = self._memory.doing
        return [f"The player: {doing} for {time.monotonic() - since:.1f} s; {self._memory.steps} steps"]
