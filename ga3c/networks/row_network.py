"""A network for a game whose observations are rows of bytes (`ga3c.layout`)."""

import tensorflow as tf

from ga3c.layout import BYTES, MASK, MASK_NAME, VECTOR, Layout
from ga3c.networks import inputs
from ga3c.rollout import FORBIDDEN


def taken_apart(rows: tf.Tensor, layout: Layout) -> dict[str, tf.Tensor]:
    """Returns the parts of rows uint8 [..., size] by name, [..., *shape] each: pictures are uint8, others float32."""
    found, before = {}, tf.shape(rows)[:-1]
    for part, place in layout.slices():
        piece = rows[..., place]
        if part.kind == VECTOR:
            piece = tf.bitcast(tf.reshape(piece, tf.concat([before, [part.size // 4, 4]], 0)), tf.float32)
        elif len(part.shape) == 1:
            piece = tf.cast(piece, tf.float32)
        piece = tf.reshape(piece, tf.concat([before, part.shape], 0))
        found[part.name] = tf.ensure_shape(piece, (*rows.shape[:-1], *part.shape))
    return found


class RowNetwork:
    """A network that gets the parts of rows by name, or alone, as a `Model` uses it. Actions that are not allowed have
    the logit, or the value, FORBIDDEN."""

    def __init__(self, network, layout: Layout, policy: bool):
        """network: a keras.Model, or one of ours with the same methods. policy: its first output is a policy; else it
        is the values of the actions, and the second is the largest of them."""
        self._network, self._layout, self._policy = network, layout, policy
        self.trainable_variables = network.trainable_variables
        self.non_trainable_variables = network.non_trainable_variables
        named = [layer.name for layer in getattr(network, "layers", ()) if layer.non_trainable_variables]
        self._counted = [name for name in named if layout.is_plain or self._parts_of(name)]

    def _parts_of(self, layer: str) -> list[str]:
        """Returns the names of the parts that a layer keeps the statistics of."""
        shown = self._layout.shown
        if layer == inputs.VECTORS:
            return [part.name for part in shown if part.kind in (VECTOR, BYTES)]
        return [part.name for number, part in enumerate(shown) if layer == inputs.layer_name(number)]

    def counted(self, rows: tf.Tensor) -> list[tf.Tensor]:
        """Returns the observations that the network keeps statistics of, in their order, [..., *shape] each."""
        parts = taken_apart(rows, self._layout)
        if self._layout.is_plain:
            return [parts[""]]
        return [tf.concat([parts[name] for name in self._parts_of(layer)], axis=-1) for layer in self._counted]

    def _seen(self, rows: tf.Tensor) -> tuple:
        """Returns what the network sees of rows, and which actions are allowed, 1 or 0; None without a mask."""
        parts = taken_apart(rows, self._layout)
        allowed = parts.pop(MASK_NAME, None)
        return parts[""] if self._layout.is_plain else parts, allowed

    def stateless_call(self, trained, fixed, rows: tf.Tensor):
        """Returns what the network's own `stateless_call` does."""
        seen, allowed = self._seen(rows)
        outputs, fixed = self._network.stateless_call(trained, fixed, seen)
        return (outputs if allowed is None else self._masked(outputs, allowed > 0)), fixed

    def encode(self, trained, fixed, rows: tf.Tensor) -> tf.Tensor:
        """Returns what a `recurrent.Recurrent` does, and beside it the mask: [batch, n]."""
        seen, allowed = self._seen(rows)
        hidden = self._network.encode(trained, fixed, seen)
        return hidden if allowed is None else tf.concat([hidden, tf.cast(allowed, hidden.dtype)], axis=1)

    def decide(self, trained, fixed, hidden: tf.Tensor, states: tf.Tensor, *rows: tf.Tensor):
        """Returns what a `recurrent.Recurrent` does. hidden: what `encode` returned."""
        if not self._layout.has(MASK):
            return self._network.decide(trained, fixed, hidden, states, *rows)
        size = self._layout.parts[-1].size
        outputs, states = self._network.decide(trained, fixed, hidden[:, :-size], states, *rows)
        return self._masked(outputs, hidden[:, -size:] > 0), states

    def _masked(self, outputs, allowed: tf.Tensor):
        first = tf.where(allowed, outputs[0], FORBIDDEN)
        second = outputs[1] if self._policy else tf.reduce_max(first, axis=1)
        return first, second, *outputs[2:]
