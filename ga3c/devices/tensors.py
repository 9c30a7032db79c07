"""Memory that somebody else has written, as tensors."""

from collections.abc import Sequence

import tensorflow as tf


def as_tensor(capsule) -> tf.Tensor:
    """Of the memory that a DLPack capsule names: nothing is copied, and what is written there later is seen."""
    return tf.experimental.dlpack.from_dlpack(capsule)


def joined(tensors: Sequence[tf.Tensor]) -> tf.Tensor:
    """One after the other along the first axis, on the device that they are on."""
    return tf.concat(tensors, axis=0)
