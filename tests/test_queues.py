"""The two queues: real processes, real connections, killed writers."""

import math
import multiprocessing
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from ga3c.prediction_queue import Order, PredictionQueue
from ga3c.rollout import EnvironmentSpec, Episode, discrete, rollout_dtype
from ga3c.training_queue import TrainingQueue
from ga3c.transport.agent_memory import AgentMemory
from ga3c.transport.inbox import ServerGone
from tests import program

SPEC = EnvironmentSpec("Test", (3,), "float32", discrete(2), 1)
DTYPE = rollout_dtype(SPEC, 5, 2)
SLOTS = 3


@pytest.fixture
def memory():
    return AgentMemory(DTYPE, SLOTS)


def training_queue(rollouts_per_batch):
    return TrainingQueue(DTYPE, rollouts_per_batch, ("valid",))


def in_thread(function, *arguments):
    """Runs the function in a thread; `.result()` waits for what it returned."""
    box = []
    thread = threading.Thread(target=lambda: box.append(function(*arguments)), daemon=True)
    thread.start()

    def result(timeout=program.HANG_SECONDS):
        thread.join(timeout)
        assert not thread.is_alive(), "still waiting"
        return box[0]

    thread.result = result
    return thread


def test_answers_reach_the_row_that_asked(memory):
    queue = PredictionQueue()
    _, client = queue.connect(memory)
    memory.slots["observation"][1, 4] = 7
    client.ask(1, 4)
    (request,) = queue.take(10)
    assert (request.observations == 7).all()
    request.answer({"action": [1, 0], "log_probability": [-0.5, -0.25], "value": [2.0, 3.0]}, 42, 0.0)
    assert client.wait() == Order.GO_ON
    row = memory.slots[1]
    assert row["action"][4].tolist() == [1, 0]
    assert row["log_probability"][4].tolist() == [-0.5, -0.25]
    assert row["value"][4].tolist() == [2.0, 3.0]
    assert row["version"][4] == 42


def test_a_request_says_when_it_was_asked_and_how_long_the_answer_before_took(memory):
    queue = PredictionQueue()
    _, client = queue.connect(memory)
    began = time.monotonic()
    client.ask(0, 0)
    (first,) = queue.take(1)
    assert began <= first.asked <= time.monotonic()
    assert math.isnan(first.reply_seconds)
    predicted = time.monotonic() - 3.0
    first.answer({}, 0, predicted=predicted)
    client.wait()
    client.ask(0, 1)
    assert 3.0 <= queue.take(1)[0].reply_seconds <= time.monotonic() - predicted


def test_take_returns_all_that_waits_up_to_the_limit(memory):
    queue = PredictionQueue()
    clients = [queue.connect(memory)[1] for _ in range(5)]
    for client in clients:
        client.ask(0, 0)
    assert queue.waiting() == 5
    assert len(queue.take(3)) == 3
    assert len(queue.take(3)) == 2
    assert queue.waiting() == 0


def test_take_waits_for_the_first_request(memory):
    queue = PredictionQueue()
    _, client = queue.connect(memory)
    taking = in_thread(queue.take, 10)
    time.sleep(0.1)
    assert taking.is_alive()
    client.ask(2, 3)
    (request,) = taking.result()
    assert (request.slot, request.row) == (2, 3)


def answer_one(queue):
    queue.take(1)[0].answer({}, 0, time.monotonic())


def test_a_finishing_agent_is_told_with_its_next_answer(memory):
    queue = PredictionQueue()
    agent, client = queue.connect(memory)
    client.ask(0, 3)
    agent.order(Order.FINISH)
    answer_one(queue)
    assert client.wait() == Order.FINISH


@pytest.mark.parametrize("then", [Order.GO_ON, Order.FINISH])
def test_an_agent_pauses_between_two_rollouts_and_is_woken(memory, then):
    queue = PredictionQueue()
    agent, client = queue.connect(memory)
    agent.order(Order.PAUSE)
    for row, order in ((3, Order.GO_ON), (0, Order.PAUSE)):
        client.ask(0, row)
        answer_one(queue)
        assert client.wait() == order
        assert agent.pausing == (order == Order.PAUSE)
    woken = in_thread(client.wait)
    agent.order(Order.PAUSE)
    assert woken.is_alive()
    agent.order(then)
    assert woken.result() == then
    assert not agent.pausing
    client.ask(0, 0)
    answer_one(queue)
    assert client.wait() == then


def test_an_agent_that_shall_go_on_before_it_has_paused_notices_nothing(memory):
    queue = PredictionQueue()
    agent, client = queue.connect(memory)
    agent.order(Order.PAUSE)
    agent.order(Order.GO_ON)
    client.ask(0, 0)
    answer_one(queue)
    assert client.wait() == Order.GO_ON


@pytest.mark.parametrize("end", ["close", "retire_one"])
def test_a_waiting_thread_leaves(end):
    queue = PredictionQueue()
    taking = in_thread(queue.take, 1)
    time.sleep(0.05)
    getattr(queue, end)()
    assert taking.result() == []


def test_retiring_one_of_two_leaves_the_other_at_work(memory):
    queue = PredictionQueue()
    _, client = queue.connect(memory)
    threads = [in_thread(queue.take, 1) for _ in range(2)]
    queue.retire_one()
    deadline = time.monotonic() + program.HANG_SECONDS
    while all(thread.is_alive() for thread in threads) and time.monotonic() < deadline:
        time.sleep(0.01)
    client.ask(0, 0)
    assert sorted(len(thread.result()) for thread in threads) == [0, 1]


def test_a_batch_is_whole_or_not_taken(memory):
    queue = training_queue(2)
    _, client = queue.connect(0, memory, SLOTS)
    client.ship(client.free_slot(), 5, 10, [])
    taking = in_thread(queue.next_batch)
    time.sleep(0.1)
    assert taking.is_alive()
    client.ship(client.free_slot(), 4, 8, [Episode(-21.0, 900)])
    first, second = taking.result().rollouts
    assert (first.slot, first.length, first.transitions, first.episodes) == (0, 5, 10, ())
    assert (second.slot, second.length, second.transitions) == (1, 4, 8)
    assert second.episodes == (Episode(-21.0, 900),)


def test_two_trainers_never_share_or_split_a_batch(memory):
    queue = training_queue(3)
    clients = [queue.connect(n, AgentMemory(DTYPE, 60), 60)[1] for n in range(4)]

    def trainer():
        batches = []
        while batch := queue.next_batch():
            batches.append([(rollout.agent.number, rollout.slot) for rollout in batch.rollouts])
        return batches

    trainers = [in_thread(trainer) for _ in range(3)]
    for client in clients:
        for _ in range(30):
            client.ship(client.free_slot(), 5, 10, [])
    queue.close()
    batches = [batch for thread in trainers for batch in thread.result()]
    assert all(len(batch) == 3 for batch in batches)
    taken = sorted(rollout for batch in batches for rollout in batch)
    assert taken == [(agent, slot) for agent in range(4) for slot in range(30)]


def test_closing_hands_out_what_is_left(memory):
    queue = training_queue(2)
    _, client = queue.connect(0, memory, SLOTS)
    for _ in range(3):
        client.ship(client.free_slot(), 5, 10, [])
    queue.close()
    left = []
    while batch := queue.next_batch():
        left += batch.rollouts
    assert len(left) == 3
    assert queue.next_batch() is None


def test_an_agent_waits_when_the_trainers_have_all_its_slots(memory):
    queue = training_queue(1)
    _, client = queue.connect(0, memory, SLOTS)
    for _ in range(SLOTS):
        client.ship(client.free_slot(), 5, 10, [])
    waiting = in_thread(client.free_slot)
    time.sleep(0.1)
    assert waiting.is_alive()
    batch = queue.next_batch()
    time.sleep(0.1)
    assert waiting.is_alive()
    queue.done(batch)
    assert waiting.result() == batch.rollouts[0].slot


def test_a_slot_that_is_handed_back_is_no_longer_held(memory):
    """The agent may ship it again before the trainer goes on."""
    queue = training_queue(1)
    agent, client = queue.connect(0, memory, SLOTS)
    client.ship(client.free_slot(), 5, 10, [])
    batch, held = queue.next_batch(), []
    send = agent.send
    agent.send = lambda message: (held.append(set(agent.held)), send(message))
    queue.done(batch)
    assert held == [set()]


def test_batches_that_are_trained_on_at_once_share_nothing(memory):
    """A batch of two rollouts is a copy, in a buffer that is used again."""
    queue = training_queue(2)
    _, client = queue.connect(0, AgentMemory(DTYPE, 60), 60)

    def next_batch():
        for _ in range(2):
            client.ship(client.free_slot(), 5, 10, [])
        return queue.next_batch()

    queue.done(next_batch())
    first, second = next_batch(), next_batch()
    assert not np.shares_memory(first.arrays["valid"], second.arrays["valid"])
    queue.done(second)
    assert np.shares_memory(next_batch().arrays["valid"], second.arrays["valid"])


def _chatter(client):
    while True:
        client.ship(client.free_slot(), 5, 10, [])


def test_a_killed_writer_costs_nobody_else_anything(memory):
    processes = multiprocessing.get_context("forkserver")
    queue = training_queue(1)
    agents = []
    for number in range(2):
        handle, client = queue.connect(number, memory, SLOTS)
        process = processes.Process(target=_chatter, args=(client,), daemon=True)
        process.start()
        client.close()
        agents.append((process, handle))

    def take(count=0, until=frozenset()):
        seen = []
        while len(seen) < count or not set(seen) >= until:
            batch = queue.next_batch()
            queue.done(batch)
            seen.append(batch.rollouts[0].agent.number)
        return seen

    in_thread(lambda: take(until={0, 1})).result()
    os.kill(agents[0][0].pid, signal.SIGKILL)
    agents[0][0].join()
    seen = in_thread(take, 500).result()
    assert set(seen[-100:]) == {1}
    assert agents[0][1].gone, "the dead agent's connection is still open"
    agents[1][0].kill()


def test_a_client_notices_that_the_server_is_gone(memory):
    queue = PredictionQueue()
    agent, client = queue.connect(memory)
    client.ask(0, 0)
    queue.disconnect(agent)
    for request in (client.wait, lambda: client.ask(0, 1)):
        with pytest.raises(ServerGone):
            request()


def test_agents_that_end_while_their_messages_are_read_and_answered_harm_nobody(memory):
    """Many of them, and threads that give way to each other at any place."""
    queue, interval = PredictionQueue(), sys.getswitchinterval()

    def answer_all():
        while requests := queue.take(10):
            for request in requests:
                request.answer({}, 0, 0.0)
        return "left as told"

    answering = [in_thread(answer_all) for _ in range(2)]
    files = len(os.listdir("/dev/fd"))
    try:
        sys.setswitchinterval(1e-6)
        for _ in range(10_000):
            agent, client = queue.connect(memory)
            client.ask(0, 0)
            client.close()
            queue.disconnect(agent)
    finally:
        sys.setswitchinterval(interval)
        queue.close()
    assert [thread.result() for thread in answering] == ["left as told"] * 2
    assert len(os.listdir("/dev/fd")) <= files
