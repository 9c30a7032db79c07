"""Serial: one thread plays all games, predicts and learns, with GA3C's stations and no queue between them.

For a look at what happens in which order, and for the same weights from the same seed, bit for bit.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from ga3c.systems.model_of import model_of, stats_of  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms, environments, machine
from ga3c.agent import Games, play
from ga3c.environments.restarted import Restarts
from ga3c.model import Model
from ga3c.prediction_queue import Order
from ga3c.processes.agent_handle import PROGRESS_ROLLOUTS
from ga3c.processes.agent_pool import ERRORS_LIMIT
from ga3c.replay.replay_queue import ReplayQueue
from ga3c.rollout import EnvironmentSpec, rollout_dtype, slots_needed
from ga3c.scheduling.counts import Counts
from ga3c.scheduling.pace import Pace
from ga3c.settings.run import Settings
from ga3c.stats import Stats, Timings
from ga3c.systems.blockwise import Block, BlockwiseReplayQueue
from ga3c.systems.replay_of import Filling, block_rows, count_stored, replay_of
from ga3c.systems.under_way import UnderWay
from ga3c.text import count
from ga3c.trainer import train
from ga3c.training_queue import Episode, Experience, Rollout, TrainingQueue
from ga3c.transport.inbox import Inbox
from ga3c.transport.memory import AgentMemory, Doing


class _Predictions:
    """In the place of an agent's `PredictionClient`: who waits for an answer makes it."""

    def __init__(
        self, memory: AgentMemory, model: Model, stats: Stats, stopping: Callable[[], bool], come_by: Callable
    ):
        """`come_by(row)` is called before each prediction."""
        self._slots, self._model, self._stats, self._stopping = memory.slots, model, stats, stopping
        self._come_by = come_by
        self._games = [np.arange(memory.slots["action"].shape[2], dtype=np.int32)] * model.per_game

    def ask(self, slot: int, row: int) -> None:
        self._place = slot, row
        self._come_by(row)

    def wait(self) -> Order:
        began = time.monotonic()
        fields, version = self._model.predict(self._slots["observation"][self._place], *self._games)
        for name, values in fields.items():
            self._slots[name][self._place] = values
        self._slots["version"][self._place] = version
        took = time.monotonic() - began
        self._stats.predicted(self._slots["action"].shape[2], Timings(requests=1, request_model=took))
        return Order.FINISH if self._stopping() else Order.GO_ON


class _Shipped(Inbox):
    """Rollouts that the player has shipped. Nobody waits for them: who learns is in the same thread."""

    def __init__(self):
        super().__init__(parse=lambda *_: None)

    def put(self, rollout: Rollout) -> None:
        self._pending.append(rollout)

    def take(self, choose: Callable[[list], int], wait: Callable[[], bool] | None = None) -> list[Rollout]:
        return super().take(choose, wait=lambda: False)


class _Player:
    """In the place of an agent's `TrainingClient`, and of the server's view of that agent."""

    gone, place = False, 0

    def __init__(self, number: int, memory: AgentMemory, ship: Callable[[Rollout], None]):
        """`ship(rollout)` learns from it, too, if it is enough."""
        self.number, self.memory, self.trained_steps, self._ship = number, memory, 0, ship
        self._free = deque(range(len(memory.slots)))
        self.take_back = self._free.append

    def free_slot(self) -> int:
        return self._free.popleft()

    def ship(self, slot: int, length: int, transitions: int, episodes: Sequence[Episode]) -> None:
        self._ship(Rollout(self, slot, length, transitions, tuple(episodes), time.monotonic()))


class Serial:
    """A system, as `ga3c.systems` describes it."""

    may_end = True
    has_all_steps = False  # the player ends by itself
    replay = None
    _threads, _on_gpu = 1, False  # how many step games, and whether a GPU does

    def __init__(
        self,
        settings: Settings,
        spec: EnvironmentSpec,
        begun,
        say: Callable[[str], None],
        log_decisions: Callable[[list[list]], None],
    ):
        """`begun`: a `records.progress.Progress`. Raises ConfigError where this machine is too small."""
        self._settings, self._spec, self._begun, self._say = settings, spec, begun, say
        self._algorithm = algorithms.make(settings, spec.actions)
        self.counts: Counts = begun.counts
        self._count, rows, self._slots = self._sizes()
        self._dtype = rollout_dtype(spec, rows, self._count)
        self._memory = self._new_memory()
        self._shipped = _Shipped()
        self.under_way = UnderWay(say) if settings.run.checkpoint_games else None
        self._experience = self._replay() if self._algorithm.replays else self._rollouts()
        self._steps_before = begun.totals.steps
        self.next_agent = begun.next_agent + 1
        self._stopping, self._thread = False, None

    def _sizes(self) -> tuple[int, int, int]:
        """Games, steps of a rollout, and slots for rollouts."""
        learning, games = self._settings.learning, self._settings.schedule.games_of(self._begun.counts.agents)
        return games, learning.t_max, slots_needed(learning.t_max, games, learning.minimum_batch_steps)

    def _new_memory(self) -> AgentMemory:
        machine.check_agents_fit(1, self._slots * self._dtype.itemsize, self._count)
        return AgentMemory(self._dtype, self._slots)

    def _rollouts(self) -> Experience:
        fields = self._algorithm.learns_from
        return TrainingQueue(self._dtype, self._slots - 2, fields, inbox=self._shipped)

    def _replay(self) -> Experience:
        settings, replay, steps = self._settings, self._settings.replay, self._begun.totals.trained_steps
        rows = block_rows(settings, self._count) if replay.concurrent_training else 0
        taken = machine.agent_bytes(self._slots * self._dtype.itemsize, self._count)
        memory = replay_of(settings, self._spec, 1, self._count, taken, lambda: experience.steps, rows)
        self.replay, self._pace = memory, Pace(replay.replay_minimum_transitions, replay.steps_per_update)
        rules = memory, self._pace, len, replay.batch, replay.target_updates, steps
        if replay.concurrent_training:
            experience = BlockwiseReplayQueue(
                *rules, blocks=Block(rows), rows=rows, last_step=None, inbox=self._shipped
            )
        else:
            experience = ReplayQueue(*rules, inbox=self._shipped)
        experience.on_stored = lambda rollouts: count_stored(self.stats, self.model, rollouts, self._count)
        experience.on_target = lambda steps: self.model.copy_to_target(steps)
        return experience

    @property
    def chosen_counts(self) -> Counts:
        return self.counts

    @property
    def _how(self) -> str:
        return f"Serial: {count(self._count, 'game')} in one thread, which predicts and learns, too. No controller."

    @property
    def _columns(self) -> int:  # of a batch: rollouts of one game each
        return (self._slots - 2) * self._count

    def start(self, arrays: dict[str, np.ndarray] | None) -> None:
        self._say(self._how)
        self.device, self.model = model_of(self._settings, self._spec, self._algorithm, self._begun, arrays)
        columns = self._settings.replay.batch if self._algorithm.replays else self._columns
        self.model.warm_up(self.model.prediction_sizes(self._count, self._count), columns)
        self.stats = stats_of(self._settings, self._begun, self.model, 1, self._say)
        if self.replay:
            self._filling = Filling(self._settings, self.replay, self._pace, self._begun.totals.updates > 0, self._say)
        self._thread = threading.Thread(target=self._play, name="player", daemon=True)
        self._thread.start()

    def _play(self) -> None:
        try:
            self._play_and_learn()
        finally:
            if self.under_way:
                self.under_way.end()

    def _play_and_learn(self) -> None:
        settings, number, memory = self._settings, self._begun.next_agent, self._memory
        seed = environments.first_seed(settings.learning.seed, number)
        restarts = Restarts(self._say, ERRORS_LIMIT, PROGRESS_ROLLOUTS * settings.learning.t_max)
        where = self._threads, self._on_gpu, restarts
        games = environments.make_for_player(settings.environment, self._count, seed, *where)
        predictions = _Predictions(memory, self.model, self.stats, self._has_enough, self._come_by)
        player, at_once = _Player(number, memory, self._learn), algorithms.learns_at_once(self._algorithm)
        try:
            known = Games(games, self._count, settings.environment)
            if self.under_way:
                self.under_way.begin(known, self.model)
            play(games, memory, predictions, player, settings.environment, seed, at_once, known)
            self._experience.close()
            train(self._experience, self.model, self.stats)  # on what is left
        finally:
            games.close()
            self.stats.agent_ended(memory.steps, memory.steps - player.trained_steps)

    def _come_by(self, row: int) -> None:
        if self.under_way:
            self.under_way.come_by(self.model.chance, row == 0 and not self._experience.waiting())

    def _learn(self, rollout: Rollout) -> None:
        self._shipped.put(rollout)
        train(self._experience, self.model, self.stats)

    def _has_enough(self) -> bool:
        return self._stopping or self._has_all_steps

    @property
    def _has_all_steps(self) -> bool:
        """At the same step each time: the server would look too late, and now and then."""
        limit = self._settings.run.steps
        return limit is not None and self._steps_before + self._memory.steps >= limit

    def watch(self) -> None:
        """There is nobody to watch."""
        if self.replay:
            self._filling.look()

    def stop(self) -> None:
        """Learns from what was played; of a block's updates the rest is left out."""
        self._stopping = True
        if self._settings.replay.concurrent_training and not self._has_all_steps:
            self._experience.close()
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

    def watched(self) -> dict[str, float]:
        return {}

    def report(self) -> list[str]:
        doing, since = self._memory.doing
        return [f"The player: {doing} for {time.monotonic() - since:.1f} s; {self._memory.steps} steps"]
