"""Proportional prioritisation (Schaul et al. 2016, section 3)."""

from collections.abc import Callable

import numpy as np

from ga3c.replay.sum_tree import SumTree

SMALLEST = 1e-6  # added to each error: what was learned without one is drawn again some time


class Priorities:
    """P(i) = p_i^alpha / sum p^alpha with p_i = |error| + SMALLEST; what is new and has no error yet has the largest p
    so far."""

    def __init__(self, alpha: float, beta: Callable[[], float]):
        """`beta()`: how much of the bias is made up for now, 0 to 1."""
        self._alpha, self._beta = alpha, beta
        self._largest = 1.0  # of p^alpha

    def make_room(self, places: int) -> None:
        self._tree = SumTree(places)
        self._tree.compile()

    @property
    def largest(self) -> float:
        """Of p^alpha, so far."""
        return self._largest

    def of(self, places: np.ndarray) -> np.ndarray:
        """p^alpha, float64 [n], of int64 [n]."""
        return self._tree[places]

    @staticmethod
    def check(values: np.ndarray, largest: float) -> None:
        """Raises ValueError where these are no p^alpha."""
        if not ((values >= 0).all() and values.max(initial=0.0) <= largest < np.inf):
            raise ValueError("its priorities make no sense")

    def restore(self, places: np.ndarray, values: np.ndarray, largest: float) -> None:
        """As `of` and `largest` said it."""
        self._largest = largest
        self._tree.set(places, values)

    def enter(self, places: np.ndarray, errors: np.ndarray | None = None) -> None:
        """int64 [n] that can be drawn from now on; float32 [n] errors, where they are known, and else not finite."""
        errors = np.full(len(places), np.nan, np.float32) if errors is None else errors
        known = np.isfinite(errors)
        self.set(places[known], errors[known])
        self._tree.set(places[~known], np.full(len(places) - known.sum(), self._largest))

    def forget(self, places: np.ndarray) -> None:
        """int64 [n] that cannot be drawn any more."""
        self._tree.set(places, np.zeros(len(places)))

    def set(self, places: np.ndarray, errors: np.ndarray) -> None:
        """float32 [n] errors of int64 [n]."""
        values = (np.abs(errors).astype(np.float64) + SMALLEST) ** self._alpha
        self._largest = max(self._largest, values.max(initial=0.0))
        self._tree.set(places, values)

    def draw(self, count: int, size: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Places int64 [count], one of each of as many equal parts of the whole; and their weights, float32 [count].

        w_i = (size P(i))^-beta, divided by the largest of the batch.
        """
        total = self._tree.total
        masses = (np.arange(count) + random.random(count)) * (total / count)
        places = self._tree.find(np.minimum(masses, np.nextafter(total, 0)))
        weights = (size * self._tree[places] / total) ** -self._beta()
        return places, (weights / weights.max()).astype(np.float32)
