"""A compiled function of nested tensors."""

from collections.abc import Callable

import tensorflow as tf


class Graph:
    """A function of nested tensors, traced in its first call and called without tf.function's search for the trace that
    fits.

    That search takes 0.5 ms for the twenty tensors of a call, as long as a small prediction itself. On a GPU it is an
    ordinary call, so that TensorFlow places the operations.
    """

    def __init__(self, function: Callable, open_axis: Callable[[str], int], xla: bool, side_by_side: bool):
        """open_axis: arrays in a dict may have another length in each call along `open_axis(name)`. side_by_side:
        operations that do not need each other may run at the same time. Otherwise they run one after the other, and
        leave the cores to the agents."""
        self._trace = lambda signature: tf.function(
            function, input_signature=signature, jit_compile=xla, autograph=False
        ).get_concrete_function()
        self._open_axis, self._ordinary, self._function = open_axis, side_by_side, None

    def _compile(self, arguments: tuple) -> None:
        traced = self._trace([self._open(a) if isinstance(a, dict) else _specs(a) for a in arguments])
        self._dtypes = [output.dtype for output in tf.nest.flatten(traced.structured_outputs)]
        kinds = {operation.type for operation in traced.graph.get_operations()}
        waits = any("While" in kind or "Collective" in kind for kind in kinds)
        self._ordinary = self._ordinary or waits or bool(tf.config.list_logical_devices("GPU"))
        self._function = traced

    def _open(self, arrays: dict) -> dict[str, tf.TensorSpec]:
        shapes = {name: list(array.shape) for name, array in arrays.items()}
        for name, shape in shapes.items():
            shape[self._open_axis(name)] = None
        return {name: tf.TensorSpec(shapes[name], array.dtype) for name, array in arrays.items()}

    def __call__(self, *arguments):
        if self._function is None:
            self._compile(arguments)
        if self._ordinary:
            return self._function(*arguments)
        outputs = tf.raw_ops.PartitionedCall(
            args=tf.nest.flatten(arguments),
            Tout=self._dtypes,
            f=self._function,
            executor_type="SINGLE_THREADED_EXECUTOR",
        )
        return tf.nest.pack_sequence_as(self._function.structured_outputs, outputs)


def _specs(tensors):
    return tf.nest.map_structure(lambda tensor: tf.TensorSpec(tensor.shape, tensor.dtype), tensors)


def sizes_to_compile(step: int, limit: int) -> list[int]:
    """Returns sizes up to `limit`, multiples of `step`. Each is half as large again as the one before, so there are few
    to compile and little to pad."""
    sizes = [step]
    while sizes[-1] < limit:
        sizes.append(min(sizes[-1] + max(step, sizes[-1] // 2 // step * step), limit))
    return sizes
