"""Weights in host memory, for devices that learn on their own (Stooke and Abbeel 2018, section 4.3 and appendix A).

A device makes n steps from what it pulled last. Then it goes through the tensors chunk by chunk: it pulls the chunk as
it is now, applies the change of its own steps to it, and writes it back. Meanwhile no other device reads or writes it.

The change of n steps to weights is their sum: a_s in appendix A. Their change to a running mean m of decay b is
m' - b^n m, whatever the gradients were: (1 - b) a_g and (1 - b) a_g2 in the appendix. So the central mean becomes b^n
times itself plus that change. A device whose chunk nobody else has changed overwrites it with its own values: a device
that is alone learns as without a store.
"""

import itertools
import threading
from collections.abc import Sequence
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

    def __init__(self, tensors: Sequence[tf.Tensor], weights: int, groups: Sequence[float | None], steps: int):
        """tensors: the weights, then the optimizer's state. weights: the number of the first. groups: the optimizer's
        `decays` (`algorithms.algorithm.SharedOptimizer`). steps: n, the optimizer's steps in each update."""
        self._steps, self._decays, self._of_chunk = steps, [1.0] * weights, [[] for _ in range(CHUNKS)]
        for decay in groups:
            self._decays += [1.0] if decay is None else [decay] * weights
        starts = [0, *(weights + sum(1 if d is None else weights for d in groups[:i]) for i in range(len(groups) + 1))]
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

    def update(self, before: Pulled, after: Sequence[tf.Tensor]) -> Pulled:
        """Adds the change that a device has made from `before` to `after`. Returns what it goes on from. Its `version`
        is the number of updates before this one."""
        tensors, changes = list(after), []
        for chunk, lock in enumerate(self._locks):
            numbers = self._of_chunk[chunk]
            with lock:
                own_alone = self._changes[chunk] == before.changes[chunk]
                for number in numbers:
                    array = after[number].numpy()
                    if not own_alone:
                        array = self._merged(number, before.tensors[number].numpy(), array)
                        tensors[number] = tf.constant(array)
                    self._arrays[number] = array
                self._changes[chunk] += 1
                changes.append(self._changes[chunk])
        with self._counting:
            self._version += 1
            return Pulled(tensors, changes, self._version - 1)

    def _merged(self, number: int, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Returns the array that is there, with the change from `before` to `after`."""
        kept = before.dtype.type(self._decays[number] ** self._steps)
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
