"""The multi-batch strategy (Dalton et al. 2020, Fig. 6b): batches of games are learned from in turn."""

import time
from collections import deque
from collections.abc import Sequence

import numpy as np

from ga3c.devices.tensors import joined  # isort: skip (first: it loads TensorFlow)
from ga3c.rollout import RECURRENT_STATE, RESTART, Batch, column_axis
from ga3c.systems.slots import LAST, OBSERVATION
from ga3c.training_queue import ExperienceQueue, Rollout
from ga3c.transport.inbox import Inbox


class MultiBatch(ExperienceQueue):
    """An `Experience` in which each rollout has SPU steps of all games, and brings the next turn."""

    def __init__(self, dtype: np.dtype, batches: int, fields: Sequence[str], inbox: Inbox):
        """`dtype`: of a rollout. `fields`: those that the algorithm learns from."""
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
        """Returns the steps that the batch whose turn it is has played since its last turn, fewer than N at the start
        and at the end; None: there is no turn yet, or no more."""
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
        """Joins what the games of a batch have played: [N, columns, ...]. Rows without a step are not valid, and have
        the state after the last step. Its value is NaN, as in `rollout.Buffer`: the network says what it is."""
        columns, begin = slice(batch * self._columns, (batch + 1) * self._columns), 0
        for rollout in self._played:
            record, length = rollout.record, rollout.length
            for name, array in self._arrays.items():
                if column_axis(name) and name != OBSERVATION:
                    array[begin : begin + length] = record[name][:length, columns]
            begin += length
        for name in {"valid", RESTART} & self._arrays.keys():
            self._arrays[name][steps:] = False
        if "value" in self._arrays:
            self._arrays["value"][steps:] = np.nan
        if RECURRENT_STATE in self._arrays:
            self._arrays[RECURRENT_STATE][:] = self._played[0].record[RECURRENT_STATE][columns]
        if OBSERVATION in self._arrays:
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


class MultiBatchOnGPU(MultiBatch):
    """Joins observations in a GPU's memory, as tensors."""

    def _gather_observations(self, columns: slice, steps: int) -> None:
        last = self._played[-1].record[LAST][columns]
        parts = [one.record[OBSERVATION][: one.length, columns] for one in self._played]
        missing = len(self._arrays["valid"]) - steps
        self._arrays |= {OBSERVATION: joined([*parts, *[last[None]] * missing]), LAST: last}
