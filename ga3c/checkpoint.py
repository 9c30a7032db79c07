"""Checkpoints: whole or absent, without pickle, the newest few kept."""

import json
import os
import re
import zipfile
from pathlib import Path

import numpy as np

from ga3c.config import ConfigError

_NAME = re.compile(r"checkpoint-(\d{12})\.npz")


def save(directory: Path, steps: int, arrays: dict[str, np.ndarray], meta: dict, keep: int) -> Path:
    """Writes arrays and `meta` (what JSON can hold) to a file named after `steps`, then drops the oldest files.

    The file appears under its name only when it is complete and on disk.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"checkpoint-{steps:012d}.npz"
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)
    for old in saved(directory)[:-keep]:
        if old != path:  # a damaged file of more steps may lie here, from which the run could not go on
            old.unlink(missing_ok=True)
    return path


def saved(directory: Path) -> list[Path]:
    """The checkpoints in a directory, oldest first."""
    return sorted(path for path in directory.glob("checkpoint-*.npz") if _NAME.fullmatch(path.name))


def load(path: Path) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays and meta of one checkpoint. Raises ConfigError if it is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return arrays, json.loads(arrays.pop("meta").tobytes())
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, TypeError, zipfile.BadZipFile) as error:
        raise ConfigError(f"Cannot read the checkpoint {path}: {error}.") from error


def load_newest(directory: Path) -> tuple[Path, dict[str, np.ndarray], dict]:
    """The newest checkpoint that can be read. Raises ConfigError if there is none."""
    problem = f"No checkpoint in {directory}."
    for path in reversed(saved(directory)):
        try:
            return path, *load(path)
        except ConfigError as error:
            problem = str(error)
    raise ConfigError(problem)
