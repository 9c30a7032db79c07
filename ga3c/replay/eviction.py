"""Which transitions go when a replay holds more than it is to (Horgan et al. 2018, appendix D)."""

import numpy as np

UPDATES = 100  # between two looks (section 4.1)
ROOM = 2  # times what is to be kept: a transition whose turn never came goes when its row is written over


class Eviction:
    """By priority, of which the small ones go first: P(i) = p_i^alpha / sum p^alpha with an alpha below 0.

    New transitions may exceed the capacity between two looks. The room of one that is evicted is not used at once: the
    rows of a ring hold states that others share, and are written over in turn.
    """

    def __init__(self, capacity: int, alpha: float, priority_alpha: float, seed: int):
        """`priority_alpha`: of the priorities p^priority_alpha that it is told."""
        self.capacity = capacity
        self._exponent = alpha / priority_alpha
        self._random = np.random.default_rng([seed, 2])  # of its own: what is drawn stays as it is
        self._updates = 0

    def due(self) -> bool:
        """After an update: whether it is time to look."""
        self._updates += 1
        return self._updates % UPDATES == 0

    def chosen(self, priorities: np.ndarray) -> np.ndarray:
        """Of float64 [n] p^priority_alpha > 0, which are above the capacity: int64 [max(0, n - capacity)], each once.

        The one that is chosen next is so with its share of the weights w of those that are left: that is the order of
        random times with the means 1 / w.
        """
        excess = len(priorities) - self.capacity
        if excess <= 0:
            return np.zeros(0, np.int64)
        weights = (priorities / priorities.max()) ** self._exponent
        times = self._random.exponential(size=len(priorities)) / weights
        return np.argpartition(times, excess - 1)[:excess]
