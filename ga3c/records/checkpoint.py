"""Checkpoints: whole or absent, without pickle, the newest few kept."""

import io
import json
import math
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

from ga3c.errors import ConfigError
from ga3c.machine import memory_available
from ga3c.records.files import PARTIAL, link, make_directory, open_to_read, reason, remove, rename, write_whole
from ga3c.text import word

BEST = "best.npz"  # the checkpoint with the best mean score of 100 games
_NAME = re.compile(r"(?:checkpoint|network)-(\d{12})\.npz")


def pack(arrays: dict[str, np.ndarray], meta: dict) -> memoryview:
    """Returns the content of a file that `load` reads."""
    content = io.BytesIO()
    np.savez(content, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
    return content.getbuffer()


def path_of(directory: Path, steps: int) -> Path:
    """Returns the path of the checkpoint after so many steps."""
    return directory / f"checkpoint-{steps:012d}.npz"


def save(directory: Path, steps: int, arrays: dict[str, np.ndarray], meta: dict, keep: int) -> Path:
    """Writes arrays and `meta` (what JSON can hold) to a file named after `steps`, then drops the oldest files.

    The file appears under its name only when it is complete and on disk. Raises OSError.
    """
    make_directory(directory)
    path = path_of(directory, steps)
    for unfinished in directory.glob(f"*{PARTIAL}"):  # the program was killed while it wrote them
        remove(unfinished)
    write_whole(path, pack(arrays, meta))
    for old in saved(directory)[:-keep]:
        if old != path:  # a damaged file of more steps may lie here, from which the run could not go on
            remove(old)
    return path


def keep_as_best(path: Path) -> None:
    """Keeps a checkpoint under the name of the best, too. Raises OSError."""
    link(path, path.with_name(BEST))


def keep_network(directory: Path, steps: int, arrays: dict[str, np.ndarray], meta: dict) -> None:
    """Writes a checkpoint of the network's weights that `save` never drops, unless there is one of so many steps.

    Raises OSError.
    """
    path = directory / f"network-{steps:012d}.npz"
    if not path.exists():
        network = {name: array for name, array in arrays.items() if name == "version" or name.startswith("network/")}
        write_whole(path, pack(network, meta))


def kept_networks(directory: Path) -> list[Path]:
    """Returns the files of `keep_network` in a directory, oldest first."""
    return sorted(path for path in directory.glob("network-*.npz") if _NAME.fullmatch(path.name))


def set_aside_newer(path: Path) -> None:
    """Renames newer checkpoints, which could not be read, and networks kept after the one at `path`, from which a run
    goes on.

    The run goes another way from here on, so they must not be taken later. Raises OSError.
    """
    for files, suffix in ((saved, ".damaged"), (kept_networks, ".before")):
        for newer in files(path.parent):
            if _NAME.fullmatch(newer.name)[1] > _NAME.fullmatch(path.name)[1]:
                rename(newer, newer.with_suffix(suffix))


def saved(directory: Path) -> list[Path]:
    """The checkpoints in a directory, oldest first."""
    return sorted(path for path in directory.glob("checkpoint-*.npz") if _NAME.fullmatch(path.name))


def was_written(directory: Path) -> bool:
    """Returns True if a run has come to its first checkpoint, damaged or not. Raises OSError."""
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return False
    return any(name.startswith(("best.", "checkpoint-")) and not name.endswith(PARTIAL) for name in names)


def load(path: Path) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays and meta of one checkpoint. Raises ConfigError if it is missing or damaged."""
    try:
        with open_to_read(path, memory_available() or math.inf) as file:
            arrays = _read(file)
        meta = json.loads(arrays.pop("meta").tobytes()) if "meta" in arrays else None
        if not isinstance(meta, dict):
            raise ValueError("it does not say what it is of")
        return arrays, meta
    except Exception as error:  # a damaged file makes NumPy raise anything
        raise ConfigError(f"Cannot read the checkpoint {path}: {reason(error)}.") from error


def _read(file: BinaryIO) -> dict[str, np.ndarray]:
    """Reads the arrays of a file that `save` wrote. Of any other file no more is read than its size."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        plain = all(m.compress_type == zipfile.ZIP_STORED and m.compress_size == m.file_size for m in members)
        if not plain or sum(m.file_size for m in members) > os.fstat(file.fileno()).st_size:
            raise ValueError("it holds more than its size allows")
        return {member.filename.removesuffix(".npy"): _array(archive.read(member)) for member in members}


def _array(content: bytes) -> np.ndarray:
    """Reads an array in NumPy's format. It is no larger than the content, whatever the header says."""
    stream = io.BytesIO(content)
    version = npy.read_magic(stream)
    shape, fortran_order, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(
        stream
    )
    array = np.frombuffer(content, dtype, offset=stream.tell())  # of no objects
    return array.reshape(shape, order="F" if fortran_order else "C").copy()


def load_newest(directory: Path, say: Callable[[str], None] = print) -> tuple[Path, dict[str, np.ndarray], dict]:
    """The newest checkpoint that can be read; says which cannot. Raises ConfigError if there is none."""
    problems: list[str] = []
    for path in reversed(saved(directory)):
        try:
            loaded = load(path)
        except ConfigError as error:
            problems.append(str(error))
            continue
        for problem in problems:
            say(f"{problem} Taking {path.name} instead.")
        return path, *loaded
    said = problems[0] if problems else f"No checkpoint in {directory}."
    if (best := directory / BEST).exists():
        said += f" --from {word(best)} begins a new run with the weights of the best mean score."
    raise ConfigError(said)
