"""Batches in pieces: more cores for the model while nobody plays."""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from ga3c.machine import usable_cores

PIECE_STATES = 24  # of a batch, at the least: fewer are not worth another thread


class Pieces(NamedTuple):
    """Into how many a batch is divided. The network runs through them side by side, with a core for each."""

    predictions: int
    updates: int


WHOLE = Pieces(1, 1)


def pieces(turns: str, threads: int) -> Pieces:
    """How to divide batches, after `set_up_device`; `turns` as `algorithms.turns` says, `threads` of an operation.

    In lockstep nobody plays during an update, and with synchronised sampling nobody during a prediction: all cores are
    the model's. More threads for each operation would do for that, too, but every prediction would have them: with
    alternating sampling they take cores from the agents, and for a few states they take longer to wake than to help.
    """
    if turns not in ("synchronised", "alternating") or tf.config.get_visible_devices("GPU"):
        return WHOLE
    count = max(1, usable_cores() // threads)
    return Pieces(count if turns == "synchronised" else 1, count)


def in_pieces(function: Callable, states: tf.Tensor, count: int) -> tuple[tf.Tensor, ...]:
    """`function(states)`, a tuple of tensors [batch, ...]; of so many pieces, unless those would be too small."""
    if count == 1:
        return function(states)
    batch = tf.shape(states)[0]

    def of_pieces():
        bounds = [batch * number // count for number in range(count + 1)]
        outputs = [function(states[start:end]) for start, end in itertools.pairwise(bounds)]
        return tuple(tf.concat(parts, axis=0) for parts in zip(*outputs, strict=True))

    return tf.cond(batch >= count * PIECE_STATES, of_pieces, lambda: function(states))
