"""Weights in host memory, for devices that learn on their own (Stooke and Abbeel 2018, section 4.3 and appendix A).

A device makes n steps from what it pulled last. Then, chunk by chunk, it pulls what is there now, does to it what its
own steps have done, and overwrites it; nobody else reads or writes that chunk meanwhile.

What n steps have done to weights is their sum: a_s in appendix A. What they have done to a running mean m of decay b is
m' - b^n m, whatever the gradients were: (1 - b) a_g and (1 - b) a_g2 there. So the central mean becomes b^n of itself
and that. A device whose chunk nobody has changed since overwrites it with its own: alone it learns as by itself.
"""

import itertools
import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

CHUNKS = 3  # "a small number", section 4.3


class Pulled(NamedTuple):
    """What a device goes on from."""

    tensors: list[tf.Tensor]
    changes: list[int]  # of each chunk, before
    version: int  # updates before the first chunk was pulled


class ParameterStore:
    """Of an update's numbers: the weights, then what the optimizer keeps. Safe to call from every thread."""

    def __init__(self, tensors: Sequence[tf.Tensor], weights: int, groups: Sequence[float | None], steps: int):
        """The first `weights` of the tensors are those. `groups`: the decay of each group of as many that follow them;
        None: a count of steps, one tensor. `steps`: n, in each update."""
        self._steps, self._decays, self._of_chunk = steps, [1.0] * weights, [[] for _ in range(CHUNKS)]
        for decay in groups:
            self._decays += [1.0] if decay is None else [decay] * weights
        starts = [0, *(weights + sum(1 if d is None else weights for d in groups[:i]) for i in range(len(groups) + 1))]
        for start, end in itertools.pairwise(starts):
            for number in range(start, end):  # a weight and what is kept of it are in one chunk
                self._of_chunk[(number - start) % CHUNKS].append(number)
        if len(tensors) != len(self._decays):
            raise ValueError(f"{len(tensors)} tensors, and decays of {len(self._decays)}")
        self._arrays = [np.array(tensor) for tensor in tensors]
        self._locks, self._changes = [threading.Lock() for _ in self._of_chunk], [0] * CHUNKS
        self._counting, self._version = threading.Lock(), 0
        self._merge = tf.function(_merge, autograph=False)

    @property
    def version(self) -> int:
        """Updates of all devices."""
        return self._version

    def pull(self) -> Pulled:
        """What is there, on the device in whose scope this is called."""
        version, tensors, changes = self._version, [None] * len(self._arrays), []
        for chunk, lock in enumerate(self._locks):
            with lock:
                changes.append(self._changes[chunk])
                for number in self._of_chunk[chunk]:
                    tensors[number] = tf.constant(self._arrays[number])
        return Pulled(tensors, changes, version)

    def update(self, before: Pulled, after: Sequence[tf.Tensor]) -> Pulled:
        """Adds what a device has made of `before`. Returns what it goes on from; `version`: of before this update."""
        tensors, changes = list(after), []
        for chunk, lock in enumerate(self._locks):
            numbers = self._of_chunk[chunk]
            with lock:
                if self._changes[chunk] != before.changes[chunk]:
                    there = [tf.constant(self._arrays[number]) for number in numbers]
                    kept = [self._decays[number] ** self._steps for number in numbers]
                    own = ([of[number] for number in numbers] for of in (before.tensors, after))
                    for number, tensor in zip(numbers, self._merge(there, *own, kept), strict=True):
                        tensors[number] = tensor
                for number in numbers:
                    self._arrays[number] = tensors[number].numpy()
                self._changes[chunk] += 1
                changes.append(self._changes[chunk])
        with self._counting:
            self._version += 1
            return Pulled(tensors, changes, self._version - 1)

    def replace(self, tensors: Sequence[tf.Tensor], version: int) -> None:
        """Puts others in the place of all."""
        for chunk, lock in enumerate(self._locks):
            with lock:
                for number in self._of_chunk[chunk]:
                    self._arrays[number] = np.array(tensors[number])
                self._changes[chunk] += 1
        with self._counting:
            self._version = version


def _merge(there: list[tf.Tensor], before: list[tf.Tensor], after: list[tf.Tensor], kept: list[float]):
    factors = [tf.cast(factor, tensor.dtype) for factor, tensor in zip(kept, there, strict=True)]
    return [f * t + (a - f * b) for f, t, b, a in zip(factors, there, before, after, strict=True)]
