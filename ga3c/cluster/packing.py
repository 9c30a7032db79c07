"""Packs rollouts into bytes for the network, compressed (LZ4)."""

from collections.abc import Sequence
from typing import NamedTuple

import lz4.frame
import numpy as np

from ga3c.rollout import Episode, column_axis

# glibc takes large pieces of memory from the system each time, and gives them back: filling their new pages takes ten
# times as long as LZ4. Once a piece of up to 32 MB was given back, glibc keeps all that are not larger.
bytearray(31 * 2**20)


class Packed(NamedTuple):
    """A rollout (`rollout.rollout_dtype`) with `length` rows in use."""

    length: int
    transitions: int
    episodes: Sequence[Episode]
    fields: dict[str, bytes]

    @property
    def size(self) -> int:
        """The number of bytes."""
        return sum(map(len, self.fields.values()))


def pack(record: np.void, length: int, transitions: int, episodes: Sequence[Episode], stack: int) -> Packed:
    """Returns a packed rollout. `stack`: pictures in a state.

    LZ4 looks back 64 KB. As the pictures of one game follow each other, it finds repeated ones there, and each is sent
    about once.
    """
    fields = {}
    for name in record.dtype.names:
        array = record[name][:length] if _has_rows(name) else record[name]
        fields[name] = lz4.frame.compress(np.ascontiguousarray(_by_picture(name, array, stack)).data)
    return Packed(length, transitions, tuple(episodes), fields)


def unpack(packed: Packed, record: np.void, stack: int) -> None:
    """Unpacks a rollout into a record of the same kind."""
    for name, data in packed.fields.items():
        array = record[name][: packed.length] if _has_rows(name) else record[name]
        # A view into the record: what is written there in this order lies in the other.
        view = _by_picture(name, array, stack)
        came = np.frombuffer(lz4.frame.decompress(data), array.dtype).reshape(view.shape)
        if view is array:
            array[...] = came
        else:  # a picture at a time: three times as fast as NumPy's own order
            for picture in range(stack):
                view[:, :, picture] = came[:, :, picture]


def summary(packed: Packed) -> Packed:
    """Returns a rollout without its payload, for the learner to count."""
    return packed._replace(fields={"version": packed.fields["version"]})


def field_of(packed: Packed, name: str, dtype: type) -> np.ndarray:
    """Returns one of the fields that have a number in each row."""
    return np.frombuffer(lz4.frame.decompress(packed.fields[name]), dtype)


def _has_rows(field: str) -> bool:
    return column_axis(field) == 1


def _by_picture(name: str, array: np.ndarray, stack: int) -> np.ndarray:
    """Returns a view of states [time, env, height, width, picture] as [env, time, picture, height, width]."""
    return array.transpose(1, 0, 4, 2, 3) if name == "observation" and stack > 1 else array
