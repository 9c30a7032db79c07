"""Which rows of a batch each minibatch takes."""

import numpy as np
import pytest
import tensorflow as tf

from ga3c.algorithms import minibatches, optimizers
from ga3c.settings.learning import LearningSettings


def taken(fields, **settings):
    """Returns the rows of each minibatch, 0 and 1 [row], one list for each epoch; and what `learn` counts.

    The gradient of the loss is the sum of the rows' own flags: so each of them is counted.
    """
    rows = len(fields["valid"])
    settings = LearningSettings(**{"seed": 5, "gradient_clip_norm": 0.0} | settings)
    weights, found = (tf.zeros(rows),), []
    fields = {name: tf.constant(field) for name, field in fields.items()} | {"row": tf.one_hot(tf.range(rows), rows)}

    def loss(weights, minibatch):
        valid = tf.reshape(minibatch["valid"], (len(minibatch["row"]), -1))[:, :1]
        flags = tf.where(valid, minibatch["row"], 0.0)
        tf.py_function(lambda now: found.append(now.numpy().sum(axis=0)), [flags], [])
        return tf.reduce_sum(flags * weights[0]), (tf.reduce_sum(flags),)

    passes = minibatches.Passes(settings, optimizers.of_adam(settings))
    state = passes.optimizer.initial_state(weights)
    _, state, numbers = minibatches.learn(loss, ("rows",), weights, state, tf.constant(0.1), fields, passes)
    assert state[0] == len(found) == minibatches.number(settings)
    assert float(numbers["rows"]) == pytest.approx(np.sum(found) / len(found))
    first, later = found[: settings.minibatches], found[settings.minibatches :]
    return [first, *np.array_split(later, settings.epochs - 1)]


@pytest.mark.parametrize(("rows", "pieces"), [(12, 3), (13, 4), (3, 5)])
def test_every_epoch_takes_every_row_once(rows, pieces):
    first, second = taken({"valid": np.ones(rows, bool)}, epochs=2, minibatches=pieces)
    for epoch in (first, second):
        assert len(epoch) == pieces
        np.testing.assert_array_equal(np.sum(epoch, axis=0), np.ones(rows))
    assert rows == 3 or not np.array_equal(first, second)


@pytest.mark.parametrize("rank", [1, 2])
def test_a_share_of_the_rows_is_drawn_by_the_size_of_their_advantages(rank):
    """Of 1,000 rows a quarter have nothing to draw them, half of the others are four times as large, of either sign."""
    sizes = np.tile(np.float32([0, 4, 1, 1, 0, -4, -1, 4]), 125)
    valid = np.ones(1000, bool)
    valid[1::16] = False  # what is not valid is not drawn, whatever it holds
    if rank == 2:  # whole rollouts
        sizes, valid = np.repeat(sizes[:, None], 3, 1), np.repeat(valid[:, None], 3, 1)
    fields = {"advantage": sizes, "valid": valid}
    first, *later = taken(fields, epochs=5, minibatches=10, later_epochs_share=0.2)
    rows = valid.reshape(1000, -1)[:, 0]
    np.testing.assert_array_equal(np.sum(first, axis=0), rows)
    for epoch in later:
        assert [one.sum() for one in epoch] == [100, 100]
        assert np.sum(epoch, axis=0).max() == 1
    assert not np.array_equal(later[0], later[1])
    drawn, size = np.sum(later, axis=(0, 1)), np.abs(sizes.reshape(1000, -1)[:, 0])
    large, small = (drawn[rows & (size == one)].mean() for one in (4, 1))
    assert drawn[size == 0].sum() == 0
    assert 1.5 < large / small < 2.2  # the root of 4, a little less, as none is drawn twice


def test_a_share_is_one_minibatch_at_least_and_fills_up_with_what_nobody_draws():
    fields = {"advantage": np.float32([0, 0, 3, 0, 0]), "valid": np.ones(5, bool)}
    first, second = taken(fields, epochs=2, minibatches=2, later_epochs_share=0.01)
    assert np.sum(first) == 5
    assert len(second) == 1
    assert second[0][2] == 1
