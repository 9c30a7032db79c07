"""A sum-tree: numbers from which one is drawn in proportion to its size (Schaul et al. 2016, appendix B.2.1)."""

import numpy as np

from ga3c.replay.jit import compile_now, compiled


class SumTree:
    """`leaves` numbers >= 0, all 0 at first. Node 1 is the root, 2 k and 2 k + 1 are the children of k.

    A node is the sum of its children, added up anew with each change: rounding errors do not pile up.
    """

    def __init__(self, leaves: int):
        self._first = 1 << max(0, (leaves - 1).bit_length())
        self._nodes = np.zeros(2 * self._first)

    @staticmethod
    def bytes_of(leaves: int) -> int:
        """Returns the memory that so many leaves take."""
        return 16 << max(0, (leaves - 1).bit_length())

    def compile(self) -> None:
        """Compiles its methods."""
        compile_now(lambda: self.set(np.zeros(0, np.int64), np.zeros(0)), lambda: self.find(np.zeros(0)))

    @property
    def total(self) -> float:
        return float(self._nodes[1])

    def __getitem__(self, leaves: np.ndarray) -> np.ndarray:
        return self._nodes[self._first + leaves]

    def set(self, leaves: np.ndarray, values: np.ndarray) -> None:
        """Sets int64 [n] leaves to float64 [n] values. Of two values for one leaf, the last holds."""
        _set(self._nodes, self._first, leaves, values)

    def find(self, masses: np.ndarray) -> np.ndarray:
        """Returns for each of float64 [n], 0 <= mass < total, the first leaf up to which the leaves' sum exceeds it.

        It is never a leaf of 0, as long as there is another.
        """
        return _find(self._nodes, self._first, masses)


@compiled
def _set(nodes, first, leaves, values):
    for index in range(leaves.size):
        node = first + leaves[index]
        nodes[node] = values[index]
        while node > 1:
            node >>= 1
            nodes[node] = nodes[2 * node] + nodes[2 * node + 1]


@compiled
def _find(nodes, first, masses):
    found = np.empty(masses.size, np.int64)
    for index in range(masses.size):
        mass, node = masses[index], 1
        while node < first:
            node *= 2
            # Rounded sums may leave a little mass over where there is nothing to find.
            if mass >= nodes[node] and nodes[node + 1] > 0:
                mass -= nodes[node]
                node += 1
        found[index] = node - first
    return found
