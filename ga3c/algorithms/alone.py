"""The exchange between devices that learn together, for one device alone."""

from collections.abc import Sequence

import tensorflow as tf


class Alone:
    """One device, which returns what it is given. `devices.all_reduce.AllReduce` has the same methods for several."""

    def gradients(self, gradients: Sequence[tf.Tensor], weight: tf.Tensor | None = None) -> Sequence[tf.Tensor]:
        """Returns the gradients of the whole batch: the sum of those of each device's part of it; or their mean, where
        each device gives a weight (float32 [])."""
        return gradients

    def sum(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns the sum of the tensors of all devices."""
        return tensor

    def mean(self, tensor: tf.Tensor) -> tf.Tensor:
        """Returns the mean of the tensors of all devices."""
        return tensor


ALONE = Alone()
