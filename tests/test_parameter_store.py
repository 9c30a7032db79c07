"""The parameter store: with one device it is Adam; of several nothing is lost."""

import threading

import numpy as np
import pytest

from ga3c.devices.parameter_store import CHUNKS, ParameterStore  # isort: skip (first: it loads TensorFlow)
import tensorflow as tf

from ga3c.algorithms import adam, optimizers, rmsprop
from ga3c.settings.learning import LearningSettings

SHAPES = [(3, 2), (2,), (4,), (2, 2), (1,)]
RATE = 0.1


def weights(random) -> tuple:
    return tuple(tf.constant(random.normal(size=shape), tf.float32) for shape in SHAPES)


def gradients(random) -> list[tuple]:
    return [weights(random) for _ in range(3)]


def steps_of_adam(tensors, gradients) -> list:
    """n steps, from weights and state one after the other."""
    own, state = tuple(tensors[: len(SHAPES)]), tuple(tensors[len(SHAPES) :])
    for gradient in gradients:
        own, state = adam.update(own, state, gradient, RATE, epsilon=1e-8)
    return [*own, *state]


def store_of_adam(random):
    first = weights(random)
    tensors = [*first, *adam.initial_state(first)]
    return ParameterStore(tensors, len(SHAPES), (None, adam.FIRST_DECAY, adam.SECOND_DECAY)), tensors


def test_with_one_device_it_is_adam():
    random = np.random.default_rng(1)
    store, alone = store_of_adam(random)
    pulled = store.pull()
    for update in range(5):
        three = gradients(random)
        alone = steps_of_adam(alone, three)
        pulled = store.update(pulled, steps_of_adam(pulled.tensors, three), 3)
        assert pulled.version == update
        for ours, theirs in zip(store.pull().tensors, alone, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_two_devices_are_appendix_a():
    """Against its accumulators a_g, a_g2 and a_s, in float64."""
    random = np.random.default_rng(2)
    store, first = store_of_adam(random)
    theta, m, v = (np.array(first[i], float) for i in (0, 6, 11))  # of the first weight; a count comes first
    devices, central = [store.pull(), store.pull()], [theta.copy(), np.zeros_like(theta), np.zeros_like(theta), 0]
    local = [[theta.copy(), m.copy(), v.copy(), 0] for _ in devices]
    b1, b2 = adam.FIRST_DECAY, adam.SECOND_DECAY
    for _ in range(3):
        for which, pulled in enumerate(devices):
            three = gradients(random)
            devices[which] = store.update(pulled, steps_of_adam(pulled.tensors, three), 3)
            (own, m, v, t), a_s, a_g, a_g2 = local[which], 0.0, 0.0, 0.0
            for gradient in three:
                g, t = np.array(gradient[0], float), t + 1
                m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
                step = RATE * m / (1 - b1**t) / (np.sqrt(v / (1 - b2**t)) + 1e-8)
                a_g, a_g2, a_s, own = b1 * a_g + g, b2 * a_g2 + g**2, a_s + step, own - step
            theta, mean, square, count = central
            central = [theta - a_s, b1**3 * mean + (1 - b1) * a_g, b2**3 * square + (1 - b2) * a_g2, count + 3]
            local[which] = [*(part.copy() for part in central[:3]), central[3]]
    there = store.pull().tensors
    assert int(there[5]) == central[3] == 18
    for number, wanted in zip((0, 6, 11), central, strict=False):
        np.testing.assert_allclose(there[number], wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("of", [optimizers.of_adam, optimizers.of_counting_rmsprop, optimizers.of_centred_rmsprop])
def test_the_rule_is_applied_to_the_weights_and_statistics_that_are_there(of):
    """Gradients of two devices in turns: the same as all of them from one device."""
    random, rule = np.random.default_rng(4), of(LearningSettings())
    first = weights(random)
    state, rate = rule.initial_state(first), tf.constant(RATE)
    store = ParameterStore([*first, *state], len(SHAPES), rule.decays)
    for update in range(6):
        gradient = weights(random)
        first, state = rule.update(first, state, gradient, rate)
        pulled = store.apply(rule.update, gradient, rate)
        assert pulled.version == update
        for ours, there, alone in zip(pulled.tensors, store.pull().tensors, (*first, *state), strict=True):
            np.testing.assert_array_equal(ours, there)
            np.testing.assert_allclose(ours, alone, rtol=1e-6)


def test_changes_within_an_update_count_as_none():
    store, alone = store_of_adam(np.random.default_rng(1))
    pulled = store.update(store.pull(), [tensor + 1 for tensor in alone], 1, counts=False)
    assert (store.version, pulled.version) == (0, 0)
    assert store.update(pulled, pulled.tensors, 3).version == 0
    assert store.version == 1


def test_of_what_eight_threads_add_nothing_is_lost():
    ones = [tf.zeros(shape) for shape in SHAPES] * 2
    store, updates, wrong = ParameterStore(ones, len(SHAPES), (0.5,)), 200, []

    def learn():
        pulled = store.pull()
        for _ in range(updates):
            pulled = store.update(pulled, [tensor + 1.0 for tensor in pulled.tensors], 1)
            if any(len(np.unique(tensor)) > 1 for tensor in pulled.tensors):
                wrong.append(pulled)  # half of a chunk is of another update

    threads = [threading.Thread(target=learn) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.version == 8 * updates
    assert not wrong
    for tensor in store.pull().tensors[: len(SHAPES)]:
        np.testing.assert_array_equal(tensor, np.full(tensor.shape, 8 * updates))


def test_a_weight_and_its_statistics_are_in_one_chunk():
    random = np.random.default_rng(1)
    store, tensors = store_of_adam(random)
    chunks = [set(chunk) for chunk in store._of_chunk]
    assert sorted(number for chunk in chunks for number in chunk) == list(range(len(tensors)))
    for number in range(len(SHAPES)):
        assert {number, 6 + number, 11 + number} <= chunks[number % CHUNKS]


def test_what_does_not_fit_is_an_error():
    first = weights(np.random.default_rng(1))
    with pytest.raises(ValueError, match="decays of"):
        ParameterStore([*first, *rmsprop.initial_state(first)], len(SHAPES), (0.9, 0.9))
