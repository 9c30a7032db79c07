"""How a device that learns on its own changes the parameter store, inside of an update (Stooke and Abbeel 2018)."""

from collections.abc import Callable, Sequence

import tensorflow as tf

from ga3c.devices.parameter_store import ParameterStore, Pulled


class Exchange:
    """The exchange of one device with the store. Its methods are called in the graph of an update.

    Without a store, as while a model is traced, the tensors stay those of the device.
    """

    def __init__(self, minibatches: int):
        """minibatches: the device exchanges its changes after so many steps of the optimizer; 0: after an update."""
        self._minibatches, self.store, self.pulled = minibatches, None, None
        self._applied: Pulled | None = None

    def join(self, store: ParameterStore | None, pulled: Pulled | None) -> None:
        """Joins a store from which `pulled` is."""
        self.store, self.pulled = store, pulled

    def take_applied(self) -> Pulled | None:
        """Returns what the last `step` has left in the store, once; None, if the update made none."""
        applied, self._applied = self._applied, None
        return applied

    def last_steps(self, steps: int) -> int:
        """Returns how many of an update's steps the store does not know at its end."""
        return (steps - 1) % self._minibatches + 1 if self._minibatches else steps

    def step(self, rule: Callable, weights: Sequence, state: Sequence, gradients: Sequence, learning_rate) -> tuple:
        """Makes one step of the optimizer with the weights and the state that are in the store (section 4.3).

        rule: `algorithms.optimizers.Optimizer.update`. Returns the weights and the state that it has left there.
        """
        count, of_state = len(weights), len(state)

        def now(*tensors):
            *own, rate = tensors
            mine, gradients = own[: count + of_state], own[count + of_state :]
            with tf.device(gradients[0].device):
                if self.store is None:
                    new_weights, new_state = rule(tuple(mine[:count]), tuple(mine[count:]), tuple(gradients), rate)
                    return [*new_weights, *new_state]
                if not _finite(gradients):
                    return mine  # `Model.train` refuses the update
                self._applied = self.store.apply(rule, gradients, rate)
                return self._applied.tensors

        tensors = _called(now, [*weights, *state], [*gradients, tf.convert_to_tensor(learning_rate)])
        return tuple(tensors[:count]), tuple(tensors[count:])

    def minibatch(self, done: tf.Tensor, steps: int, weights: Sequence, state: Sequence) -> tuple[tuple, tuple]:
        """Exchanges the changes of a device that has done so many of an update's steps, if that is due before the last
        one (appendix A). Returns the weights and the state to go on from."""
        if not self._minibatches:
            return tuple(weights), tuple(state)

        def now(*tensors):
            if self.store is None or not _finite(tensors):
                return tensors
            with tf.device(tensors[0].device):
                after = [*tensors, *self.pulled.tensors[len(tensors) :]]
                self.pulled = self.store.update(self.pulled, after, self._minibatches, counts=False)
                return self.pulled.tensors[: len(tensors)]

        mine, count = [*weights, *state], len(weights)
        due = tf.logical_and(done % self._minibatches == 0, done < steps)
        tensors = tf.cond(due, lambda: _called(now, mine, []), lambda: [tf.identity(one) for one in mine])
        return tuple(tensors[:count]), tuple(tensors[count:])


def _finite(tensors: Sequence[tf.Tensor]) -> bool:
    """Returns whether all numbers are finite."""
    return all(bool(tf.reduce_all(tf.math.is_finite(one))) for one in tensors if one.dtype.is_floating)


def _called(function: Callable, tensors: list, more: list) -> list:
    """Returns what the function makes of tensors, of the same shapes, in a graph. `more` are further arguments."""
    found = tf.py_function(function, [*tensors, *more], [one.dtype for one in tensors])
    for one, like in zip(found, tensors, strict=True):
        one.set_shape(like.shape)
    return found
