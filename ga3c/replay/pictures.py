"""The pictures of a replay's rows, as they are or compressed (LZ4)."""

from collections.abc import Callable, Iterator

import numpy as np

from ga3c.replay.gather import Ring, Sources

COMPRESSED_SHARE = 0.5  # estimate of the compressed size: Pong's pictures need 0.04, Q*bert's 0.28
AT_ONCE = 4096  # pictures, when all are read or written


class Pictures:
    """Pictures in memory, [places, values]."""

    def __init__(self, places: int, values: int, dtype: str):
        self._all = np.empty((places, values), dtype)

    def __getitem__(self, places: np.ndarray) -> np.ndarray:
        """Returns the pictures [n, values] at int64 [n] places that were stored."""
        return self._all[places]

    def store(self, places: np.ndarray, pictures: np.ndarray) -> None:
        """Stores pictures [n, values] at int64 [n] places."""
        self._all[places] = pictures

    def sources(self, age: np.ndarray, places: np.ndarray, following: np.ndarray, ring: Ring, stack: int) -> Sources:
        """Returns the sources of the states at int64 [n] places, and of those that follow. `age`: of all places."""
        return Sources(self._all, age, places, following, ring)

    def parts(self, first: int, count: int) -> Iterator[np.ndarray]:
        """Yields the pictures of `count` places from the first on, [n, values] each."""
        yield self._all[first : first + count]

    def restore(self, first: int, count: int, read: Callable[[np.ndarray], None]) -> None:
        """Stores again what `parts` gave: `read` fills an array with the next of it."""
        read(self._all[first : first + count])


class CompressedPictures(Pictures):
    """Pictures that are compressed one by one, and unpacked when a batch is drawn."""

    def __init__(self, places: int, values: int, dtype: str):
        from lz4 import block  # not every run needs it

        self._pack = lambda picture: block.compress(picture, store_size=False)
        self._unpack = lambda packed: block.decompress(packed, self._size)
        self._dtype, self._values = np.dtype(dtype), values
        self._size = values * self._dtype.itemsize
        self._packed = [b""] * places
        self._nothing = bytes(self._size)

    def __getitem__(self, places):
        return self._arrays(bytearray().join(self._unpack(self._packed[place]) for place in places.tolist()))

    def store(self, places, pictures):
        for place, picture in zip(places.tolist(), np.ascontiguousarray(pictures), strict=True):
            self._packed[place] = self._pack(picture)

    def sources(self, age, places, following, ring, stack):
        """Gives each transition a ring of its own, with the pictures of both its states."""
        start = places // ring.places * ring.places
        apart = (following - places) % ring.places // ring.envs  # rows from the one state to the other
        rows = np.arange(stack + apart.max(initial=0))
        back, back_of_following = stack - 1 - rows, stack - 1 + apart[:, None] - rows
        needed = (back >= 0) & (back <= age[places][:, None])
        needed |= (back_of_following >= 0) & (back_of_following <= age[following][:, None])
        source = start[:, None] + ((places - start)[:, None] - back * ring.envs) % ring.places
        wanted = np.where(needed, source, -1).ravel().tolist()
        packed, unpack = self._packed, self._unpack
        unpacked = bytearray().join([unpack(packed[place]) if place >= 0 else self._nothing for place in wanted])
        own = np.arange(len(places)) * len(rows) + stack - 1
        own_age = np.zeros(len(wanted), np.uint8)
        own_age[own], own_age[own + apart] = age[places], age[following]
        return Sources(self._arrays(unpacked), own_age, own, own + apart, Ring(len(rows), 1))

    def _arrays(self, unpacked: bytearray) -> np.ndarray:
        return np.frombuffer(unpacked, self._dtype).reshape(-1, self._values)

    def parts(self, first, count):
        for start in range(first, first + count, AT_ONCE):
            yield self[np.arange(start, min(start + AT_ONCE, first + count))]

    def restore(self, first, count, read):
        for start in range(first, first + count, AT_ONCE):
            pictures = np.empty((min(AT_ONCE, first + count - start), self._values), self._dtype)
            read(pictures)
            self.store(np.arange(start, start + len(pictures)), pictures)
