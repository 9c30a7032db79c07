"""Reads data sets in Minari's HDF5 format, of this program and of others."""

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
from gymnasium import spaces
from PIL import Image

from ga3c.datasets import spaces_json
from ga3c.datasets.about import OURS
from ga3c.datasets.minari_writer import DATA, METADATA
from ga3c.errors import ConfigError
from ga3c.records.files import read_json, reason

ROWS_AT_ONCE = 512


class Game(NamedTuple):
    """A recorded game of T steps."""

    observations: Iterator[Any]  # batches of them, T + 1 in all
    actions: np.ndarray  # [T, ...]
    rewards: np.ndarray  # [T]


@dataclass(frozen=True)
class MinariData:
    """A data set in a folder. Raises ConfigError, anywhere, where it cannot be read."""

    folder: Path
    observations: spaces.Space
    actions: spaces.Space
    steps: int
    own: dict | None  # what this program says of it (`About.own`); None: another one has made it
    in_jpeg: bool  # pictures are JPEG files

    @classmethod
    def of(cls, folder: Path) -> "MinariData":
        """Reads what the data set says of itself."""
        said = read_json(folder / METADATA)
        try:
            if said["data_format"] != "hdf5":
                raise ValueError(f"its format is {said['data_format']}, and hdf5 alone can be read")
            shown, acted = (spaces_json.from_json(said[f"{what}_space"]) for what in ("observation", "action"))
            own, in_jpeg = said.get(OURS), bool(said.get("jpeg_encoding", True))
            return cls(folder, shown, acted, int(said["total_steps"]), own, in_jpeg)
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"Cannot read the data set in {folder}: {reason(error)}.") from error

    def games(self) -> Iterator[Game]:
        """Yields the games. The observations of each are read before the next one."""
        with self._reading(), h5py.File(self.folder / DATA, "r") as file:
            for name in sorted(file, key=lambda name: int(name.rpartition("_")[2])):
                group = file[name]
                shown = self._batches(group["observations"], len(group["rewards"]) + 1)
                yield Game(shown, group["actions"][()], group["rewards"][()])

    def _batches(self, observations: h5py.Group | h5py.Dataset, count: int) -> Iterator[Any]:
        for first in range(0, count, ROWS_AT_ONCE):
            with self._reading():
                rows = self._rows(observations, self.observations, slice(first, min(first + ROWS_AT_ONCE, count)))
            yield rows

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Raises ConfigError for whatever is wrong with the files."""
        try:
            yield
        except (AttributeError, KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
            raise ConfigError(f"Cannot read the data set in {self.folder}: {reason(error)}.") from error

    def _rows(self, stored: h5py.Group | h5py.Dataset, space: spaces.Space, rows: slice) -> Any:
        if isinstance(space, spaces.Dict):
            return {name: self._rows(stored[name], part, rows) for name, part in space.spaces.items()}
        if isinstance(space, spaces.Tuple):
            parts = enumerate(space.spaces)
            return tuple(self._rows(stored[f"_index_{number}"], part, rows) for number, part in parts)
        found = stored[rows]
        if self.in_jpeg and _is_picture(space):
            found = np.stack([np.array(Image.open(io.BytesIO(picture.tobytes()))) for picture in found])
        return found


def _is_picture(space: spaces.Space) -> bool:
    """Returns whether Minari takes a space for a picture, which it stores as JPEG unless it is told otherwise."""
    if not isinstance(space, spaces.Box) or space.dtype != np.uint8 or len(space.shape) not in (2, 3):
        return False
    return min(space.shape[:2]) >= 32 and bool((space.low == 0).all() and (space.high == 255).all())
