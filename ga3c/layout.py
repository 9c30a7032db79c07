"""The layout of an observation that has several parts, or that says which actions are allowed: a row of bytes.

A game that shows a Dict, a Tuple or a mask of actions gives the agent one row of bytes for each state. It is written
once, and it travels as a picture does: through slots, queues, replay, pods and files, none of which knows of parts. A
compiled function takes it apart again. Fields of their own for the parts would be as fast, but every station, and every
kind of replay, would have to know them.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

PICTURE, VECTOR, BYTES, ONE_HOT, MASK = "picture", "vector", "bytes", "one-hot", "mask"


MASK_NAME = "/mask"  # of the part that is a mask: no part of an observation has a name with a stroke


class Part(NamedTuple):
    """One part of an observation."""

    name: str  # its keys in the observation: "image", "body.speed", "0"; "" where it is the only part
    kind: str  # VECTOR is float32; the others are uint8: BYTES a vector of them, MASK 1 for each action that is allowed
    shape: tuple[int, ...]

    @property
    def dtype(self) -> str:
        return "float32" if self.kind == VECTOR else "uint8"

    @property
    def size(self) -> int:
        """The number of its bytes in a row."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


class Layout(NamedTuple):
    """The parts in the order of their bytes. A mask, if there is one, is the last."""

    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """The number of bytes of a row."""
        return sum(part.size for part in self.parts)

    def slices(self) -> Iterator[tuple[Part, slice]]:
        """Yields the parts with the bytes that they have in a row."""
        start = 0
        for part in self.parts:
            yield part, slice(start, start + part.size)
            start += part.size

    @property
    def shown(self) -> tuple[Part, ...]:
        """The parts that a network sees: all but the mask."""
        return tuple(part for part in self.parts if part.kind != MASK)

    @property
    def is_plain(self) -> bool:
        """True if the game shows a picture or a vector alone, and the row has a mask beside it."""
        return not self.parts[0].name

    def has(self, kind: str) -> bool:
        return any(part.kind == kind for part in self.parts)

    def mask(self, rows: np.ndarray) -> np.ndarray | None:
        """Returns which actions are allowed in rows [batch, size], bool [batch, actions]; None without a mask."""
        return rows[:, self.size - self.parts[-1].size :] != 0 if self.has(MASK) else None

    def described(self) -> list[list]:
        """Returns the parts as plain values, for JSON."""
        return [[part.name, part.kind, list(part.shape)] for part in self.parts]
