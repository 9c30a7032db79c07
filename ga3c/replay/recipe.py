"""The recipe of a replay memory, and the sizes that follow from it."""

from dataclasses import dataclass, replace

from ga3c.replay.eviction import ROOM
from ga3c.replay.rows import Rows
from ga3c.replay.sum_tree import SumTree
from ga3c.rollout import EnvironmentSpec


@dataclass(frozen=True)
class Recipe:
    """The parameters of a replay. The shards of one replay have the same recipe, but for the seed."""

    spec: EnvironmentSpec
    groups: int  # agents or pods: each has a ring of rows of its own, or as many as there are copies
    envs: int  # the number of games of each
    transitions: int  # that are kept
    n_steps: int = 1
    discount: float = 1.0
    priority_alpha: float = 0.0  # 0: each transition is drawn as often as any other
    eviction_alpha: float | None = None  # the exponent of eviction by priority; None: the oldest go
    compressed: bool = False  # LZ4 for pictures
    new_have_priorities: bool = False  # from the values that were predicted as they were played
    reserved_rows: int = 0  # of each ring, for a block of concurrent training
    seed: int = 1
    copies: int = 1  # of each transition, each in a ring of its own (Horgan et al. 2018, appendix A)
    kept_buffers: int = 1  # of batches, that are used again: one, and one for each that is drawn ahead

    @property
    def rings(self) -> int:
        """The number of rings."""
        return self.groups * self.copies

    @property
    def rows(self) -> int:
        """The number of rows of each ring."""
        room = self.transitions * (1 if self.eviction_alpha is None else ROOM)
        apart = self.n_steps + self.spec.stacked_frames - 1  # rows whose transitions cannot be drawn
        return -(-room // (self.rings * self.envs)) + apart + self.reserved_rows

    @property
    def places(self) -> int:
        """The number of transitions that all rings hold."""
        return self.rings * self.rows * self.envs

    @property
    def predictions(self) -> bool:
        """True if predicted values are stored, to make the priorities of new transitions from."""
        return self.new_have_priorities and self.priority_alpha > 0

    @property
    def bytes(self) -> int:
        """The memory that it takes when all rows are in use; an estimate for compressed pictures."""
        tree = SumTree.bytes_of(self.places) if self.priority_alpha else 0
        rows = Rows.bytes_of(self.spec, self.rings, self.rows, self.envs, self.compressed, self.predictions)
        return rows + tree

    def part(self, shards: int) -> "Recipe":
        """Returns the recipe of each of so many shards."""
        return replace(self, groups=-(-self.groups // shards), transitions=-(-self.transitions // shards))
