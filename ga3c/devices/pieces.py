"""Batches divided into pieces, which give the model more cores while nobody plays."""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from ga3c.machine import usable_cores

PIECE_STATES = 24  # a piece has at least so many states: fewer are not worth another thread


class Pieces(NamedTuple):
    """How many pieces batches are divided into. The network runs through them side by side, with a core for each."""

    predictions: int
    updates: int


WHOLE = Pieces(1, 1)


def pieces(turns: str, threads: int) -> Pieces:
    """Returns how to divide batches. It is called after `set_up_device`.

    In lockstep nobody plays during an update, and with synchronised sampling nobody plays during a prediction either:
    the model can use all cores. More threads for each operation would do that, too, but for every prediction. With
    alternating sampling they would take cores from the agents, and for a few states they wake too slowly to help.

    turns: as `algorithms.turns` returns it. threads: those of one operation.
    """
    if turns not in ("synchronised", "alternating") or tf.config.get_visible_devices("GPU"):
        return WHOLE
    count = max(1, usable_cores() // threads)
    return Pieces(count if turns == "synchronised" else 1, count)


def in_pieces(function: Callable, states: tf.Tensor, count: int) -> tuple[tf.Tensor, ...]:
    """Returns `function(states)`, tensors [batch, ...], made in `count` pieces unless those would be too small."""
    if count == 1:
        return function(states)
    batch = tf.shape(states)[0]

    def of_pieces():
        bounds = [batch * number // count for number in range(count + 1)]
        outputs = [function(states[start:end]) for start, end in itertools.pairwise(bounds)]
        return tuple(tf.concat(parts, axis=0) for parts in zip(*outputs, strict=True))

    return tf.cond(batch >= count * PIECE_STATES, of_pieces, lambda: function(states))
