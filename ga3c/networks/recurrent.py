"""A memory between the other layers of a network and its last ones: a GRU or an LSTM, and its run through rollouts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import keras
import tensorflow as tf
from keras import layers, ops

_UNROLLED_STEPS = 32  # longer rollouts are a loop in the graph, which would otherwise take long to trace
_LONGEST_STEPS = 100  # units begin with memories of up to so many steps


class Memory(NamedTuple):
    """The memory that a network is to have."""

    kind: str  # "gru" or "lstm"
    units: int


def network(observations, hidden, last: Callable[..., tuple], memory: Memory | None) -> "keras.Model | Recurrent":
    """Returns the network from `observations` (a keras.Input) to the outputs `last(hidden)`, with a memory if there is
    to be one: then `last` gets what comes out of that. hidden: [batch, n]."""
    if memory is None:
        return keras.Model(observations, last(hidden))
    return Recurrent(keras.Model(observations, hidden), memory, last)


class Recurrent:
    """A network that remembers. Its weights are those of its encoder, its memory and its last layers, in this order.

    The state of the memory is float32 [columns, size] outside of it, an LSTM's two vectors side by side.
    """

    def __init__(self, encoder: keras.Model, memory: Memory, last: Callable[..., tuple]):
        cell, self.parts = _cell(memory), 1 if memory.kind == "gru" else 2
        states = [keras.Input((memory.units,)) for _ in range(self.parts)]
        hidden, out = keras.Input(encoder.output.shape[1:]), keras.Input((memory.units,))
        self.models = encoder, keras.Model((hidden, *states), cell(hidden, states)), keras.Model(out, last(out))
        self.recurrent_size = self.parts * memory.units
        self.trainable_variables = [variable for model in self.models for variable in model.trainable_variables]
        encoder, self._cell, last = self.models
        self.layers = encoder.layers  # that keep statistics
        # A cell has a seed besides, which without dropout nobody uses.
        self.non_trainable_variables = [*encoder.non_trainable_variables, *last.non_trainable_variables]

    def _call(self, number: int, weights: Sequence, others: Sequence, inputs):
        """Calls one of the three models with its part of the weights."""
        start = sum(len(model.trainable_variables) for model in self.models[:number])
        model = self.models[number]
        trained = list(weights[start : start + len(model.trainable_variables)])
        of_encoder = len(self.models[0].non_trainable_variables)
        fixed = (list(others[:of_encoder]), self._cell.non_trainable_variables, list(others[of_encoder:]))[number]
        return model.stateless_call(trained, fixed, inputs)[0]

    def encode(self, weights: Sequence, others: Sequence, observations) -> tf.Tensor:
        """Returns what the memory sees of observations [batch, ...]: [batch, n]."""
        return self._call(0, weights, others, observations)

    def decide(
        self, weights: Sequence, others: Sequence, hidden: tf.Tensor, states: tf.Tensor, *rows: tf.Tensor
    ) -> tuple[tuple[tf.Tensor, ...], tf.Tensor]:
        """Returns the outputs of the network, [time * columns, ...], and the states after the last row.

        Args:
            hidden: [time * columns, n], what `encode` returned.
            states: float32 [columns, size], before the first row.
            rows: none where there is one row, after which the game goes on; else two, bool [time, columns] each:
                "restart", a new game begins after the row, so the state after it is zero; and "held", the row is
                padding, and the state after it is the one before it.
        """

        def step(states, row):
            """The outputs of the cell, and the states after a row, from the states before it."""
            hidden, *rules = row
            before = tf.split(states, self.parts, axis=1)
            out, after = self._call(1, weights, others, (tf.cast(hidden, tf.float32), *before))
            after = tf.concat(after, axis=1) if self.parts > 1 else tf.nest.flatten(after)[0]
            if rules:
                restart, held = (rule[:, None] for rule in rules)
                after = tf.where(restart, 0.0, tf.where(held, states, after))
            return out, after

        if not rows:
            out, states = step(states, (hidden,))
        else:
            time, columns = rows[0].shape[0], tf.shape(states)[0]
            hidden = tf.reshape(hidden, (time, columns, hidden.shape[-1]))
            out, states = _run(step, states, (hidden, *rows), time)
        return self._call(2, weights, others, out), states


def _cell(memory: Memory) -> layers.Layer:
    """Returns the cell. Its units begin with memories of very different length (Tallec and Ollivier 2018, section 2).

    With biases of zero a unit would forget half of what it holds in each step, and all of it before a reward can tell
    that it was needed.
    """
    uniform = keras.initializers.RandomUniform(1.0, _LONGEST_STEPS - 1.0)

    def keeps(shape, dtype=None):
        """Biases of the gates: of units that keep, on average, what they hold for 2 to _LONGEST_STEPS steps."""
        units = memory.units
        kept, zeros = ops.log(uniform((units,))), ops.zeros((units,))
        if memory.kind == "lstm":  # input gate, forget gate, candidate, output gate
            return ops.concatenate([-kept, kept, zeros, zeros])
        # Update gate, which keeps, reset gate, candidate; the second row is added to the recurrent part.
        return ops.stack([ops.concatenate([kept, zeros, zeros]), ops.zeros((3 * units,))])

    if memory.kind == "lstm":
        return layers.LSTMCell(memory.units, bias_initializer=keeps, unit_forget_bias=False)
    return layers.GRUCell(memory.units, bias_initializer=keeps)


def _run(step: Callable, states: tf.Tensor, rows: tuple, time: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the outputs of all rows, [time * columns, n], and the states after the last one."""
    if time > _UNROLLED_STEPS:
        first = step(states, [field[0] for field in rows])
        outs, all_states = tf.scan(lambda last, row: step(last[1], row), rows, (tf.zeros_like(first[0]), states))
        return tf.reshape(outs, (-1, outs.shape[-1])), all_states[-1]
    outs = []
    for t in range(time):
        out, states = step(states, [field[t] for field in rows])
        outs.append(out)
    return tf.concat(outs, axis=0), states
