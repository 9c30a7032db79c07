"""Rollouts in shared memory and in batches."""

import multiprocessing

import numpy as np
import pytest

from ga3c.rollout import Buffer, EnvironmentSpec, discrete, rollout_dtype, slots_needed
from ga3c.transport.agent_memory import AgentMemory

T_MAX, ENVS = 4, 2
DTYPE = rollout_dtype(EnvironmentSpec("Test", (3,), "float32", discrete(2), 1), T_MAX, ENVS)


def record(number, length=T_MAX):
    """A rollout: every field holds `number` in its first `length` rows, after them what is not to be used."""
    rollout = np.zeros((), DTYPE)
    for name in DTYPE.names:
        rollout[name] = number
    for name in set(DTYPE.names) - {"bootstrap_value", "last_observation"}:
        rollout[name][length:] = 77
    rollout["bootstrap_value"] = rollout["last_observation"] = -number
    return rollout[()], length


def buffer(rollouts):
    return Buffer(DTYPE, rollouts, set(DTYPE.names) - {"version"})


def test_rollouts_lie_side_by_side():
    arrays = buffer(3).fill([record(1), record(2), record(3)])
    for name in ("observation", "action", "log_probability", "value", "reward"):
        array = arrays[name].reshape(T_MAX, 3 * ENVS, -1)
        np.testing.assert_array_equal(array, np.broadcast_to([[[1], [1], [2], [2], [3], [3]]], array.shape))
    np.testing.assert_array_equal(arrays["bootstrap_value"], [-1, -1, -2, -2, -3, -3])
    np.testing.assert_array_equal(arrays["last_observation"][:, 0], [-1, -1, -2, -2, -3, -3])
    assert arrays["valid"].all()
    assert arrays["terminated"].dtype == bool


def test_a_short_rollout_is_padded():
    arrays = buffer(2).fill([record(1, length=2), record(2)])
    np.testing.assert_array_equal(arrays["valid"][:, :ENVS], [[1, 1], [1, 1], [0, 0], [0, 0]])
    for name in ("value", "observation"):  # what follows a rollout is what its last row looks ahead to
        np.testing.assert_array_equal(arrays[name].reshape(T_MAX, 2 * ENVS, -1)[:, 0, 0], [1, 1, -1, -1])
    assert arrays["valid"][:, ENVS:].all()
    np.testing.assert_array_equal(arrays["value"][:, ENVS], [2, 2, 2, 2])


def test_no_value_follows_where_the_network_shall_say_it():
    arrays = Buffer(DTYPE, 2, {"value", "valid", "last_observation"}).fill([record(1, length=2), record(2)])
    np.testing.assert_array_equal(arrays["value"][:, 0], [1, 1, np.nan, np.nan])


def test_nothing_of_the_fill_before_stays_valid():
    room = buffer(3)
    room.fill([record(1), record(2), record(3)])
    arrays = room.fill([record(4, length=1)])
    expected = np.zeros((T_MAX, 3 * ENVS), bool)
    expected[0, :ENVS] = True
    np.testing.assert_array_equal(arrays["valid"], expected)


def test_a_rollout_that_fills_the_batch_is_not_copied():
    room, alone = buffer(1), record(1)
    arrays = room.fill([alone])
    alone[0]["value"][0, 0] = 9
    assert arrays["value"][0, 0] == 9
    arrays = room.fill([record(2, length=3)])  # this one is shorter: copied, and the one before is left alone
    assert arrays["valid"].sum() == 3 * ENVS
    assert alone[0]["valid"].all()


def write(memory, slot):
    """What an agent's process does."""
    memory.slots["observation"][slot, 1] = 5
    memory.slots["bootstrap_value"][slot] = [6, 7]
    memory.add_steps(8)


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_another_process_writes_what_this_one_reads(method):
    context = multiprocessing.get_context(method)
    memory = AgentMemory(DTYPE, 3)
    memory.slots["value"][2] = 9
    memory.add_steps(1)
    process = context.Process(target=write, args=(memory, 2))
    process.start()
    process.join()
    assert process.exitcode == 0
    np.testing.assert_array_equal(memory.slots["observation"][:, :, 0, 0].nonzero(), [[2], [1]])
    np.testing.assert_array_equal(memory.slots["bootstrap_value"], [[0, 0], [0, 0], [6, 7]])
    assert (memory.slots["value"][2] == 9).all()
    assert memory.steps == 9


@pytest.mark.parametrize(("t_max", "envs", "minimum"), [(5, 8, 80), (5, 1, 40), (5, 8, 1), (7, 3, 100)])
def test_one_agent_alone_fills_a_batch(t_max, envs, minimum):
    """It can only ship a rollout once the first row of the next one, in another slot, is predicted."""
    slots = slots_needed(t_max, envs, minimum)
    assert (slots - 1) * t_max * envs >= minimum
    assert (slots - 3) * t_max * envs < minimum
