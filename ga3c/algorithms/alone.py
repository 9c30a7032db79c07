"""What devices that learn together put together, where there is one alone: nothing."""

from collections.abc import Sequence

import tensorflow as tf


class Alone:
    """An algorithm's `devices`; `devices.replicas.AllReduce` is another."""

    def gradients(self, gradients: Sequence[tf.Tensor], weight: tf.Tensor | None = None) -> Sequence[tf.Tensor]:
        """Of the whole batch, from those of each device's part of it: their sum; or their mean, if each comes with a
        weight (float32 [])."""
        return gradients

    def sum(self, tensor: tf.Tensor) -> tf.Tensor:
        """Of the tensors of all devices."""
        return tensor

    def mean(self, tensor: tf.Tensor) -> tf.Tensor:
        """Of the tensors of all devices."""
        return tensor


ALONE = Alone()
