"""The replay of a run on disk, beside its checkpoints: one file, whole or absent."""

import json
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ga3c.records.disk import Disk
from ga3c.records.files import PARTIAL, open_to_read, reason, remove, write_whole
from ga3c.text import count

NAME = "replay.bin"
NEW_SHARE = 0.25  # it is written again when so much of it is new
BLOCK_BYTES = 2**22  # copied and written at a time
HEADER_BYTES = 10_000  # at the most


class ReplayFile:
    """A file of a line of JSON, the bytes of the replay's parts, and their CRC-32.

    It may have gigabytes, so a thread of its own writes it while training goes on, and not with each checkpoint. A loss
    of power loses at most `NEW_SHARE` of it, and what was played while it was written.
    """

    def __init__(self, run_dir: Path, disk: Disk, say: Callable[[str], None]):
        self._path, self._disk, self._say = run_dir / NAME, disk, say
        self._stored = 0  # transitions ever, when it was last written
        self._writing: threading.Thread | None = None

    def save(self, replay, steps: int, last: bool = False) -> None:
        """Begins to write a `replay.replay_memory.Replay`, if it is time for it; `steps`: of the checkpoint before.

        `last`: all of it, and before this returns.
        """
        if last and self._writing:
            self._writing.join()
        if (self._writing and self._writing.is_alive()) or not replay.stored:
            return
        if replay.stored - self._stored < (1 if last else NEW_SHARE * replay.size):
            return
        if last:
            self._say("Saving the replay.")
            self._write(replay, steps)
        else:
            self._writing = threading.Thread(target=self._write, args=(replay, steps), name="replay file", daemon=True)
            self._writing.start()

    def _write(self, replay, steps: int) -> None:
        stored = replay.stored

        def write() -> None:
            for unfinished in self._path.parent.glob(f".{NAME}.*{PARTIAL}"):  # the program was killed
                remove(unfinished)
            write_whole(self._path, _content(replay, steps))

        if self._disk.attempt(self._path, write):
            self._stored = stored

    def load(self, replay, steps: int) -> None:
        """Fills an empty replay when a run goes on at so many steps; says why if a file cannot be read."""
        try:
            with open_to_read(self._path) as file:
                _read(file, replay, steps)
        except FileNotFoundError:
            return
        except (OSError, ValueError, RecursionError, MemoryError) as error:
            self._say(f"Cannot read {self._path}: {reason(error)}. The replay is filled anew.")
            return
        self._stored = replay.stored
        self._say(f"Replay: {count(replay.size, 'transition')} from {NAME}.")


def _content(replay, steps: int) -> Iterator[bytearray]:
    block = bytearray(json.dumps({"steps": steps, "layout": replay.layout}).encode() + b"\n")
    checksum = 0
    for part in replay.parts():
        whole = _bytes(part)
        for start in range(0, len(whole), BLOCK_BYTES):
            copy = whole[start : start + BLOCK_BYTES].copy()  # games may change the memory meanwhile
            checksum = zlib.crc32(copy, checksum)
            if len(block) + len(copy) > BLOCK_BYTES:
                yield block
                block = bytearray()
            block += copy.data
    yield block + checksum.to_bytes(4, "little")


def _read(file: BinaryIO, replay, steps: int) -> None:
    """Raises OSError, or ValueError for anything but the replay of this run."""
    header = json.loads(file.readline(HEADER_BYTES))
    if not isinstance(header, dict) or not isinstance(header.get("steps"), int):
        raise ValueError("it is no replay")
    if header.get("layout") != replay.layout:
        raise ValueError("it is of other games, agents or sizes")
    if header["steps"] > steps:
        raise ValueError("it is of a later time than the checkpoint")
    if steps - header["steps"] > replay.capacity:
        raise ValueError(f"it is {steps - header['steps']:,} steps older than the checkpoint")
    checksum = 0

    def read(array: np.ndarray) -> None:
        nonlocal checksum
        whole = _bytes(array)
        for start in range(0, len(whole), BLOCK_BYTES):
            part = whole[start : start + BLOCK_BYTES]
            if file.readinto(part) != len(part):
                raise ValueError("it is not complete")
            checksum = zlib.crc32(part, checksum)

    def check() -> None:
        if file.read() != checksum.to_bytes(4, "little"):
            raise ValueError("it is damaged")

    replay.restore(read, check)


def _bytes(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)
