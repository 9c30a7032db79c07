"""Proportional prioritisation (Schaul et al. 2016, section 3)."""

from collections.abc import Callable

import numpy as np

from ga3c.replay.sum_tree import SumTree

SMALLEST = 1e-6  # is added to each error, so that a transition without error is drawn again some time


class Priorities:
    """Draws with P(i) = p_i^alpha / sum p^alpha, p_i = |error| + SMALLEST. A new transition without an error gets the
    largest p so far."""

    def __init__(self, places: int, alpha: float, beta: Callable[[], float]):
        """`beta()`: the part of the bias that is corrected now, 0 to 1."""
        self._alpha, self._beta, self._tree = alpha, beta, SumTree(places)
        self._tree.compile()
        self.largest = 1.0  # p^alpha so far

    def of(self, places: np.ndarray) -> np.ndarray:
        """Returns p^alpha, float64 [n], at int64 [n] places."""
        return self._tree[places]

    @staticmethod
    def check(values: np.ndarray, largest: float) -> None:
        """Raises ValueError where these can be no p^alpha."""
        if not ((values >= 0).all() and values.max(initial=0.0) <= largest < np.inf):
            raise ValueError("its priorities make no sense")

    def restore(self, places: np.ndarray, values: np.ndarray, largest: float) -> None:
        """Restores what `of` and `largest` gave."""
        self.largest = largest
        self._tree.set(places, values)

    def enter(self, places: np.ndarray, errors: np.ndarray | None = None) -> None:
        """Adds int64 [n] places that can be drawn now, with float32 [n] errors, not finite where they are not known."""
        errors = np.full(len(places), np.nan, np.float32) if errors is None else errors
        known = np.isfinite(errors)
        self.set(places[known], errors[known])
        self._tree.set(places[~known], np.full(len(places) - known.sum(), self.largest))

    def forget(self, places: np.ndarray) -> None:
        """Removes int64 [n] places: they cannot be drawn any more."""
        self._tree.set(places, np.zeros(len(places)))

    def set(self, places: np.ndarray, errors: np.ndarray) -> None:
        """Sets float32 [n] errors of int64 [n] places."""
        values = (np.abs(errors).astype(np.float64) + SMALLEST) ** self._alpha
        self.largest = max(self.largest, values.max(initial=0.0))
        self._tree.set(places, values)

    def draw(self, count: int, size: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Returns places int64 [count], one from each of `count` equal parts of the sum, and weights float32 [count].

        w_i = (size P(i))^-beta, divided by the largest of the batch.
        """
        total = self._tree.total
        masses = (np.arange(count) + random.random(count)) * (total / count)
        places = self._tree.find(np.minimum(masses, np.nextafter(total, 0)))
        weights = (size * self._tree[places] / total) ** -self._beta()
        return places, (weights / weights.max()).astype(np.float32)
