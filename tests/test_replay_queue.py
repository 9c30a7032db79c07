"""The replay memory in the training queue's place: real connections, rollouts that the test makes up."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Replay
from ga3c.replay.replay_queue import ConcurrentReplayQueue, Listeners, ReplayQueue, Updates
from ga3c.rollout import EnvironmentSpec, Episode, discrete, rollout_dtype
from ga3c.scheduling.pace import Blocks, Pace
from ga3c.systems.serial import Block, BlockwiseReplayQueue
from ga3c.transport.agent_memory import AgentMemory
from tests import program
from tests.test_queues import in_thread

T_MAX, ENVS, AGENTS, SLOTS, DISCOUNT = 2, 2, 2, 3, 0.5
STEPS = T_MAX * ENVS  # of a rollout
BLOCK = 2 * STEPS * AGENTS  # steps
SPEC = EnvironmentSpec("Test", (1,), "float32", discrete(5), 1)
DTYPE = rollout_dtype(SPEC, T_MAX, ENVS)
GAME = 1000  # apart are the states of two games; each state of a game is one more than that before


class Agent:
    """Ships rollouts of states that are numbered through, so that each tells where it belongs."""

    def __init__(self, queue, number):
        self.memory, self.number = AgentMemory(DTYPE, SLOTS), number
        self.handle, self._client = queue.connect(number, self.memory, SLOTS)
        self.states = (number * ENVS + np.arange(ENVS)) * GAME

    def ships(self, length=T_MAX, episodes=()):
        slot = self._client.free_slot()
        record = self.memory.slots[slot]
        record["valid"][:length] = True
        for row in range(length):
            record["observation"][row, :, 0], record["reward"][row] = self.states, self.states
            self.states = self.states + 1
        record["action"][:length] = self.number
        record["last_observation"][:, 0] = self.states
        self._client.ship(slot, length, length * ENVS, list(episodes))
        self.memory.shipped()

    def dies(self):
        self._client.close()


def wait_for(condition, thread):
    """While that thread is at work."""
    deadline = time.monotonic() + program.HANG_SECONDS
    while not condition():
        assert thread.is_alive()
        assert time.monotonic() < deadline
        time.sleep(0.001)


def replay(n_steps=1, transitions=1000, alpha=0.0, beta=lambda: 1.0, reserved_rows=0):
    recipe = Recipe(SPEC, AGENTS, ENVS, transitions, n_steps, DISCOUNT, alpha, reserved_rows=reserved_rows)
    return Replay(recipe, beta)


def spied(make):
    """Returns what `make(listeners)` makes: what it tells its listeners is in its `told`."""
    told = []
    listeners = Listeners(
        stored=lambda rollouts: told.extend(("stored", one.agent.number) for one in rollouts),
        target=lambda steps: told.append(("target", steps)),
        updated=lambda: told.append("updated"),
        free=lambda: told.append("free"),
    )
    queue = make(listeners)
    queue.told = told
    return queue


def replay_queue(memory=None, minimum=8, steps_per_update=4, choose=len, steps=0, made=0):
    updates = Updates(Pace(minimum, steps_per_update), 64, 3, made)
    return spied(lambda listeners: ReplayQueue(memory or replay(), updates, choose, steps, listeners))


def together(waiting):
    """One rollout of each agent, as in lockstep."""
    waiting.sort(key=lambda rollout: rollout.agent.number)
    return AGENTS if len(waiting) >= AGENTS else 0


def check(batch, n_steps=1):
    """That every transition was played. Returns the states, and the steps to those that follow."""
    arrays = {name: array[0] for name, array in batch.arrays.items()}
    states, following = arrays["observation"][:, 0], arrays["next_observation"][:, 0]
    lengths = (following - states).astype(int)
    assert ((lengths >= 1) & (lengths <= n_steps)).all()
    assert (states // (GAME * ENVS) == arrays["action"]).all()
    np.testing.assert_allclose(arrays["discount"], DISCOUNT**lengths)
    returns = [sum(DISCOUNT**k * (s + k) for k in range(n)) for s, n in zip(states, lengths, strict=True)]
    np.testing.assert_allclose(arrays["return"], returns, rtol=1e-6)
    return states, lengths


def drawable(memory):
    """States of all transitions that can be drawn."""
    return sorted(memory._rows._frames[memory.places(), 0].tolist())


def test_the_updates_that_are_due_are_made_and_then_the_slots_go_back():
    queue = replay_queue(choose=together, steps=100)
    agents = [Agent(queue, number) for number in range(AGENTS)]
    for played, due in ((8, 1), (16, 2), (24, 2), (32, 2)):  # one for each four steps, from eight on
        for agent in reversed(agents):
            agent.ships(episodes=[Episode(3.0, 20)])
        for _ in range(due):
            batch = in_thread(queue.next_batch).result()
            assert (batch.steps, len(batch.rollouts), len(batch.versions)) == (100 + played, 0, 0)
            check(batch)
            assert {len(agent.handle.held) for agent in agents} == {1}
            queue.done(batch)
        assert queue.replay.stored == played
    waiting = in_thread(queue.next_batch)
    wait_for(lambda: queue.told.count("free") == 4, waiting)
    assert {(len(agent.handle.held), agent.memory.untrained) for agent in agents} == {(0, 0)}
    assert {agent.handle.trained_steps for agent in agents} == {4 * STEPS}
    assert waiting.is_alive()
    both = [("stored", 0), ("stored", 1)]
    third, sixth = ("target", 100 + 16), ("target", 100 + 32)
    go_on = "updated", "free"
    assert queue.told == [*both, *go_on, *both, third, *go_on, *both, *go_on, *both, sixth, *go_on]
    queue.close()
    assert waiting.result() is None


def test_the_next_copy_comes_as_many_updates_after_the_last_one_in_a_run_that_goes_on():
    queue = replay_queue(minimum=4, steps_per_update=1, made=3 * 5 + 1)
    agent, copied = Agent(queue, 0), []
    for _ in range(2):
        agent.ships()
    for _ in range(5):
        queue.done(in_thread(queue.next_batch).result())
        copied.append(any(one[0] == "target" for one in queue.told))
        queue.told.clear()
    assert copied == [False, True, False, False, True]


def test_there_is_nothing_to_learn_from_before_what_follows_is_there():
    queue = replay_queue(replay(n_steps=3), minimum=1, steps_per_update=1000)
    agent = Agent(queue, 1)
    for _ in range(2):
        agent.ships()
    batch = in_thread(queue.next_batch).result()
    assert batch.steps == 2 * STEPS
    states, lengths = check(batch, n_steps=3)
    assert (lengths == 3).all()
    assert set(states) == {2000.0, 3000.0}
    queue.done(batch)
    agent.ships()
    queue.close()
    assert in_thread(queue.next_batch).result() is None
    assert drawable(queue.replay) == [2000.0, 2001.0, 2002.0, 3000.0, 3001.0, 3002.0]


def test_errors_reach_the_replay():
    queue = replay_queue(replay(alpha=1.0), minimum=4, steps_per_update=1)
    agent = Agent(queue, 0)
    for _ in range(3):
        agent.ships()
    batch = in_thread(queue.next_batch).result()
    states = check(batch)[0].copy()
    queue.done(batch, (states == 0).astype(np.float32))
    found, drawn = check(in_thread(queue.next_batch).result())[0], np.unique(states)
    assert np.isin(found, drawn[drawn != 0]).sum() < 5  # those without an error are left alone


def test_closing_stores_what_is_left_and_hands_the_slots_back():
    queue = replay_queue(minimum=4, steps_per_update=1, choose=together)
    first, second = (Agent(queue, number) for number in range(AGENTS))
    for agent, count in ((first, 3), (second, 2)):
        for _ in range(count):
            agent.ships()
    queue.done(in_thread(queue.next_batch).result())
    second.ships(length=1)
    first.dies()
    queue.close()
    assert in_thread(queue.next_batch).result() is None
    assert queue.steps == queue.replay.stored == 5 * STEPS + ENVS
    assert (first.handle.trained_steps, second.handle.trained_steps) == (3 * STEPS, 2 * STEPS + ENVS)
    assert (first.memory.untrained, second.memory.untrained) == (0, 0)
    assert first.handle.settled


@pytest.mark.parametrize("unread", [0, 1, 2])
def test_an_agent_in_the_place_of_another_takes_over_its_ring(unread):
    """Once all is read that the other has sent: its death and its successor's first rollout may be there at once."""
    queue = replay_queue(replay(n_steps=3), minimum=1000)
    first, other = (Agent(queue, number) for number in range(AGENTS))
    taking, shipped = in_thread(queue.next_batch), 0
    for agent in (first, other) * 3:
        agent.ships()
        shipped += STEPS
        wait_for(lambda: queue.steps == shipped, taking)  # noqa: B023
    queue.retire_one()  # nobody reads now
    assert taking.result() is None
    for _ in range(unread):
        first.ships()
    first.dies()
    new = Agent(queue, 2)
    for agent in (new, other, new):
        agent.ships()
    taking = in_thread(queue.next_batch)
    wait_for(lambda: queue.steps == shipped + (unread + 3) * STEPS, taking)
    first_rows, new_rows = range(6 + 2 * unread), range(4 - 3)  # a game that was cut needs no successors
    of_games = [first_rows, first_rows, range(8 - 3), range(8 - 3), new_rows, new_rows]
    assert drawable(queue.replay) == [game * GAME + row for game, rows in enumerate(of_games) for row in rows]
    check(queue._draw(), n_steps=3)
    queue.close()
    assert taking.result() is None


class Playing:
    """A queue whose updates are made while agents play in blocks of two rollouts each, all of them together."""

    def __init__(self, order=(0, 1), alpha=0.0, last_step=None, minimum=1, steps=0):
        self.blocks = blocks = Blocks(len, 2 * T_MAX, AGENTS, ENVS, lambda: self.queue.look_again())
        self.order, updates = order, Updates(Pace(minimum, 1), 16, 3)
        memory = replay(alpha=alpha, beta=lambda: self.queue.steps / 200, transitions=40, reserved_rows=blocks.rows)
        self.queue = spied(lambda tell: ConcurrentReplayQueue(memory, updates, steps, tell, blocks, last_step))
        self.agents = [Agent(self.queue, number) for number in range(AGENTS)]

    def ask(self):
        """For the next row of all. Returns how many are answered."""
        return self.blocks.choose_requests([SimpleNamespace(agent=agent.handle) for agent in self.agents])

    def play(self, rollouts=2):
        for _ in range(rollouts):
            for _ in range(T_MAX):
                assert self.ask() == AGENTS
            for number in self.order:
                self.agents[number].ships()

    def update(self, steps):
        """Returns the states that it is of, and their weights."""
        batch = in_thread(self.queue.next_batch).result()
        assert batch.steps == steps
        states, _ = check(batch)
        self.queue.done(batch, states)
        return states.tolist(), batch.arrays["weight"].tolist()


def test_in_one_thread_a_block_of_which_nothing_can_be_drawn_has_no_updates():
    """Its one row has no following ones yet, of which returns of three steps are made."""
    memory, updates = replay(n_steps=3, reserved_rows=1), Updates(Pace(1, 1), 64, 1)
    queue = spied(lambda tell: BlockwiseReplayQueue(memory, updates, 0, tell, Block(1), last_step=None))
    agent = Agent(queue, 0)
    agent.ships(length=1)
    assert queue.next_batch() is None  # begins the next block
    assert "free" in queue.told
    assert in_thread(queue.next_batch).result() is None


def test_updates_are_of_the_blocks_before_and_their_number_is_that_of_the_block():
    playing = Playing(steps=100)
    queue = playing.queue
    playing.play()
    for number in (1, 2, 3):
        assert playing.ask() == 0
        steps = 100 + number * BLOCK
        seen, _ = playing.update(steps)  # begins the block
        assert queue.told[-3:] == [("target", steps), "updated", "free"]
        states = drawable(queue.replay)
        for _ in range(2):
            playing.play(rollouts=1)
            seen += playing.update(steps)[0]
            assert {len(agent.handle.held) for agent in playing.agents} == {0}, "a slot waits for an update"
        assert drawable(queue.replay) == states, "what can be drawn changes within a block"
        assert set(seen) <= set(states)
        assert max(states) == (AGENTS * ENVS - 1) * GAME + number * 2 * T_MAX - 2
    assert queue.told.count("free") == 3


def test_there_are_no_updates_before_the_minimum():
    playing = Playing(minimum=40)
    batch = in_thread(playing.queue.next_batch)
    for number in (1, 2, 3):
        playing.play()
        assert batch.is_alive()
        assert playing.ask() == 0
        wait_for(lambda: playing.queue.told.count("free") == number, batch)  # noqa: B023
    assert batch.result().steps == 3 * BLOCK
    # The exploration goes by the steps of these: it does not fall while the memory is filled.
    assert [one for one in playing.queue.told if one[0] == "target"] == [("target", 3 * BLOCK)]


def test_the_last_block_is_the_first_that_ends_at_the_last_step_or_after_it_and_its_updates_are_made():
    playing = Playing(last_step=BLOCK + 4)
    playing.play()
    assert playing.ask() == 0
    playing.update(BLOCK)
    playing.play()
    assert playing.ask() == 0
    playing.update(BLOCK)
    assert not playing.queue.ended
    playing.update(BLOCK)
    ending = in_thread(playing.queue.next_batch)
    wait_for(lambda: playing.queue.ended, ending)
    assert playing.ask() == 0
    assert [one for one in playing.queue.told if one[0] == "target"] == [("target", BLOCK)]
    playing.blocks.end()
    assert playing.ask() == AGENTS
    playing.agents[0].ships(length=1)  # what an agent that is told to end had begun
    playing.queue.close()
    assert ending.result() is None
    assert playing.queue.replay.stored == 2 * BLOCK + ENVS
    assert {agent.memory.untrained for agent in playing.agents} == {0}


def test_replay_and_updates_are_the_same_whatever_comes_first():
    """Who ships first, and whether before the updates of the block or after them."""
    found = []
    for order, at_once in (((0, 1), True), ((1, 0), False)):
        playing, updates = Playing(order, alpha=0.7), []
        playing.play()
        for block in range(1, 9):
            assert playing.ask() == 0
            updates.append(playing.update(block * BLOCK))
            if at_once:
                playing.play()
            updates += [playing.update(block * BLOCK) for _ in range(2)]
            if not at_once:
                playing.play()
        assert playing.ask() == 0
        updates.append(playing.update(9 * BLOCK))
        rows = playing.queue.replay._rows
        found.append(
            [updates, playing.queue.replay.places().tolist(), rows._frames[...].tolist(), rows.reward.tolist()]
        )
    assert found[0] == found[1]
