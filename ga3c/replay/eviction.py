"""Chooses the transitions that leave a replay that holds too many (Horgan et al. 2018, appendix D)."""

import numpy as np

UPDATES = 100  # between two looks (section 4.1)
ROOM = 2  # times the capacity: a transition that was never chosen goes when its row is written over


class Eviction:
    """Evicts by priority, small ones first: P(i) = p_i^alpha / sum p^alpha with an alpha below 0.

    New transitions may exceed the capacity between two looks. The room of an evicted one is not used at once: the rows
    of a ring hold states that others share, and are written over in turn.
    """

    def __init__(self, capacity: int, alpha: float, priority_alpha: float, seed: int):
        """`priority_alpha`: the exponent of the priorities p^priority_alpha that `chosen` gets."""
        self.capacity = capacity
        self._exponent = alpha / priority_alpha
        self._random = np.random.default_rng([seed, 2])  # its own: what is drawn stays as it is
        self._updates = 0

    def due(self) -> bool:
        """Counts an update, and returns whether it is time to look."""
        self._updates += 1
        return self._updates % UPDATES == 0

    def chosen(self, priorities: np.ndarray) -> np.ndarray:
        """Returns which of float64 [n] p^priority_alpha > 0 are evicted: int64 [max(0, n - capacity)], each once.

        Each is chosen with the probability of its share of the weights w of those that are left. This is the order of
        random times with the means 1 / w.
        """
        excess = len(priorities) - self.capacity
        if excess <= 0:
            return np.zeros(0, np.int64)
        weights = (priorities / priorities.max()) ** self._exponent
        times = self._random.exponential(size=len(priorities)) / weights
        return np.argpartition(times, excess - 1)[:excess]
