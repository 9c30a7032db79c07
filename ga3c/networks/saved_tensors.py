"""Tensors as plain arrays with names, as checkpoints hold them, checked when they are read."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from ga3c.errors import ConfigError

# The flags on which the shapes depend.
_OF_NETWORK = (
    "--algorithm, --network, --memory, --memory-units, --dueling, --atoms, --normalize-values, --input-scaling and "
    "--protocol"
)
_OF_OPTIMIZER = "--algorithm, --optimizer, --learning-rate-schedule and --entropy-target"


def to_arrays(group: str, tensors: Sequence[tf.Tensor]) -> dict[str, np.ndarray]:
    """Returns tensors as arrays, named by their group and their number."""
    return {f"{group}/{i}": tensor.numpy() for i, tensor in enumerate(tensors)}


def has(arrays: dict[str, np.ndarray], group: str) -> bool:
    return any(name.startswith(f"{group}/") for name in arrays)


def from_arrays(
    arrays: dict[str, np.ndarray], group: str, like: Sequence[tf.Tensor], network: str
) -> tuple[tf.Tensor, ...]:
    """Returns the tensors of a group. Raises ConfigError where they are not of the shapes of `like`, or not finite."""
    saved = [arrays.get(f"{group}/{i}") for i in range(len(like))]
    more = f"{group}/{len(like)}" in arrays
    if more or any(s is None or s.shape != tuple(t.shape) for s, t in zip(saved, like, strict=True)):
        what, flags = f"the network '{network}' of this game", _OF_NETWORK
        if group == "optimizer":
            what, flags = "the optimizer", _OF_OPTIMIZER
        raise ConfigError(f"The checkpoint does not fit {what}: give {flags} as it was trained with.")
    if any(s.dtype != t.dtype.as_numpy_dtype or not np.isfinite(s).all() for s, t in zip(saved, like, strict=True)):
        raise ConfigError("The checkpoint holds weights that are not finite numbers (NaN or infinite).")
    return tuple(tf.constant(s) for s in saved)


def version_of(arrays: dict[str, np.ndarray]) -> int:
    """Returns the number of updates. Raises ConfigError where there is none."""
    version = arrays.get("version")
    is_number = np.ndim(version) == 0 and isinstance(version, np.ndarray | np.integer) and version.dtype.kind == "i"
    if not (is_number and version >= 0):
        raise ConfigError("The checkpoint does not say how many updates made it.")
    return int(version)
