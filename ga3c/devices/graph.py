"""A compiled function of nested tensors."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf


class Graph:
    """A function of nested tensors, traced once and called without tf.function's search for the trace that fits.

    That search takes 0.5 ms for the twenty tensors of a call, as long as a small prediction itself. On a GPU it is an
    ordinary call, so that TensorFlow places the operations.
    """

    def __init__(self, function: Callable, signature: tuple, xla: bool, side_by_side: bool = False):
        """side_by_side: operations that do not need each other may run at the same time. Otherwise they run one after
        the other, and leave the cores to the agents."""
        self._function = tf.function(
            function, input_signature=signature, jit_compile=xla, autograph=False
        ).get_concrete_function()
        self._dtypes = [output.dtype for output in tf.nest.flatten(self._function.structured_outputs)]
        operations = {operation.type for operation in self._function.graph.get_operations()}
        waits = any("While" in kind or "Collective" in kind for kind in operations)
        self._ordinary = waits or side_by_side or bool(tf.config.list_logical_devices("GPU"))

    def __call__(self, *arguments):
        if self._ordinary:
            return self._function(*arguments)
        outputs = tf.raw_ops.PartitionedCall(
            args=tf.nest.flatten(arguments),
            Tout=self._dtypes,
            f=self._function,
            executor_type="SINGLE_THREADED_EXECUTOR",
        )
        return tf.nest.pack_sequence_as(self._function.structured_outputs, outputs)


def specs(tensors):
    """Returns shapes and dtypes of nested tensors, for the signature of a Graph."""
    return tf.nest.map_structure(lambda tensor: tf.TensorSpec(tensor.shape, tensor.dtype), tensors)


def open_specs(arrays: dict[str, np.ndarray], axis: Callable[[str], int]) -> dict[str, tf.TensorSpec]:
    """Returns shapes and dtypes of arrays by name, which may have any length along `axis(name)`."""
    found = {}
    for name, array in arrays.items():
        shape = list(array.shape)
        shape[axis(name)] = None
        found[name] = tf.TensorSpec(shape, array.dtype)
    return found


def sizes_to_compile(step: int, limit: int) -> list[int]:
    """Returns sizes up to `limit`, multiples of `step`. Each is half as large again as the one before, so there are few
    to compile and little to pad."""
    sizes = [step]
    while sizes[-1] < limit:
        sizes.append(min(sizes[-1] + max(step, sizes[-1] // 2 // step * step), limit))
    return sizes
