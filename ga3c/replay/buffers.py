"""Memory for the states of batches, used again once a batch was learned from."""

import numpy as np

from ga3c.rollout import EnvironmentSpec


class Buffers:
    """Pairs of arrays [1, count, ...]: states, and those that follow. Keeps at most `most` pairs that nobody uses."""

    most = 1

    def __init__(self, spec: EnvironmentSpec):
        self._shape, self._dtype = spec.observation_shape, spec.observation_dtype
        self._free: list[tuple[np.ndarray, np.ndarray]] = []

    def take(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        if self._free and self._free[-1][0].shape[1] == count:
            return self._free.pop()
        shape = 1, count, *self._shape
        return np.empty(shape, self._dtype), np.empty(shape, self._dtype)

    def give_back(self, states: np.ndarray, following: np.ndarray) -> None:
        self._free = [*self._free, (states, following)][-self.most :]
