"""Checkpoints: whole or absent, without pickle, the newest few kept."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ga3c.errors import ConfigError

BEST = "best.npz"  # that of the best mean score of 100 games, kept beside the newest few
_NAME = re.compile(r"checkpoint-(\d{12})\.npz")


def save(directory: Path, steps: int, arrays: dict[str, np.ndarray], meta: dict, keep: int) -> Path:
    """Writes arrays and `meta` (what JSON can hold) to a file named after `steps`, then drops the oldest files.

    The file appears under its name only when it is complete and on disk. Raises OSError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"checkpoint-{steps:012d}.npz"
    for unfinished in directory.glob("checkpoint-*.partial"):  # the program was killed while it wrote them
        unfinished.unlink(missing_ok=True)
    partial = path.with_suffix(".partial")
    try:
        with partial.open("wb") as file:
            np.savez(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)  # a full disk needs the room
        raise
    _sync(directory)
    for old in saved(directory)[:-keep]:
        if old != path:  # a damaged file of more steps may lie here, from which the run could not go on
            old.unlink(missing_ok=True)
    return path


def _sync(directory: Path) -> None:
    """So that the new name, too, is on disk."""
    opened = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def keep_as_best(path: Path) -> None:
    """Keeps a checkpoint under the name of the best, too. Raises OSError."""
    partial = path.with_name(f"{BEST}.partial")
    partial.unlink(missing_ok=True)
    try:
        os.link(path, partial)
    except OSError:  # a file system without links
        shutil.copyfile(path, partial)
    os.replace(partial, path.with_name(BEST))


def saved(directory: Path) -> list[Path]:
    """The checkpoints in a directory, oldest first."""
    return sorted(path for path in directory.glob("checkpoint-*.npz") if _NAME.fullmatch(path.name))


def load(path: Path) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays and meta of one checkpoint. Raises ConfigError if it is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return arrays, json.loads(arrays.pop("meta").tobytes())
    except Exception as error:  # whatever a damaged file makes NumPy raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ConfigError(f"Cannot read the checkpoint {path}: {reason}.") from error


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
    raise ConfigError(problems[0] if problems else f"No checkpoint in {directory}.")
