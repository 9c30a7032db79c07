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
from ga3c import machine
from ga3c.errors import ConfigError
from ga3c.rollout import Batch, column_axis
from ga3c.scheduling.counts import Counts
from ga3c.training_queue import Experience, Rollout, TrainingQueue
from ga3c.transport.inbox import Inbox
from ga3c.transport.memory import AgentMemory

LAST = "last_observation"


class _Slots:
    """Slots that this process alone sees, by field or by number, as an array of rollouts has them.

    Only the newest rollout has a last observation: of the others it is the first one of the next.
    """

    def __init__(self, dtype: np.dtype, slots: int):
        self._slots, self._fields = slots, {}
        for name in dtype.names:
            count = 1 if name == LAST else slots
            self._fields[name] = np.zeros((count, *dtype[name].shape), dtype[name].base)
        last = self._fields[LAST]  # each slot shows the same
        self._fields[LAST] = np.lib.stride_tricks.as_strided(last, (slots, *last.shape[1:]), (0, *last.strides[1:]))

    def __getitem__(self, which: str | int):
        if isinstance(which, str):
            return self._fields[which]
        return {name: field[which] for name, field in self._fields.items()}

    def __len__(self) -> int:
        return self._slots


class _Memory(AgentMemory):
    """Of a player in this process: its slots need not be shared."""

    def __init__(self, dtype: np.dtype, slots: int):
        super().__init__(np.dtype(np.int8), 1)
        self.slots = _Slots(dtype, slots)


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
                if column_axis(name):
                    array[begin : begin + length] = record[name][:length, columns]
            begin += length
        self._arrays["valid"][steps:] = False
        if LAST in self._arrays:
            self._arrays[LAST][:] = last = self._played[-1].record[LAST][columns]
            self._arrays["observation"][steps:] = last

    def done(self, batch: Batch, errors: np.ndarray | None = None) -> None:
        (rollout,) = batch.rollouts
        rollout.agent.trained_steps += rollout.transitions
        if self._turn >= self._batches - 1:  # the oldest has had a turn with each batch
            self._played.popleft().drop()
        self._turn += 1


class Batched(Serial):
    """A system, as `ga3c.systems` describes it."""

    _threads = machine.usable_cores()

    def _sizes(self) -> tuple[int, int, int]:
        schedule, t_max = self._settings.schedule, self._settings.learning.t_max
        self.counts, self._batches = Counts(0, 1, 1), schedule.batches
        return schedule.games_of(self._begun.counts.agents), t_max // self._batches, self._batches

    def _new_memory(self) -> AgentMemory:
        """Raises ConfigError where it does not fit."""
        last = self._dtype[LAST].itemsize
        slots_bytes = self._slots * (self._dtype.itemsize - last) + last
        taken = slots_bytes + self._count * machine.GAME_BYTES + machine.SERVER_BYTES
        there = machine.memory_available()
        if there is not None and taken > there:
            raise ConfigError(
                f"{self._count} games and what they play take {taken / 1e9:.1f} GB of memory, and this machine has "
                f"{there / 1e9:.1f} GB: use fewer --games."
            )
        return _Memory(self._dtype, self._slots)

    def _rollouts(self) -> Experience:
        fields = self._algorithm.learns_from
        if self._batches == 1:  # what was played is learned from where it lies
            return TrainingQueue(self._dtype, 1, fields, inbox=self._shipped)
        return MultiBatch(self._dtype, self._batches, fields, self._shipped)

    @property
    def _how(self) -> str:
        t_max, begin = self._settings.learning.t_max, f"Batched: {self._count:,} games in one batch, no agents"
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
