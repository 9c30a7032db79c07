"""States of games as bytes, for this and other processes: checked before they are played on."""

import hashlib
from collections.abc import Sequence
from zlib import crc32

import lz4.block
import numpy as np

from ga3c.atari.batch import Batch

KEY_BYTES, SUM_BYTES = 16, 4


class SavedGames:
    """Clones and restores games of a batch.

    A state is the key of its kind (game, version of the emulator, rules), a checksum, and the arrays of
    `Batch.state`, compressed.
    """

    def __init__(self, rom: str, batch: Batch):
        self._batch, rules = batch, batch.rules
        arrays = batch.state(np.arange(1))
        emulator = arrays.pop("emulator")
        self._row = np.dtype([(name, one.dtype, one.shape[1:]) for name, one in arrays.items() if one.size])
        kind = rom, emulator.tobytes(), rules, self._row.descr
        self._key = hashlib.sha256(repr(kind).encode()).digest()[:KEY_BYTES]

    def _arrays(self, games: np.ndarray) -> dict[str, np.ndarray]:
        """Returns the state of these games: arrays [game, ...] that are not empty, without the emulator's name."""
        arrays = self._batch.state(games)
        return {name: array for name, array in arrays.items() if name != "emulator" and array.size}

    def clone(self, games: np.ndarray) -> list[bytes]:
        rows = np.zeros(len(games), self._row)
        for name, array in self._arrays(games).items():
            rows[name] = array
        return [self._packed(row.tobytes()) for row in rows]

    def _packed(self, content: bytes) -> bytes:
        return self._key + crc32(content).to_bytes(SUM_BYTES, "little") + lz4.block.compress(content, store_size=False)

    def restore(self, games: np.ndarray, states: Sequence[bytes]) -> None:
        """Raises ValueError, and changes nothing, if a state cannot be restored here."""
        if isinstance(states, (bytes, bytearray)) or len(states) != len(games):
            raise ValueError(f"states: give {len(games)}, one for each of the games.")
        if len(set(games.tolist())) != len(games):
            raise ValueError("envs: a game is named twice.")
        if not len(games):
            return
        rows = np.frombuffer(b"".join(map(self._unpacked, states)), self._row)
        arrays = {name: np.ascontiguousarray(rows[name]) for name in self._row.names}
        whole = self._batch.state(games)
        try:
            self._batch.restore(whole | arrays, games)
        except ValueError as error:
            raise ValueError(f"The states cannot be restored: {error}.") from None

    def _unpacked(self, state: bytes) -> bytes:
        if not isinstance(state, (bytes, bytearray)) or bytes(state[:KEY_BYTES]) != self._key:
            raise ValueError(
                "This is no state of this game, with these observations and rules, in this version of the emulator."
            )
        try:
            content = lz4.block.decompress(state[KEY_BYTES + SUM_BYTES :], uncompressed_size=self._row.itemsize)
        except lz4.block.LZ4BlockError:
            content = b""
        checksum = int.from_bytes(state[KEY_BYTES : KEY_BYTES + SUM_BYTES], "little")
        if len(content) != self._row.itemsize or crc32(content) != checksum:
            raise ValueError("The state is damaged.")
        return content
