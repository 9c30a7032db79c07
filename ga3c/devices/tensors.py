"""Memory of others as tensors."""

import tensorflow as tf


def as_tensor(capsule) -> tf.Tensor:
    """Returns the memory that a DLPack capsule names. Nothing is copied: it shows what is written there later."""
    return tf.experimental.dlpack.from_dlpack(capsule)
