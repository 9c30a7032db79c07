"""Weights in host memory, for devices that learn on their own (Stooke and Abbeel 2018, section 4.3 and appendix A).

There are two ways to make a change. In both a device goes through the tensors chunk by chunk, and meanwhile no other
device reads or writes the chunk.

- `apply` (section 4.3): a device has a gradient. It pulls the chunk as it is now, makes the optimizer's step with these
  weights and these statistics, and writes the chunk back.
- `update` (appendix A): a device makes n steps from what it pulled last. Then it pulls the chunk as it is now, applies
  the change of its own steps to it, and writes it back.

The change of n steps to weights is their sum: a_s in appendix A. Their change to a running mean m of decay b is
m' - b^n m, whatever the gradients were: (1 - b) a_g and (1 - b) a_g2 in the appendix. So the central mean becomes b^n
times itself plus that change. A device whose chunk nobody else has changed overwrites it with its own values: a device
that is alone learns as without a store.
"""

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

CHUNKS = 3  # "a small number", section 4.3


class Pulled(NamedTuple):
    """The tensors that a device goes on from."""

    tensors: list[tf.Tensor]
    changes: list[int]  # the number of changes to each chunk before
    version: int  # updates before the first chunk was pulled


class ParameterStore:
    """Holds the weights, and after them the state of the optimizer. Every thread may call it."""

    def __init__(self, tensors: Sequence[tf.Tensor], weights: int, groups: Sequence[float | None]):
        """tensors: the weights, then the optimizer's state. weights: the number of the first. groups: the optimizer's
        `decays` (`algorithms.algorithm.SharedOptimizer`)."""
        self._weights, self._decays, self._of_chunk = weights, [1.0] * weights, [[] for _ in range(CHUNKS)]
        for decay in groups:
            self._decays += [1.0] if decay is None else [decay] * weights
        starts = [0, *(weights + sum(1 if d is None else weights for d in groups[:i]) for i in range(len(groups) + 1))]
        self._counts = [start for start, decay in zip(starts[1:], groups, strict=False) if decay is None]  # of steps
        for start, end in itertools.pairwise(starts):
            for number in range(start, end):  # a weight and its running means are in one chunk
                self._of_chunk[(number - start) % CHUNKS].append(number)
        if len(tensors) != len(self._decays):
            raise ValueError(f"{len(tensors)} tensors, and decays of {len(self._decays)}")
        self._arrays = [np.array(tensor) for tensor in tensors]
        self._locks, self._changes = [threading.Lock() for _ in self._of_chunk], [0] * CHUNKS
        self._counting, self._version = threading.Lock(), 0

    @property
    def version(self) -> int:
        """The number of updates of all devices."""
        return self._version

    def pull(self) -> Pulled:
        """Returns the newest tensors, on the device in whose scope this is called."""
        version, tensors, changes = self._version, [None] * len(self._arrays), []
        for chunk, lock in enumerate(self._locks):
            with lock:
                changes.append(self._changes[chunk])
                for number in self._of_chunk[chunk]:
                    tensors[number] = tf.constant(self._arrays[number])
        return Pulled(tensors, changes, version)

    def apply(self, rule: Callable, gradients: Sequence[tf.Tensor], learning_rate: tf.Tensor) -> Pulled:
        """Makes an update of one step of the optimizer with the tensors that are here. Returns them as `update` does.

        rule: `algorithms.optimizers.Optimizer.update`.
        """
        tensors, changes, counts = [None] * len(self._arrays), [], {}
        for chunk, lock in enumerate(self._locks):
            with lock:
                numbers = self._of_chunk[chunk]
                if not chunk:  # it has the counts
                    counts = {number: tf.constant(self._arrays[number]) for number in self._counts}
                own = [number for number in numbers if number < self._weights]
                of_state = sorted({*numbers, *counts} - {*own})
                there = {number: tf.constant(self._arrays[number]) for number in numbers} | counts
                found = rule(
                    tuple(there[number] for number in own),
                    tuple(there[number] for number in of_state),
                    tuple(gradients[number] for number in own),
                    learning_rate,
                )
                for number, tensor in zip((*own, *of_state), (*found[0], *found[1]), strict=True):
                    if number in numbers:
                        tensors[number], self._arrays[number] = tensor, tensor.numpy()
                self._changes[chunk] += 1
                changes.append(self._changes[chunk])
        return self._counted(tensors, changes)

    def _counted(self, tensors: list[tf.Tensor], changes: list[int]) -> Pulled:
        with self._counting:
            self._version += 1
            return Pulled(tensors, changes, self._version - 1)

    def update(self, before: Pulled, after: Sequence[tf.Tensor], steps: int, counts: bool = True) -> Pulled:
        """Adds the change that a device has made from `before` to `after` in so many steps of the optimizer. Returns
        what it goes on from. Its `version` is the number of updates before this one. If it is not the end of an update,
        it `counts` as none."""
        tensors, changes = list(after), []
        for chunk, lock in enumerate(self._locks):
            numbers = self._of_chunk[chunk]
            with lock:
                own_alone = self._changes[chunk] == before.changes[chunk]
                for number in numbers:
                    array = after[number].numpy()
                    if not own_alone:
                        array = self._merged(number, before.tensors[number].numpy(), array, steps)
                        tensors[number] = tf.constant(array)
                    self._arrays[number] = array
                self._changes[chunk] += 1
                changes.append(self._changes[chunk])
        return self._counted(tensors, changes) if counts else Pulled(tensors, changes, before.version)

    def _merged(self, number: int, before: np.ndarray, after: np.ndarray, steps: int) -> np.ndarray:
        """Returns the array that is there, with the change from `before` to `after`."""
        kept = before.dtype.type(self._decays[number] ** steps)
        return kept * self._arrays[number] + (after - kept * before)

    def replace(self, tensors: Sequence[tf.Tensor], version: int) -> None:
        """Replaces all tensors."""
        for chunk, lock in enumerate(self._locks):
            with lock:
                for number in self._of_chunk[chunk]:
                    self._arrays[number] = np.array(tensors[number])
                self._changes[chunk] += 1
        with self._counting:
            self._version = version
