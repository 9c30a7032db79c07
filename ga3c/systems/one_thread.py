"""The engine of one thread: it steps the games, predicts and learns, with no queue in between."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ga3c.progress import Progress

from ga3c.systems.learner import Arrays, Learner, model_and_stats  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms, environments
from ga3c.agent import play
from ga3c.controller.counts import Counts
from ga3c.environments.games_in_play import Games
from ga3c.environments.restarted import Restarts
from ga3c.prediction_queue import Order
from ga3c.processes.agent_handle import PROGRESS_ROLLOUTS
from ga3c.processes.agent_pool import ERRORS_LIMIT
from ga3c.rollout import EnvironmentSpec, Episode
from ga3c.settings.run import Settings
from ga3c.stats import Timings
from ga3c.systems.under_way import UnderWay
from ga3c.systems.wiring import Context, nothing
from ga3c.trainer import train
from ga3c.training_queue import Rollout
from ga3c.transport.agent_memory import AgentMemory, Doing
from ga3c.transport.inbox import Inbox


@dataclass(frozen=True)
class OneThreadWiring:
    """The parts of a system that one thread runs, as `wiring.Wiring` has those of `stations.Stations`."""

    games: int  # that step together
    memory: AgentMemory  # the player's: its slots
    experience: object  # a `transport.experience.Experience` that gets its rollouts from the engine's inbox
    columns: int  # of a batch: rollouts of one game each, or transitions
    counts: Counts
    how: str  # for the console
    threads: int = 1  # that step the games
    on_gpu: bool = False  # whether a GPU steps them
    replay: object = None  # a `replay_memory.Replay` that is saved with the run
    begin: Callable[[], None] = nothing  # is called before the first step
    watch: Callable[[], None] = nothing  # is called each second
    stopped: Callable[[], None] = nothing  # is called where the run ends before the steps that were asked for


class OneThread:
    """Runs the wiring of one system. It is a `systems.System`. The same seed gives the same weights, bit for bit."""

    may_end = True

    def __init__(
        self,
        wire: Callable[[Context, Inbox], OneThreadWiring],
        settings: Settings,
        spec: EnvironmentSpec,
        begun: Progress,
        say: Callable[[str], None],
        log_decisions: Callable[[list[list]], None],
    ):
        """Raises ConfigError where this machine is too small."""
        self._settings, self._begun, self._say = settings, begun, say
        self._learner = Learner(partial(model_and_stats, settings, spec, begun, 1, say))
        self._algorithm = algorithms.make(settings, spec.actions)
        self._shipped = _Shipped()
        context = Context(settings, spec, begun, self._algorithm, self._learner, say)
        self._wiring = wiring = wire(context, self._shipped)
        self._memory, self._experience, self._games = wiring.memory, wiring.experience, wiring.games
        self.counts, self.replay = wiring.counts, wiring.replay
        self.chosen_counts = begun.counts  # are saved, for a run that goes on with agents
        self.under_way = UnderWay(say) if settings.run.checkpoint_games else None
        self._steps_before, self.next_agent = begun.totals.steps, begun.next_agent + 1
        self._stopping, self._thread = False, None

    def start(self, arrays: Arrays | None) -> None:
        self._say(self._wiring.how)
        self._learner.start(arrays)
        self.device, self.model, self.stats = self._learner.device, self._learner.model, self._learner.stats
        self._numbers = np.arange(self._games, dtype=np.int32) if self.model.per_game else None
        self.model.warm_up(self._games, self._games, self._wiring.columns)
        self._wiring.begin()
        self._thread = threading.Thread(target=self._play, name="player", daemon=True)
        self._thread.start()

    def _play(self) -> None:
        try:
            self._play_and_learn()
        finally:
            if self.under_way:
                self.under_way.end()

    def _play_and_learn(self) -> None:
        environment, number, memory = self._settings.environment, self._begun.next_agent, self._memory
        seed = environments.first_seed(self._settings.learning.seed, number)
        envs = environments.make_for_player(
            environment, self._games, seed,
            threads=self._wiring.threads, on_gpu=self._wiring.on_gpu,
            restarts=Restarts(self._say, ERRORS_LIMIT, PROGRESS_ROLLOUTS * self._settings.learning.t_max),
        )  # fmt: skip
        player = _Player(number, memory, self._predict, self._has_enough, self._learn)
        try:
            games = Games(envs, self._games, environment)
            if self.under_way:
                self.under_way.begin(games, self.model, memory.recurrent)
            play(games, memory, player, player, seed, algorithms.learns_at_once(self._algorithm))
            self._experience.close()
            train(self._experience, self.model, self.stats)  # on what is left
        finally:
            envs.close()
            self.stats.agent_ended(memory.steps, memory.steps - player.trained_steps)

    def _predict(self, observations, row: int) -> tuple[dict[str, np.ndarray], int]:
        if self.under_way:
            self.under_way.come_by(self.model.chance, row == 0 and not self._experience.waiting())
        began = time.monotonic()
        recurrent = self._memory.recurrent
        before = recurrent.before if recurrent else None
        answer = self.model.predict(observations, games=self._numbers, recurrent_states=before)
        self.stats.predicted(self._games, Timings(requests=1, request_model=time.monotonic() - began))
        return answer

    def _learn(self, rollout: Rollout) -> None:
        self._shipped.put(rollout)
        train(self._experience, self.model, self.stats)

    def _has_enough(self) -> bool:
        return self._stopping or self._made_all_steps

    @property
    def _made_all_steps(self) -> bool:
        """True once the steps that were asked for are made. The player asks, so that the run always ends at the same
        step."""
        limit = self._settings.run.steps
        return limit is not None and self._steps_before + self._memory.steps >= limit

    @property
    def has_all_steps(self) -> bool:
        """True once the player has ended by itself: steps of games that failed are made, too, and are not in totals."""
        return self._thread is not None and not self._thread.is_alive()

    def watch(self) -> None:
        self._wiring.watch()

    def stop(self) -> None:
        self._stopping = True
        if not self._made_all_steps:
            self._wiring.stopped()
        if self._thread is not None:
            self._thread.join()

    def waiting(self) -> tuple[int, int]:
        return 0, 0

    def games(self) -> tuple[int, int]:
        begun = self._memory.doing[0] != Doing.STARTING
        return begun * self._games, self._games

    def agents_core_seconds(self) -> float:
        """Returns 0: the server's own CPU time has that of the games."""
        return 0.0

    def watched(self) -> dict[str, float]:
        return {}

    def report(self) -> list[str]:
        doing, since = self._memory.doing
        return [f"The player: {doing} for {time.monotonic() - since:.1f} s; {self._memory.steps} steps"]


class _Shipped(Inbox):
    """Holds the rollouts that the player has shipped. Nobody waits for them: the same thread learns."""

    def __init__(self):
        super().__init__(parse=lambda *_: None)

    def put(self, rollout: Rollout) -> None:
        self._pending.append(rollout)

    def take(self, choose: Callable[[list], int], wait: Callable[[], bool] | None = None) -> list[Rollout]:
        return super().take(choose, wait=lambda: False)


class _Player:
    """Stands in for an agent's ends of both queues, and for the training queue's handle of that agent."""

    gone, position = False, 0

    def __init__(
        self,
        number: int,
        memory: AgentMemory,
        predict: Callable[..., tuple[dict[str, np.ndarray], int]],
        enough: Callable[[], bool],
        ship: Callable[[Rollout], None],
    ):
        """`predict(observations, row)` returns an answer and its version. `enough()`: no step more is needed.
        `ship(rollout)` learns from it as soon as there is enough."""
        self.number, self.memory, self.trained_steps = number, memory, 0
        self._predict, self._enough, self._ship = predict, enough, ship
        self._free = deque(range(len(memory.slots)))
        self.take_back, self.free_slot = self._free.append, self._free.popleft

    def ask(self, slot: int, row: int) -> None:
        self._asked = slot, row

    def wait(self) -> Order:
        slot, row = self._asked
        fields, version = self._predict(self.memory.slots["observation"][slot, row], row)
        self.memory.answer(slot, row, fields, version)
        return Order.FINISH if self._enough() else Order.GO_ON

    def ship(self, slot: int, length: int, transitions: int, episodes: Sequence[Episode]) -> None:
        self._ship(Rollout(self, slot, length, transitions, tuple(episodes), time.monotonic()))
