"""Who gets a slot when agents and trainers are not equally fast: the rule, and real queues and agents."""

import time

import pytest

from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype
from ga3c.scheduling import backpressure
from ga3c.scheduling.backpressure import LOOK_BATCHES, Backpressure
from ga3c.training_queue import TrainingQueue
from ga3c.transport.agent_memory import AgentMemory, Doing
from tests.test_agent_pool import FewLines, playing
from tests.test_queues import in_thread

SLOTS = 4
DTYPE = rollout_dtype(EnvironmentSpec("Test", (3,), "float32", discrete(2), 1), 5, 2)


class Agent:
    """It stands for the queue's handle of an agent."""

    def __init__(self, in_hand=0, spare=SLOTS, plays=True, given_at=0.0):
        self.in_hand, self.spare, self.plays, self.given_at = in_hand, spare, plays, given_at

    @property
    def has_spare(self):
        return self.spare > 0

    def give(self):
        self.spare -= 1
        self.in_hand += 1


@pytest.mark.parametrize(
    ("agents", "waiting", "batch", "given"),
    [
        ([0], 0, 3, [3]),  # one agent plays all that the next update takes
        ([0, 0], 0, 5, [3, 2]),
        ([0, 0], 3, 5, [1, 1]),
        ([0, 1], 0, 2, [1, 0]),  # who has none comes first
        ([0, 0, 0], 1, 2, [1, 1, 0]),  # one for each agent, less one that waits
        ([0, 0, 0], 3, 2, [0, 0, 0]),
        ([1, 1, 1], 0, 2, [0, 0, 0]),
    ],
)
def test_while_a_trainer_works_agents_get_what_the_next_update_takes(agents, waiting, batch, given):
    all_of_them = [Agent(in_hand, given_at=float(place)) for place, in_hand in enumerate(agents)]
    Backpressure(batch, held=0).share_out(all_of_them, waiting, trainer_waits=False)
    assert [agent.in_hand - before for agent, before in zip(all_of_them, agents, strict=True)] == given


def test_while_a_trainer_waits_each_agent_may_play():
    agents = [Agent(2), Agent(0), Agent(0, spare=0), Agent(0, plays=False), Agent(1, plays=False)]
    Backpressure(2, held=0).share_out(agents, 1, trainer_waits=True)
    assert [agent.in_hand for agent in agents] == [2, 1, 0, 1, 1]


def test_who_has_waited_longest_is_first():
    agents = [Agent(given_at=2.0), Agent(given_at=1.0), Agent(given_at=3.0)]
    Backpressure(2, held=0).share_out(agents, 2, trainer_waits=False)
    assert [agent.in_hand for agent in agents] == [0, 1, 0]


def test_a_slot_that_holds_a_finished_rollout_is_none_to_fill():
    agent, rule = Agent(1), Backpressure(1, held=1)
    assert rule.first == 2
    rule.share_out([agent], 0, trainer_waits=False)
    assert agent.in_hand == 2


@pytest.mark.parametrize(("waits_seconds", "on_the_way"), [(0.0, 2), (0.012, 3), (0.05, 5)])
def test_as_few_rollouts_as_will_do_are_on_their_way(monkeypatch, waits_seconds, on_the_way):
    """Three agents, batches of two, one each second. It begins with three rollouts, and ends between two and five."""
    now, waiting = 1.0, 0
    monkeypatch.setattr(backpressure.time, "monotonic", lambda: now)
    rule = Backpressure(2, held=0)
    for _ in range(4 * LOOK_BATCHES):
        now += 1.0
        rule.share_out([Agent() for _ in range(3)], waiting, trainer_waits=True)
        now += waits_seconds
        rule.share_out([Agent() for _ in range(3)], waiting, trainer_waits=False)
    agents = [Agent() for _ in range(3)]
    rule.share_out(agents, waiting, trainer_waits=False)
    assert sum(agent.in_hand for agent in agents) == on_the_way


class Client:
    """An agent's end of a real queue, with the memory that says what the agent does."""

    def __init__(self, queue, number):
        self.memory = AgentMemory(DTYPE, SLOTS)
        self.memory.now(Doing.STEPPING)
        self.handle, self._client = queue.connect(number, self.memory, SLOTS)

    def ship(self):
        self._client.ship(self._client.free_slot(), 5, 10, [])
        self.memory.shipped()

    def has_slot(self):
        return self.handle.given > self.memory.shipments


def test_agents_wait_for_a_trainer_that_is_slower_than_they():
    queue = TrainingQueue(DTYPE, 2, ("valid",), backpressure=Backpressure(2, held=0))
    agents = [Client(queue, number) for number in range(3)]
    for _ in range(LOOK_BATCHES - 1):
        for agent in agents:
            if agent.has_slot():
                agent.ship()
        batch = queue.next_batch()
        assert queue.waiting() <= 1
        assert sum(agent.has_slot() for agent in agents) == 2  # the next update's, with the one that waits
        queue.done(batch)
    shipped = [agent.memory.shipments for agent in agents]
    assert max(shipped) - min(shipped) <= 1


def test_no_agent_waits_for_one_that_does_nothing():
    queue = TrainingQueue(DTYPE, 2, ("valid",), backpressure=Backpressure(2, held=0))
    agent, _ = Client(queue, 0), Client(queue, 1)

    def play():
        for _ in range(20):
            agent.ship()

    def train():
        for _ in range(10):
            queue.done(queue.next_batch())

    playing_on, training = in_thread(play), in_thread(train)
    playing_on.result()
    training.result()


def test_slots_that_come_back_wake_another_trainer():
    """It waits for a second rollout. The only agent has no slot for one until the first trainer is done."""
    queue = TrainingQueue(DTYPE, 2, ("valid",), backpressure=Backpressure(2, held=0))
    memory = AgentMemory(DTYPE, SLOTS)
    memory.now(Doing.STEPPING)
    _, client = queue.connect(0, memory, 3)

    def play():
        for _ in range(4):
            client.ship(client.free_slot(), 5, 10, [])
            memory.shipped()

    agent, first = in_thread(play), queue.next_batch()
    other = in_thread(queue.next_batch)
    while queue.waiting() < 1 or memory.shipments < 3:
        time.sleep(0.01)
    time.sleep(0.2)  # now it waits for more
    queue.done(first)
    assert len(other.result().rollouts) == 2
    agent.result()


def test_an_agent_that_has_ended_is_forgotten():
    """Its slots are some ten megabytes."""
    queue = TrainingQueue(DTYPE, 1, ("valid",), backpressure=Backpressure(1, held=0))
    ended, line = queue.connect(0, AgentMemory(DTYPE, SLOTS), SLOTS)
    trainer = in_thread(queue.next_batch)
    line.close()
    while not ended.gone:
        assert trainer.is_alive()
        time.sleep(0.01)
    agent, _ = queue.connect(1, AgentMemory(DTYPE, SLOTS), SLOTS)
    assert queue._agents == (agent,)
    queue.close()
    assert trainer.result() is None


def test_all_slots_come_back_when_agents_are_told_to_end():
    queue = TrainingQueue(DTYPE, 1, ("valid",), backpressure=Backpressure(1, held=0))
    agent = Client(queue, 0)
    agent.ship()
    queue.end_backpressure()
    for _ in range(SLOTS - 1):
        agent.ship()
    queue.done(queue.next_batch())
    agent.ship()  # with what the trainer is done with, too


class SlowTrainer(FewLines):
    """Agents of real games, three in number, and a trainer that is slower; it takes two rollouts at once."""

    slots = 10
    most = 0  # rollouts that were shipped and not trained on yet

    def _queue(self):
        return TrainingQueue(self.dtype, 2, ("valid",), backpressure=Backpressure(2, held=1))

    def _trainer(self):
        while batch := self.training.next_batch():
            time.sleep(0.05)
            shipped = sum(agent.memory.untrained for agent in list(self.pool._agents.values()))
            self.most = max(self.most, shipped)
            self.training.done(batch)


@pytest.fixture
def slow():
    server = SlowTrainer()
    yield server
    server.training.end_backpressure()
    server.end()


def test_real_agents_wait_pause_and_end(slow):
    """One that pauses has a slot in hand; the others play on. None counts as silent while it waits."""
    slow.pool.scale(3)
    slow.watch_until(playing(slow, 0, 1, 2))
    slow.watch_until(lambda: all(slow.shipped(number) > 5 for number in range(3)))
    assert 2 <= slow.most <= 8  # a batch, another, and one of each agent; without backpressure it would be 27
    slow.pool.scale(1)
    before = slow.shipped(0)
    slow.watch_until(lambda: slow.shipped(0) > before + 10)
    slow.pool.scale(3)
    before = [slow.shipped(number) for number in range(3)]
    slow.watch_until(lambda: all(slow.shipped(number) > before[number] + 3 for number in range(3)))
    assert slow.said == []
