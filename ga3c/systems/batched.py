"""CuLE's system (Dalton et al. 2020): all games step as one batch in the server, which predicts for them and learns.

There are no agents and no queues: one thread steps the games (in as many pieces as there are cores), makes one
prediction for all of them, and writes what they play where the model reads it. So the same seed gives the same weights,
bit for bit.

With several batches (Fig. 6b) the games are learned from in turn, each batch of them when it has played N steps since
its last turn. Turns come every SPU steps, so batches are staggered, and updates are smaller and more frequent than one
from all games. Only the newest SPU steps in an update were taken by the newest policy, those before them by the one
before, and so on: policy lag is 0 to `--batches` - 1 updates. That is what V-trace corrects.
"""

import time
from collections import deque
from collections.abc import Sequence

import numpy as np

from ga3c.systems.serial import Serial  # isort: skip (first: it loads TensorFlow)
from ga3c import environments, machine
from ga3c.devices.device import count_gpus
from ga3c.devices.memory import joined
from ga3c.errors import ConfigError
from ga3c.rollout import Batch, column_axis
from ga3c.scheduling.counts import Counts
from ga3c.systems.slots import LAST, OBSERVATION, OwnMemory, Slots
from ga3c.text import count
from ga3c.training_queue import Experience, Rollout, TrainingQueue
from ga3c.transport.inbox import Inbox
from ga3c.transport.memory import AgentMemory


class MultiBatch(Experience):
    """The multi-batch strategy. A rollout that comes holds SPU steps of all games, and brings the next turn."""

    def __init__(self, dtype: np.dtype, batches: int, fields: Sequence[str], inbox: Inbox):
        """`dtype`: of such a rollout. `fields`: those that the algorithm learns from."""
        super().__init__(inbox)
        spu_steps, games = dtype["action"].shape[:2]
        self._batches, self._columns = batches, games // batches
        self._played: deque[Rollout] = deque()  # those that some batch has not learned from yet
        self._turn = 0  # that of rollout 0; once the queue is closed, turns go on until all is learned from
        self._arrays: dict[str, np.ndarray] = {}
        for name in fields:
            shape = list(dtype[name].shape)
            shape[column_axis(name)] = self._columns
            if column_axis(name):
                shape[0] = batches * spu_steps
            self._arrays[name] = np.zeros(shape, dtype[name].base)

    def next_batch(self) -> Batch | None:
        """The steps that the batch whose turn it is has played since its last turn; at the start and the end fewer than
        N. None: there is no turn yet, or no more."""
        taken, new = time.monotonic(), self._inbox.take(lambda waiting: 1)
        self._played.extend(new)
        if not new and not (self._inbox.closed and self._played):
            return None
        steps = sum(rollout.length for rollout in self._played)
        self._gather(self._turn % self._batches, steps)
        transitions = int(self._arrays["valid"][:steps].sum())
        episodes = new[0].episodes if new else ()  # of all games, with the turn that they came with
        rollout = self._played[-1]._replace(length=steps, transitions=transitions, episodes=episodes)
        versions = np.concatenate([one.record["version"][: one.length] for one in self._played])
        return Batch(self._arrays, versions, [rollout], self._columns, taken, time.monotonic(), None)

    def _gather(self, batch: int, steps: int) -> None:
        """Puts what these games have played one after the other: [N, columns, ...]. Rows without a step are not valid,
        and show the state after the last step."""
        columns, begin = slice(batch * self._columns, (batch + 1) * self._columns), 0
        for rollout in self._played:
            record, length = rollout.record, rollout.length
            for name, array in self._arrays.items():
                if column_axis(name) and name != OBSERVATION:
                    array[begin : begin + length] = record[name][:length, columns]
            begin += length
        self._arrays["valid"][steps:] = False
        self._gather_observations(columns, steps)

    def _gather_observations(self, columns: slice, steps: int) -> None:
        array, begin = self._arrays[OBSERVATION], 0
        for rollout in self._played:
            array[begin : begin + rollout.length] = rollout.record[OBSERVATION][: rollout.length, columns]
            begin += rollout.length
        if LAST in self._arrays:
            self._arrays[LAST][:] = last = self._played[-1].record[LAST][columns]
            array[steps:] = last

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        (rollout,) = batch.rollouts
        rollout.agent.trained_steps += rollout.transitions
        if self._turn >= self._batches - 1:  # the oldest has had a turn with each batch
            self._played.popleft().drop()
        self._turn += 1


class _OnGPU(MultiBatch):
    """Of observations in a GPU's memory: they are put together there, as tensors."""

    def _gather_observations(self, columns: slice, steps: int) -> None:
        last = self._played[-1].record[LAST][columns]
        parts = [one.record[OBSERVATION][: one.length, columns] for one in self._played]
        missing = len(self._arrays["valid"]) - steps
        self._arrays |= {OBSERVATION: joined([*parts, *[last[None]] * missing]), LAST: last}


class Batched(Serial):
    """A system, as `ga3c.systems` describes it."""

    _threads = machine.usable_cores()

    def _sizes(self) -> tuple[int, int, int]:
        schedule, t_max = self._settings.schedule, self._settings.learning.t_max
        self.counts, self._batches = Counts(0, 1, 1), schedule.batches
        self._on_gpu, self._where = self._place()
        return schedule.games_of(self._begun.counts.agents), t_max // self._batches, self._batches

    def _place(self) -> tuple[bool, str]:
        """Whether a GPU plays, and what is said of where. Raises ConfigError where it cannot, and is asked for."""
        wish, run = self._settings.environment.emulator, self._settings.run
        if wish not in ("auto", "gpu") or run.device == "cpu" or run.devices:
            return False, ""
        if count_gpus():
            obstacle = environments.gpu_obstacle(self._settings.environment)
        elif wish == "auto":
            return False, ""
        else:
            obstacle = "TensorFlow finds no GPU here, see nvidia-smi"
        if obstacle and wish == "gpu":
            raise ConfigError(f"--emulator gpu cannot be had: {obstacle}. Ask for auto or ours.")
        return not obstacle, f" on the cores, because {obstacle}" if obstacle else " on the GPU"

    def _new_memory(self) -> AgentMemory:
        """Raises ConfigError where it does not fit."""
        last = self._dtype[LAST].itemsize
        slots_bytes = self._slots * (self._dtype.itemsize - last) + last
        rooms = [("this machine", machine.memory_available(), machine.GAME_BYTES)]
        if self._on_gpu:  # the last update, of a rollout that is not complete, may be made from the main memory
            from ga3c.emulator.cuda import arrays, batch

            rooms.append(("the GPU", arrays.free_bytes(), batch.CONSOLE_BYTES + last // self._count))
        for where, there, game_bytes in rooms:
            taken = slots_bytes + self._count * game_bytes + machine.SERVER_BYTES
            if there is not None and taken > there:
                raise ConfigError(
                    f"{self._count} games and what they play take {taken / 1e9:.1f} GB of memory, and {where} has "
                    f"{there / 1e9:.1f} GB: use fewer --games."
                )
        return OwnMemory(Slots(self._dtype, self._slots, self._on_gpu and not self._algorithm.replays))

    def _rollouts(self) -> Experience:
        fields = self._algorithm.learns_from
        if self._batches == 1:  # what was played is learned from where it lies
            return TrainingQueue(self._dtype, 1, fields, inbox=self._shipped)
        kind = _OnGPU if self._on_gpu else MultiBatch
        return kind(self._dtype, self._batches, fields, self._shipped)

    @property
    def _how(self) -> str:
        t_max, begin = (
            self._settings.learning.t_max,
            f"Batched: {count(self._count, 'game')} in one batch{self._where}, no agents",
        )
        if self._batches == 1:
            return f"{begin}. No controller."
        spu_steps = t_max // self._batches
        often = "each step" if spu_steps == 1 else f"every {spu_steps} steps"
        each = self._count // self._batches
        turns = f"{self._batches} batches of {each} learn in turn, one {often}, from {t_max} steps"
        return f"{begin}; {turns}. No controller."

    @property
    def _columns(self) -> int:
        return self._count // self._batches

    @property
    def chosen_counts(self) -> Counts:
        """A run that goes on with agents has these."""
        return self._begun.counts
