"""Devices that learn together (Stooke and Abbeel 2018, section 4.2).

Each device computes the gradient of its part of a batch, one all-reduce sums these, and each device makes the same
update: their weights stay equal, bit for bit. The all-reduce is TensorFlow's collective: a ring, or NCCL between GPUs.
"""

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

from ga3c.errors import TrainingFailed

_GROUPS = itertools.count(1)  # no two groups of a process have the same key


class AllReduce:
    """The exchange of one device with the others of its group. Each device is traced once, with the same calls."""

    def __init__(self, group: "Group"):
        self._group, self._calls = group, itertools.count(1)

    def sum(self, tensor: tf.Tensor) -> tf.Tensor:
        size, key = tf.unstack(self._group.membership.read_value())
        flat = tf.raw_ops.CollectiveReduceV2(
            input=tf.reshape(tensor, (-1,)),
            group_size=size,
            group_key=key,
            instance_key=next(self._calls),
            ordering_token=[],
            merge_op="Add",
            final_op="Id",
            communication_hint=self._group.how,
        )
        return tf.reshape(flat, tf.shape(tensor))

    def mean(self, tensor: tf.Tensor) -> tf.Tensor:
        return self.sum(tensor) / tf.cast(self._group.membership[0], tensor.dtype)

    def gradients(self, gradients: Sequence[tf.Tensor], weight: tf.Tensor | None = None) -> Sequence[tf.Tensor]:
        """Sums the gradients of all devices, or takes their weighted mean, in one all-reduce of one flat tensor."""
        factor = tf.constant(1.0) if weight is None else weight
        parts = [tf.reshape(gradient * factor, (-1,)) for gradient in gradients]
        *sums, weights = tf.split(self.sum(tf.concat([*parts, factor[None]], 0)), [*(p.shape[0] for p in parts), 1])
        if weight is not None:
            sums = [total / tf.maximum(weights, 1e-8) for total in sums]
        return [tf.reshape(total, gradient.shape) for total, gradient in zip(sums, gradients, strict=True)]


class Group:
    """A group of devices, by TensorFlow's names, and a thread for each."""

    def __init__(self, devices: Sequence[str]):
        self.devices = devices
        self.how = "nccl" if all("GPU" in device for device in devices) else "ring"
        self._key = next(_GROUPS)
        with tf.device("CPU:0"):
            self.membership = tf.Variable(
                [1, 0], dtype=tf.int32
            )  # the number of devices that learn together, and their key
        self._threads = ThreadPoolExecutor(len(devices), thread_name_prefix="device")

    def alone(self) -> None:
        """Lets each device compute without the others from now on, to trace and compile it."""
        self.membership.assign([1, -next(_GROUPS)])

    def together(self) -> None:
        """Makes all sums from now on sums over all devices."""
        self.membership.assign([len(self.devices), self._key])

    def run(self, calls: Sequence[Callable]) -> list:
        """Makes one call on each device, all at the same time. If one fails, all end: raises TrainingFailed."""
        running = [self._threads.submit(self.on, *call) for call in zip(self.devices, calls, strict=True)]
        ended, _ = wait(running, return_when=FIRST_EXCEPTION)
        for device, one in zip(self.devices, running, strict=True):
            if one in ended and (error := one.exception()):
                # The others would wait for it for ever.
                context.context().abort_collective_ops(tf.errors.ABORTED, f"{device} has failed")
                raise TrainingFailed(f"Device {device} failed: {error}") from error
        return [one.result() for one in running]

    @staticmethod
    def on(device: str, call: Callable):
        """Makes a call on a device, in this thread."""
        with tf.device(device):
            return call()


def equal(states: Sequence[dict[str, np.ndarray]]) -> bool:
    """Returns True if all states, arrays by name, are equal bit for bit."""
    first, *others = ({name: array.tobytes() for name, array in state.items()} for state in states)
    return all(other == first for other in others)
