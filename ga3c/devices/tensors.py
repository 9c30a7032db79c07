"""Memory of others as tensors."""

from collections.abc import Sequence

import tensorflow as tf


def as_tensor(capsule) -> tf.Tensor:
    """Returns the memory that a DLPack capsule names. Nothing is copied: it shows what is written there later."""
    return tf.experimental.dlpack.from_dlpack(capsule)


def joined(tensors: Sequence[tf.Tensor]) -> tf.Tensor:
    """Returns tensors joined along the first axis, on the device that they are on."""
    return tf.concat(tensors, axis=0)
