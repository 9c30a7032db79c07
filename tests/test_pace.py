"""When updates are due, and when agents wait for them, with agents that the test makes up."""

import threading

import pytest

from ga3c.scheduling.pace import Blocks, Pace
from ga3c.scheduling.turns import Turns
from tests import program
from tests.test_turns import Agent, begun

ENVS = 4  # of an agent; a block has two rows of two agents


@pytest.mark.parametrize(("minimum_steps", "steps_per_update"), [(50, 4), (1, 1), (7, 10)])
def test_an_update_is_due_for_so_many_steps_from_the_minimum_on(minimum_steps, steps_per_update):
    pace, updates = Pace(minimum_steps, steps_per_update), 0
    for played in range(3, 300, 3):
        pace.played(3)
        assert pace.has_minimum == (played >= minimum_steps)
        while pace.due:
            pace.updated()
            updates += 1
        assert updates == ((played - minimum_steps) // steps_per_update + 1 if played >= minimum_steps else 0)


class Playing:
    """Two agents that play in blocks, all predicted for together."""

    def __init__(self, agents=2, sampling_groups=1):
        turns = Turns(agents, sampling_groups, lockstep=False)
        self.agents = begun(turns, agents) if sampling_groups else [Agent() for _ in range(agents)]
        self.blocks, self.changes = Blocks(turns.choose_requests, 2, 2, ENVS, self._changed), 0

    def _changed(self):
        self.changes += 1

    def answered(self, agents=None):
        """How many requests of these agents, or of all, are answered."""
        return self.blocks.choose_requests([agent.asks() for agent in agents or self.agents])


def test_all_play_for_a_block_and_wait_until_the_next_begins():
    playing = Playing()
    for _ in range(3):
        assert [playing.answered() for _ in range(2)] == [2, 2]
        assert not playing.blocks.played
        assert not playing.changes
        assert playing.answered() == 0
        assert playing.blocks.played
        assert playing.changes == 1
        assert playing.answered() == 0
        playing.blocks.begin()
        assert not playing.blocks.played
        playing.changes = 0


def test_a_block_is_played_once_all_that_was_shipped_is_stored():
    playing = Playing()
    for _ in range(2):
        playing.answered()
    for agent in playing.agents:
        agent.ships()
    playing.answered()
    assert not playing.blocks.played
    playing.agents[0].memory.untrained = 0
    assert not playing.blocks.played
    playing.agents[1].memory.untrained = 0
    assert playing.blocks.played


def test_nobody_waits_for_what_one_that_is_gone_has_shipped_and_another_takes_its_place():
    playing = Playing()
    first, second = playing.agents
    assert playing.answered() == 2
    first.gone, new = True, Agent()
    first.ships()
    assert playing.answered([second]) == 1
    assert playing.answered([second, new]) == 1  # four steps are left: one of them plays these
    assert playing.answered([second]) == 0  # what the other shipped may not be stored
    assert playing.answered([second, new]) == 0
    assert playing.blocks.played
    playing.blocks.begin()
    assert playing.answered([second, new]) == 2


def test_all_that_wait_can_be_gone():
    playing = Playing()
    for _ in range(3):
        playing.answered()
    for agent in playing.agents:
        agent.ships()
        agent.gone = True
    assert playing.blocks.played


def test_no_more_than_a_block_is_played_where_nobody_waits_for_the_others():
    playing = Playing(agents=3, sampling_groups=0)
    first, second, third = playing.agents
    assert [playing.answered([agent]) for agent in (first, first, second)] == [1, 1, 1]
    waiting = [third.asks(), first.asks()]
    assert playing.blocks.choose_requests(waiting) == 1
    assert playing.answered([first]) == 0


def test_who_ends_is_answered_at_once():
    playing = Playing()
    for _ in range(3):
        playing.answered()
    playing.blocks.end()
    assert playing.answered() == 2


def test_a_block_that_begins_while_the_rule_is_asked_again_is_not_taken_for_one_that_is_played():
    """The other thread finds it played, from the question before, at the worst moment."""
    blocks, agent, threads = Blocks(len, 1, 1, ENVS), Agent(), []

    class Request:
        @property
        def agent(self):
            threads.append(threading.Thread(target=blocks.begin, daemon=True))
            threads[-1].start()
            threads[-1].join(0.2)
            return agent

    assert blocks.choose_requests([agent.asks()]) == 1
    assert blocks.choose_requests([agent.asks()]) == 0
    assert blocks.played
    assert blocks.choose_requests([Request()]) == 0
    threads[0].join(program.HANG_SECONDS)
    assert not blocks.played
    assert blocks.choose_requests([agent.asks()]) == 1
